using MongoPerf.Deployments.Sampling;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Deployments;

/// <summary>Events out of the entries of config.changelog.</summary>
public sealed class ChunkEventAssemblerTests
{
    private readonly ChunkEventAssembler _assembler = new();

    [VectorFact]
    public void Migrations_of_a_real_cluster_have_begin_end_and_counts()
    {
        Dictionary<string, ChunkEvent> events = [];
        foreach ((_, BsonValue entry) in RecordedChangelog().FindDocument("cursor.firstBatch")!)
        {
            foreach (ChunkEvent happened in _assembler.Add(entry.ToDocument()))
                events[happened.Id] = happened;
        }

        ChunkEvent[] migrations = [.. events.Values.OrderBy(static one => one.AtMilliseconds)];
        Assert.Equal([("s0", "s1"), ("s0", "s2")], migrations.Select(static one => (one.From, one.To!)));
        Assert.Equal([6691L, 6559L], migrations.Select(static one => one.Documents!.Value));
        Assert.Equal([6_610_708L, 6_480_292L], migrations.Select(static one => one.Bytes!.Value));
        Assert.Equal([0.251, 0.292], migrations.Select(static one => one.Seconds!.Value));
        Assert.All(migrations,
            static one => Assert.Equal((ChunkEventKind.Migration, ChunkEventOutcome.Done, null), (one.Kind, one.Outcome, one.Note)));
    }

    [Fact]
    public void A_failed_migration_says_why_in_the_first_words_that_were_logged()
    {
        Add(1, "moveChunk.start", 10, "s0");
        Add(2, "moveChunk.to", 20, "s1", ("note", "aborted"), ("errmsg", "no index"));
        Add(3, "moveChunk.error", 30, "s0");
        ChunkEvent failed = Assert.Single(Add(4, "moveChunk.from", 40, "s0", ("note", "aborted")));
        Assert.Equal((ChunkEventOutcome.Failed, "no index", 0.03), (failed.Outcome, failed.Note!, failed.Seconds!.Value));
        Assert.Equal("host-1", failed.Id);
    }

    [Fact]
    public void A_migration_whose_donor_died_ends_when_the_donor_begins_another()
    {
        Add(1, "moveChunk.start", 10, "s0");
        ChunkEvent[] events = [.. Add(2, "moveChunk.start", 5010, "s0")];
        Assert.Equal(["host-1", "host-2"], events.Select(static one => one.Id));
        Assert.Equal((ChunkEventOutcome.Failed, 5.0), (events[0].Outcome, events[0].Seconds!.Value));
        Assert.Equal(ChunkEventOutcome.Running, events[1].Outcome);
    }

    [Fact]
    public void One_that_was_committed_stays_done_though_its_last_entry_is_missing()
    {
        Add(1, "moveChunk.start", 10, "s0");
        Add(2, "moveChunk.commit", 20, "s0");
        Assert.Equal("host-3", Assert.Single(Add(3, "moveChunk.start", 30, "s0")).Id);
    }

    [Fact]
    public void Two_donors_at_once_are_two_migrations()
    {
        Add(1, "moveChunk.start", 10, "s0");
        Add(2, "moveChunk.start", 11, "s1");
        Assert.Equal("host-1", Assert.Single(Add(3, "moveChunk.from", 20, "s0", ("note", "success"))).Id);
        Assert.Equal("host-2", Assert.Single(Add(4, "moveChunk.from", 20, "s1", ("note", "success"))).Id);
    }

    [Fact]
    public void A_split_into_many_is_one_event()
    {
        ChunkEvent split = Assert.Single(Add(1, "multi-split", 10, "s0", ("number", 1), ("of", 3)));
        Assert.Equal((ChunkEventKind.Split, "s0", 0.0), (split.Kind, split.From, split.Seconds!.Value));
        Assert.Empty(Add(2, "multi-split", 10, "s0", ("number", 2), ("of", 3)));
        Assert.Equal("s7", Assert.Single(Add(3, "split", 10, "config", ("owningShard", "s7"))).From);
        Assert.Equal(ChunkEventKind.Merge, Assert.Single(Add(4, "merge", 10, "s0")).Kind);
    }

