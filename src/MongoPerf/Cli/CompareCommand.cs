using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Reporting;
using MongoPerf.Reporting.Comparison;

namespace MongoPerf.Cli;

/// <summary><c>compare RUN RUN…</c>: what differs between stored runs, and whether it is more than chance.</summary>
internal static class CompareCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        var runs = new Argument<string[]>("RUN")
        {
            Description = "Ids or folders of runs; the first is the baseline. Repeats of one run are found by any of them, or named as A,B,C; repeats alone show their spread.",
            Arity = ArgumentArity.OneOrMore,
        };
        Option<string?> baseline = OptionTypes.Text("--baseline", "The run that all others are held against [default: the first]", "RUN");
        Option<double?> noise = OptionTypes.Make<double?>(
            "--noise-threshold", null, $"Differences up to this are not called so [default: {Units.Percent(RunComparer.DefaultNoiseThreshold)}]", "PERCENT", text => ParseThreshold(text));
        var force = new Option<bool>("--force") { Description = "Compare unlike set-ups all the same; the differences are listed" };
        var fail = new Option<bool>("--fail-on-regression") { Description = "End with exit code 10 when a test is slower than the baseline's" };
        Option<string?> format = OptionTypes.Choice("--format", "What is printed [default: text]", "text", "json", "csv", "markdown");
        var command = new Command("compare", "Compare stored runs: ratios with intervals, verdicts, charts of both laid over each other") { runs, baseline, noise, force, fail, format, shared.Out };
        // Whatever is not known counts as one more run to the parser.
        runs.Validators.Add(result =>
        {
            if (result.Tokens.FirstOrDefault(token => token.Value.StartsWith('-')) is { } unknown)
                result.AddError(UnknownOption(unknown.Value, command));
        });
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            string[] named = parsed.GetValue(runs)!;
            string? first = parsed.GetValue(baseline);
            return ComparisonSession.Run(new ComparisonRequest
            {
                RunsFolder = SettingsReader.RunsFolder(parsed, shared.Out),
                Runs = first is null ? named : [first, .. named.Where(name => name != first)],
                NoiseThreshold = parsed.GetValue(noise) ?? RunComparer.DefaultNoiseThreshold,
                Force = parsed.GetValue(force),
                FailOnRegression = parsed.GetValue(fail),
                Format = parsed.GetValue(format) ?? "text",
            });
        }));
        return command;
    }

    private static string UnknownOption(string name, Command command)
    {
        string? nearest = NearestName.Find(name, command.Options.Select(option => option.Name));
        return $"unknown option '{name}' of '{command.Name}'" + (nearest is null ? "" : $" (did you mean '{nearest}'?)");
    }

    private static double ParseThreshold(string text) =>
        text.EndsWith('%') && double.TryParse(text[..^1], out double percent) && percent is >= 0 and < 100
            ? percent / 100
            : throw new FormatException($"'{text}' is no percentage such as 5%, allowed are 0% to 99%");
}
