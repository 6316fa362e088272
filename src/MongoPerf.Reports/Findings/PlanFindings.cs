using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// Plans that use an index and still examine far more than they return, or sort what no index has in order, and plans that are not the same
/// on all shards. Scans of a collection are verdicts.
/// </summary>
internal static class PlanFindings
{
    /// <summary>Keys or documents for each that is returned, on each shard that is asked.</summary>
    private const double Wasteful = 50;

    /// <summary>
    /// Keys or documents for each that is skipped or returned: a condition beside an index in the order of the sort passes over some.
    /// </summary>
    private const double WastefulOfNecessary = 10;
    private const double LeastExamined = 100;

    private sealed record Planned(PhaseRecord Phase, OperationResult Result, PlanSummary Plan)
    {
        public string Label => PhaseLabels.Of(Phase, Result.Operation);

        public double Keys => Plan.KeysExaminedPerOperation ?? Plan.KeysExamined;

        public double Documents => Plan.DocumentsExaminedPerOperation ?? Plan.DocumentsExamined;

        public double Examined => Math.Max(Keys, Documents);

        public bool IsWasteful => Examined >= LeastExamined && Examined >= Wasteful * Math.Max(1, Plan.Returned) * (Plan.Shards ?? 1)
            && Examined >= WastefulOfNecessary * (Plan.Necessary ?? 0);

        public bool Sorts => Plan.Stages.Split(" > ").Any(stage => stage is "SORT" or "SORT_KEY_GENERATOR");
    }

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        IEnumerable<Planned> planned = series.Run.Phases
            .SelectMany(phase => phase.Operations.Where(result => result.Plan is { Index: not null })
                .Select(result => new Planned(phase, result, result.Plan!)));
        foreach (IGrouping<string, Planned> group in planned.GroupBy(one => one.Label))
        {
            Planned worst = group.MaxBy(one => one.Examined)!;
            if (worst.IsWasteful)
                yield return Make(series, worst, [.. group]);
        }

        foreach (IGrouping<string, Planned> group in series.Run.Phases.SelectMany(phase => phase.Operations
            .Where(result => result.Plan is not null).Select(result => new Planned(phase, result, result.Plan!))).GroupBy(one => one.Label))
        {
            if (group.LastOrDefault(one => Working(one).Select(shard => shard.Index).Distinct().Count() > 1) is { } differing)
                yield return Differing(differing, group.Count());
        }
    }

    /// <summary>A shard that has nothing of the collection plans nothing.</summary>
    private static IEnumerable<ShardPlan> Working(Planned one) => one.Plan.ByShard.Where(shard => shard.Stages != "EOF");

    /// <summary>An index that one shard lacks, or a planner that chose otherwise from what it has seen there.</summary>
    private static Finding Differing(Planned one, int measurements)
    {
        string plans = string.Join("; ", Working(one).GroupBy(shard => shard.Index).Select(same =>
            $"{string.Join(", ", same.Select(shard => shard.Shard))}: {same.Key ?? Words.Of("collection scan")}"));
        string at = one.Phase.Growth is { } growth && measurements > 1 ? Words.Of($" at {Units.Count(growth.Documents)} documents") : "";
        return new Finding
        {
            Id = FindingIds.PlanDiffers,
            Text = Words.Of($"{one.Label}'s plan is not the same on all shards{at} ({plans}): the slowest of them decides"),
            Operations = [one.Label],
            Evidence = [new FindingEvidence(null, string.Join("; ", Working(one).Select(shard => Words.Of($"{shard.Shard}: "
                + $"{shard.Stages}, {Units.Exact(shard.KeysExamined)} keys and {Units.Exact(shard.DocumentsExamined)} documents"))))],
            Refute = Words.Of("name the index in a hint, and create it on shards that lack it: if the latency stays the same, the plan of "
                + "the other shards costs nothing"),
            Weight = 0.3,
        };
    }

    private static Finding Make(RunSeries series, Planned worst, Planned[] all)
    {
        string at = worst.Phase.Growth is { } growth ? Words.Of($" at {Units.Count(growth.Documents)} documents") : "";
        string what = worst.Documents >= worst.Keys
            ? Words.Of($"{Units.Rate(worst.Documents)} documents")
            : Words.Of($"{Units.Rate(worst.Keys)} keys");
        string sorts = worst.Sorts ? Words.Of(", and sorts in memory") : "";
        OperationSeries? measured = series.Operations.FirstOrDefault(one => ReferenceEquals(one.Result, worst.Result));
        return new Finding
        {
            Id = FindingIds.PlanExamines,
            Text = Words.Of($"{worst.Label} examines {what} to return {Units.Exact(worst.Plan.Returned)}{at} though it uses index "
                + $"{worst.Plan.Index}{sorts}"),
            Operations = [worst.Label],
            Range = measured is null ? null : series.Range(measured.Window, worst.Phase.Growth?.Documents, worst.Phase.Growth?.Documents),
            Evidence = [new FindingEvidence(null,
                Words.Of($"{worst.Plan.Stages}; {Units.Rate(worst.Keys)} keys and {Units.Rate(worst.Documents)} documents per operation; "
                    + $"as wasteful in {all.Count(one => one.IsWasteful)} of {all.Length} measurements"))],
            Cause = worst.Sorts
                ? Words.Of("the index does not provide the requested sort order")
                : Words.Of("the index does not cover the whole filter"),
            IsCoincidence = false,
            Refute = Words.Of(
                "create an index on the whole filter and then the sort: if the rate stays the same, what is examined costs nothing"),
            Weight = Math.Min(0.5, Math.Log10(worst.Examined / Math.Max(1, worst.Plan.Returned)) / 10),
        };
    }
}
