using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What is compared, in a few words: "3 shards against one mongod".</summary>
internal static class ComparisonTitle
{
    /// <summary>How sides may differ, the most telling first; of two that are alike in it the next is asked.</summary>
    private static readonly Func<ComparedSide, string?>[] Descriptions =
    [
        static side => Shape(side.First.Deployment),
        static side => side.First.DeploymentName,
        static side => side.First.Deployment is { } deployment ? Program(deployment) : null,
        static side => side.First.Settings.Engine is { Kind: EngineKind.Driver } engine
            ? Words.Of($"MongoDB.Driver {engine.Version}").TrimEnd()
            : Words.Of("MongoPerf's own client"),
        static side => Limits(side.First.Settings.Deployment),
        static side => side.First.Deployment?.Address is { } address && side.First.Settings.Deployment.Uri is not null ? address : null,
    ];

    /// <summary>The sides' names, the baseline's first, all different.</summary>
    public static IReadOnlyList<string> Names(RunComparison comparison)
    {
        ComparedSide[] sides = [.. comparison.Sides];
        foreach (Func<ComparedSide, string?> describe in Descriptions.Append(side => Parameters(side, sides)))
        {
            string?[] names = [.. sides.Select(describe)];
            if (names.All(name => !string.IsNullOrEmpty(name)) && names.Distinct(StringComparer.Ordinal).Count() == names.Length)
                return names!;
        }

        return [.. sides.Select(side => side.Id)];
    }

    /// <summary>"3 shards against one mongod"; several candidates with commas.</summary>
    public static string Of(RunComparison comparison)
    {
        IReadOnlyList<string> names = Names(comparison);
        return Words.Of($"{string.Join(", ", names.Skip(1))} against {names[0]}");
    }

    /// <summary>The result of one candidate in a sentence.</summary>
    /// <param name="name">What the candidate is called.</param>
    /// <param name="baseline">What the baseline is called.</param>
    /// <param name="candidate">What came of comparing it.</param>
    public static string Conclusion(string name, string baseline, CandidateComparison candidate)
    {
        string[] parts =
        [
            .. Part(candidate, Outcome.Slower, Words.Of("slower")), .. Part(candidate, Outcome.Faster, Words.Of("faster")),
            .. Part(candidate, Outcome.Equivalent, Words.Of("equivalent")), .. Part(candidate, Outcome.Undecided, Words.Of("undecided")),
        ];
        return Words.Of($"{name} against {baseline}: {(parts.Length > 0 ? string.Join("; ", parts) : ComparisonText.Overall(candidate))}.");
    }

    /// <summary>"slower in 3 of 5 operations (most in batch: rate 35 % slower)", "faster in q4 (p99 30 % lower)".</summary>
    private static IEnumerable<string> Part(CandidateComparison candidate, Outcome outcome, string word)
    {
        (OperationComparison Operation, MeasureComparison Measure)[] those =
            [.. candidate.Operations.Select(o => (Operation: o, Measure: Leading(o, outcome)!)).Where(o => o.Measure is not null)];
        if (those.Length == 0)
            yield break;
        string which = those.Length == candidate.Operations.Count && those.Length > 1 ? Words.Of($"in all {those.Length} operations")
            : those.Length > 3 ? Words.Of($"in {those.Length} of {candidate.Operations.Count} operations")
            : Words.Of($"in {Words.And([.. those.Select(o => candidate.TitleOf(o.Operation))])}");
        if (outcome is Outcome.Equivalent or Outcome.Undecided)
        {
            yield return Words.Of($"{word} {which}");
            yield break;
        }

        (OperationComparison operation, MeasureComparison most) = those.MaxBy(o => Math.Abs(Math.Log(o.Measure.Ratio.Value)));
        string change = most.Measure.IsRate
            ? ComparisonText.Change(most.Ratio.Value)
            : $"{ComparisonText.NameOf(operation, most.Measure)} {ComparisonText.LatencyChange(most.Ratio.Value)}";
        yield return Words.Of(
            $"{word} {which} ({(those.Length > 1 ? Words.Of($"most in {candidate.TitleOf(operation)}: ") : "")}{change})");
    }

    /// <summary>
    /// What shows most that the operation has this outcome, the rate before the latencies unless it was fixed; null where it has not.
    /// </summary>
    /// <remarks>
    /// An operation may be slower in one and faster in another. It is equivalent or undecided where it is neither in any.
    /// </remarks>
    private static MeasureComparison? Leading(OperationComparison operation, Outcome outcome)
    {
        MeasureComparison[] counted = [.. operation.Tested.Where(j => !operation.IsPaced || !j.Measure.IsRate)
            .OrderBy(j => j.Measure.IsRate ? 0 : 1)
            .ThenByDescending(j => Math.Abs(Math.Log(j.Ratio.Value))).DefaultIfEmpty(operation.Rate)];
        if (outcome is Outcome.Slower or Outcome.Faster)
            return counted.FirstOrDefault(j => j.Outcome == outcome);
        return counted[0].Outcome == outcome && !counted.Any(j => j.Outcome is Outcome.Slower or Outcome.Faster) ? counted[0] : null;
    }

    private static string? Shape(DeploymentInfo? deployment) => deployment is null ? null : WhatOf(deployment)
        + (deployment.Tls is true ? Words.Of(" over TLS") : "") + (deployment.Auth is true ? Words.Of(" with logins") : "");

    private static string WhatOf(DeploymentInfo deployment) =>
        deployment.Topology == Topology.Null ? Words.Of("the null deployment")
        : deployment.IsEmbedded ? deployment.ShardCount is { } played
            ? Words.Of($"{Words.Counted(played, "shard")} on the embedded server") : Words.Of("the embedded server")
        : deployment.OtherSystem ?? deployment.StandIn ?? deployment.Topology switch
        {
            Topology.Sharded => deployment.ShardCount is { } shards ? Words.Counted(shards, "shard") : Words.Of("a sharded cluster"),
            Topology.ReplicaSet => deployment.Members is { } members ? Words.Of($"a replica set of {members}") : Words.Of("a replica set"),
            _ => Words.Of("one mongod"),
        };

    /// <summary>The version of what imitates MongoDB is that of the MongoDB.</summary>
    private static string Program(DeploymentInfo deployment) => deployment.OtherSystem is { } system
        ? $"{system} {deployment.ServerVersion}"
        : deployment.NotMongoDb is { } other ? Words.Of(other) : $"mongod {deployment.ServerVersion}";

    private static string Limits(DeploymentSettings settings) => string.Join(", ", new[]
    {
        settings.MemoryLimitBytes is > 0 and { } memory ? Words.Of($"{Units.BinaryBytes(memory)} of memory") : null,
        settings.CacheBytes is { } cache ? Words.Of($"{Units.BinaryBytes(cache)} of cache") : null,
        settings.Cpus is { } cpus ? Words.Counted(cpus, "CPU") : null,
    }.OfType<string>().DefaultIfEmpty(Words.Of("no limits")));

    /// <summary>"threads 8": those that are not the same on all sides; null where they are, or too many differ.</summary>
    private static string? Parameters(ComparedSide side, ComparedSide[] sides)
    {
        ParameterValue[] own = [.. side.First.Settings.Plan.Parameters
            .Where(parameter => sides.Any(other => !other.First.Settings.Plan.Parameters.Contains(parameter)))];
        return own.Length is 0 or > 2 ? null : string.Join(", ", own.Select(static parameter => $"{parameter.Name} {parameter.Value}"));
    }
}
