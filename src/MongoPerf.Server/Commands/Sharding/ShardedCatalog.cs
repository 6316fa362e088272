using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>Commands about collections and indexes, which a mongos passes on to the shards concerned and knows of itself.</summary>
internal static class ShardedCatalog
{
    public static void Create(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        CatalogCommands.Create(session, request, reply);
        NoteDatabase(session);
    }

    /// <summary>A collection that is not there is none the worse, as on mongos.</summary>
    public static void Drop(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        if (session.FindCollection(CommandSession.CollectionName(reader)) is { } collection)
        {
            CatalogCommands.Drop(session, request, reply);
            session.Router.Forget(collection.Namespace);
        }
        else
        {
            reply.Succeed();
        }
    }

    public static void DropDatabase(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (Namespaces.IsInternal(session.Database))
            throw new CommandException(20, "IllegalOperation", $"Cannot drop '{session.Database}' database");
        CatalogCommands.DropDatabase(session, request, reply);
        session.Router.Forget(null, session.Database);
    }

    public static void CreateIndexes(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var command = new BsonDocument(request.Body.ToArray());
        if (Find(session, request)?.Shards is { } map)
        {
            foreach (BsonDocument index in (command.FindDocument("indexes") ?? BsonDocument.Empty)
                .Where(one => one.Value.Type == BsonType.Document).Select(one => one.Value.ToDocument()))
                RequireUniqueByKey(map, index);
        }

        IndexCommands.CreateIndexes(session, request, reply);
        NoteDatabase(session);
        AnswerByShard(session, request, reply);
    }

    public static void DropIndexes(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        IndexCommands.DropIndexes(session, request, reply);
        AnswerByShard(session, request, reply);
    }

    /// <summary>A database comes into being with its first collection.</summary>
    public static void NoteDatabase(CommandSession session)
    {
        ShardRouter router = session.Router;
        if (!router.HasDatabase(session.Database) && CatalogCommands.InDatabase(session, session.Database).Any())
            router.AddDatabase(session.Database);
    }

    public static Collection? Find(CommandSession session, in CommandRequest request)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        return session.FindCollection(CommandSession.CollectionName(reader));
    }

    /// <summary>The numbers of the shards on which a collection is.</summary>
    public static IEnumerable<int> OwnersOf(CommandSession session, Collection collection) => collection.Shards is { } map
        ? Enumerable.Range(0, map.Owners.Length).Where(shard => map.Owners[shard])
        : [session.Router.PrimaryOf(collection.Entry.Database)];

    private static void RequireUniqueByKey(ShardMap map, BsonDocument index)
    {
        if (!index.IsTrue("unique") || index.FindDocument("key") is not { } key)
            return;
        string[] fields = [.. key.Select(field => field.Key)];
        if (fields is ["_id"] || map.Key.Fields.Select(field => field.Path.Text).SequenceEqual(fields.Take(map.Key.Fields.Count)))
            return;
        throw new CommandException(67, "CannotCreateIndex", "cannot create index with 'unique' or 'prepareUnique' option over "
            + $"{ValueText.Of(BsonType.Document, key.Bytes)} with shard key pattern "
            + ValueText.Of(BsonType.Document, map.Key.Pattern.Bytes));
    }

    /// <summary>Puts the answer that was written into <c>raw</c>, once for each shard.</summary>
    private static void AnswerByShard(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var answer = new BsonDocument(reply.Body.Written[reply.BodyStart..].ToArray());
        ShardRouter router = session.Router;
        int[] owners = Find(session, request) is { } collection ? [.. OwnersOf(session, collection)] : [];
        reply.Restart();
        reply.Body.StartDocument("raw"u8);
        foreach (int shard in owners)
            reply.Body.WriteDocument(System.Text.Encoding.UTF8.GetBytes(router.ConnectionOf(shard)), answer.Bytes);
        reply.Body.End();
        reply.Succeed();
    }
}
