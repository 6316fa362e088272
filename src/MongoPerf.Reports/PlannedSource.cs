using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What an operation's plan examines of one collection, and whether that is too much.</summary>
/// <param name="Phase">In which it was measured.</param>
/// <param name="Result">Of the operation; it has a plan.</param>
/// <param name="Source">The collection.</param>
internal sealed record PlannedSource(PhaseRecord Phase, OperationResult Result, PlanSource Source)
{
    /// <summary>
    /// A scan that examines no more than so many documents for each that it returns is what a query without a condition asks for.
    /// </summary>
    private const double ScannedPerReturned = 2;

    /// <summary>Keys or documents for each that is returned, on each shard that is asked; of a $lookup for each that comes in.</summary>
    private const double Wasteful = 50;

    /// <summary>
    /// Keys or documents for each that is skipped or returned: a condition beside an index in the order of the sort passes over some.
    /// </summary>
    private const double WastefulOfNecessary = 10;
    private const double LeastExamined = 100;

    public PlanSummary Plan => Result.Plan!;

    public string Label => PhaseLabels.Of(Phase, Result.Operation);

    /// <inheritdoc cref="PhaseLabels.WithParameters"/>
    public string FullLabel => PhaseLabels.WithParameters(Phase, Result.Operation);

    public double Keys => Source.KeysExamined ?? 0;

    public double Documents => Source.DocumentsExamined ?? 0;

    public double Examined => Math.Max(Keys, Documents);

    /// <summary>It is looked into for each document that comes into the stage, and what is found there is not known.</summary>
    public bool IsLookup => Source.Stage is not (null or "$unionWith");

    /// <summary>It is the operation's own collection.</summary>
    public bool IsOwn => Source.Stage is null;

    /// <summary>A scan of a collection that examines far more than is asked for.</summary>
    public bool IsWastefulScan => Source.IsScanned && (IsLookup
        ? Documents >= Math.Max(LeastExamined, Wasteful * Source.Served)
        : Documents > ScannedPerReturned * Math.Max(1, IsOwn ? Plan.Necessary ?? Source.Served : Source.Served));

    /// <summary>An index that leaves far more to be examined than is asked for.</summary>
    public bool IsWastefulIndex => Source is { IsScanned: false, Index: not null } && Examined >= LeastExamined
        && Examined >= Wasteful * Math.Max(1, Source.Served) * (IsOwn ? Plan.Shards ?? 1 : 1)
        && Examined >= (IsOwn ? WastefulOfNecessary * (Plan.Necessary ?? 0) : 0);

    /// <summary>"to return 10": what an operation examines documents for.</summary>
    /// <param name="served">How many, such as "10" or "10 documents".</param>
    public string PurposeOf(string served) => IsLookup ? Words.Of($"for {served} that came in")
        : (IsOwn ? Plan.Stages.Split(" > ")[0] : "") switch
        {
            "UPDATE" => Words.Of($"to change {served}"),
            "DELETE" => Words.Of($"to remove {served}"),
            "COUNT" => Words.Of($"to count {served}"),
            _ => Words.Of($"to return {served}"),
        };

    /// <summary>"report's $lookup", or "report" for its own collection.</summary>
    public string Name => IsOwn ? Label : Words.Of($"{Label}'s {Source.Stage}");

    /// <summary>All of a run's plans, in the order of its phases.</summary>
    public static IEnumerable<PlannedSource> Of(StoredRun run) => run.Phases.SelectMany(phase =>
        phase.Operations.SelectMany(result => SourcesOf(result.Plan).Select(source => new PlannedSource(phase, result, source))));

    /// <summary>"Number_1", and of other collections which: "Number_1, customers _id_".</summary>
    public static string IndexesOf(PlanSummary plan) => plan.Sources.Count == 0 ? plan.Index ?? Words.Of("(none)")
        : string.Join(", ", plan.Sources.Select(source => IndexOf(source) is var index && source.Stage is null
            ? index : $"{source.Collection} {index}"));

    /// <inheritdoc cref="IndexesOf"/>
    /// <returns>As sentences have it: "no index" for none.</returns>
    public static string IndexesInWords(PlanSummary plan) =>
        plan is { Index: null, Sources.Count: 0 } ? Words.Of("no index") : IndexesOf(plan);

    /// <summary>The documents examined by the server's counters over the window, or by explain where it has none.</summary>
    public static string ExaminedText(PlanSummary? plan) => plan is null ? Units.None
        : plan.DocumentsExaminedPerOperation is { } counted ? Units.Rate(counted)
        : plan.Sources.Any(source => source.DocumentsExamined is null) ? $"≥ {Units.Rate(plan.DocumentsExamined)}"
        : Units.Rate(plan.DocumentsExamined);

    private static string IndexOf(PlanSource source) =>
        source.DocumentsExamined is null && source.Index is null ? Words.Of("(unknown)") : source.Index ?? Words.Of("(none)");

    /// <summary>Of an operation that reads one collection the server's counters know more than explain.</summary>
    private static IReadOnlyList<PlanSource> SourcesOf(PlanSummary? plan) => plan is null ? []
        : plan.Sources.Count > 0 ? plan.Sources
        :
        [
            new PlanSource("", plan.Returned)
            {
                Index = plan.Index,
                IsScanned = plan.Index is null && plan.Stages.Contains("COLLSCAN", StringComparison.Ordinal),
                KeysExamined = plan.KeysExaminedPerOperation is { } keys ? (long)Math.Round(keys) : plan.KeysExamined,
                DocumentsExamined =
                    plan.DocumentsExaminedPerOperation is { } documents ? (long)Math.Round(documents) : plan.DocumentsExamined,
            },
        ];
}
