using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>enableSharding, shardCollection, split, moveChunk and moveRange, as the router's admin database takes them.</summary>
internal static class ShardingAdministration
{
    private const int MostChunks = 8192;

    public static void EnableSharding(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonDocument command = Admin(session, request);
        string database = command.First().Value is { Type: BsonType.String } name ? name.ToString()
            : throw CommandFields.Mismatch("enableSharding", "enableSharding", command.First().Value.Type, "string");
        Namespaces.RequireDatabase(database, System.Text.Encoding.UTF8.GetBytes(database));
        session.Router.AddDatabase(database,
            command.FindString("primaryShard") is { } primary ? RequireShard(session, primary) : null);
        reply.Succeed();
    }

    public static void ShardCollection(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonDocument command = Admin(session, request);
        (string nameSpace, string database, string name) = NamespaceOf(command);
        ShardKey key = ParseKey(command.FindDocument("key") ?? throw CommandException.MissingField("shardCollection", "key"));
        long? wanted = command.FindInt64("numInitialChunks");
        if (wanted is < 0 or > MostChunks)
            throw CommandException.BadValue($"numInitialChunks cannot be more than {MostChunks}");
        ShardRouter router = session.Router;
        ShardTable? table = router.FindTable(nameSpace);
        if (table == null)
        {
            router.AddDatabase(database);
            Collection collection = session.Server.Store.GetOrCreate(database, name, out _)
                ?? throw CommandException.DatabaseDiffersInCase(session.Server.Store.FindOtherCase(database), database);
            if (collection.Entry.Collation != null && command.FindString("collation.locale") != "simple")
                throw CommandException.BadValue("The collection's default collation is not simple: name {locale: 'simple'} in the command");
            RequireIndex(session.Server.Store, collection, key, command.IsTrue("unique"));
            table = router.Shard(collection, key, command.IsTrue("unique"), (int?)(wanted is 0 ? null : wanted));
        }

        if (!table.Key.Pattern.Bytes.SequenceEqual(key.Pattern.Bytes))
            throw new CommandException(23, "AlreadyInitialized", $"Collection '{nameSpace}' already exists with a different shard key. "
                + $"Requested {Text(key.Pattern)} but found {Text(table.Key.Pattern)}");

        reply.Body.WriteString("collectionsharded"u8, nameSpace);
        reply.Succeed();
    }

    public static void Split(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonDocument command = Admin(session, request);
        Collection collection = RequireSharded(session, command);
        BsonDocument middle = command.FindDocument("middle")
            ?? throw CommandException.NotSupported("split by 'find' or 'bounds'; name the key with 'middle'");
        session.Router.Split(collection, middle);
        reply.Succeed();
    }

    public static void MoveChunk(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonDocument command = Admin(session, request);
        Collection collection = RequireSharded(session, command);
        int shard = RequireShard(session, command.FindString("to") ?? throw CommandException.MissingField("moveChunk", "to"));
        ShardRouter router = session.Router;
        ShardTable table = router.RequireTable(collection.Namespace);
        BsonDocument from;
        if (command.FindDocument("find") is { } find)
        {
            // The chunk is looked up by a document's values, which are not hashed.
            var key = new KeyBuffer();
            table.Key.Write(key, find.Bytes);
            from = table.Ranges[table.Find(key.Written.ToArray())].From;
        }
        else
        {
            from = command.FindDocument("bounds.0") ?? throw CommandException.BadValue("need to specify either 'find' or 'bounds'");
            BsonDocument to = command.FindDocument("bounds.1") ?? throw CommandException.BadValue("'bounds' needs two keys");
            ShardRange chunk = table.Ranges[table.Find(from)];
            if (!chunk.BeginsAt(from) || !chunk.EndsAt(to))
                throw CommandException.BadValue($"no chunk of {collection.Namespace} has the bounds {Text(from)} and {Text(to)}");
        }

        router.Move(collection, from, null, shard);
        reply.Succeed();
    }

