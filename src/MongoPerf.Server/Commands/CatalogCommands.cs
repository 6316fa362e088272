using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Making, dropping and listing of collections and databases.</summary>
internal static class CatalogCommands
{
    public static void Create(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        Storage.Keys.Collation? collation = null;
        while (reader.Read())
        {
            bool isOff = reader.Type == BsonType.Boolean && !reader.Boolean;
            if (reader.NameIs("collation"u8))
            {
                var value = new BsonValue(reader.Type, reader.Value.ToArray());
                if (value.Type == BsonType.Document && !value.ToDocument().Any())
                    throw CommandException.MissingField("create.collation", "locale");
                collation = CollationOption.Parse(value).Given;
                continue;
            }

            if (!isOff && !GenericFields.Contains(reader.Name) && !reader.NameIs("autoIndexId"u8) && !reader.NameIs("idIndex"u8))
                throw CommandException.NotSupported($"the option '{reader.NameText}' of create");
        }

        if (session.FindCollection(name) is { } there)
            throw new CommandException(48, "NamespaceExists", $"Collection {there.Namespace} already exists.");
        session.GetOrCreate(name, out _, collation);
        reply.Succeed();
    }

    public static void Drop(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        CommandFields.RequireKnown(request.Body);
        var reader = new BsonReader(request.Body);
        reader.Read();
        Collection collection =
            session.FindCollection(CommandSession.CollectionName(reader)) ?? throw CommandException.NamespaceNotFound("ns not found");
        int indexes = session.Server.Store.Drop(collection.Namespace) ?? throw CommandException.NamespaceNotFound("ns not found");
        session.Server.Cursors.ReleaseDropped();
        reply.Body.WriteInt32("nIndexesWas"u8, indexes);
        reply.Body.WriteString("ns"u8, collection.Namespace);
        reply.Succeed();
    }

    public static void DropDatabase(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        CommandFields.RequireKnown(request.Body);
        bool any = false;
        foreach (Collection collection in InDatabase(session, session.Database))
            any |= session.Server.Store.Drop(collection.Namespace) != null;
        session.Server.Cursors.ReleaseDropped();
        if (any)
            reply.Body.WriteString("dropped"u8, session.Database);
        reply.Succeed();
    }

    public static void ListCollections(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        CommandFields.RequireKnown(request.Body, "filter", "nameOnly", "cursor", "authorizedCollections");
        var command = new BsonDocument(request.Body.ToArray());
        bool nameOnly = command.IsTrue("nameOnly");
        Filter filter = Compile(command);
        var documents = new List<BsonDocument>();
        foreach (Collection collection in InDatabase(session, session.Database))
        {
            BsonDocument document = Describe(collection, nameOnly);
            if (filter.Matches(document.Bytes))
                documents.Add(document);
        }

        WriteWholeCursor(reply.Body, $"{session.Database}.$cmd.listCollections", documents);
        reply.Succeed();
    }

    public static void ListDatabases(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (session.Database != "admin")
            throw CommandException.AdminOnly("listDatabases");
        CommandFields.RequireKnown(request.Body, "filter", "nameOnly", "authorizedDatabases");
        var command = new BsonDocument(request.Body.ToArray());
        bool nameOnly = command.IsTrue("nameOnly");
        Filter filter = Compile(command);
        long total = 0;
        int count = 0;
        reply.Body.StartArray("databases"u8);
        foreach (IGrouping<string, Collection> database in session.Server.Store.Collections.GroupBy(collection => collection.Entry.Database)
            .OrderBy(group => group.Key, StringComparer.Ordinal))
        {
            long bytes = database.Sum(StatisticsCommands.TotalBytes);
            BsonDocument document = nameOnly
                ? BsonDocument.Of(("name", database.Key))
                : BsonDocument.Of(("name", database.Key), ("sizeOnDisk", bytes), ("empty", false));
            if (!filter.Matches(document.Bytes))
                continue;
            total += bytes;
            reply.Body.WriteDocument(ArrayNames.Of(count++), document.Bytes);
        }

        reply.Body.End();
        if (!nameOnly)
        {
            reply.Body.WriteInt64("totalSize"u8, total);
            reply.Body.WriteInt64("totalSizeMb"u8, total >> 20);
        }

        reply.Succeed();
    }

    /// <summary>A cursor that is finished with its first batch.</summary>
    public static void WriteWholeCursor(BsonWriter body, string nameSpace, IEnumerable<BsonDocument> documents)
    {
        body.StartDocument("cursor"u8);
        body.WriteInt64("id"u8, 0);
        body.WriteString("ns"u8, nameSpace);
        body.StartArray("firstBatch"u8);
        int index = 0;
        foreach (BsonDocument document in documents)
            body.WriteDocument(ArrayNames.Of(index++), document.Bytes);
        body.End();
        body.End();
    }

    public static IEnumerable<Collection> InDatabase(CommandSession session, string database) => session.Server.Store.Collections
        .Where(collection => collection.Entry.Database == database)
        .OrderBy(collection => collection.Entry.Name, StringComparer.Ordinal);

    private static Filter Compile(BsonDocument command)
    {
        var filter = new Filter(new PathCache());
        filter.Compile((command.FindDocument("filter") ?? BsonDocument.Empty).Bytes);
        return filter;
    }

    private static BsonDocument Describe(Collection collection, bool nameOnly)
    {
        if (nameOnly)
            return BsonDocument.Of(("name", collection.Entry.Name), ("type", "collection"));
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteString("name"u8, collection.Entry.Name);
        writer.WriteString("type"u8, "collection");
        writer.StartDocument("options"u8);
        if (collection.Entry.Collation is { } collation)
            writer.WriteDocument("collation"u8, collation.Description.Bytes);
        writer.End();
        writer.StartDocument("info"u8);
        writer.WriteBoolean("readOnly"u8, false);
        writer.WriteBinary("uuid"u8, collection.Entry.Uuid, subtype: 4);
        writer.End();
        writer.WriteDocument("idIndex"u8, IndexCommands.Describe(collection.Entry.Indexes[0]).Bytes);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }
}
