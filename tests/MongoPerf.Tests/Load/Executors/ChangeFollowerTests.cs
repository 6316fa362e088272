using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Watch;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Which write each event is of, and what is missing, duplicated or out of order.</summary>
public sealed class ChangeFollowerTests
{
    private static readonly DocumentTemplate Documents = new(
        DocumentValue.Of(("_id", new SequenceValue(NumberKind.Int64, 0, 1))), 7, "users");

    private readonly KeySpace _keys = new(100);
    private readonly TrackedWrites _writes;
    private readonly ChangeFollower _follower;

    public ChangeFollowerTests()
    {
        _writes = new TrackedWrites(_keys, null, watchers: 1);
        _follower = new ChangeFollower(new WatchChanges("watch", "users", Documents) { Tracked = _writes, Fields = ["at"] });
    }

    private ChangeLog Log => _follower.Log;

    [Fact]
    public void Delay_is_from_the_acknowledgement_to_the_event()
    {
        _keys.Take(2);
        Assert.Equal((1, 2), (_writes.Take(), _writes.Take()));
        _writes.Inserts.Add(100, worker: 3, ticks: 1000);
        _writes.Updates.Add(2, worker: 4, ticks: 1005);
        Take(1100, Insert(100), Update(2));
        Assert.Equal([100, 95], Log.Delays.ToArray());
        Assert.Equal((2, 0, 0), (Log.Events, Log.Duplicated, Log.Misordered));
    }

    [Fact]
    public void Event_before_its_acknowledgement_has_no_delay_once_that_has_come()
    {
        _keys.Take();
        Take(900, Insert(100));
        Assert.Empty(Log.Delays.ToArray());
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        Take(1100);
        Assert.Equal([0], Log.Delays.ToArray());
    }

    [Fact]
    public void Documents_of_before_and_writes_of_others_are_events_without_a_delay()
    {
        _keys.Take();
        Take(1100, Insert(99), Insert(101), Insert(long.MaxValue), Update(1), Update(-5),
            BsonDocument.Of(("operationType", "delete"), ("documentKey", BsonDocument.Of(("_id", 100L)))),
            BsonDocument.Of(("operationType", "drop")), BsonDocument.Of(("operationType", "insert"), ("documentKey", 5)));
        Assert.Equal((8, 0), (Log.Events, Log.Delays.Length));
    }

    [Fact]
    public void Number_of_an_earlier_update_in_a_document_that_was_looked_up_is_not_taken_for_this_update()
    {
        _writes.Take();
        _writes.Updates.Add(1, worker: 0, ticks: 1000);
        BsonDocument document = BsonDocument.Of(("at", 1L));
        BsonDocument fields = BsonDocument.Of(("updatedFields", BsonDocument.Of(("n", 5))));
        Take(1100, Update(1), BsonDocument.Of(("operationType", "update"), ("fullDocument", document), ("updateDescription", fields)));
        Assert.Equal((2, 1, 0), (Log.Events, Log.Delays.Length, Log.Duplicated));
    }

    [Fact]
    public void Replacement_and_upsert_have_their_number_in_the_whole_document()
    {
        _writes.Take();
        _writes.Take();
        _writes.Updates.Add(1, worker: 0, ticks: 1000);
        _writes.Updates.Add(2, worker: 0, ticks: 1010);
        Take(1100, BsonDocument.Of(("operationType", "replace"), ("fullDocument", BsonDocument.Of(("at", 1L)))),
            BsonDocument.Of(("operationType", "insert"), ("fullDocument", BsonDocument.Of(("at", 2L)))));
        Assert.Equal([100, 90], Log.Delays.ToArray());
    }

    [Fact]
    public void Event_that_comes_again_is_a_duplicate_and_one_behind_a_later_write_of_its_writer_is_out_of_order()
    {
        _keys.Take(3);
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        _writes.Inserts.Add(101, worker: 0, ticks: 1010);
        _writes.Inserts.Add(102, worker: 1, ticks: 1005);
        Take(1100, Insert(101), Insert(102), Insert(100), Insert(101));
        Assert.Equal((1, 1), (Log.Duplicated, Log.Misordered));
    }

    [Fact]
    public void Documents_of_one_batch_may_come_in_any_order()
    {
        _keys.Take(2);
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        _writes.Inserts.Add(101, worker: 0, ticks: 1000);
        Take(1100, Insert(101), Insert(100));
        Assert.Equal(0, Log.Misordered);
    }

    [Theory]
    [InlineData(true, 1, 0)]
    [InlineData(false, 0, 1)]
    public void Acknowledged_write_without_an_event_is_missing_only_if_the_server_was_asked_to_the_end(
        bool isThere, int missing, int unsettled)
    {
        _keys.Take(3);
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        _writes.Inserts.Add(102, worker: 0, ticks: 1010);
        Take(1100, Insert(102));
        var clock = new Support.ManualClock();
        _follower.Drain(clock, () =>
        {
            clock.SleepUntil(clock.Now + clock.TicksPerSecond);
            return isThere ? true : throw new ConnectionFailedException(new ServerAddress("a", 1), "gone");
        });
        Assert.Equal((missing, unsettled), (Log.Missing, Log.Unsettled));
    }

