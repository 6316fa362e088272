using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;

namespace MongoPerf.Learning.Comparing;

/// <summary>An operation of a run.</summary>
/// <param name="Seconds">For how long it was measured.</param>
/// <param name="Rate">Operations per second.</param>
/// <param name="P99">Of its service times, in µs; null where there is none.</param>
/// <param name="Stages">The stages of its plan, such as <c>FETCH IXSCAN</c>; null where that was not asked for.</param>
public readonly record struct MeasuredOperation(double Seconds, double Rate, double? P99, string? Stages)
{
    /// <summary>What its replies said; null where no operation succeeded.</summary>
    public MeasuredReplies? Replies { get; init; }
}

/// <summary>What the replies to an operation of a run said.</summary>
/// <param name="Count">Operations that succeeded, more than 0.</param>
/// <param name="Documents">Returned, counted, matched, inserted or removed, by one operation on average.</param>
/// <param name="Nothing">The share that found or matched nothing; null where no reply tells.</param>
/// <param name="ChangedNothing">The share that matched documents and changed none; null where no reply tells.</param>
public readonly record struct MeasuredReplies(double Count, double Documents, double? Nothing, double? ChangedNothing)
{
    /// <summary>
    /// The share of the deployment's documents that were there, above 0. Below 1, an operation finds as many of all of them, or up to as
    /// many times as many as there are times as many.
    /// </summary>
    public double Share { get; init; } = 1;

    /// <summary>How many documents it finds of all, as near to so many as may be.</summary>
    internal double Near(double documents, int? limit) => Share >= 1 ? Documents
        : Math.Clamp(documents, Documents, Math.Max(Documents, Math.Min(limit is > 0 ? limit.Value : double.MaxValue, Documents / Share)));
}

/// <summary>Compares what a run of a scenario did with what a deployment was seen doing.</summary>
public static class OperationComparison
{
    private const string Scan = "COLLSCAN";

    /// <summary>The share of operations by which those that find nothing may differ.</summary>
    private const double OfNothing = 0.05;

    /// <summary>Of the variance of a Poisson distribution: numbers that differ less are practically one.</summary>
    private const double Constant = 0.05;

    /// <summary>This share of operations is practically all.</summary>
    private const double Always = 0.98;

    /// <summary>A p99 of fewer operations is one of the few slowest, and so only told.</summary>
    private const double LeastForP99 = 1000;

    /// <param name="phase">A phase of the scenario, and what the deployment did.</param>
    /// <param name="isNamed">There are several, so that deviations name the phase.</param>
    /// <param name="areTimesJudged">Clients saw them, to the microsecond, on as many documents; otherwise they are only told.</param>
    /// <param name="run">The run's operations in that phase, by name.</param>
    public static IEnumerable<Deviation> Of(WrittenPhase phase, bool isNamed, bool areTimesJudged,
        IReadOnlyDictionary<string, MeasuredOperation> run)
    {
        string Place(string operation) => isNamed && operation != phase.Name ? $"{phase.Name}: {operation}" : operation;
        foreach ((PhaseOperation seen, string name) in phase.Operations)
        {
            MeasuredOperation? measured = run.TryGetValue(name, out MeasuredOperation found) ? found : null;
            double rate = seen.Count / phase.Seen.Seconds;
            // How fast a loop sends what nobody acknowledges is the client's matter.
            yield return new(Place(name), "per second", rate, measured?.Rate,
                measured is not null && phase.Seen.Think is not null && seen.Latency is null ? null
                    : RateLimit(seen.Count, rate * measured?.Seconds ?? 0));
            if (seen.Latency is { } latency && measured is { P99: { } p99 })
                yield return new(Place(name), "p99 (µs)", latency.P99, p99,
                    areTimesJudged && seen.Count >= LeastForP99 ? Math.Max(Deviation.OfRates, latency.P99Spread) : null);
            foreach (Deviation one in measured?.Replies is { } own ? OfReplies(Place(name), seen, own) : [])
                yield return one;

            if (seen.Operation.Plan is { } plan && measured is { Stages: { } stages })
                yield return new(Place(name), "scans the collection (1: yes)", Scans(plan), Scans(stages), Deviation.OfRates);
        }

        foreach ((string name, MeasuredOperation only) in run.Where(one => phase.Operations.All(seen => seen.Name != one.Key)))
            yield return OnlyInRun(Place(name), only);
    }

