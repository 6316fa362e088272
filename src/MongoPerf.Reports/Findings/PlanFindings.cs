using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// Plans that use an index and still examine far more than they return, or sort what no index has in order, and plans that are not the same
/// on all shards. Scans of a collection are verdicts.
/// </summary>
internal static class PlanFindings
{
    private sealed record Planned(PhaseRecord Phase, OperationResult Result, PlanSummary Plan)
    {
        public string Label => PhaseLabels.Of(Phase, Result.Operation);

        public string FullLabel => PhaseLabels.WithParameters(Phase, Result.Operation);
    }

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        foreach (var group in PlannedSource.Of(series.Run).GroupBy(one => (one.Label, one.Source.Stage, one.Source.Collection)))
        {
            PlannedSource[] wasteful = [.. group.Where(one => one.IsWastefulIndex)];
            if (wasteful.MaxBy(one => one.Examined) is { } worst)
                yield return Make(series, worst, wasteful, group.Count());
        }

        foreach (IGrouping<string, Planned> group in series.Run.Phases.SelectMany(phase => phase.Operations
            .Where(result => result.Plan is not null).Select(result => new Planned(phase, result, result.Plan!))).GroupBy(one => one.Label))
        {
            if (group.LastOrDefault(one => Working(one).Select(shard => shard.Index).Distinct().Count() > 1) is { } differing
                && Differing(differing, group.Count(), Uses(series.Run, differing)) is { } finding)
                yield return finding;
        }
    }

    /// <summary>A shard that has nothing of the collection plans nothing.</summary>
    private static IEnumerable<ShardPlan> Working(Planned one) => one.Plan.ByShard.Where(shard => shard.Stages != "EOF");

    /// <summary>How often each shard used the plan's indexes in the whole run; empty where one lacks an index, or none tells.</summary>
    private static IndexUse[] Uses(StoredRun run, Planned one)
    {
        string?[] indexes = [.. Working(one).Select(shard => shard.Index).Distinct()];
        IndexUse[] uses = [.. (run.Deployment?.Collections ?? [])
            .Where(collection => one.Phase.Collection is not { } name || collection.Collection == name).Take(1)
            .SelectMany(collection => collection.Indexes).Where(use => indexes.Contains(use.Index))];
        return uses.Length == indexes.Length && Working(one).All(shard => uses.All(use => use.Operations.ContainsKey(shard.Shard)))
            ? uses : [];
    }

    /// <summary>An index that one shard lacks, or a planner that chose otherwise from what it has seen there.</summary>
    /// <param name="one">What explain said.</param>
    /// <param name="measurements">Of the operation.</param>
    /// <param name="uses">What each shard used: explain is of one query, and a shard's planner may choose again for each.</param>
    /// <returns>Null where all shards used the same index most.</returns>
    private static Finding? Differing(Planned one, int measurements, IndexUse[] uses)
    {
        ShardPlan[] working = [.. Working(one).Select(shard => uses.Length == 0 ? shard
            : shard with { Index = uses.MaxBy(use => use.Operations[shard.Shard])!.Index })];
        if (working.Select(shard => shard.Index).Distinct().Count() < 2)
            return null;
        string plans = string.Join("; ", working.GroupBy(shard => shard.Index).Select(same =>
            $"{string.Join(", ", same.Select(shard => shard.Shard))}: {same.Key ?? Words.Of("collection scan")}"));
        string at = one.Phase.Growth is { } growth && measurements > 1 ? Words.Of($" at {Units.Count(growth.Documents)} documents") : "";
        return new Finding
        {
            Id = FindingIds.PlanDiffers,
            Text = Words.Of($"{one.Label}'s plan is not the same on all shards{at} ({plans}): the slowest of them decides"),
            Operations = [one.FullLabel],
            Evidence = [new FindingEvidence(null, string.Join("; ", Working(one).Select(shard => Words.Of($"{shard.Shard}: "
                + $"{shard.Stages}, {Units.Exact(shard.KeysExamined)} keys and {Units.Exact(shard.DocumentsExamined)} documents")))),
                .. uses.Length == 0 ? [] : (FindingEvidence[])[new FindingEvidence(null, Words.Of($"used in the whole run: "
                    + $"{string.Join("; ", working.Select(shard => $"{shard.Shard}: {UsesOn(shard.Shard)}"))}"))]],
            Refute = Words.Of("name the index in a hint, and create it on shards that lack it: if the latency stays the same, the plan of "
                + "the other shards costs nothing"),
            Weight = 0.3,
        };

        string UsesOn(string shard) => string.Join(", ", uses.Select(use => $"{use.Index} {Units.Exact(use.Operations[shard])}"));
    }

    /// <param name="series">The run's.</param>
    /// <param name="worst">The plan that examines most.</param>
    /// <param name="wasteful">Those with such a plan.</param>
    /// <param name="all">Measurements.</param>
    private static Finding Make(RunSeries series, PlannedSource worst, PlannedSource[] wasteful, int all)
    {
        string at = worst.Phase.Growth is { } growth ? Words.Of($" at {Units.Count(growth.Documents)} documents") : "";
        string what = worst.Documents >= worst.Keys
            ? Words.Of($"{Units.Rate(worst.Documents)} documents")
            : Words.Of($"{Units.Rate(worst.Keys)} keys");
        string examined = worst.IsOwn ? what : Words.Of($"{what} of {worst.Source.Collection}");
        bool isSorting = worst.IsOwn && worst.Plan.Stages.Split(" > ").Any(stage => stage is "SORT" or "SORT_KEY_GENERATOR");
        string sorts = isSorting ? Words.Of(", and sorts in memory") : "";
        string purpose = worst.PurposeOf(Units.Exact(worst.Source.Served));
        OperationSeries? measured = series.Operations.FirstOrDefault(one => ReferenceEquals(one.Result, worst.Result));
        return new Finding
        {
            Id = FindingIds.PlanExamines,
            Text = Words.Of($"{worst.Name} examines {examined} {purpose}{at} though it uses index {worst.Source.Index}{sorts}"),
            Operations = [.. wasteful.Select(one => one.FullLabel).Distinct()],
            Range = measured is null ? null : series.Range(measured.Window, worst.Phase.Growth?.Documents, worst.Phase.Growth?.Documents),
            Evidence = [new FindingEvidence(null,
                Words.Of($"{worst.Plan.Stages}; {Units.Rate(worst.Keys)} keys and {Units.Rate(worst.Documents)} documents per operation; "
                    + $"as wasteful in {wasteful.Length} of {all} measurements"))],
            Cause = isSorting ? Words.Of("the index does not provide the requested sort order")
                : worst.IsLookup ? Words.Of("the index does not cover all that it matches")
                : Words.Of("the index does not cover the whole filter"),
            IsCoincidence = false,
            Refute = worst.IsLookup
                ? Words.Of("create an index on all the fields that it matches: if the rate stays the same, what is examined costs nothing")
                : Words.Of(
                    "create an index on the whole filter and then the sort: if the rate stays the same, what is examined costs nothing"),
            Weight = Math.Min(0.5, Math.Log10(worst.Examined / Math.Max(1, worst.Source.Served)) / 10),
        };
    }
}