    /// <summary>The worker that waits for events ends all the same when some never come.</summary>
    [Theory]
    [InlineData(3, 3, 0)]
    [InlineData(int.MaxValue, 4, 1)]
    public void Events_that_come_late_are_waited_for_but_for_four_seconds_at_most(int lastAt, int asked, int missing)
    {
        _keys.Take(2);
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        _writes.Inserts.Add(101, worker: 0, ticks: 1000);
        var clock = new Support.ManualClock();
        int times = 0;
        _follower.Drain(clock, () =>
        {
            clock.Advance(1);
            times++;
            Take(2000, times == 2 ? [Insert(100)] : times == lastAt ? [Insert(101)] : []);
            return true;
        });
        Assert.Equal((asked, missing, 0), (times, Log.Missing, Log.Unsettled));
    }

    /// <summary>A mongos tells nothing of later than its quietest shard's time. Times as MongoDB 8.0 has sent them.</summary>
    [Theory]
    [InlineData(16, 99, 16, 0, 0)]
    [InlineData(99, 10, 10, 1, 0)]
    [InlineData(99, 99, 30, 0, 1)]
    public void Events_behind_a_quiet_shard_are_waited_for_and_missing_only_when_it_has_passed_the_last_write(
        int eventAt, int passedAt, int asked, int missing, int unsettled)
    {
        _keys.Take();
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        var clock = new Support.ManualClock();
        int times = 0;
        _follower.Drain(clock, () =>
        {
            clock.Advance(1);
            times++;
            Take(2000, times == eventAt ? [Insert(100)] : []);
            _follower.Note(
                BsonDocument.Of(("_data", times >= passedAt ? "826B084DAE000000012B0429296E1404" : "826B084DA0000000022B0429296E1404"))
                    .Bytes,
                (1795706272UL << 32) + 4);
            return true;
        });
        Assert.Equal((asked, missing, unsettled), (times, Log.Missing, Log.Unsettled));
    }

    [Fact]
    public void Where_stages_may_leave_events_out_none_is_missed()
    {
        var follower = new ChangeFollower(new WatchChanges("watch", "users", Documents)
        {
            Tracked = _writes, Stages = DocumentValue.Array([DocumentValue.Of(("$match", DocumentValue.Empty))]),
        });
        _keys.Take();
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        var clock = new Support.ManualClock();
        follower.Drain(clock, () =>
        {
            clock.Advance(5);
            return true;
        });
        Assert.Equal((0, 0), (follower.Log.Missing, follower.Log.Unsettled));
    }

    [Fact]
    public void Of_more_events_without_an_acknowledgement_than_are_kept_the_oldest_are_let_go_of()
    {
        const int Kept = 4096;
        _keys.Take(Kept + 3);
        for (int i = 0; i < Kept + 3; i++)
            _follower.Take(Insert(100 + i).Bytes, 900);
        for (int i = 0; i < Kept + 3; i++)
            _writes.Inserts.Add(100 + i, worker: 0, ticks: 800 + i);
        _follower.Settle();
        Assert.Equal(Kept, Log.Delays.Length);
        // The newest are timed: the first of them was acknowledged at 803.
        Assert.Equal(97, Log.Delays[0]);
    }

    [Fact]
    public void A_write_far_behind_all_events_is_missing_as_any_other()
    {
        const int Number = 16 * AcknowledgedTimes.PageLength;
        _keys.Take(Number + 1);
        _writes.Inserts.Add(100, worker: 0, ticks: 1000);
        _writes.Inserts.Add(100 + Number, worker: 0, ticks: 1000);
        Take(1100, Insert(100));
        var clock = new Support.ManualClock();
        _follower.Drain(clock, () =>
        {
            clock.Advance(5);
            return true;
        });
        Assert.Equal(1, Log.Missing);
    }

    [Fact]
    public void Times_of_writes_are_let_go_of_when_all_their_events_have_come()
    {
        const int Length = AcknowledgedTimes.PageLength;
        _keys.Take(3 * Length);
        for (int i = 0; i < 3 * Length; i++)
        {
            _writes.Inserts.Add(100 + i, worker: 0, ticks: 1000 + i);
            Take(2_000_000, Insert(100 + i));
        }

        Assert.Equal(Length, _writes.Inserts.All().Count());
        Assert.Equal((0, 3 * Length), (Log.Duplicated, Log.Delays.Length));
        Take(2_000_000, Insert(100));
        Assert.Equal(1, Log.Duplicated);
    }

    /// <summary>Found by a review: a page that filled after the next one was kept for ever.</summary>
    [Fact]
    public void Times_are_let_go_of_also_where_an_event_comes_long_after_those_of_later_writes()
    {
        const int Length = AcknowledgedTimes.PageLength;
        _keys.Take(3 * Length);
        for (int i = 0; i < 3 * Length; i++)
            _writes.Inserts.Add(100 + i, worker: 0, ticks: 1000);
        foreach (int i in Enumerable.Range(1, (2 * Length) - 1).Append(0).Concat(Enumerable.Range(2 * Length, Length)))
            Take(2000, Insert(100 + i));
        Assert.Equal(Length, _writes.Inserts.All().Count());
        Assert.Equal((0, 3 * Length), (Log.Duplicated, Log.Delays.Length));
    }

    private void Take(long at, params BsonDocument[] events) =>
        _follower.TakeAll(BsonDocument.Of([.. events.Select((one, i) => ($"{i}", (object?)one))]).Bytes, at);

    private static BsonDocument Insert(long number) =>
        BsonDocument.Of(("operationType", "insert"), ("documentKey", BsonDocument.Of(("_id", number))));

    private static BsonDocument Update(long number) => BsonDocument.Of(("operationType", "update"),
        ("updateDescription", BsonDocument.Of(("updatedFields", BsonDocument.Of(("at", number))))));
}
