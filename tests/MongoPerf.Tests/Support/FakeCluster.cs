using System.Collections.Concurrent;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Support;

/// <summary>A config server, shards and a router that answer what a look at a cluster asks for, in the form of mongod 6.0.</summary>
internal sealed class FakeCluster : IDisposable
{
    private static readonly byte[] Uuid = [.. Enumerable.Range(1, 16).Select(static i => (byte)i)];

    private readonly LyingServer _config = new();
    private readonly LyingServer _router = new();
    private readonly Dictionary<string, LyingServer> _shards = [];

    public FakeCluster(params string[] shards)
    {
        _config.Answer = exchange => exchange.Reply(AnswerOfConfig(CommandOf(exchange)));
        _router.Answer = exchange => exchange.Reply(AnswerOfRouter(CommandOf(exchange)));
        foreach (string shard in shards)
            StartShard(shard);
    }

    /// <summary>What the shards have: documents with orphans, orphans. A shard that is missing has nothing of the collection.</summary>
    public Dictionary<string, (long Count, long Orphans)> Parts { get; } = [];

    public Dictionary<string, long> Chunks { get; } = [];

    /// <summary>Inserts that a shard has counted.</summary>
    public Dictionary<string, long> Inserts { get; } = [];

    /// <summary>Milliseconds since a shard's process was started; an hour where it is not set.</summary>
    public Dictionary<string, long> Uptimes { get; } = [];

    /// <summary>Reads of the collection that a shard has counted.</summary>
    public Dictionary<string, long> Reads { get; } = [];

    /// <summary>Shards refuse all but serverStatus, as from 8.0 on.</summary>
    public bool HidesParts { get; set; }

    /// <summary>The shard key of every collection.</summary>
    public BsonDocument Key { get; set; } = BsonDocument.Of(("_id", "hashed"));

    /// <summary>config.changelog, the oldest first.</summary>
    public List<BsonDocument> Changelog { get; } = [];

    /// <summary>Errors that the router gives before it answers.</summary>
    public int StaleReplies { get; set; }

    /// <summary>"server command", in the order they came.</summary>
    public ConcurrentQueue<string> Asked { get; } = new();

    public ShardedCluster Cluster => new(
        RouterKind.RoutingMongod, _router.Address, _config.Address,
        [.. _shards.OrderBy(static one => one.Key).Select(static one => new ShardAddress(one.Key, one.Value.Address))]);

    public static BsonDocument Entry(
        int id, string what, long time, string shard, BsonDocument details, string ns = "d.c") => BsonDocument.Of(
            ("_id", $"host-{id}"), ("shard", shard), ("time", DateTimeOffset.FromUnixTimeMilliseconds(time).UtcDateTime), ("what", what),
            ("ns", ns), ("details", details));

    /// <summary>A state that the coordinator of a resharding logs (mongod 6.0 to 8.0).</summary>
    public static BsonDocument Reshard(int id, long time, string from, string to, string ns = "d.c") => Entry(
        id, "resharding.coordinator.transition", time, "config",
        BsonDocument.Of(("newState", to), ("oldState", from), ("namespace", ns), ("reshardingUUID", "8a01")), ns);

    public void StartShard(string shard)
    {
        var server = new LyingServer();
        server.Answer = exchange => exchange.Reply(AnswerOfShard(shard, CommandOf(exchange)));
        _shards[shard] = server;
    }

    public void StopShard(string shard) => _shards[shard].Dispose();

    public void Dispose()
    {
        _config.Dispose();
        _router.Dispose();
        foreach (LyingServer shard in _shards.Values)
            shard.Dispose();
    }

    private BsonDocument AnswerOfShard(string shard, BsonDocument command)
    {
        Asked.Enqueue($"{shard} {command.First().Key}");
        if (command.First().Key == "serverStatus")
            return BsonDocument.Of(("uptimeMillis", Uptimes.GetValueOrDefault(shard, 3_600_000)),
                ("opcounters", BsonDocument.Of(("insert", Inserts.GetValueOrDefault(shard)), ("query", 1L), ("update", 2), ("delete", 3),
                    ("getmore", 4))), ("ok", 1.0));
        if (HidesParts)
            return BsonDocument.Of(("ok", 0.0), ("errmsg", "You are connecting to a sharded cluster improperly by connecting directly to a "
                + "shard. Please connect to the cluster via a router (mongos)."), ("code", 13), ("codeName", "Unauthorized"));
        return Parts.TryGetValue(shard, out var part)
            ? Cursor([Part(null, part)])
            : BsonDocument.Of(("ok", 0.0), ("errmsg", "Collection [d.c] not found."), ("code", 26), ("codeName", "NamespaceNotFound"));
    }

    private BsonDocument AnswerOfRouter(BsonDocument command)
    {
        Asked.Enqueue($"router {command.First().Key}");
        if (StaleReplies-- > 0)
            return BsonDocument.Of(("ok", 0.0), ("errmsg", "stale"), ("code", 13388), ("codeName", "StaleConfig"));
        return Cursor(Parts.Select(part => Part(part.Key, part.Value, Reads.GetValueOrDefault(part.Key))));
    }

    private BsonDocument AnswerOfConfig(BsonDocument command)
    {
        Asked.Enqueue($"config {command.First().Value}");
        return command.First().Value.ToString() switch
        {
            "collections" => Cursor([BsonDocument.Of(("_id", "d.c"), ("key", Key), ("timestamp", 1L), ("uuid", Uuid))]),
            "chunks" when command.Find("pipeline.0.$match.uuid") is not null =>
                Cursor(Chunks.Select(static one => BsonDocument.Of(("_id", one.Key), ("chunks", one.Value)))),
            "changelog" => Cursor(Enumerable.Reverse(Changelog).Take((int)command.FindInt64("limit")!)),
            _ => BsonDocument.Of(("ok", 0.0), ("errmsg", $"not expected: {command.First().Value}"), ("code", 59)),
        };
    }

    private static BsonDocument Part(string? shard, (long Count, long Orphans) part, long reads = 0) => BsonDocument.Of(
        ("shard", shard),
        ("latencyStats", BsonDocument.Of(("reads", BsonDocument.Of(("ops", reads))), ("writes", BsonDocument.Of(("ops", 0L))))),
        ("storageStats", BsonDocument.Of(
            ("count", part.Count), ("numOrphanDocs", part.Orphans), ("size", part.Count * 1024), ("storageSize", 4096),
            ("freeStorageSize", 0), ("totalIndexSize", 8192))));

    private static BsonDocument Cursor(IEnumerable<BsonDocument> documents) => BsonDocument.Of(
        ("cursor", BsonDocument.Of(("id", 0L), ("ns", "d.c"), ("firstBatch", documents))), ("ok", 1.0));

    private static BsonDocument CommandOf(Exchange exchange) => new(OpMsg.Parse(exchange.Request).Body.ToArray());
}
