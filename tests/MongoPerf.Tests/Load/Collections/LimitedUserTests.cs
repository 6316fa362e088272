using MongoPerf.Load.Collections;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>What collections do for a user, or on a server, to whom something is refused.</summary>
public sealed class LimitedUserTests : IDisposable
{
    private static readonly CollectionMarker Marker = new(42, "0123456789abcdef", "run", 0, IsGrown: true);

    private readonly FakeMongos _mongos = new();
    private readonly List<string> _told = [];

    public LimitedUserTests() => _mongos.Documents["perf.$cmd"] = [BsonDocument.Of(("name", "docs"))];

    public void Dispose() => _mongos.Dispose();

    [Fact]
    public void An_empty_collection_that_an_administrator_has_sharded_is_used_as_it_is_and_never_dropped()
    {
        _mongos.Replies["collStats"] = _ => BsonDocument.Of(("sharded", true), ("count", 0), ("ok", 1.0));
        using (WireCollection collection = Open())
        {
            CollectionState state = collection.Inspect();
            Assert.True(state is { Exists: true, Marker: null, IsEmptySharded: true });
            collection.Create(Marker);
            Assert.DoesNotContain(_mongos.HeardNames, name => name is "shardCollection" or "enableSharding");
            Assert.Contains("\"adopted\": true", Assert.Single(_mongos.Heard, text => text.Contains("mongoperf", StringComparison.Ordinal)),
                StringComparison.Ordinal);
        }

        _mongos.Documents["perf.mongoperf"] = [BsonDocument.Of(("_id", "docs"), ("program", "mongoperf"), ("adopted", true))];
        using WireCollection again = Open();
        Assert.False(again.Drop());
        Assert.Equal(
            [
                """perf {"delete": "docs", "deletes": [{"q": {}, "limit": 0}]}""",
                """perf {"delete": "mongoperf", "deletes": [{"q": {"_id": "docs"}, "limit": 1}]}""",
            ],
            _mongos.Heard.TakeLast(2));
        Assert.DoesNotContain("drop", _mongos.HeardNames);
    }

    [Fact]
    public void An_administrators_collection_is_not_dropped_when_the_server_fails_behind_the_deletion_of_its_marker()
    {
        _mongos.Documents["perf.mongoperf"] = [BsonDocument.Of(("_id", "docs"), ("program", "mongoperf"), ("adopted", true))];
        _mongos.Replies["delete"] = command => command.FindString("delete") == "mongoperf" && _mongos.Documents.Remove("perf.mongoperf")
            ? FakeMongos.Refusal(11600, "interrupted at shutdown")
            : BsonDocument.Of(("n", 0), ("ok", 1.0));
        using WireCollection collection = Open();
        Assert.False(collection.Drop());
        Assert.Equal(2, _mongos.Heard.Count(text => text.Contains("\"delete\": \"docs\"", StringComparison.Ordinal)));
        Assert.DoesNotContain("drop", _mongos.HeardNames);
    }

    [Theory]
    [InlineData(true, true)]
    [InlineData(false, false)]
    public void One_with_documents_and_one_that_is_not_sharded_stay_somebody_elses(bool isSharded, bool hasDocuments)
    {
        _mongos.Replies["collStats"] = _ => BsonDocument.Of(("sharded", isSharded), ("ok", 1.0));
        if (hasDocuments)
            _mongos.Documents["perf.docs"] = [BsonDocument.Of(("_id", 1))];
        using WireCollection collection = Open();
        Assert.True(collection.Inspect() is { Exists: true, Marker: null, IsEmptySharded: false });
    }

    [Fact]
    public void A_server_that_does_not_tell_sizes_is_asked_and_said_so_once()
    {
        _mongos.Replies["collStats"] = _ => FakeMongos.Refusal(59, "no such command: 'collStats'");
        using WireCollection collection = Open();
        Assert.Null(collection.ReadSizes(10));
        Assert.Null(collection.ReadSizes(20));
        Assert.Equal("no sizes of perf.docs: the server does not tell them, or not to this user (collStats needs role read on perf)",
            Assert.Single(_told));
    }

    [Fact]
    public void Sizes_that_no_checkpoint_precedes_are_those_of_the_last_one()
    {
        _mongos.Replies["collStats"] = _ => BsonDocument.Of(("count", 10), ("size", 100), ("ok", 1.0));
        using WireCollection collection = Open();
        Assert.False(collection.ReadSizes(10)!.AreOfCheckpoint);
        _mongos.Replies["fsync"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command { fsync: 1 }");
        Assert.True(collection.ReadSizes(10)!.AreOfCheckpoint);
    }

    [Fact]
    public void Who_may_list_only_the_collections_that_are_his_lists_those()
    {
        List<bool> asked = [];
        _mongos.Replies["listCollections"] = command =>
        {
            asked.Add(command.IsTrue("authorizedCollections"));
            return asked[^1]
                ? Cursor(_mongos.Documents["perf.$cmd"])
                : FakeMongos.Refusal(13, "not authorized on perf to execute command { listCollections: 1 }");
        };
        using WireCollection collection = Open();
        Assert.True(collection.Inspect().Exists);
        Assert.Equal([false, true], asked);
    }

    [Fact]
    public void Who_may_not_read_markers_sees_none()
    {
        _mongos.Replies["find"] = command => command.FindString("find") == "mongoperf"
            ? FakeMongos.Refusal(13, "not authorized on perf to execute command { find: \"mongoperf\" }")
            : Cursor([]);
        using WireCollection collection = Open();
        Assert.True(collection.Inspect() is { Exists: true, Marker: null });
    }

    private static BsonDocument Cursor(IReadOnlyList<BsonDocument> batch) =>
        BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", batch), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));

    private WireCollection Open() => new(
        new CollectionAccess(() => _mongos.Address, ConnectionSettings.Default, "perf", new ManualClock(), TimeSpan.FromSeconds(10))
        {
            Notify = _told.Add,
        }, "docs", SeriesFile.Documents(), new CollectionShape([]));
}