    public static void MoveRange(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonDocument command = Admin(session, request);
        Collection collection = RequireSharded(session, command);
        int shard = RequireShard(session, command.FindString("toShard") ?? throw CommandException.MissingField("moveRange", "toShard"));
        BsonDocument from = command.FindDocument("min") ?? throw CommandException.NotSupported("moveRange without 'min'");
        session.Router.Move(collection, from, command.FindDocument("max"), shard);
        reply.Succeed();
    }

    public static BsonDocument Admin(CommandSession session, in CommandRequest request)
    {
        AdministrationCommands.RequireAdmin(session, request.NameText);
        return new BsonDocument(request.Body.ToArray());
    }

    public static int RequireShard(CommandSession session, string name)
    {
        int number = session.Router.Shards.ToList().IndexOf(name);
        return number >= 0 ? number : throw new CommandException(70, "ShardNotFound", $"Shard {name} not found");
    }

    public static (string Namespace, string Database, string Name) NamespaceOf(BsonDocument command)
    {
        string nameSpace = command.First().Value is { Type: BsonType.String } value ? value.ToString() : "";
        int dot = nameSpace.IndexOf('.', StringComparison.Ordinal);
        if (dot <= 0)
            throw CommandException.InvalidNamespace($"Invalid namespace specified '{nameSpace}'");
        string database = nameSpace[..dot], name = nameSpace[(dot + 1)..];
        Namespaces.RequireDatabase(database, System.Text.Encoding.UTF8.GetBytes(database));
        Namespaces.RequireCollection(database, System.Text.Encoding.UTF8.GetBytes(name));
        if (Namespaces.IsInternal(database))
            throw new CommandException(20, "IllegalOperation", $"can't shard collections of the {database} database");
        return (nameSpace, database, name);
    }

    private static Collection RequireSharded(CommandSession session, BsonDocument command)
    {
        (string nameSpace, _, _) = NamespaceOf(command);
        return session.Server.Store.TryFind(nameSpace, out Collection? collection) && collection.Shards != null
            ? collection
            : throw new CommandException(118, "NamespaceNotSharded", $"Namespace {nameSpace} is not sharded");
    }

    private static ShardKey ParseKey(BsonDocument pattern)
    {
        var fields = pattern.ToList();
        int hashed = fields.Count(field => field.Value.Type == BsonType.String);
        if (fields.Count == 0 || hashed > 1 || fields.Exists(field => !IsOfKey(field.Value)))
            throw CommandException.BadValue($"Shard key {Text(pattern)} can contain either 'hashed' once, or values of 1");
        foreach ((string path, _) in fields)
            ProtocolLimits.RequirePath(path);
        return hashed > 0 && fields[0].Value.Type != BsonType.String
            ? throw CommandException.NotSupported("a shard key with a hashed field that is not the first") : new ShardKey(pattern);

        static bool IsOfKey(BsonValue value) => value.Type == BsonType.String ? value.ToString() == "hashed"
            : value.IsNumber && value.ToDouble() == 1;
    }

    /// <summary>
    /// An index that begins with the fields of the key. An empty collection gets one; for a hashed field it is one of the values: this
    /// server has no hashed indexes, and needs none to route.
    /// </summary>
    private static void RequireIndex(DocumentStore store, Collection collection, ShardKey key, bool isUnique)
    {
        string[] paths = [.. key.Fields.Select(field => field.Path.Text)];
        if (isUnique && key.Fields[0].IsHashed)
            throw new CommandException(72, "InvalidOptions", "Hashed shard keys cannot be declared unique.");
        if (collection.Indexes.Select(index => index.Spec).Any(spec => spec is { IsWhole: true, Collation: null }
            && (!isUnique || spec.IsUnique) && spec.Fields.Select(field => field.Path.Text).Take(paths.Length).SequenceEqual(paths)))
            return;
        if (collection.DocumentCount > 0 && !key.Fields[0].IsHashed)
        {
            throw new CommandException(72, "InvalidOptions",
                "Please create an index that starts with the proposed shard key before sharding the collection.");
        }

        store.CreateIndex(collection, new IndexSpec(
            -1, string.Join('_', paths.Select(path => $"{path}_1")), [.. key.Fields.Select(field => new IndexField(field.Path, false))],
            isUnique));
    }

    private static string Text(BsonDocument document) => ValueText.Of(BsonType.Document, document.Bytes);
}
