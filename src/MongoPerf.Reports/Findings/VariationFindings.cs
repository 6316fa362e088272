using MathNet.Numerics.Distributions;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>A phase whose seconds vary far more than those of its kind: the same operation at other sizes, or in other repeats.</summary>
internal static class VariationFindings
{
    private const int LeastSiblings = 4;
    private const int LeastSeconds = 4;

    /// <summary>Standard deviation as a share of the rate.</summary>
    private const double Least = 0.1;
    private const double Times = 3;

    private sealed record Varied(OperationSeries Series, double Deviation, double Freedom);

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        Varied[][] kinds =
        [
            .. series.Independent.Where(one =>
                one.Seconds.Count >= LeastSeconds && one.Seconds.All(second => second is { Operations: >= 20, IsDown: false }))
                .GroupBy(one => (one.Phase.Growth?.Growth, PhaseLabels.Of(one.Phase, one.Result.Operation),
                    one.Result.Threads, one.ParametersButThreads))
                .Select(kind => kind.Select(Measure).ToArray()).Where(kind => kind.Length > LeastSiblings),
        ];
        int phases = kinds.Sum(kind => kind.Length);
        foreach (Varied[] kind in kinds)
        {
            double usual = Quantiles.Median([.. kind.Select(one => one.Deviation)]);
            double freedom = kind.Sum(one => one.Freedom);
            Varied[] wild =
                [.. kind.Where(one => one.Deviation >= Math.Max(Least, Times * usual) && P(one, usual, freedom) < level / phases)];
            if (wild.MaxBy(one => one.Deviation) is { } worst)
                yield return Make(series, kind, worst, usual, wild.Length);
        }
    }

    /// <summary>About the straight line through the logarithms, so that a drift is no variation.</summary>
    private static Varied Measure(OperationSeries one)
    {
        double[] rates = Quantiles.Joined([.. one.Seconds.Select(second => second.Rate)], 300);
        double[] logarithms = [.. rates.Select(rate => Math.Log(Math.Max(1e-3, rate)))];
        var line = StraightLine.Through(logarithms);
        double squares = logarithms.Select((v, i) => v - line.At(i)).Sum(v => v * v);
        double inflation = Autocorrelation.VarianceInflation(Autocorrelation.OfFirstOrder([rates]), rates.Length);
        return new Varied(one, Math.Sqrt(squares / (rates.Length - 2)), Math.Max(1, (rates.Length - 2) / inflation));
    }

    /// <summary>F of both variances.</summary>
    private static double P(Varied one, double usual, double freedom) =>
        1 - FisherSnedecor.CDF(
            one.Freedom, Math.Max(1, freedom - one.Freedom), one.Deviation * one.Deviation / Math.Max(1e-6, usual * usual));

    private static Finding Make(RunSeries series, Varied[] kind, Varied worst, double usual, int wild)
    {
        OperationSeries one = worst.Series;
        string others = wild == 1 ? Words.Of($"the other {kind.Length - 1}") : Words.Of($"most of the {kind.Length}");
        TimeWindow[] rest = [.. kind.Where(other => !ReferenceEquals(other, worst)).Select(other => other.Series.Window)];
        IReadOnlyList<string> together = Circumstances.Of(series, [one.Window], rest);
        string at = one.Phase.Growth is { } growth ? Words.Of($" at {Units.Count(growth.Documents)} documents") : "";
        return new Finding
        {
            Id = FindingIds.Variation,
            Text = Words.Of($"{one.Label}'s rate varies from second to second by {Units.Percent(worst.Deviation)}{at}, "
                + $"that of {others} by {Units.Percent(usual)}"),
            Operations = [one.Label],
            Range = series.Range(one.Window, one.Seconds[0].Documents, one.Seconds[^1].Documents),
            Evidence = [new FindingEvidence("timeline", Words.Of($"standard deviation about a line: "
                + $"{Units.Percent(worst.Deviation)} of the rate against {Units.Percent(usual)}, the median of {kind.Length}; "
                + $"{Units.Rate(one.Seconds.Min(s => s.Rate))} to {Units.Rate(one.Seconds.Max(s => s.Rate))} {one.RateUnit}"))],
            Cause = together.Count == 0 ? null : Words.And(together),
            IsCoincidence = true,
            Refute = Words.Of("run again with the same seed: variation that returns at the same place belongs to the data or the "
                + "server, any other to the machine"),
            Weight = 0.2,
        };
    }
}
