using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// The zones of a collection: made for it alone, one for each shard that a range of it belongs to, and noted in its marker before they are
/// made. So whoever drops the collection knows which are ours, and takes no other from a shard.
/// </summary>
/// <param name="collection">Whose zones.</param>
/// <param name="run">Sends a command, again where a balancer at work refuses it for a moment.</param>
internal sealed class CollectionZones(ShardedCollection collection, Action<MongoConnection, ShardingCommand> run)
{
    private const string Field = "zones";

    /// <param name="router">Open.</param>
    /// <param name="key">The key by which the collection is sharded.</param>
    /// <param name="ranges">In order; each is on its shard already, or the balancer brings it there.</param>
    public void Make(MongoConnection router, ShardKey key, IReadOnlyList<ZoneRange> ranges)
    {
        string[] shards = [.. ranges.Select(range => range.Shard).Distinct().Select(place => ShardAt(place))];
        router.RunCommand(collection.Database, BsonDocument.Of(
            ("update", WireCollection.MarkerCollection),
            ("updates", new[]
            {
                BsonDocument.Of(
                    ("q", BsonDocument.Of(("_id", collection.Collection))),
                    ("u", BsonDocument.Of(("$addToSet", BsonDocument.Of((Field, BsonDocument.Of(("$each", shards)))))))),
            }),
            ("writeConcern", BsonDocument.Of(("w", "majority"), ("j", true)))));
        foreach (string shard in shards)
            run(router, collection.Commands.AddToZone(shard, ZoneOf(shard)));
        foreach (ZoneRange range in ranges)
            run(router, collection.Commands.TieRange(collection.Namespace, key.At(range.From, Bounds.Least),
                key.At(range.To, Bounds.Greatest), ZoneOf(ShardAt(range.Shard))));
    }

    /// <summary>Unties the ranges of the zones in the marker; nothing where it has none.</summary>
    /// <param name="router">Open.</param>
    /// <returns>The shards that are in these zones, for <see cref="Leave"/>.</returns>
    public IReadOnlyList<string> Untie(MongoConnection router)
    {
        string[] shards = Marker(router)?.Find(Field) is { Type: BsonType.Array } noted
            ? [.. noted.ToDocument().Select(static one => one.Value.ToString())] : [];
        if (shards.Length == 0)
            return shards;
        IReadOnlyList<BsonDocument> tied;
        using (MongoConnection config = collection.Connections.OpenConfig())
            tied = ConfigCatalogue.ZoneRanges(config, collection.Namespace);
        foreach (BsonDocument range in tied.Where(range => shards.Any(shard => ZoneOf(shard) == range.FindString("tag"))))
            run(router, collection.Commands.TieRange(
                collection.Namespace, range.FindDocument("min")!, range.FindDocument("max")!, zone: null));
        return shards;
    }

    /// <summary>Takes shards out of the collection's zones, which are then gone.</summary>
    public void Leave(MongoConnection router, IReadOnlyList<string> shards)
    {
        foreach (string shard in shards)
            run(router, collection.Commands.RemoveFromZone(shard, ZoneOf(shard)));
    }

    /// <summary>The collection was there, sharded, before its first run: its zones are its owner's.</summary>
    public bool AreForeign(MongoConnection router) => Marker(router)?.IsTrue(WireCollection.Adopted) is true;

    private BsonDocument? Marker(MongoConnection router) => WireCollection.FindMarker(router, collection.Database, collection.Collection);

    public string ShardAt(int place) => collection.Connections.Cluster.Shards[place - 1].Name;

    private string ZoneOf(string shard) => $"mongoperf {collection.Namespace} {shard}";
}
