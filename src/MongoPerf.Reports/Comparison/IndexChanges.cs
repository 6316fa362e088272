using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>Indexes that only one side has, or that its operations use in place of the other side's: often all that was changed.</summary>
internal static class IndexChanges
{
    /// <param name="comparison">What came of comparing the runs.</param>
    /// <param name="candidate">One of its candidates.</param>
    /// <param name="baselineName">What the baseline is called.</param>
    /// <param name="name">What the candidate is called.</param>
    public static IEnumerable<string> Of(RunComparison comparison, CandidateComparison candidate, string baselineName, string name)
    {
        HashSet<(string Collection, string Index)> before = IndexesOf(comparison.Baseline.First);
        HashSet<(string Collection, string Index)> after = IndexesOf(candidate.Candidate.First);
        // Of a collection whose sizes one run did not take, nothing is known there.
        string[] common = [.. before.Select(one => one.Collection).Intersect(after.Select(one => one.Collection))];
        foreach ((string collection, string index) in after.Except(before).Where(one => common.Contains(one.Collection)))
            yield return Words.Of($"index {index} of {collection} is there in {name} only");
        foreach ((string collection, string index) in before.Except(after).Where(one => common.Contains(one.Collection)))
            yield return Words.Of($"index {index} of {collection} is there in {baselineName} only");
        foreach (OperationComparison operation in candidate.Operations)
        {
            var key = new WindowKey(operation.Operation, operation.Windows[^1].At);
            if (IndexUsed(comparison.Baseline, key) is { } from && IndexUsed(candidate.Candidate, key) is { } to && from != to)
                yield return Words.Of($"{candidate.TitleOf(operation)} used {to} in {name}, and {from} in {baselineName}");
        }
    }

    private static HashSet<(string Collection, string Index)> IndexesOf(StoredRun run) =>
    [
        .. run.Phases.SelectMany(phase => phase.Sizes.Select(sizes => (Collection: sizes.Collection ?? phase.Collection ?? "", sizes)))
            .GroupBy(one => one.Collection)
            .SelectMany(collection => collection.Last().sizes.Indexes.Keys.Select(index => (collection.Key, index))),
    ];

    private static string? IndexUsed(ComparedSide side, WindowKey key) =>
        side.Windows.At(key).Select(window => window.Result?.Plan).LastOrDefault(plan => plan is not null) is { } used
            ? PlannedSource.IndexesInWords(used) : null;
}
