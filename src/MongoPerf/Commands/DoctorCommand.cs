using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Running.Configuration;
using MongoPerf.Running.Doctor;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>doctor</c>: what this machine and deployments allow, and what to do about the rest.</summary>
internal static class DoctorCommand
{
    private const double UsualSeconds = 5;

    /// <summary>Of a line: longer ones are hard to read, however wide the terminal.</summary>
    private const int MostWidth = 120;
    private const int Indentation = 28;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var uris = new Option<string[]?>("--uri", "-u")
        {
            Description = "Connection string of a deployment to check, with the user that runs will use (environment: MONGOPERF_URI); "
                + "may be repeated",
            HelpName = "URI|@NAME",
            AllowMultipleArgumentsPerToken = false,
        };
        Option<double?> duration = OptionTypes.Duration(
            "--duration", "How long to measure the noise of this machine; 0s leaves it out [default: 5s]");
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json");
        var command = new Command("doctor", "Check what this machine and a deployment allow, and say what to do about the rest; "
            + "exit code 8 if no run is possible")
        {
            uris, shared.PasswordFile, shared.Database, shared.Mongod, duration, shared.Out, format,
        };
        command.Runs(parsed =>
        {
            using var signals = new StopSignals("stopping");
            string[] named = parsed.GetValue(uris) ?? [];
            double seconds = parsed.GetValue(duration) ?? UsualSeconds;
            if (seconds > 0)
                Console.Error.WriteLine($"measuring the noise of this machine for {seconds:0.###} s (--duration)");
            IReadOnlyList<CheckGroup> groups = DoctorSession.Run(new DoctorRequest
            {
                Uris = named.Length == 0 && UriVariable.Value is { } variable ? [variable] : [.. named.Select(Settings.Current.Resolve)],
                PasswordFile = parsed.GetValue(shared.PasswordFile),
                Database = Names.Database(parsed.GetValue(shared.Database) ?? PlanRequests.DefaultDatabase),
                RunsFolder = PlanRequests.RunsFolder(parsed, shared.Out),
                Mongod = shared.OneMongod(parsed),
                Seconds = seconds,
            }, signals.Token);
            if (signals.WasStopped)
                return ExitCode.Interrupted;
            if (parsed.GetValue(format) == "json")
                WriteJson(groups, Console.Out);
            else
                WriteText(groups, Console.Out);
            return Count(groups, CheckState.Problem) > 0 ? ExitCode.Unfit : ExitCode.Done;
        });
        return command;
    }

    internal static void WriteText(IReadOnlyList<CheckGroup> groups, TextWriter output)
    {
        foreach (CheckGroup group in groups)
        {
            output.WriteLine(group.Title);
            foreach (Check check in group.Checks)
            {
                WriteLines(output, $"  {check.State.ToString().ToLowerInvariant(),-9}{check.Subject,-17}", check.Found);
                if (check.Advice is { } advice)
                    WriteLines(output, "", $"→ {advice}");
            }

            output.WriteLine();
        }

        long problems = Count(groups, CheckState.Problem);
        string warnings = Units.Counted(Count(groups, CheckState.Warning), "warning");
        output.WriteLine(problems > 0 ? $"{Units.Counted(problems, "problem")}, {warnings}" : $"ready for runs, with {warnings}");
    }

    private static void WriteJson(IReadOnlyList<CheckGroup> groups, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = "mongoperf/doctor/1",
        problems = Count(groups, CheckState.Problem),
        warnings = Count(groups, CheckState.Warning),
        groups = groups.Select(group => new
        {
            title = group.Title,
            checks = group.Checks.Select(check => new
            {
                subject = check.Subject, state = check.State.ToString().ToLowerInvariant(), found = check.Found, advice = check.Advice,
            }),
        }),
    });

    private static long Count(IReadOnlyList<CheckGroup> groups, CheckState state) =>
        groups.Sum(group => group.Checks.Count(check => check.State == state));

    /// <summary>Lines after the first begin below its text, which may quote the names of others' programs and mounts.</summary>
    private static void WriteLines(TextWriter output, string start, string text)
    {
        int width = Math.Min(MostWidth, ConsoleReportOptions.ForStandardOutput().Width);
        foreach ((int index, string line) in Words.Wrap(Masking.Shown(text), width - Indentation).Split('\n').Index())
            output.WriteLine((index == 0 ? start : "").PadRight(Indentation) + line);
    }
}
