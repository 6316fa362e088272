using System.Globalization;
using System.Text.RegularExpressions;
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

    /// <summary>How many succeeded or failed.</summary>
    public double Tried { get; init; }

    /// <summary>Of these, which share had each error code, 0 to 1; null for none.</summary>
    public IReadOnlyDictionary<int, double>? Errors { get; init; }

    /// <summary>The names of the indexes by which it reads, with commas; null for none, or unknown.</summary>
    public string? Index { get; init; }

    /// <summary>Index keys and documents that the server examined for one operation, and of how many that is the mean.</summary>
    public (double Keys, double Documents, double Count)? Examined { get; init; }
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

    /// <summary>Documents that one operation changed on average; null where no reply tells.</summary>
    public double? Modified { get; init; }

    /// <summary>How many documents it finds of all, as near to so many as may be.</summary>
    internal double Near(double documents, int? limit) => Share >= 1 ? Documents
        : Math.Clamp(documents, Documents, Math.Max(Documents, Math.Min(limit is > 0 ? limit.Value : double.MaxValue, Documents / Share)));
}

/// <summary>Compares what a run of a scenario did with what a deployment was seen doing.</summary>
public static partial class OperationComparison
{
    private const string Scan = "COLLSCAN";

    /// <summary>The share of operations by which those that find nothing may differ.</summary>
    private const double OfNothing = 0.05;

    /// <summary>The share of operations by which those with an error may differ.</summary>
    private const double OfErrors = 0.01;

    /// <summary>By which share what is examined may differ, and by how many keys or documents in any case.</summary>
    private const double OfExamined = 0.20, FewExamined = 2;

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
    /// <param name="name">What the scenario calls a path of the deployment.</param>
    public static IEnumerable<Deviation> Of(WrittenPhase phase, bool isNamed, bool areTimesJudged,
        IReadOnlyDictionary<string, MeasuredOperation> run, Func<string, string> name)
    {
        string Place(string one) => isNamed && one != phase.Name ? $"{phase.Name}: {one}" : one;
        foreach ((PhaseOperation seen, string operation) in phase.Operations)
        {
            MeasuredOperation? measured = run.TryGetValue(operation, out MeasuredOperation found) ? found : null;
            string place = Place(operation);
            double rate = seen.Count / phase.Seen.Seconds;
            // How fast a loop sends what nobody acknowledges is the client's matter.
            yield return new(place, "per second", rate, measured?.Rate,
                measured is not null && phase.Seen.Think is not null && seen.Latency is null ? null
                    : RateLimit(seen.Count, rate * measured?.Seconds ?? 0));
            if (measured is not { } own)
                continue;
            if (seen.Latency is { } latency && own.P99 is { } p99)
                yield return new(place, "p99 (µs)", latency.P99, p99,
                    areTimesJudged && seen.Count >= LeastForP99 ? Math.Max(Deviation.OfRates, latency.P99Spread) : null);
            foreach (Deviation one in OfReplies(place, seen, own).Concat(Examined(place, seen.Operation, own)))
                yield return one;
            if (seen.Operation.Plan is { } plan && own.Stages is { } stages)
            {
                yield return new(place, "scans the collection (1: yes)", Scans(plan), Scans(stages), Deviation.OfRates);
                if (IndexesOf(plan, name) is { } indexes)
                    yield return new(place, $"reads by {string.Join(" and ", indexes)} (1: yes)", 1,
                        own.Index is { } used && indexes.SetEquals(used.Split(", ")) ? 1 : 0, Deviation.OfRates);
            }
        }

        foreach ((string only, MeasuredOperation own) in run.Where(one => phase.Operations.All(seen => seen.Name != one.Key)))
            yield return OnlyInRun(Place(only), own);
    }

    /// <summary>The names of the indexes in a server's summary of a plan; null where it reads in another way.</summary>
    private static HashSet<string>? IndexesOf(string plan, Func<string, string> name)
    {
        string[] scans = plan.Split("}, ");
        if (!Array.TrueForAll(scans, scan => scan == "IDHACK" || IndexScan().IsMatch(scan)))
            return null;
        return [.. scans.Select(scan => scan == "IDHACK" ? "_id_" : Named(IndexScan().Match(scan)))];

        string Named(Match scan)
        {
            string made = string.Join('_', scan.Groups["field"].Captures.Zip(scan.Groups["kind"].Captures,
                (field, kind) => $"{name(field.Value)}_{kind.Value}"));
            return made == "_id_1" ? "_id_" : made;
        }
    }

