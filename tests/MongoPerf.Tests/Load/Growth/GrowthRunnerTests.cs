using MongoPerf.Load.Collections;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>A whole growth without a server: what is stored, in which order, and how it continues after every kind of end.</summary>
public sealed class GrowthRunnerTests : IDisposable
{
    private const double QuerySeconds = 1;

    private static readonly IEnumerable<long> Whole = Enumerable.Range(0, 24).Select(n => (long)n);

    private GrowthHarness _series = new();

    public void Dispose() => _series.Dispose();

    [Theory]
    [InlineData("p1 p2", 2.0)]
    [InlineData("p1 p3", null)]
    public void Documents_examined_are_told_when_the_same_servers_counted_before_and_after(string after, double? perOperation)
    {
        const string Asking = GrowthHarness.Users
            + "phases:\n  - {load: users}\n  - {name: ask, count: 5, explain: true, operations: [{find: users, key: uniform}]}\n";
        using var plan = new GrowthHarness { Text = Asking };
        int reads = 0;
        plan.Data.Examined = () => reads++ == 0 ? new ExaminedCounters(100, 100, "p1 p2") : new ExaminedCounters(110, 110, after);
        Assert.True(plan.Run(_ => Scripted.Ok()));
        Assert.Equal((2, perOperation), (reads, plan.Records[^1].Operations.Single().Plan!.DocumentsExaminedPerOperation));
    }

    [Fact]
    public void The_target_is_reached_exactly_with_each_number_once()
    {
        Assert.True(_series.Run(_ => Scripted.Ok(QuerySeconds)));
        Assert.Equal((0, 0, 0), (_series.Failed, _series.Wrong, _series.Missing));
        Assert.Null(_series.Context.StopReason);
        Assert.Equal(Whole, _series.Numbers);
        Assert.Equal(0, _series.Data.Duplicates);
        Assert.Empty(_series.Data.Written);
    }

