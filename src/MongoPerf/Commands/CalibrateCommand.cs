using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>
/// <c>calibrate</c>: runs scenarios/calibrate.yaml on the null deployment, through MongoPerf's own client and through the official driver,
/// and keeps what each cost.
/// </summary>
internal static class CalibrateCommand
{
    private const string Scenario = "calibrate";

    public static Command Create()
    {
        var shared = new SharedOptions();
        Option<double?> duration = OptionTypes.Duration(
            "--duration", "Length of each of 12 measurements (six operations, two clients), a quarter of it warm-up [default: 5s]");
        Option<string?> format = OptionTypes.Choice("--format", "Output format of the result [default: text]", "text", "json");
        var command = new Command("calibrate", "Measure what client and loopback cost per operation, with MongoPerf's own client and with "
            + "MongoDB.Driver; later runs on this CPU model state their share (scenarios/calibrate.yaml)")
        {
            duration, format, shared.Out, shared.Quiet, shared.NoTui,
        };
        command.Runs(parsed =>
        {
            CalibrationFolder calibrations = CalibrationFolder.OfUser()
                ?? throw new UserException(ExitCode.WrongUsage,
                    "a calibration has nowhere to be stored: neither XDG_CACHE_HOME nor HOME is set", "set XDG_CACHE_HOME to a folder");
            calibrations.Prepare();
            ScenarioFile file = ScenarioFile.Find(Scenario);
            RunRequest request = new PlanRequests(parsed, shared, file,
                new PlanOverrides { Duration = parsed.GetValue(duration) }) { HidesChanges = true }.ReadOn(Topology.Null);
            request = request with { Output = request.Output with { PrintsResult = false } };
            var ends = new List<RunEnd>();
            foreach (EngineSettings engine in (EngineSettings[])[EngineSettings.Wire, new(EngineKind.Driver)])
            {
                RunRequest asked = request with { Settings = request.Settings with { Engine = engine } };
                ExitCode code = RunSequence.Run([asked], 1, (ready, signals) =>
                {
                    ends.Add(PlanSession.Start(ready, signals));
                    return ends[^1];
                });
                if (code != ExitCode.Done)
                    return code;
            }

            using StoredRun own = StoredRun.Open(ends[0].Folder.Path);
            using StoredRun driver = StoredRun.Open(ends[1].Folder.Path);
            Print(own, driver, calibrations, file, parsed.GetValue(format) ?? "text");
            return ExitCode.Done;
        });
        return command;
    }

    private static void Print(StoredRun own, StoredRun driver, CalibrationFolder calibrations, ScenarioFile file, string format)
    {
        using IDisposable? english = format == "json" ? Words.InEnglish() : null;
        OtherLoad? other = ((OtherLoad?[])[ClientLimit.Of(own).Other, ClientLimit.Of(driver).Other]).MaxBy(load => load?.Cores);
        ClientCalibration calibration = Read(own, driver, other, file);
        string stored = calibrations.Save(calibration);
        ResultFormat.Print(format, isFull: true, () => CalibrationReport.Of(calibration, other, stored, [own, driver]),
            ("json", output => CalibrationReport.WriteJson(calibration, other, stored, [own, driver], output)));
    }

    /// <param name="own">A run through MongoPerf's own client.</param>
    /// <param name="driver">The same through the official driver.</param>
    /// <param name="other">What other programs used meanwhile.</param>
    /// <param name="file">The scenario of both.</param>
    /// <exception cref="UserException">A kind of operation was not measured.</exception>
    internal static ClientCalibration Read(StoredRun own, StoredRun driver, OtherLoad? other, ScenarioFile file) => new()
    {
        CpuModel = own.Environment!.CpuModel,
        CpuCount = own.Environment.CpuCount,
        At = own.Run.StartedAt,
        Version = own.Run.Version,
        OtherCores = other?.Cores,
        Costs = CostsOf(own, file),
        Driver = new DriverCosts(driver.Settings.Engine.Version!, CostsOf(driver, file)),
    };

    private static OperationCost[] CostsOf(StoredRun run, ScenarioFile file) =>
    [
        .. ClientCalibration.Kinds.Select(kind =>
            (run.Phases.LastOrDefault(phase => phase.Phase == kind) is { Operations: [{ Threads: 1 } result] }
                ? OperationCost.From(result, kind)
                : null) ?? throw NotMeasured(file, kind)),
    ];

    private static UserException NotMeasured(ScenarioFile file, string kind) =>
        new(ExitCode.WrongUsage, $"{file.ShownPath}: nothing was measured in a phase '{kind}' with one operation and one thread",
            "use the file that comes with the program, and a longer --duration");
}
