using System.CommandLine;
using System.CommandLine.Parsing;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Plots;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>compare RUN RUN…</c>: what differs between stored runs, and whether it is more than chance.</summary>
internal static class CompareCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        var runs = new Argument<string[]>("RUN")
        {
            Description = "Run ids or folders, the baseline first. Any one of several repeats stands for all of them, "
                + "or list them as A,B,C; repeats alone report their spread.",
            Arity = ArgumentArity.OneOrMore,
        };
        Option<string?> baseline = OptionTypes.Text("--baseline", "Run to compare the others with [default: the first]", "RUN");
        Option<double?> noise = NoiseOption("Differences up to this size don't count; results within it are equivalent");
        Option<IReadOnlyList<Measure>?> percentiles = OptionTypes.List(
            "--percentiles", "Latency percentiles to judge along with rates, such as p75 or p9999 [default: p50,p99]", "pNN[,…]",
            text => Measure.Find(OptionTypes.OneOf(text, Measure.Names)));
        var force = new Option<bool>(
            "--force") { Description = "Compare even if the runs did different work or shared the machine with busy programs, and say so" };
        var fail = new Option<bool>("--fail-on-regression")
        {
            Description = "Exit with code 10 if a rate or a latency (p50, p99, or --percentiles) is worse than the baseline",
        };
        Option<string?> format = OptionTypes.Choice(
            "--format", "Output format [default: text]", "text", "json", "csv", "markdown", "junit");
        var command = new Command("compare", "Compare stored runs: ratios with confidence intervals, verdicts, overlaid charts")
        {
            runs, baseline, percentiles, noise, force, fail, format, shared.Full, shared.Plots, shared.Out,
        };
        runs.Validators.Add(result => RefuseOptions(result, command));
        command.Runs(parsed =>
        {
            string[] named = parsed.GetValue(runs)!;
            string? first = parsed.GetValue(baseline);
            string? plots = parsed.GetValue(shared.Plots);
            using IDisposable style = PlotStyle.In(plots).Use();
            return ComparisonSession.Run(new ComparisonRequest
            {
                RunsFolder = PlanRequests.RunsFolder(parsed, shared.Out),
                Runs = first is null ? named : [first, .. named.Where(name => name != first)],
                NoiseThreshold = parsed.GetValue(noise) ?? RunComparer.DefaultNoiseThreshold,
                Percentiles = parsed.GetValue(percentiles) is { } chosen ? [.. chosen.Distinct()] : null,
                Force = parsed.GetValue(force),
                FailOnRegression = parsed.GetValue(fail),
                Format = parsed.GetValue(format) ?? "text",
                IsFull = parsed.GetValue(shared.Full),
                Plots = PlotLibrary.With(plots),
            });
        });
        return command;
    }

    /// <param name="description">What the threshold means to a command.</param>
    public static Option<double?> NoiseOption(string description) => OptionTypes.Make<double?>(
        "--noise-threshold", null, $"{description} [default: {Units.Percent(RunComparer.DefaultNoiseThreshold)}]", "PERCENT",
        text => ParseThreshold(text));

    /// <summary>To the parser, an unknown option is one more run.</summary>
    public static void RefuseOptions(ArgumentResult runs, Command command)
    {
        if (runs.Tokens.FirstOrDefault(token => token.Value.StartsWith('-')) is not { } unknown)
            return;
        string name = unknown.Value.Split('=', ':')[0];
        runs.AddError($"unknown option '{name}' of '{command.Name}'"
            + (NearestName.Hint(name, command.Options.Select(option => option.Name)) is { } hint ? $" ({hint})" : ""));
    }

    private static double ParseThreshold(string text) =>
        text.EndsWith('%') && double.TryParse(text[..^1], out double percent) && percent is >= 0 and < 100
            ? percent / 100
            : throw new FormatException($"'{text}' is not a percentage such as 5%; allowed: 0% to 99%");
}