    /// <summary>What servers examine. Where a run tells it of one operation alone, that is by chance another one.</summary>
    private static IEnumerable<Deviation> Examined(string place, LearnedOperation operation, MeasuredOperation run)
    {
        if (operation.Replies?.Examined is not { } seen || run.Examined is not var (keys, documents, count))
            yield break;
        foreach ((string what, double mean, double deviation, double own) in new[]
        {
            ("keys", seen.Keys, seen.KeysDeviation, keys), ("documents", seen.Documents, seen.DocumentsDeviation, documents),
        })
        {
            Deviation one = Deviation.OfMeans(
                place, $"{what} examined by an operation", (mean, deviation, seen.Count), (own, deviation, count), OfExamined);
            yield return one with
            {
                Chance = mean > 0 ? one.Chance + (FewExamined / mean) : own <= FewExamined ? double.PositiveInfinity : 0,
            };
        }
    }

    /// <summary>
    /// How many documents an operation finds and changes, and how often it fails; nothing where its replies don't tell.
    /// </summary>
    /// <param name="place">What deviations call it.</param>
    /// <param name="operation">What was seen.</param>
    /// <param name="run">The scenario's.</param>
    public static IEnumerable<Deviation> OfReplies(string place, PhaseOperation operation, in MeasuredOperation run) =>
        operation.Operation is not { Replies: { } seen, Kind: not ("steps" or "bulkWrite") } ? []
            : (seen.Failed < Always && run.Replies is { } replies ? Replies(place, operation.Operation, seen, replies) : [])
                .Concat(Errors(place, operation.Operation, seen, run));

    /// <summary>Inserts that failed are left out of a file: that it has fewer is told, and not judged.</summary>
    private static IEnumerable<Deviation> Errors(string place, LearnedOperation operation, ObservedReplies seen, MeasuredOperation run) =>
        run.Tried <= 0 ? [] : seen.Errors.Keys.Union(run.Errors?.Keys ?? []).Order().Select(code =>
        {
            (double share, double own) = (seen.Errors.GetValueOrDefault(code) / seen.Count, run.Errors?.GetValueOrDefault(code) ?? 0);
            Deviation one = Deviation.OfShares(place, code == 0 ? "fails without a code (%)"
                : string.Create(CultureInfo.InvariantCulture, $"fails with {code} (%)"), (share, seen.Count), (own, run.Tried), OfErrors);
            return operation.Kind is "insert" or "insertMany" && own < share ? one with { Limit = null } : one;
        });

    private static IEnumerable<Deviation> Replies(string place, LearnedOperation operation, ObservedReplies seen, MeasuredReplies run)
    {
        double succeeded = 1 - seen.Failed;
        double count = seen.Count * succeeded;
        double mean = seen.Documents / succeeded;
        Deviation documents = Deviation.OfMeans(place, "documents of an operation", (mean, seen.Deviation, count),
            (run.Near(mean, operation.Limit), seen.Deviation, run.Count), Deviation.OfSizes);
        // The same documents each time: how many of them a copy has is drawn once. Those of many values it draws for each.
        double drawn = mean > 1 && seen.Deviation * seen.Deviation < Constant * mean && mean != operation.Limit
            && operation.Kind is not ("insert" or "insertMany")
            && !operation.Values.Any(one => one.Role == ValueRole.Equal && one.Seen.Few.Count == 0)
                ? Deviation.Spread / Math.Sqrt(mean) : 0;
        yield return documents with { Chance = documents.Chance + drawn };
        if (operation is { IsMany: true, IsUpsert: false } && seen.Modified is { } changed && run is { Share: >= 1, Modified: { } own })
        {
            Deviation changes = Deviation.OfMeans(place, "documents changed by an operation", (changed / succeeded, seen.Deviation, count),
                (own, seen.Deviation, run.Count), Deviation.OfSizes);
            yield return changes with { Chance = changes.Chance + drawn };
        }

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

    /// <summary>Such as <c>IXSCAN { customer: 1, at: -1 }</c>, of which a list has no brace but at its end.</summary>
    [GeneratedRegex(@"\A(?:IXSCAN|COUNT_SCAN|DISTINCT_SCAN|EXPRESS_IXSCAN) \{ (?:(?<field>[^:{},]+): (?<kind>-?1)(?:, | ?))+\}?\z")]
    private static partial Regex IndexScan();

    private static double Scans(string plan) => plan.Contains(Scan, StringComparison.Ordinal) ? 1 : 0;
}
