using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>Runs a query test and puts beside it how the server runs the query: by explain, and by its counters over the window.</summary>
/// <remarks>explain goes past the plan cache, so its plan may differ from the one that the operations got; the counters do not lie.</remarks>
public sealed class QueryTest(TestRunner tests, ISeriesCollection collection)
{
    /// <inheritdoc cref="TestRunner.Run"/>
    public TestOutcome Run(int step, PhasePlan plan, Func<bool> mayGoOn, CancellationToken stop)
    {
        PlanSummary? explained = collection.Explain((FindSpecification)plan.Operation);
        ExaminedCounters? before = collection.ReadExamined();
        TestOutcome outcome = tests.Run(step, plan, mayGoOn, stop);
        ExaminedCounters? after = outcome.Phase.GivenUp is null ? collection.ReadExamined() : null;
        return outcome with { Result = outcome.Result with { Plan = WithCounters(explained, before, after, outcome.Phase.Accounting.Succeeded) } };
    }

    private static PlanSummary? WithCounters(PlanSummary? plan, ExaminedCounters? before, ExaminedCounters? after, long operations)
    {
        if (plan is null || before is not { } from || after is not { } to || operations == 0)
            return plan;
        return plan with
        {
            KeysExaminedPerOperation = (double)(to.Keys - from.Keys) / operations,
            DocumentsExaminedPerOperation = (double)(to.Documents - from.Documents) / operations,
        };
    }
}