    /// <summary>
    /// How many documents an operation finds, and changes; nothing where replies don't tell, or hardly one of them was without an error.
    /// </summary>
    /// <param name="place">What deviations call it.</param>
    /// <param name="operation">What was seen.</param>
    /// <param name="run">What the replies to the scenario's said.</param>
    public static IEnumerable<Deviation> OfReplies(string place, PhaseOperation operation, in MeasuredReplies run) =>
        operation.Operation is { Replies: { Failed: < Always } replies, Kind: not ("steps" or "bulkWrite") }
            ? Replies(place, operation, replies, run) : [];

    private static IEnumerable<Deviation> Replies(string place, PhaseOperation phase, ObservedReplies seen, MeasuredReplies run)
    {
        LearnedOperation operation = phase.Operation;
        double succeeded = 1 - seen.Failed;
        double count = seen.Count * succeeded;
        double mean = seen.Documents / succeeded;
        Deviation documents = Deviation.OfMeans(place, "documents of an operation", (mean, seen.Deviation, count),
            (run.Near(mean, operation.Limit), seen.Deviation, run.Count), Deviation.OfSizes);
        // The same documents each time: how many of them a copy has is drawn once. Those of many values it draws for each.
        yield return mean > 1 && seen.Deviation * seen.Deviation < Constant * mean && mean != operation.Limit
            && operation.Kind is not ("insert" or "insertMany")
            && !operation.Values.Any(one => one.Role == ValueRole.Equal && one.Seen.Few.Count == 0)
            ? documents with { Chance = documents.Chance + (Deviation.Spread / Math.Sqrt(mean)) } : documents;
        double nothing = Math.Min(1, seen.Nothing / succeeded);
        if (run.Nothing is { } none)
            yield return Deviation.OfShares(place, "finds nothing (%)", (nothing, count),
                (run.Share < 1 ? Math.Min(nothing, none) : none, run.Count), OfNothing);
        if (run is { Nothing: { } unmatched, ChangedNothing: { } unchanged } && seen.Modified is { } modified
            && operation is { Kind: "update" or "replace", IsMany: false, IsUpsert: false })
            yield return Deviation.OfShares(place, "changes a document (%)", (Math.Clamp(modified / succeeded, 0, 1), count),
                (Math.Max(0, 1 - unmatched - unchanged), run.Count), OfNothing);
    }

    /// <summary>Of operations that the deployment was not seen doing.</summary>
    /// <param name="phase">A phase of the run that stands for nothing that was seen.</param>
    /// <param name="run">Its operations, by name.</param>
    public static IEnumerable<Deviation> OnlyInRun(string phase, IReadOnlyDictionary<string, MeasuredOperation> run) =>
        run.Select(one => OnlyInRun(one.Key == phase ? phase : $"{phase}: {one.Key}", one.Value));

    private static Deviation OnlyInRun(string place, MeasuredOperation operation) =>
        new(place, "per second", null, operation.Rate, Deviation.OfRates);

    /// <summary>What both sides draw at random differs by chance: three standard deviations of that are allowed.</summary>
    /// <param name="seen">How often the deployment did it.</param>
    /// <param name="expected">How often a run of this length would.</param>
    private static double RateLimit(double seen, double expected) =>
        Math.Max(Deviation.OfRates, 3 * Math.Sqrt((1 / Math.Max(seen, 1)) + (1 / Math.Max(expected, 1))));

    private static double Scans(string plan) => plan.Contains(Scan, StringComparison.Ordinal) ? 1 : 0;
}
