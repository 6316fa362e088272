using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>How the server runs a phase's queries: by explain, and by its counters over the phase.</summary>
/// <remarks>
/// explain goes past the plan cache, so its plan may differ from the one that the operations got; the counters do not lie.
/// </remarks>
internal sealed class QueryPlans
{
    private readonly IDataStore _data;
    private readonly Dictionary<string, PlanSummary> _plans = [];
    private readonly Operation? _counted;
    private readonly ExaminedCounters? _before;

    private QueryPlans(IDataStore data, Phase phase)
    {
        _data = data;
        foreach (Operation query in phase.Groups.SelectMany(g => g.Operations)
            .Select(o => o.Operation).Where(o => o is FindDocuments or AggregateDocuments).DistinctBy(o => o.Name))
        {
            // Explained with what it costs, one that writes would write.
            PlanSummary? plan = query.IsWrite ? null : data.Explain(query);
            if (plan is null)
                Unexplained.Add(query.Name);
            else
                _plans[query.Name] = plan;
        }

        // Over several operations the counters tell nothing of each.
        _counted = phase.Groups is [{ Operations: [var only] }] && _plans.Count == 1 ? only.Operation : null;
        _before = _counted is null ? null : data.ReadExamined(_counted);
    }

    /// <summary>Names of finds and aggregations of which there is no plan.</summary>
    public List<string> Unexplained { get; } = [];

    /// <summary>Called when the phase is about to begin.</summary>
    public static QueryPlans Explain(IDataStore data, Phase phase) => new(data, phase);

    /// <summary>Called when it is over.</summary>
    /// <param name="results">The results of the phase's operations.</param>
    /// <param name="operations">The operations that succeeded, warm-up included; 0 asks the server for nothing.</param>
    public IReadOnlyList<OperationResult> AddTo(IReadOnlyList<OperationResult> results, long operations)
    {
        ExaminedCounters? after = _before is null || operations == 0 ? null : _data.ReadExamined(_counted!);
        return [.. results.Select(result => _plans.TryGetValue(result.Operation, out PlanSummary? plan)
            ? result with { Plan = WithCounters(plan, after, operations) }
            : result)];
    }

    private PlanSummary WithCounters(PlanSummary plan, ExaminedCounters? after, long operations) =>
        // Counters begin anew with a server, and another primary has its own.
        _before is not { } from || after is not { } to || from.Servers != to.Servers || operations == 0 ? plan : plan with
        {
            KeysExaminedPerOperation = (double)(to.Keys - from.Keys) / operations,
            DocumentsExaminedPerOperation = (double)(to.Documents - from.Documents) / operations,
        };
}
