using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Execution;

/// <summary>A whole series without a server: what is stored, in which order, and how it goes on after every kind of end.</summary>
public sealed class SeriesRunnerTests : IDisposable
{
    private const double QuerySeconds = 1;

    private static readonly IEnumerable<long> Whole = Enumerable.Range(0, 24).Select(n => (long)n);

    private SeriesHarness _series = new();

    public void Dispose() => _series.Dispose();

    [Fact]
    public void The_target_is_reached_exactly_with_each_number_once()
    {
        SeriesOutcome outcome = _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(new SeriesOutcome(SeriesEnd.TargetReached, 24, null, 0, 0), outcome);
        Assert.Equal(Whole, _series.Collection.Numbers);
        Assert.Equal(0, _series.Collection.Duplicates);
        Assert.Empty(_series.Collection.Written);
    }

    [Fact]
    public void A_step_inserts_then_asks_then_measures_sizes_then_makes_its_checkpoint()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(["explain q4", "sizes 12", "checkpoint 12", "explain q4", "sizes 24", "checkpoint 24"], _series.Collection.Calls);
        Assert.Equal(["1 unack", "1 batch", "1 safe", "1 q4", "2 unack", "2 batch", "2 safe", "2 q4"], _series.Heard.Started.Select(s => string.Join(' ', s.Split(' ').Take(2))));
        Assert.Equal([12, 24], _series.Heard.Steps.Select(s => s.Documents));
        Assert.All(_series.Heard.Steps, s => Assert.True(s.Complete));
        using StoredRun stored = _series.OpenStored();
        Assert.Equal([(1, 12L), (2, 24L)], stored.Checkpoints.Where(c => c.Step > 0).Select(c => (c.Step, c.Documents)));
        Assert.Equal([12L, 24L], stored.Steps.Select(s => s.Sizes!.Documents));
    }

    [Fact]
    public void Results_are_those_of_their_ranges()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(
            [("unack", 2L, 2L), ("batch", 2L, 8L), ("safe", 2L, 2L), ("q4", 2L, 20L)],
            _series.Heard.Steps[1].Tests.Select(t => (t.Test, t.Operations, t.Documents)));
        Assert.All(_series.Heard.Steps.SelectMany(s => s.Tests), t => Assert.Equal(1, t.OperationsPerSecond, 9));
    }

    [Fact]
    public void A_test_that_was_not_asked_for_is_not_run_and_its_documents_come_in_batches()
    {
        using var series = new SeriesHarness { Settings = _series.Settings with { Tests = ["q7"] } };
        Assert.Equal(SeriesEnd.TargetReached, series.Run(_ => Scripted.Ok(QuerySeconds)).End);
        Assert.Equal(Whole, series.Collection.Numbers);
        Assert.Equal(["q7", "q7"], series.Heard.Finished.Select(t => t.Test));
        Assert.DoesNotContain(series.Collection.Calls, call => call.StartsWith("sizes", StringComparison.Ordinal));
    }

    [Fact]
    public void Lost_unacknowledged_inserts_are_counted_and_written_again()
    {
        // The second operation of the first step is the second unacknowledged insert.
        SeriesOutcome outcome = _series.Run(i => Scripted.Ok(QuerySeconds) with { Arrives = i != 1 });
        Assert.Equal(SeriesEnd.TargetReached, outcome.End);
        Assert.Equal(0, outcome.Failed);
        Assert.Equal(Whole, _series.Collection.Numbers);
        Assert.Equal([new NumberRange(1, 2)], _series.Collection.Written);
        TestResult unack = _series.Heard.Steps[0].Tests.Single(t => t.Test == "unack");
        Assert.Equal(new UnacknowledgedResult(2, 1, 1, 0), unack.Unacknowledged);
        Assert.Equal(1, unack.Repaired);
        // The rate is that of what arrived.
        Assert.Equal((1L, 0.5), (unack.Documents, unack.DocumentsPerSecond));
        Assert.Equal("1 of 2 documents were missing and are written again, acknowledged", Assert.Single(_series.Heard.Events).Text);
    }

    [Fact]
    public void A_failed_acknowledged_insert_is_repaired_and_counted()
    {
        // Operation 4 is the first acknowledged one.
        SeriesOutcome outcome = _series.Run(i => i == 4 ? Scripted.Refused(1, "InternalError") : Scripted.Ok(QuerySeconds));
        Assert.Equal(new SeriesOutcome(SeriesEnd.TargetReached, 24, null, 1, 0), outcome);
        Assert.Equal(Whole, _series.Collection.Numbers);
        Assert.Equal(1, _series.Heard.Steps[0].Tests.Single(t => t.Test == "safe").Repaired);
    }

    [Fact]
    public void A_broken_insert_that_had_arrived_is_not_written_twice()
    {
        _series.Run(i => i == 4 ? Scripted.Broken() with { Arrives = true } : Scripted.Ok(QuerySeconds));
        Assert.Equal(Whole, _series.Collection.Numbers);
        Assert.Empty(_series.Collection.Written);
    }

    [Fact]
    public void After_a_failed_query_everything_since_the_checkpoint_is_checked()
    {
        // The server comes back during the first step's queries (operation 6 on) without a document that it had acknowledged.
        _series.Run(i =>
        {
            if (i != 6)
                return Scripted.Ok(QuerySeconds);
            _series.Collection.Lose(number => number == 5);
            return Scripted.Broken();
        });
        Assert.Equal(Whole, _series.Collection.Numbers);
        Assert.Equal([new NumberRange(5, 6)], _series.Collection.Written);
    }

    [Fact]
    public void After_a_crash_while_sizes_are_read_everything_since_the_checkpoint_is_checked_before_the_next()
    {
        _series.Collection.OnSizes = () =>
        {
            if (_series.Collection.LostConnections++ == 0)
                _series.Collection.Lose(number => number is 5 or 6);
        };
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(Whole, _series.Collection.Numbers);
        Assert.Equal([new NumberRange(5, 7)], _series.Collection.Written);
    }

    [Fact]
    public void The_number_of_failures_is_told_and_never_judged()
    {
        using var series = new SeriesHarness { Settings = _series.Settings with { MaxErrors = 0 } };
        SeriesOutcome outcome = series.Run(i => i % 2 == 0 ? Scripted.Refused(1, "InternalError", seconds: QuerySeconds) : Scripted.Ok(QuerySeconds));
        Assert.Equal(SeriesEnd.TargetReached, outcome.End);
        Assert.True(outcome.Failed > 5);
        Assert.Equal(Whole, series.Collection.Numbers);
    }

    [Fact]
    public void Documents_that_stay_missing_end_the_series()
    {
        _series.Collection.ForgetsWrites = true;
        var e = Assert.Throws<MissingDocumentsException>(() => _series.Run(i => Scripted.Ok(QuerySeconds) with { Arrives = i != 0 }));
        Assert.Equal("documents 0 to 1 are still not all there after 5 repairs", e.Message);
        Assert.Equal(5, _series.Collection.Written.Count);
    }

    [Fact]
    public void A_reason_to_stop_ends_the_series_cleanly_and_is_told()
    {
        bool full = false;
        _series.ReasonToStop = () => full ? "the disk is nearly full" : null;
        SeriesOutcome outcome = _series.Run(i =>
        {
            full = i == 9;
            return Scripted.Ok(QuerySeconds);
        });
        Assert.Equal((SeriesEnd.Stopped, "the disk is nearly full"), (outcome.End, outcome.Why));
        Assert.InRange(outcome.Documents, 12, 23);
    }

    [Fact]
    public void A_server_that_stays_away_ends_the_series_and_it_can_go_on()
    {
        var clock = _series.Clock;
        SeriesOutcome outcome = RunWithLostServer(at: 3);
        Assert.Equal(SeriesEnd.ServerLost, outcome.End);
        Assert.Contains("connection refused", outcome.Why, StringComparison.Ordinal);
        Assert.True(clock.Seconds > 60);
        CheckGoesOn("lost server");
    }

    [Fact]
    public void A_server_that_refuses_everything_ends_the_series_and_it_can_go_on()
    {
        SeriesSettings patient = _series.Settings with { WindowSeconds = 100 };
        _series.Dispose();
        _series = new SeriesHarness { Settings = patient };
        // From the first step's query on.
        SeriesOutcome outcome = _series.Run(i => i < 6 ? Scripted.Ok(QuerySeconds) : Scripted.Refused(10107, "NotWritablePrimary", "not primary"));
        Assert.Equal(SeriesEnd.ServerLost, outcome.End);
        Assert.EndsWith("the last one with: not primary (code 10107 NotWritablePrimary)", outcome.Why, StringComparison.Ordinal);
        CheckGoesOn("refusing server");
    }

    [Theory]
    [InlineData("sizes")]
    [InlineData("checkpoint")]
    public void A_command_that_the_server_refuses_ends_the_series_and_it_can_go_on(string when)
    {
        Action refuse = () => throw new ServerCommandException(when, new ServerError(13436, "NotPrimaryOrSecondary", "node is recovering", []));
        if (when == "sizes")
            _series.Collection.OnSizes = refuse;
        else
            _series.Collection.OnCheckpoint = refuse;
        SeriesOutcome outcome = _series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal((SeriesEnd.ServerLost, $"{when}: node is recovering (code 13436 NotPrimaryOrSecondary)"), (outcome.End, outcome.Why));
        _series.Collection.OnSizes = _series.Collection.OnCheckpoint = () => { };
        CheckGoesOn(when);
    }

    [Fact]
    public void The_collection_knows_of_the_stop_while_a_series_runs()
    {
        using var stop = new CancellationTokenSource();
        CancellationToken seen = default;
        _series.Collection.OnSizes = () => seen = _series.Collection.Stop;
        _series.Run(_ => Scripted.Ok(QuerySeconds), stop.Token);
        Assert.Equal(stop.Token, seen);
        Assert.Equal(default, _series.Collection.Stop);
    }

    /// <summary>Operation 1 is the last unacknowledged insert, 3 the last batch, 5 the last acknowledged one of the first step.</summary>
    [Theory]
    [InlineData(1, "unack")]
    [InlineData(3, "batch")]
    [InlineData(5, "safe")]
    public void An_insert_test_that_was_whole_when_it_was_stopped_has_its_result(int at, string test)
    {
        using var stop = new CancellationTokenSource();
        SeriesOutcome outcome = _series.Run(i => StopAt(stop, i, at), stop.Token);
        Assert.Equal(SeriesEnd.Interrupted, outcome.End);
        Assert.Equal(test, _series.Heard.Finished[^1].Test);
        CheckGoesOn(test);
        using StoredRun stored = _series.OpenStored();
        Assert.All(stored.Steps, s => Assert.Equal(["unack", "batch", "safe", "q4"], s.Tests.Select(t => t.Test)));
        Assert.DoesNotContain(_series.Heard.Events, e => e.Kind == "resumed");
    }

    [Fact]
    public void A_result_that_was_lost_is_told_once()
    {
        // The last unacknowledged insert arrives, and the program dies before its result is stored; then again, a little later.
        Assert.Throws<InvalidOperationException>(() => _series.Run(i => i == 1 ? Scripted.Dies() with { Arrives = true } : Scripted.Ok(QuerySeconds)));
        Assert.Throws<InvalidOperationException>(() => _series.Run(i => i == 3 ? Scripted.Dies() : Scripted.Ok(QuerySeconds)));
        CheckGoesOn("died twice");
        using StoredRun stored = _series.OpenStored();
        Assert.Equal("unack of step 1 was written but its result was lost when the run broke off", Assert.Single(stored.Events, e => e.Kind == "resumed").Text);
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
            SeriesOutcome outcome = _series.Run(i => StopAt(stop, i, at), stop.Token);
            Assert.True(outcome is { End: SeriesEnd.Interrupted, Why: "interrupted" }, $"stopped at operation {at}: {outcome}");
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
            _series.Collection.Lose(number => (number + salt) % 3 == 0);
            CheckGoesOn($"died at operation {at}");
        }
    }

    [Fact]
    public void A_series_that_is_stopped_again_and_again_ends_whole()
    {
        int executions = 0;
        SeriesOutcome outcome;
        do
        {
            using var stop = new CancellationTokenSource();
            int first = _series.Operations;
            outcome = _series.Run(i => StopAt(stop, i, first + 2), stop.Token);
        }
        while (outcome.End != SeriesEnd.TargetReached && ++executions < 100);
        Assert.InRange(executions, 4, 30);
        CheckWhole("stopped again and again");
    }

    [Fact]
    public void What_was_finished_is_not_run_again()
    {
        using var series = new SeriesHarness { Settings = _series.Settings with { Tests = ["q4", "q7"] } };
        using var stop = new CancellationTokenSource();
        // A step is three batches, two operations of q4 and two of q7; operation 12 is the first of the second step's q7.
        series.Run(i => StopAt(stop, i, 12), stop.Token);
        int before = series.Heard.Started.Count;
        series.Run(_ => Scripted.Ok(QuerySeconds));
        Assert.Equal(["2 q7"], series.Heard.Started.Skip(before));
        using StoredRun stored = series.OpenStored();
        Assert.All(stored.Steps, s => Assert.Equal(["q4", "q7"], s.Tests.Select(t => t.Test)));
    }

    [Fact]
    public void A_finished_series_has_nothing_left_to_do()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        int operations = _series.Operations;
        Assert.Equal(SeriesEnd.TargetReached, _series.Run(_ => Scripted.Ok(QuerySeconds)).End);
        Assert.Equal(operations, _series.Operations);
    }

    private SeriesOutcome RunWithLostServer(int at) =>
        _series.RunWith(i => i == at ? Scripted.Broken() : Scripted.Ok(QuerySeconds), connectionsFailFrom: at);

    private int CountOperations()
    {
        _series.Run(_ => Scripted.Ok(QuerySeconds));
        return _series.Operations;
    }

    private void Renew()
    {
        _series.Dispose();
        _series = new SeriesHarness();
    }

    private void CheckGoesOn(string what)
    {
        Assert.True(_series.Run(_ => Scripted.Ok(QuerySeconds)).End == SeriesEnd.TargetReached, what);
        CheckWhole(what);
    }

    private void CheckWhole(string what)
    {
        Assert.True(Whole.SequenceEqual(_series.Collection.Numbers), what);
        Assert.True(_series.Collection.Duplicates == 0, $"{what}: {_series.Collection.Duplicates} inserted twice");
        Assert.Equal(24, _series.Collection.Checkpoints[^1]);
        using StoredRun stored = _series.OpenStored();
        // Every query result once; of an insert test only what was finished.
        Assert.True(stored.Steps.Count == 2 && stored.Steps.All(s => s.Tests.Count(t => t.Test == "q4") == 1 && s.Sizes is not null), what);
        Assert.True(stored.Steps.All(s => s.Tests.GroupBy(t => t.Test).All(g => g.Count() == 1)), what);
    }

    private static Scripted StopAt(CancellationTokenSource stop, int index, int at)
    {
        if (index == at)
            stop.Cancel();
        return Scripted.Ok(QuerySeconds);
    }
}
