using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Reporting;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary><c>calibrate</c>: runs scenarios/calibrate.yaml on the null deployment and keeps what the client cost.</summary>
internal static class CalibrateCommand
{
    private const string Scenario = "calibrate";

    public static Command Create()
    {
        var shared = new SharedOptions();
        Option<double?> duration = OptionTypes.Duration("--duration", "Length of each of the six measurements, a quarter of it warm-up [default: 5s]");
        Option<string?> format = OptionTypes.Choice("--format", "Output format of the result [default: text]", "text", "json");
        var command = new Command("calibrate", "Measure what client and loopback cost per operation; later runs on this CPU model state their share (scenarios/calibrate.yaml)")
        {
            duration, format, shared.Out, shared.Quiet, shared.NoTui,
        };
        command.Runs(parsed =>
        {
            CalibrationFolder calibrations = CalibrationFolder.OfUser()
                ?? throw new UserException(ExitCode.WrongUsage, "a calibration has nowhere to be stored: neither XDG_CACHE_HOME nor HOME is set", "set XDG_CACHE_HOME to a folder");
            calibrations.Prepare();
            ScenarioFile file = ScenarioFile.Find(Scenario);
            RunRequest request = new PlanRequests(parsed, shared, file, new PlanOverrides { Duration = parsed.GetValue(duration) }) { HidesChanges = true }.ReadOn(Topology.Null);
            request = request with { Output = request.Output with { PrintsResult = false } };
            RunEnd? end = null;
            ExitCode code = RunSequence.Run([request], 1, (asked, signals) => end = PlanSession.Start(asked, signals));
            if (code != ExitCode.Done)
                return code;
            using StoredRun run = StoredRun.Open(end!.Folder.Path);
            Print(run, calibrations, file, parsed.GetValue(format) ?? "text");
            return code;
        });
        return command;
    }

    private static void Print(StoredRun run, CalibrationFolder calibrations, ScenarioFile file, string format)
    {
        using IDisposable? english = format == "json" ? Words.InEnglish() : null;
        OtherLoad? other = ClientLimit.Of(run).Other;
        ClientCalibration calibration = Read(run, other, file);
        string stored = calibrations.Save(calibration);
        ResultFormat.Print(format, () => CalibrationReport.Of(calibration, other, stored), ("json", output => CalibrationReport.WriteJson(calibration, other, stored, output)));
    }

    /// <exception cref="UserException">A kind of operation was not measured.</exception>
    internal static ClientCalibration Read(StoredRun run, OtherLoad? other, ScenarioFile file) => new()
    {
        CpuModel = run.Environment!.CpuModel,
        CpuCount = run.Environment.CpuCount,
        At = run.Run.StartedAt,
        Version = run.Run.Version,
        OtherCores = other?.Cores,
        Costs =
        [
            .. ClientCalibration.Kinds.Select(kind => run.Phases.LastOrDefault(phase => phase.Phase == kind) is { Operations: [{ Threads: 1 } result] } ? OperationCost.From(result, kind) : null)
                .Zip(ClientCalibration.Kinds, (cost, kind) => cost ?? throw NotMeasured(file, kind)),
        ],
    };

    private static UserException NotMeasured(ScenarioFile file, string kind) =>
        new(ExitCode.WrongUsage, $"{file.ShownPath}: nothing was measured in a phase '{kind}' with one operation and one thread", "use the file that comes with the program, and a longer --duration");
}
