using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>
/// Sizes by shard: documents and their bytes are counted by shard; files and indexes are shared by all shards, so each is told a share in
/// proportion to its bytes.
/// </summary>
internal static class ShardStatistics
{
    public static void CollStats(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (ShardedCatalog.Find(session, request) is not { } collection)
        {
            StatisticsCommands.CollStats(session, request, reply);
            return;
        }

        ShardRouter router = session.Router;
        long scale = StatisticsCommands.Scale(request.Body);
        BsonWriter body = reply.Body;
        body.WriteBoolean("sharded"u8, collection.Shards != null);
        if (collection.Shards == null)
            body.WriteString("primary"u8, router.Shards[router.PrimaryOf(session.Database)]);
        body.WriteString("ns"u8, collection.Namespace);
        StatisticsCommands.WriteStorageStats(body, collection, scale);
        body.WriteInt32("nchunks"u8, router.FindTable(collection.Namespace)?.Ranges.Length ?? 1);
        body.StartDocument("shards"u8);
        foreach (int shard in ShardedCatalog.OwnersOf(session, collection))
        {
            body.StartDocument(System.Text.Encoding.UTF8.GetBytes(router.Shards[shard]));
            body.WriteString("ns"u8, collection.Namespace);
            StatisticsCommands.WriteStorageStats(body, collection, scale, shard);
            body.WriteDouble("ok"u8, 1);
            body.End();
        }

        body.End();
        reply.Succeed();
    }

    public static void Validate(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        MaintenanceCommands.Validate(session, request, reply);
        if (ShardedCatalog.Find(session, request) is not { } collection)
            return;
        var whole = new BsonDocument(reply.Body.Written[reply.BodyStart..].ToArray());
        reply.Restart();
        reply.Body.WriteBoolean("valid"u8, whole.IsTrue("valid"));
        reply.Body.StartDocument("raw"u8);
        foreach (int shard in ShardedCatalog.OwnersOf(session, collection))
        {
            reply.Body.WriteDocument(System.Text.Encoding.UTF8.GetBytes(session.Router.Shards[shard]), BsonDocument.Of(
            [
                .. whole.Where(field => field.Key is not ("nrecords" or "keysPerIndex")).Select(field => (field.Key, (object?)field.Value)),
                ("nrecords", collection.Shards?.Counts.Documents(shard) ?? collection.DocumentCount),
            ]).Bytes);
        }

        reply.Body.End();
        reply.Succeed();
    }

    /// <summary>Pipelines that begin with $collStats, $indexStats or $shardedDataDistribution: a document for each shard.</summary>
    /// <returns>False for any other.</returns>
    public static bool TryAggregate(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var command = new BsonDocument(request.Body.ToArray());
        if (command.FindDocument("pipeline.0") is not { } first || !first.Any())
            return false;
        (string stage, BsonValue options) = first.First();
        if (stage == "$shardedDataDistribution")
        {
            CatalogCommands.WriteWholeCursor(reply.Body, $"{session.Database}.$cmd.aggregate", Distribution(session));
            reply.Succeed();
            return true;
        }

        if (stage is not ("$collStats" or "$indexStats") || ShardedCatalog.Find(session, request) is not { } collection)
            return false;
        AggregateCommand.Execute(session, request, reply, ByShard(session, collection, stage, options));
        return true;
    }

    private static BsonDocument[] ByShard(CommandSession session, Collection collection, string stage, BsonValue options)
    {
        ShardRouter router = session.Router;
        return [.. ShardedCatalog.OwnersOf(session, collection).SelectMany(shard =>
            StatisticsStages.TryRun(session, collection, collection.Namespace, [(stage, options)], shard)!
                .Select(document => BsonDocument.Of(
                    [.. document.Select(field => (field.Key, field.Key == "host" ? router.Hosts[shard] : (object?)field.Value)),
                        ("shard", router.Shards[shard])])))];
    }

    private static IEnumerable<BsonDocument> Distribution(CommandSession session)
    {
        AdministrationCommands.RequireAdmin(session, "$shardedDataDistribution");
        ShardRouter router = session.Router;
        return session.Server.Store.Collections.Where(collection => collection.Shards != null).Select(collection => BsonDocument.Of(
            ("ns", collection.Namespace), ("shards", ShardedCatalog.OwnersOf(session, collection).Select(shard => BsonDocument.Of(
                ("shardName", router.Shards[shard]), ("numOrphanedDocs", 0),
                ("numOwnedDocuments", collection.Shards!.Counts.Documents(shard)),
                ("ownedSizeBytes", collection.Shards.Counts.Bytes(shard)), ("orphanedSizeBytes", 0))).ToArray())));
    }
}