    [Fact]
    public void A_resharding_is_one_event_with_the_time_without_writes()
    {
        ChunkEvent[] told = [.. new[]
        {
            (0L, "unused", "initializing"), (100, "initializing", "preparing-to-donate"), (400, "preparing-to-donate", "cloning"),
            (5000, "cloning", "applying"), (6000, "applying", "blocking-writes"), (7500, "blocking-writes", "committing"),
            (8200, "committing", "quiesced"), (900_000, "quiesced", "done"),
        }.SelectMany((one, i) => _assembler.Add(FakeCluster.Reshard(i, one.Item1, one.Item2, one.Item3)))];
        Assert.All(told, one => Assert.Equal(("host-0", ChunkEventKind.Resharding, "c"), (one.Id, one.Kind, one.Collection!)));
        Assert.All(told[..5], one => Assert.Equal((ChunkEventOutcome.Running, null), (one.Outcome, one.EndMilliseconds)));
        // As 6.0 leaves it.
        Assert.Equal((ChunkEventOutcome.Done, 7.5, 1.5), (told[5].Outcome, told[5].Seconds!.Value, told[5].BlockedSeconds!.Value));
        Assert.All(told[6..], one =>
            Assert.Equal((ChunkEventOutcome.Done, 8.2, 2.2), (one.Outcome, one.Seconds!.Value, one.BlockedSeconds!.Value)));
    }

    [Fact]
    public void A_resharding_that_is_aborted_has_failed_and_let_writes_go_on()
    {
        _assembler.Add(FakeCluster.Reshard(1, 0, "unused", "initializing"));
        _assembler.Add(FakeCluster.Reshard(2, 1000, "applying", "blocking-writes"));
        ChunkEvent aborting = Assert.Single(_assembler.Add(FakeCluster.Reshard(3, 1500, "blocking-writes", "aborting")));
        ChunkEvent failed = Assert.Single(_assembler.Add(FakeCluster.Reshard(4, 3000, "aborting", "done")));
        Assert.Equal((ChunkEventOutcome.Failed, 1.5, 0.5), (aborting.Outcome, aborting.Seconds!.Value, aborting.BlockedSeconds!.Value));
        Assert.Equal((ChunkEventOutcome.Failed, 3.0, 0.5), (failed.Outcome, failed.Seconds!.Value, failed.BlockedSeconds!.Value));
    }

    [Fact]
    public void Buckets_belong_to_their_time_series() => Assert.Equal("c", Assert.Single(
        _assembler.Add(FakeCluster.Entry(1, "autoMerge", 10, "s0", BsonDocument.Empty, "d.system.buckets.c"))).Collection);

    [Fact]
    public void Entries_of_other_things_and_ends_without_a_beginning_tell_nothing()
    {
        Assert.Empty(Add(1, "shardCollection.end", 10, "s0"));
        Assert.Empty(Add(2, "moveChunk.from", 10, "s0", ("note", "success")));
    }

    private IReadOnlyList<ChunkEvent> Add(int id, string what, long time, string shard, params (string, object?)[] details)
    {
        string from = what == "moveChunk.to" ? "s0" : shard;
        return _assembler.Add(FakeCluster.Entry(id, what, time, shard, BsonDocument.Of([("from", from), ("to", "s1"), .. details])));
    }

    private static BsonDocument RecordedChangelog()
    {
        BsonDocument recorded =
            ExtendedJson.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, "sharding_without_mongos.json")));
        return recorded.FindDocument("exchanges")!.Select(static one => one.Value.ToDocument())
            .Single(static one => one.FindString("what") == "config server: config.changelog").FindDocument("reply")!;
    }
}
