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
    public const string Field = "zones";

    /// <summary>In a marker: those of the shards that were in no zone of anybody else.</summary>
    public const string Untagged = "untagged";

    private const string Prefix = "mongoperf ";

    /// <param name="router">Open.</param>
    /// <param name="key">The key by which the collection is sharded.</param>
    /// <param name="ranges">In order; each is on its shard already, or the balancer brings it there.</param>
    public void Make(MongoConnection router, ShardKey key, IReadOnlyList<ZoneRange> ranges)
    {
        string[] shards = [.. ranges.Select(range => range.Shard).Distinct().Select(place => ShardAt(place))];
        string[] untagged;
        using (MongoConnection config = collection.Connections.OpenConfig())
            untagged = [.. shards.Intersect(ConfigCatalogue.ShardsOnlyIn(config, Prefix))];
        router.RunCommand(collection.Database, BsonDocument.Of(
            ("update", WireCollection.MarkerCollection),
            ("updates", new[]
            {
                BsonDocument.Of(
                    ("q", BsonDocument.Of(("_id", collection.Collection))),
                    ("u", BsonDocument.Of(("$addToSet", BsonDocument.Of(
                        (Field, BsonDocument.Of(("$each", shards))), (Untagged, BsonDocument.Of(("$each", untagged)))))))),
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
    /// <returns>Whether there are any to <see cref="Leave"/>.</returns>
    public bool Untie(MongoConnection router)
    {
        string[] shards = Noted(router, Field);
        if (shards.Length == 0)
            return false;
        IReadOnlyList<BsonDocument> tied;
        using (MongoConnection config = collection.Connections.OpenConfig())
            tied = ConfigCatalogue.ZoneRanges(config, collection.Namespace);
        foreach (BsonDocument range in tied.Where(range => shards.Any(shard => ZoneOf(shard) == range.FindString("tag"))))
            run(router, collection.Commands.TieRange(
                collection.Namespace, range.FindDocument("min")!, range.FindDocument("max")!, zone: null));
        return true;
    }

    /// <summary>Takes shards out of the zones in the marker, which are then gone.</summary>
    public void Leave(MongoConnection router)
    {
        foreach (string shard in Noted(router, Field))
            run(router, collection.Commands.RemoveFromZone(shard, ZoneOf(shard)));
        using MongoConnection config = collection.Connections.OpenConfig();
        // A cluster keeps an empty list of a shard's zones where there was none.
        foreach (string shard in Noted(router, Untagged))
            ConfigCatalogue.RemoveEmptyTags(config, shard);
    }

    /// <summary>The collection was there, sharded, before its first run: its zones are its owner's.</summary>
    public bool AreForeign(MongoConnection router) => Marker(router)?.IsTrue(WireCollection.Adopted) is true;

    private string[] Noted(MongoConnection router, string field) => Marker(router)?.Find(field) is { Type: BsonType.Array } noted
        ? [.. noted.ToDocument().Select(static one => one.Value.ToString())] : [];

    private BsonDocument? Marker(MongoConnection router) => WireCollection.FindMarker(router, collection.Database, collection.Collection);

    public string ShardAt(int place) => collection.Connections.Cluster.Shards[place - 1].Name;

    private string ZoneOf(string shard) => $"{Prefix}{collection.Namespace} {shard}";
}
