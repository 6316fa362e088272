using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What a comparison of a single server with shards shows: which is faster at which operation, and from which size on.</summary>
internal static class ShardingFindings
{
    /// <summary>None unless one of both is sharded and the other is not.</summary>
    public static IReadOnlyList<Finding> Of(RunComparison comparison, CandidateComparison candidate)
    {
        bool isBaseline = IsSharded(comparison.Baseline);
        if (isBaseline == IsSharded(candidate.Candidate))
            return [];
        (StoredRun sharded, StoredRun other) = isBaseline
            ? (comparison.Baseline.First, candidate.Candidate.First)
            : (candidate.Candidate.First, comparison.Baseline.First);
        var sides = new Sides(sharded.Deployment!.ShardCount == 1 ? Words.Of("the single shard is") : Words.Of("the shards are"),
            SingleOrSharded.NameOf(other.Deployment?.Topology), isBaseline);
        return [.. candidate.RatedOperations.Select(operation => Find(candidate, operation, sides)).OfType<Finding>()];
    }

    /// <summary>Names the sides as texts call them.</summary>
    /// <param name="Shards">"the shards are".</param>
    /// <param name="Other">"the single server".</param>
    /// <param name="IsBaseline">The shards are the baseline.</param>
    private sealed record Sides(string Shards, string Other, bool IsBaseline);

    private static bool IsSharded(ComparedSide side) => side.First.Deployment?.Topology == Topology.Sharded;

    private static Finding? Find(CandidateComparison candidate, OperationComparison operation, Sides sides)
    {
        // Of the shards to the other side, whichever came first.
        (long Documents, double Logarithm)[] sizes =
            [.. operation.Windows.Where(window => window.Rate.Ratio.Value > 0)
                .Select(window => (window.Documents, (sides.IsBaseline ? -1 : 1) * Math.Log(window.Rate.Ratio.Value)))
                .OrderBy(one => one.Documents)];
        string title = candidate.TitleOf(operation);
        return Crossover.Find([.. sizes.Select(size => (size.Documents, Math.Exp(size.Logarithm)))],
            candidate.RatedOperations.Count()) is { } crossover
            ? Crossed(title, sizes, crossover, sides)
            : Apart(title, operation, sizes, sides);
    }

    private static Finding Crossed(string title, (long Documents, double Logarithm)[] sizes, Crossover crossover, Sides sides)
    {
        int place = Array.FindIndex(sizes, one => one.Documents == crossover.Documents);
        bool gains = crossover.After.Value > 1;
        return new Finding
        {
            Id = FindingIds.Crossover,
            Text = Words.Of($"{title}: {sides.Shards} {(gains ? Words.Of("slower") : Words.Of("faster"))} than {sides.Other} up to "
                + $"{Units.Count(sizes[place - 1].Documents)} documents (rate × {ComparisonText.Number(crossover.Before.Value)}) "
                + $"and {(gains ? Words.Of("faster") : Words.Of("slower"))} from {Units.Count(crossover.Documents)} on (× "
                + $"{ComparisonText.Number(crossover.After.Value)})"),
            Operations = [title],
            Range = new FindingRange(null, null, sizes[place - 1].Documents, crossover.Documents),
            Rate = FindingEffect.Of(crossover.After.Value, crossover.After.Interval),
            Evidence = [new FindingEvidence(
                null, Words.Of($"rate of the sharded side to that of {sides.Other}: {string.Join(", ", sizes.Select(RatioText))}"))],
            Refute = Words.Of(
                "repeat both (--repeat 5) with smaller steps around the crossover: if it moves by more than a step, its place is chance"),
            Weight = Math.Abs(Math.Log(crossover.After.Value / crossover.Before.Value)),
        };
    }

    private static string RatioText((long Documents, double Logarithm) size) =>
        Words.Of($"{ComparisonText.Number(Math.Exp(size.Logarithm))} at {Units.Count(size.Documents)}");

    private static Finding? Apart(string title, OperationComparison operation, (long Documents, double Logarithm)[] sizes, Sides sides)
    {
        if (operation.Rate.Outcome is not (Outcome.Slower or Outcome.Faster) || sizes.Length == 0)
            return null;
        bool isFaster = (operation.Rate.Outcome == Outcome.Faster) != sides.IsBaseline;
        double ratio = sides.IsBaseline ? 1 / operation.Rate.Ratio.Value : operation.Rate.Ratio.Value;
        Interval? interval = operation.Rate.Ratio.Interval is { } one && sides.IsBaseline
            ? new Interval(1 / one.High, 1 / one.Low)
            : operation.Rate.Ratio.Interval;
        string where = sizes.Length == 1 || sizes[0].Documents == sizes[^1].Documents
            ? Words.Of($"at {Units.Count(sizes[0].Documents)} documents")
            : Words.Of(
                $"at every size from {Units.Count(sizes[0].Documents)} to {Units.Count(sizes[^1].Documents)} documents taken together");
        return new Finding
        {
            Id = isFaster ? FindingIds.ShardedFaster : FindingIds.ShardedSlower,
            Text = Words.Of(
                $"{title}: {sides.Shards} {(isFaster ? Words.Of("faster") : Words.Of("slower"))} than {sides.Other} {where}; no crossover"),
            Operations = [title],
            Range = new FindingRange(null, null, sizes[0].Documents, sizes[^1].Documents),
            Rate = FindingEffect.Of(ratio, interval),
            Evidence = [new FindingEvidence(null, Words.Of($"rate × {ComparisonText.Number(ratio)}; {operation.Basis}"))],
            Refute = Words.Of("give both the same memory and CPUs in total, and then the same for each server: if the other side wins, "
                + "resources decided it and not the sharding"),
            // The verdict has the ratio already.
            IsVerdict = true,
            Weight = Math.Abs(Math.Log(ratio)),
        };
    }
}
