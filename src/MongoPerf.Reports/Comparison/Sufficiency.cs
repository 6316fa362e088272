using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>How long a window was measured, and which option of its command makes it longer.</summary>
/// <param name="Seconds">The seconds of the window, without the warm-up.</param>
/// <param name="Warmup">Seconds.</param>
/// <param name="Option">The option that does it, such as --duration; null where none does.</param>
/// <param name="Operations">Its value where it counts operations.</param>
/// <param name="HasOwnWarmup">The warm-up was given: it does not grow with the window.</param>
public sealed record WindowLength(double Seconds, double Warmup, string? Option, long? Operations = null, bool HasOwnWarmup = false)
{
    private static readonly double[] RoundSeconds =
    [
        10, 15, 20, 30, 40, 50, 60, 90, 120, 150, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200,
    ];

    public static WindowLength Of(StoredRun run, PhaseRecord phase, OperationResult result)
    {
        PlanOverrides overrides = run.Settings.Plan.Overrides;
        bool isSeries = run.Settings.Plan.Name == "series" && !overrides.IsAlone;
        // A recording lasts as long as it does.
        string? option = phase.Kind != PhaseKind.Measure || run.Settings.Plan.Recording is not null ? null
            : isSeries ? "--window" : overrides.Operations is not null ? "--operations" : "--duration";
        return new WindowLength(result.Seconds, result.WarmupSeconds, option, overrides.Operations, overrides.Warmup is not null);
    }

    /// <summary>"--duration 30s", or "--repeat 3" where no option makes the window longer.</summary>
    /// <param name="needed">Seconds without the warm-up.</param>
    public string OptionFor(double needed)
    {
        if (Option is null || Seconds <= 0)
            return "--repeat " + OperationComparer.LeastRuns.ToString(CultureInfo.InvariantCulture);
        // A second at either end may be cut off.
        double factor = (needed + 1) / Seconds;
        if (Option == "--operations" && Operations is { } count)
            return string.Create(CultureInfo.InvariantCulture, $"--operations {Units.TwoDigits(count * factor)}");
        double all = HasOwnWarmup ? needed + 1 + Warmup : factor * (Seconds + Warmup);
        double round = RoundSeconds.FirstOrDefault(s => s >= all, Math.Ceiling(all / 3600) * 3600);
        return $"{Option} {(round % 60 == 0 && round > 60 ? $"{round / 60:0}m" : $"{round:0}s")}";
    }
}

/// <summary>What would be enough to decide what is undecided.</summary>
/// <param name="Reason">How much is needed, and how much there was.</param>
/// <param name="Option">Of the runs' command, which brings as much; null where none does.</param>
public sealed record Enough(string Reason, string? Option)
{
    /// <summary>"20 s per side; these had 7.5 s: --duration 30s".</summary>
    public override string ToString() => Option is null ? Reason : $"{Reason}: {Option}";
}

/// <summary>Says what would be enough to decide what is undecided.</summary>
internal static class Sufficiency
{
    /// <summary>Hardly anybody measures longer than that for a verdict.</summary>
    private const double MostSeconds = 3600;
    private const int MostRuns = 100;

    private static string MoreRuns => "--repeat " + OperationComparer.LeastRuns.ToString(CultureInfo.InvariantCulture);

    /// <summary>Corrected tests ask for more than the interval shows.</summary>
    private const double Margin = 1.5;

    /// <summary>Says that windows are too short and too few to decide anything.</summary>
    /// <param name="length">The length of the shortest window; null where it is not known.</param>
    /// <param name="seconds">Fewest whole seconds of a side in any window.</param>
    public static Enough OfNothing(WindowLength? length, int seconds)
    {
        string had = length is null ? $"{seconds} s" : $"{Units.Significant(Math.Round(length.Seconds, 2))} s";
        return length?.Option is null
            ? new Enough(
                Words.Of($"{OperationComparer.LeastSamples} s or {OperationComparer.LeastRuns} runs per side; these had {had}"), MoreRuns)
            : new Enough(
                Words.Of($"{OperationComparer.LeastSamples} s per side; these had {had}"),
                length.OptionFor(OperationComparer.LeastSamples));
    }

    public static Enough OfRuns(int baseline, int candidate) =>
        new(Words.Of($"{OperationComparer.LeastRuns} runs per side; these had {baseline} and {candidate}"), MoreRuns);

    /// <summary>An estimate: an interval narrows as the root of what it is made of.</summary>
    /// <param name="ratio">Whose interval is too wide.</param>
    /// <param name="threshold">0.05 where ratios from 0.95 to 1.05 count as equivalent.</param>
    /// <param name="evidence">What counts as one observation.</param>
    /// <param name="had">Observations of the side that has fewer.</param>
    /// <param name="length">The length of the shortest window; null where it is not known.</param>
    public static Enough? ToDecide(Ratio ratio, double threshold, Evidence evidence, int had, WindowLength? length)
    {
        double needed = Math.Ceiling(had * FactorToDecide(ratio, threshold));
        return evidence switch
        {
            _ when double.IsNaN(needed) => null,
            Evidence.Samples when needed > MostSeconds =>
                new Enough(
                    Words.Of($"more than an hour per side; these had {had} s: the ratio is too near the threshold, or varies too much"),
                    null),
            Evidence.Samples => new Enough(
                Words.Of($"about {TwoDigits(needed):0} s per side; these had {had} s"),
                length is null ? null : OptionFor(length, needed / had)),
            Evidence.Windows when needed > MostRuns =>
                new Enough(Words.Of($"more than {MostRuns} sizes or repeats of the phase; these had {had}"), null),
            Evidence.Windows => new Enough(Words.Of($"about {needed:0} sizes or repeats of the phase; these had {had}"), null),
            _ when needed > MostRuns => new Enough(Words.Of($"more than {MostRuns} runs per side; these had {had}"), null),
            _ => new Enough(
                Words.Of($"about {needed:0} runs per side; these had {had}"),
                string.Create(CultureInfo.InvariantCulture, $"--repeat {needed:0}")),
        };
    }

    /// <summary>An estimate has no more, and is never less.</summary>
    private static double TwoDigits(double seconds) => seconds < 100 ? seconds : Math.Ceiling(seconds / 10) * 10;

    private static string OptionFor(WindowLength length, double factor) => length.OptionFor(length.Seconds * factor);

    /// <returns>1.2 at least; not a number where nothing is known.</returns>
    private static double FactorToDecide(Ratio ratio, double threshold)
    {
        if (ratio is not { Interval: { } wide, Narrow: { } narrow })
            return double.NaN;
        double value = Math.Log(ratio.Value);
        double low = Math.Log(1 - threshold);
        double high = Math.Log(1 + threshold);
        double factor = low < value && value < high
            ? Math.Max((value - Math.Log(narrow.Low)) / (value - low), (Math.Log(narrow.High) - value) / (high - value))
            : Margin * (value > 0 ? value - Math.Log(wide.Low) : Math.Log(wide.High) - value) / Math.Abs(value);
        return Math.Max(1.2, factor * factor);
    }
}
