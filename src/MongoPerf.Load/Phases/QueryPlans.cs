using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>How the server runs a phase's operations: by explain before and after it, and by its counters over the phase.</summary>
/// <remarks>
/// explain goes past the plan cache, so its plan may differ from the one that the operations got; the counters do not lie.
/// </remarks>
internal sealed class QueryPlans
{
    /// <summary>How many times as much explain must examine after the phase before that is told, and how much.</summary>
    private const int ToldTimes = 2;
    private const int LeastExamined = 100;

    private readonly IDataStore _data;

    /// <summary>Carried out before the phase, too.</summary>
    private readonly bool _beginsWithFigures;
    private readonly Dictionary<string, (Operation Operation, PlanSummary Plan)> _plans = [];
    private readonly Operation? _counted;
    private readonly ExaminedCounters? _before;

    private QueryPlans(IDataStore data, Phase phase)
    {
        _data = data;
        Operation[] all = [.. phase.Groups.SelectMany(g => g.Operations).Select(o => o.Operation).DistinctBy(o => o.Name)];
        // What a phase only reads is examined as much at its end, and is not brought into the cache before it is measured.
        _beginsWithFigures = phase.Restart == ServerRestart.None && all.Any(operation => operation.IsWrite);
        foreach (Operation operation in all.Where(IsExplainable))
        {
            if (data.Explain(operation, _beginsWithFigures) is { } plan)
                _plans[operation.Name] = (operation, plan);
            else
                Unexplained.Add(operation.Name);
        }

        // Over several operations the counters tell nothing of each.
        _counted = phase.Groups is [{ Operations: [{ Operation: var only }] }] && _plans.ContainsKey(only.Name) ? only : null;
        _before = _counted is null ? null : data.ReadExamined(_counted);
    }

    /// <summary>Names of those operations of which there should be a plan, and is none.</summary>
    public List<string> Unexplained { get; } = [];

    /// <summary>Called when the phase is about to begin.</summary>
    public static QueryPlans Explain(IDataStore data, Phase phase) => new(data, phase);

    /// <summary>Called when it is over.</summary>
    /// <param name="results">The results of the phase's operations.</param>
    /// <param name="operations">The operations that succeeded, warm-up included; 0 asks the server for nothing.</param>
    public IReadOnlyList<OperationResult> AddTo(IReadOnlyList<OperationResult> results, long operations)
    {
        ExaminedCounters? after = _before is null || operations == 0 ? null : _data.ReadExamined(_counted!);
        return [.. results.Select(result => _plans.TryGetValue(result.Operation, out var its)
            ? result with { Plan = operations > 0 ? WithCounters(AtEnd(its.Operation, its.Plan), after, operations) : AtStart(its.Plan) }
            : result)];
    }

    private static bool IsExplainable(Operation operation) => operation is FindDocuments or AggregateDocuments or CountDocuments
        or DistinctValues or UpdateDocuments or DeleteDocuments or FindAndModify;

    private PlanSummary? AtStart(PlanSummary plan) => _beginsWithFigures ? plan : null;

    private PlanSummary? AtEnd(Operation operation, PlanSummary before) =>
        _data.Explain(operation) is not { } after ? AtStart(before)
        : IsLike(after, before) && !(_beginsWithFigures && ExamineOtherwise(after, before)) ? after
        : after with { Before = before };

    private static bool ExamineOtherwise(PlanSummary one, PlanSummary other) =>
        Differ(one.DocumentsExamined, other.DocumentsExamined) || Differ(one.KeysExamined, other.KeysExamined);

    private static bool IsLike(PlanSummary one, PlanSummary other) => one.Index == other.Index && one.Stages == other.Stages;

    private static bool Differ(long one, long other) =>
        Math.Max(one, other) >= LeastExamined && Math.Max(one, other) >= ToldTimes * Math.Min(one, other);

    private PlanSummary? WithCounters(PlanSummary? plan, ExaminedCounters? after, long operations) =>
        // Counters begin anew with a server, and another primary has its own. Of what $facet looks up they count some more than once.
        plan is null || _before is not { } from || after is not { } to || from.Servers != to.Servers
            || (plan.Sources.Count > 2 && plan.Stages.Contains("$facet", StringComparison.Ordinal)) ? plan : plan with
        {
            KeysExaminedPerOperation = (double)(to.Keys - from.Keys) / operations,
            DocumentsExaminedPerOperation = (double)(to.Documents - from.Documents) / operations,
        };
}
