using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Collections;

/// <summary>A collection of one server, or one that a mongos keeps on a single shard.</summary>
internal sealed class ServerAdministration(string database, string collection, LongCommands longCommands) : ICollectionAdministration
{
    public bool Exists(MongoConnection connection) => CollectionCommands.IsListed(connection, database, collection);

    public void Prepare(MongoConnection connection)
    {
    }

    public void Create(MongoConnection connection, CollectionShape shape)
    {
        // createIndexes makes the collection by the way; without indexes or with options it must be made by itself.
        if (shape.Indexes.Count == 0 || shape.Options is not null)
            CollectionCommands.Create(connection, database, collection, shape.Options);
        if (shape.Indexes.Count > 0)
            connection.RunLongCommand(database, CollectionCommands.CreateIndexes(collection, shape.Indexes));
    }

    public void Drop(MongoConnection connection) => CollectionCommands.Drop(connection, database, BsonDocument.Of(("drop", collection)));

    public long Count(MongoConnection connection) => connection.RunCommand(database, BsonDocument.Of(("count", collection))).FindInt64("n") ?? 0;

    public void TakeBack(MongoConnection connection)
    {
    }

    public BsonDocument ReadStatistics(MongoConnection connection, long documents)
    {
        // File sizes are what checkpoints have written; fsync takes one, so that sizes and documents belong together. It takes as long as
        // what is in the cache takes to write.
        longCommands.TryRun(connection, "admin", CollectionCommands.Flush);
        return longCommands.Run(connection, database, BsonDocument.Of(("collStats", collection)));
    }

    public ExaminedCounters? ReadExamined(MongoConnection connection) => CollectionCommands.ReadExamined(connection);

    /// <summary>The marker lies on the same server: its j:true write takes the journal with it, and a lost connection tells of a restart.</summary>
    public bool MakeDurable(MongoConnection connection) => false;
}

/// <summary>Commands that one server and a sharded deployment have in common.</summary>
internal static class CollectionCommands
{
    public static BsonDocument Flush { get; } = BsonDocument.Of(("fsync", 1));

    public static BsonDocument CreateIndexes(string collection, IReadOnlyList<BsonDocument> indexes) =>
        BsonDocument.Of(("createIndexes", collection), ("indexes", indexes));

    /// <summary>Counts through any router; reads the whole _id index.</summary>
    public static BsonDocument CountByScan(string collection) => BsonDocument.Of(
        ("aggregate", collection), ("pipeline", new[] { BsonDocument.Of(("$group", BsonDocument.Of(("_id", null), ("n", BsonDocument.Of(("$sum", 1)))))) }), ("cursor", BsonDocument.Empty));

    /// <summary>A collection that is there already is none the worse.</summary>
    public static void Create(MongoConnection connection, string database, string collection, BsonDocument? options)
    {
        BsonDocument reply = connection.RunUnchecked(database, BsonDocument.Of([("create", collection), .. (options ?? BsonDocument.Empty).Select(o => (o.Key, (object?)o.Value))]));
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not ServerError.NamespaceExists } error)
            throw new ServerCommandException("create", error);
    }

    /// <param name="connection">Knows the collections itself: a server, a mongos, or the database's primary shard.</param>
    /// <param name="database">Its name.</param>
    /// <param name="collection">Its name.</param>
    public static bool IsListed(MongoConnection connection, string database, string collection) =>
        connection.RunCursor(database, BsonDocument.Of(
            ("listCollections", 1), ("filter", BsonDocument.Of(("name", collection))), ("nameOnly", true), ("cursor", BsonDocument.Empty)))
            .Any(c => c.FindString("name") == collection);

    /// <summary>A collection that is not there is none the worse.</summary>
    public static void Drop(MongoConnection connection, string database, BsonDocument command)
    {
        BsonDocument reply = connection.RunUnchecked(database, command);
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not ServerError.NamespaceNotFound } error)
            throw new ServerCommandException("drop", error);
    }

    public static ExaminedCounters? ReadExamined(MongoConnection connection)
    {
        BsonDocument status = connection.RunUnchecked("admin", BsonDocument.Of(("serverStatus", 1), ("wiredTiger", 0), ("tcmalloc", 0), ("locks", 0)));
        return status.FindInt64("metrics.queryExecutor.scanned") is { } keys && status.FindInt64("metrics.queryExecutor.scannedObjects") is { } documents
            ? new ExaminedCounters(keys, documents)
            : null;
    }
}
