using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>What a mongos does with updates that have to do with the shard key.</summary>
internal static class ShardWrites
{
    /// <summary>
    /// A replacement whose filter has no shard key goes to the shard of its own, and finds nothing where the document is elsewhere.
    /// </summary>
    /// <param name="map">The collection's.</param>
    /// <param name="query">Its filter is read.</param>
    /// <param name="filter">The same as the client gave it.</param>
    /// <param name="replacement">The new document, maybe without an _id.</param>
    public static void Route(ShardMap map, FindQuery query, BsonDocument filter, BsonDocument replacement)
    {
        if (ShardTargets.IsPoint(map, filter))
            return;
        BsonDocument whole = replacement.Find("_id") is null && filter.Find("_id") is { } id
            ? BsonDocument.Of([("_id", id), .. replacement.Select(field => (field.Key, (object?)field.Value))])
            : replacement;
        query.Filter.Part = new ShardPart(map, map.OwnerOf(whole.Bytes));
    }

    /// <summary>Without retryable writes and transactions, which this server does not have, a shard key stays as it is.</summary>
    /// <exception cref="CommandException">As on mongos; which one says what else the update lacks.</exception>
    public static void RequireSameKey(ShardMap map, FindQuery query, BsonDocument present, BsonDocument changed)
    {
        if (map.HaveSameKey(present.Bytes, changed.Bytes))
            return;
        if (query.Limit != 1)
            throw new CommandException(
                72, "InvalidOptions", "Multi-update operations are not allowed when updating the shard key field.");
        throw ShardTargets.IsPoint(map, query.Filter.Source is var source ? new BsonDocument(source.ToArray()) : BsonDocument.Empty)
            ? new CommandException(20, "IllegalOperation",
                "Must run update to shard key field in a multi-statement transaction or with retryWrites: true.")
            : CommandException.Location(31025, "Shard key update is not allowed without specifying the full shard key in the query");
    }
}
