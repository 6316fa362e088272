using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Comparison.Statistics;
using MongoPerf.Reporting.Findings;

namespace MongoPerf.Reporting.Comparison;

/// <summary>What a comparison of a single server with shards shows: which is faster at which operation, and from which size on.</summary>
internal static class ShardingFindings
{
    /// <summary>Sizes on each side of a crossover.</summary>
    private const int LeastSizes = 2;
    private const int LeastAll = 5;

    /// <summary>Of the order of the sizes' ratios: that those beyond the crossover lie on its other side by chance.</summary>
    private const double Level = 0.05;

    /// <summary>None unless one of both is sharded and the other is not.</summary>
    public static IReadOnlyList<Finding> Of(RunComparison comparison, CandidateJudgement candidate)
    {
        bool isBaseline = IsSharded(comparison.Baseline);
        if (isBaseline == IsSharded(candidate.Candidate))
            return [];
        return [.. candidate.Operations.Select(operation => Judge(comparison, candidate, operation, isBaseline)).OfType<Finding>()];
    }

    private static bool IsSharded(ComparedSide side) => side.First.Deployment?.Topology == Topology.Sharded;

    private static Finding? Judge(RunComparison comparison, CandidateJudgement candidate, OperationJudgement operation, bool isBaseline)
    {
        // Of the shards to the single server, whichever came first.
        (long Documents, double Logarithm)[] sizes =
            [.. operation.Windows.Where(window => window.Rate.Ratio.Value > 0).Select(window => (window.Documents, (isBaseline ? -1 : 1) * Math.Log(window.Rate.Ratio.Value))).OrderBy(one => one.Documents)];
        string title = candidate.TitleOf(operation);
        return Crossing(sizes, comparison.NoiseThreshold) is { } place ? Crossed(title, sizes, place) : Apart(title, operation, sizes, isBaseline);
    }

    /// <summary>The first size beyond the crossover: before it the ratios lie beyond the threshold on one side, after it on the other, each by a majority and in the middle; ranks must agree.</summary>
    private static int? Crossing((long Documents, double Logarithm)[] sizes, double threshold)
    {
        if (sizes.Length < LeastAll)
            return null;
        double least = Math.Log(1 + threshold);
        int[] places = [.. Enumerable.Range(LeastSizes, Math.Max(0, sizes.Length - (2 * LeastSizes) + 1)).Where(k =>
        {
            double[] before = [.. sizes[..k].Select(one => one.Logarithm)];
            double[] after = [.. sizes[k..].Select(one => one.Logarithm)];
            double first = Quantiles.Median(before);
            double second = Quantiles.Median(after);
            return Math.Sign(first) == -Math.Sign(second) && Math.Min(Math.Abs(first), Math.Abs(second)) >= least
                && UnitComparison.WelchP(before, after) * (sizes.Length - (2 * LeastSizes) + 1) < Level;
        })];
        return places.Length == 0 ? null : places.MinBy(k => sizes.Select((one, i) => Math.Sign(one.Logarithm) == Math.Sign(Quantiles.Median([.. sizes[(i < k ? ..k : k..)].Select(s => s.Logarithm)])) ? 0 : 1).Sum());
    }

    private static Finding Crossed(string title, (long Documents, double Logarithm)[] sizes, int place)
    {
        double[] before = [.. sizes[..place].Select(one => one.Logarithm)];
        double[] after = [.. sizes[place..].Select(one => one.Logarithm)];
        double first = Math.Exp(before.Average());
        double second = Math.Exp(after.Average());
        bool gains = second > 1;
        return new Finding
        {
            Id = FindingIds.Crossover,
            Text = $"{title}: the shards are {(gains ? "slower" : "faster")} than the single server up to {Units.Count(sizes[place - 1].Documents)} documents (rate × {ComparisonText.Number(first)}) and {(gains ? "faster" : "slower")} from {Units.Count(sizes[place].Documents)} on (× {ComparisonText.Number(second)})",
            Operations = [title],
            Range = new FindingRange(null, null, sizes[place - 1].Documents, sizes[place].Documents),
            Rate = FindingEffect.Of(second, Bootstrap.OfPairs(after).At(0.95)),
            Evidence = [new FindingEvidence(null, $"rate of the shards to that of the single server: {string.Join(", ", sizes.Select(one => $"{ComparisonText.Number(Math.Exp(one.Logarithm))} at {Units.Count(one.Documents)}"))}")],
            Refute = "repeat both (--repeat 5) with smaller steps around the crossover: if it moves by more than a step, its place is chance",
            Weight = Math.Abs(Math.Log(second / first)),
        };
    }

    private static Finding? Apart(string title, OperationJudgement operation, (long Documents, double Logarithm)[] sizes, bool isBaseline)
    {
        if (operation.Rate.Outcome is not (Outcome.Slower or Outcome.Faster) || sizes.Length == 0)
            return null;
        bool isFaster = (operation.Rate.Outcome == Outcome.Faster) != isBaseline;
        double ratio = isBaseline ? 1 / operation.Rate.Ratio.Value : operation.Rate.Ratio.Value;
        Interval? interval = operation.Rate.Ratio.Interval is { } one && isBaseline ? new Interval(1 / one.High, 1 / one.Low) : operation.Rate.Ratio.Interval;
        string where = sizes.Length == 1 || sizes[0].Documents == sizes[^1].Documents ? $"at {Units.Count(sizes[0].Documents)} documents" : $"at every size from {Units.Count(sizes[0].Documents)} to {Units.Count(sizes[^1].Documents)} documents taken together";
        return new Finding
        {
            Id = isFaster ? FindingIds.ShardedFaster : FindingIds.ShardedSlower,
            Text = $"{title}: the shards are {(isFaster ? "faster" : "slower")} than the single server {where}; no crossover",
            Operations = [title],
            Range = new FindingRange(null, null, sizes[0].Documents, sizes[^1].Documents),
            Rate = FindingEffect.Of(ratio, interval),
            Evidence = [new FindingEvidence(null, $"rate × {ComparisonText.Number(ratio)}; {operation.Basis}")],
            Refute = "give both the same memory and CPUs in total, and then the same for each server: if the other side wins, resources decided it and not the sharding",
            // The verdict has the ratio already.
            IsVerdict = true,
            Weight = Math.Abs(Math.Log(ratio)),
        };
    }
}