    [Fact]
    public void A_step_inserts_then_asks_then_measures_sizes_then_makes_its_checkpoint()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(["create series", "plan q4", "explain q4", "sizes series 12", "checkpoint series 12", "plan q4", "explain q4",
            "sizes series 24", "checkpoint series 24"], _series.Data.Calls);
        Assert.Equal(
            ["1 unack", "1 batch", "1 safe", "1 q4", "1 size", "2 unack", "2 batch", "2 safe", "2 q4", "2 size"], _series.Heard.Started);
        Assert.Equal([12, 24], _series.Heard.Steps.Select(s => s.Documents));
        Assert.All(_series.Heard.Steps, s => Assert.True(s.Growth == "series" && s.Phases.All(p => p.IsComplete)));
        using StoredRun stored = _series.OpenStored();
        // A step is five records.
        Assert.Equal([(5, 12L), (10, 24L)], stored.Checkpoints.Select(c => (c.Phase, c.Documents)));
        Assert.Equal([12L, 24L], stored.GrowthSteps.Select(s => Assert.Single(s.Sizes).Documents));
        Assert.Equal(Enumerable.Range(1, 10), stored.Phases.Select(p => p.Number));
    }

    [Fact]
    public void Results_are_those_of_their_ranges()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(
            [("unack", 2L, 2L), ("batch", 2L, 7L), ("safe", 3L, 3L), ("q4", 2L, 20L)],
            _series.Heard.Steps[1].Operations.Select(t => (t.Operation, t.Operations, t.Documents)));
        Assert.All(_series.Heard.Steps.SelectMany(s => s.Operations), t => Assert.Equal(1, t.OperationsPerSecond, 9));
    }

    [Fact]
    public void A_phase_that_was_not_asked_for_is_not_run_and_the_documents_come_in_batches_unmeasured()
    {
        using var series = new GrowthHarness { Phases = ["q7"] };
        Assert.True(series.Run(_ => Scripted.Ok(QuerySeconds)));
        Assert.Equal(Whole, series.Numbers);
        Assert.Equal(["batch", "q7", "batch", "q7"], series.Records.Select(r => r.Phase));
        Assert.Equal(["q7", "q7"], series.Records.SelectMany(r => r.Operations).Select(o => o.Operation));
        Assert.DoesNotContain(series.Data.Calls, call => call.StartsWith("sizes", StringComparison.Ordinal));
    }

    [Fact]
    public void Lost_unacknowledged_inserts_are_counted_and_written_again()
    {
        // The second operation of the first step is the second unacknowledged insert.
        Assert.True(_series.Run(i => Scripted.Ok(QuerySeconds) with { Arrives = i != 1 }));
        Assert.Equal(0, _series.Failed);
        Assert.Equal(Whole, _series.Numbers);
        Assert.Equal([new NumberRange(1, 2)], _series.Data.Written);
        OperationResult unack = _series.Heard.Steps[0].Operations.Single(t => t.Operation == "unack");
        Assert.Equal(new UnacknowledgedResult(2, 1, 1, 0), unack.Unacknowledged);
        Assert.Equal(1, unack.Repaired);
        // The rate is that of what arrived.
        Assert.Equal((1L, 0.5), (unack.Documents, unack.DocumentsPerSecond));
        Assert.Equal("1 of 2 documents were missing from series; writing them again, acknowledged",
            Assert.Single(_series.Heard.Troubles).Text);
    }

    [Fact]
    public void A_failed_acknowledged_insert_is_repaired_and_counted()
    {
        // Operation 4 is the first acknowledged one.
        Assert.True(_series.Run(i => i == 4 ? Scripted.Refused(1, "InternalError") : Scripted.Ok(QuerySeconds)));
        Assert.Equal(1, _series.Failed);
        Assert.Equal(Whole, _series.Numbers);
        Assert.Equal(1, _series.Heard.Steps[0].Operations.Single(t => t.Operation == "safe").Repaired);
    }

    [Fact]
    public void A_broken_insert_that_had_arrived_is_not_written_twice()
    {
        _series.Run(i => i == 4 ? Scripted.Broken() with { Arrives = true } : Scripted.Ok(QuerySeconds));
        Assert.Equal(Whole, _series.Numbers);
        Assert.Empty(_series.Data.Written);
    }

    [Fact]
    public void After_a_failed_query_everything_since_the_checkpoint_is_checked()
    {
        // The server comes back during the first step's queries (operation 7 on) without a document that it had acknowledged.
        _series.Run(i =>
        {
            if (i != 7)
                return Scripted.Ok(QuerySeconds);
            _series.Data.Lose(number => number == 5);
            return Scripted.Broken();
        });
        Assert.Equal(Whole, _series.Numbers);
        Assert.Equal([new NumberRange(5, 6)], _series.Data.Written);
    }

    [Fact]
    public void After_a_crash_while_sizes_are_read_everything_since_the_checkpoint_is_checked_before_the_next()
    {
        _series.Data.OnSizes = () =>
        {
            if (_series.Data.LostConnections++ == 0)
                _series.Data.Lose(number => number is 5 or 6);
        };
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(Whole, _series.Numbers);
        Assert.Equal([new NumberRange(5, 7)], _series.Data.Written);
    }

    [Fact]
    public void The_number_of_failures_is_told_and_never_judged()
    {
        Assert.True(_series.Run(i => i % 2 == 0 ? Scripted.Refused(1, "InternalError", seconds: QuerySeconds) : Scripted.Ok(QuerySeconds)));
        Assert.True(_series.Failed > 5);
        Assert.Equal(Whole, _series.Numbers);
    }

    [Fact]
    public void Documents_that_stay_missing_end_the_series()
    {
        _series.Data.ForgetsWrites = true;
        var e = Assert.Throws<MongoPerfException>(() => _series.Run(i => Scripted.Ok(QuerySeconds) with { Arrives = i != 0 }));
        Assert.Equal(
            (Fault.VerificationFailed, "series: documents are still missing between 0 and 1 after 5 repairs"), (e.Fault, e.Message));
        Assert.Equal(5, _series.Data.Written.Count);
    }

    [Fact]
    public void A_reason_to_stop_ends_the_series_cleanly_and_is_told()
    {
        bool full = false;
        _series.ReasonToStop = () => full ? "the disk is nearly full" : null;
        Assert.False(_series.Run(i =>
        {
            full = i == 10;
            return Scripted.Ok(QuerySeconds);
        }));
        Assert.Equal("the disk is nearly full", _series.Context.StopReason);
        Assert.InRange(_series.Numbers.Count, 12, 23);
        _series.ReasonToStop = () => null;
        CheckGoesOn("full disk");
    }

    [Fact]
    public void A_server_that_stays_away_ends_the_series_and_it_can_go_on()
    {
        var clock = _series.Clock;
        var e = Assert.Throws<ConnectionFailedException>(() => RunWithLostServer(at: 3));
        Assert.Contains("connection refused", e.Message, StringComparison.Ordinal);
        Assert.True(clock.Seconds > 60);
        CheckGoesOn("lost server");
    }

    [Fact]
    public void A_server_that_refuses_everything_ends_the_series_and_it_can_go_on()
    {
        _series.Dispose();
        _series = new GrowthHarness { Window = "100s" };
        // From the first step's query on.
        var e = Assert.Throws<ServerRefusesException>(() =>
            _series.Run(i => i < 7 ? Scripted.Ok(QuerySeconds) : Scripted.Refused(10107, "NotWritablePrimary", "not primary")));
        Assert.EndsWith("last error: not primary (code 10107 NotWritablePrimary)", e.Message, StringComparison.Ordinal);
        CheckGoesOn("refusing server");
    }

    [Theory]
    [InlineData("sizes")]
    [InlineData("checkpoint")]
    public void A_command_that_the_server_refuses_ends_the_series_and_it_can_go_on(string when)
    {
        Action refuse = () =>
            throw new ServerCommandException(when, new ServerError(13436, "NotPrimaryOrSecondary", "node is recovering", []));
        if (when == "sizes")
            _series.Data.OnSizes = refuse;
        else
            _series.Data.OnCheckpoint = refuse;
        var e = Assert.Throws<ServerCommandException>(() => _series.Run(_ => Scripted.Ok(QuerySeconds)));
        Assert.Equal($"{when}: node is recovering (code 13436 NotPrimaryOrSecondary)", e.Message);
        _series.Data.OnSizes = _series.Data.OnCheckpoint = () => { };
        CheckGoesOn(when);
    }

    [Fact]
    public void The_collection_knows_of_the_stop_while_a_series_runs()
    {
        using var stop = new CancellationTokenSource();
        CancellationToken seen = default;
        _series.Data.OnSizes = () => seen = _series.Data.Stop;
        _series.Run(_ => Scripted.Ok(QuerySeconds), stop.Token);
        Assert.Equal(stop.Token, seen);
    }

    /// <summary>Operation 1 is the last unacknowledged insert, 3 the last batch, 6 the last acknowledged one of the first step.</summary>
    [Theory]
    [InlineData(1, "unack")]
    [InlineData(3, "batch")]
    [InlineData(6, "safe")]
    public void A_write_that_was_whole_when_it_was_stopped_has_its_result(int at, string write)
    {
        using var stop = new CancellationTokenSource();
        Assert.False(_series.Run(i => StopAt(stop, i, at), stop.Token));
        Assert.Equal(write, _series.Heard.Finished[^1].Phase);
        CheckGoesOn(write);
        using StoredRun stored = _series.OpenStored();
        Assert.All(stored.GrowthSteps, s => Assert.Equal(["unack", "batch", "safe", "q4"], s.Operations.Select(t => t.Operation)));
        Assert.DoesNotContain(_series.Heard.Events, e => e.Kind == "resumed");
    }

    [Fact]
    public void A_result_that_was_lost_is_told_once()
    {
        // The last unacknowledged insert arrives, and the program dies before its result is stored; then again, a little later.
        Assert.Throws<InvalidOperationException>(() =>
            _series.Run(i => i == 1 ? Scripted.Dies() with { Arrives = true } : Scripted.Ok(QuerySeconds)));
        Assert.Throws<InvalidOperationException>(() => _series.Run(i => i == 3 ? Scripted.Dies() : Scripted.Ok(QuerySeconds)));
        CheckGoesOn("died twice");
        using StoredRun stored = _series.OpenStored();
        Assert.Equal("unack of step 1 was written, but its result was lost when the run was interrupted",
            Assert.Single(stored.Events, e => e.Kind == "resumed").Text);
    }

    /// <summary>Ctrl+C at every operation of the whole series.</summary>
    [Fact]
    public void A_series_stopped_at_any_operation_goes_on_and_ends_whole()
    {
        int all = CountOperations();
        for (int at = 0; at < all; at++)
        {
            Renew();
            using var stop = new CancellationTokenSource();
            Assert.False(_series.Run(i => StopAt(stop, i, at), stop.Token), $"stopped at operation {at}");
            CheckGoesOn($"stopped at operation {at}");
        }
    }

    /// <summary>A fault of the program at every operation, and a server that forgets what was not on disk.</summary>
    [Fact]
    public void A_series_that_died_at_any_operation_goes_on_and_ends_whole()
    {
        int all = CountOperations();
        for (int at = 0; at < all; at++)
        {
            Renew();
            Assert.Throws<InvalidOperationException>(() => _series.Run(i => i == at ? Scripted.Dies() : Scripted.Ok(QuerySeconds)));
            int salt = at;
            _series.Data.Lose(number => (number + salt) % 3 == 0);
            CheckGoesOn($"died at operation {at}");
        }
    }

    [Fact]
    public void A_series_that_is_stopped_again_and_again_ends_whole()
    {
        int executions = 0;
        bool isDone;
        do
        {
            using var stop = new CancellationTokenSource();
            int first = _series.Operations;
            isDone = _series.Run(i => StopAt(stop, i, first + 2), stop.Token);
        }
        while (!isDone && ++executions < 100);
        Assert.InRange(executions, 4, 30);
        CheckWhole("stopped again and again");
    }

    [Fact]
    public void What_was_finished_is_not_run_again()
    {
        using var series = new GrowthHarness { Phases = ["q4", "q7"] };
        using var stop = new CancellationTokenSource();
        // A step is three batches, two operations of q4 and two of q7; operation 12 is the first of the second step's q7.
        series.Run(i => StopAt(stop, i, 12), stop.Token);
        int before = series.Heard.Started.Count;
        series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(["2 q7"], series.Heard.Started.Skip(before));
        using StoredRun stored = series.OpenStored();
        Assert.All(stored.GrowthSteps, s => Assert.Equal(["q4", "q7"], s.Operations.Select(t => t.Operation)));
    }

    [Fact]
    public void A_finished_series_has_nothing_left_to_do()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        int operations = _series.Operations;
        Assert.True(_series.Run(_ => Scripted.Ok(QuerySeconds)));
        Assert.Equal(operations, _series.Operations);
    }

    private bool RunWithLostServer(int at) =>
        _series.RunWith(i => i == at ? Scripted.Broken() : Scripted.Ok(QuerySeconds), connectionsFailFrom: at);

    private int CountOperations()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        return _series.Operations;
    }

    private void Renew()
    {
        _series.Dispose();
        _series = new GrowthHarness();
    }

    private void CheckGoesOn(string what)
    {
        Assert.True(_series.Run(_ => Scripted.Ok(QuerySeconds)), what);
        CheckWhole(what);
    }

    private void CheckWhole(string what)
    {
        Assert.True(Whole.SequenceEqual(_series.Numbers), what);
        Assert.True(_series.Data.Duplicates == 0, $"{what}: {_series.Data.Duplicates} inserted twice");
        Assert.Equal(24, _series.Data.Checkpoints[^1]);
        using StoredRun stored = _series.OpenStored();
        // Every query's result once; of a write only what was finished.
        Assert.True(stored.GrowthSteps.Count == 2
            && stored.GrowthSteps.All(s => s.Operations.Count(t => t.Operation == "q4") == 1 && s.Sizes.Count == 1), what);
        Assert.True(stored.GrowthSteps.All(s => s.Operations.GroupBy(t => t.Operation).All(g => g.Count() == 1)), what);
        Assert.True(stored.Phases.All(p => p.IsComplete), what);
    }

    private static Scripted StopAt(CancellationTokenSource stop, int index, int at)
    {
        if (index == at)
            stop.Cancel();
        return Scripted.Ok(QuerySeconds);
    }
}
