using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Execution;

/// <summary>How the result of an insert test follows from what was sent and what is there.</summary>
public sealed class InsertTestTests : PhaseTest, IDisposable
{
    private readonly MemoryCollection _collection = new();
    private readonly List<RunEvent> _events = [];

    public void Dispose() => _collection.Dispose();

    [Fact]
    public void Acknowledged_inserts_without_failures_are_not_read_back()
    {
        TestResult result = Settle("safe", 10, _ => Scripted.Ok() with { Arrives = false });
        Assert.Equal(0, result.Repaired);
        Assert.Empty(_collection.Numbers);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    [InlineData(100)]
    public void Unacknowledged_inserts_are_counted_by_what_arrived(int lost)
    {
        TestResult result = Settle("unack", 100, i => Scripted.Ok() with { Arrives = i >= lost });
        Assert.Equal((100, 100 - lost, lost), (result.Unacknowledged!.Sent, result.Unacknowledged.Arrived, result.Unacknowledged.Lost));
        Assert.Equal(lost, result.Repaired);
        Assert.Equal((100 - lost) / 0.1, result.DocumentsPerSecond, 6);
        Assert.Equal((100 - lost) / 0.1 * 1024 / 1e6, result.MegabytesPerSecond, 6);
        Assert.Equal(100, _collection.Numbers.Count);
        Assert.Equal(lost == 0 ? 0 : 1, _events.Count);
    }

    [Fact]
    public void What_was_never_sent_is_repaired_but_not_lost()
    {
        // 5 sends break before anything leaves, 2 that are sent do not arrive.
        TestResult result = Settle("unack", 100, i => i % 20 == 0 ? Scripted.Broken() : Scripted.Ok() with { Arrives = i is not (7 or 8) });
        Assert.Equal((95, 93, 2), (result.Unacknowledged!.Sent, result.Unacknowledged.Arrived, result.Unacknowledged.Lost));
        Assert.Equal(7, result.Repaired);
        Assert.Equal(100, _collection.Numbers.Count);
    }

    [Fact]
    public void The_fence_is_part_of_the_rate_of_unacknowledged_inserts()
    {
        TestResult result = Settle("unack", 100, _ => Scripted.Ok(), fenceSeconds: 0.3);
        Assert.Equal(0.3, result.Unacknowledged!.DrainSeconds);
        Assert.Equal(250, result.DocumentsPerSecond, 6);
    }

    [Fact]
    public void A_repair_writes_only_the_holes()
    {
        foreach (long number in new long[] { 0, 1, 4, 9 })
            _collection.Insert(number);
        Assert.Equal(6, Test().Repair(new NumberRange(0, 10)));
        Assert.Equal([new NumberRange(2, 4), new NumberRange(5, 9)], _collection.Written);
        Assert.Equal(0, Test().Repair(new NumberRange(0, 10)));
    }

    [Fact]
    public void A_repair_looks_again_and_gives_up_after_five_rounds()
    {
        _collection.ForgetsWrites = true;
        var e = Assert.Throws<MissingDocumentsException>(() => Test().Repair(new NumberRange(1000, 1003)));
        Assert.Equal("documents 1,000 to 1,002 are still not all there after 5 repairs", e.Message);
        Assert.Equal(5, _collection.Written.Count);
        Assert.Single(_events);
    }

    private TestResult Settle(string test, long documents, Func<int, Scripted> script, double fenceSeconds = 0)
    {
        var phases = new PhaseRunner(Clock, () => new ScriptedExecutor(Clock, script) { Store = _collection.Insert, CompleteSeconds = fenceSeconds });
        PhasePlan plan = Inserts(test, documents);
        TestOutcome outcome = new TestRunner(Clock, phases, null, new SeriesHarness.Listener()).Run(1, plan, () => true, default);
        return Test().Settle(outcome, (InsertSpecification)plan.Operation, new NumberRange(0, documents));
    }

    private InsertTest Test() => new(Clock, _collection, _events.Add);
}
