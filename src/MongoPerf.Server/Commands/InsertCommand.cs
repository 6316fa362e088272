using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class InsertCommand
{
    // A batch is written in parts of this size, so that the memory of a huge one stays bounded and others get their turn.
    private const long PartBytes = 4 << 20;

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteFields fields = WriteFields.Parse(request.Body, "insert", "documents"u8);
        DocumentSource documents = DocumentSource.Of(request, "insert", "documents"u8, fields.Statements, fields.HasStatements);
        session.Insert.Errors.Clear();
        (int attempted, int inserted) = Insert(session, fields, ref documents);
        if (fields.Concern.IsJournaled)
            session.Server.Store.SyncLog();
        session.Server.Counters.CountInserts(attempted, inserted);
        if (fields.Concern.IsUnacknowledged)
        {
            reply.Body.WriteInt32("n"u8, 0);
        }
        else
        {
            reply.Body.WriteInt32("n"u8, inserted);
            session.Insert.Errors.Write(reply.Body);
        }

        reply.Succeed();
    }

    private static (int Attempted, int Inserted) Insert(CommandSession session, in WriteFields fields, ref DocumentSource documents)
    {
        Collection collection;
        try
        {
            collection = session.GetOrCreate(fields.Collection, out _);
        }
        catch (CommandException error) when (error.CodeName == "DatabaseDifferCase")
        {
            // Each document fails by itself, as on mongod.
            int failed = 0;
            while (documents.MoveNext() && (failed == 0 || !fields.IsOrdered))
                session.Insert.Errors.Add(failed++, error.Code, error.Message);
            return (failed, 0);
        }

        using var use = CollectionUse.ToWrite(session, collection);
        if (collection.IsDropped)
            throw new CommandException(175, "QueryPlanKilled", "collection dropped while inserting");
        using (collection.Writer.Gate.Enter())
            return InsertAll(session.Insert, collection, ref documents, fields.IsOrdered);
    }

    private static (int Attempted, int Inserted) InsertAll(
        InsertScratch scratch, Collection collection, ref DocumentSource documents, bool isOrdered)
    {
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        int index = 0;
        int inserted = 0;
        for (; documents.MoveNext(); index++)
        {
            if (InsertOne(scratch, collection, documents.Current, documents.DeepestLevel > ProtocolLimits.MaximumDepth, index))
                inserted++;
            else if (isOrdered)
                break;
            if (writer.BatchBytes > PartBytes)
                writer.Commit();
        }

        writer.Commit();
        return (index, inserted);
    }

    private static bool InsertOne(InsertScratch scratch, Collection collection, ReadOnlySpan<byte> document, bool mayBeTooDeep, int index)
    {
        if (document.Length > ProtocolLimits.MaximumDocumentBytes)
        {
            scratch.Errors.Add(
                index, 2, $"object to insert too large. size in bytes: {document.Length}, max size: {ProtocolLimits.MaximumDocumentBytes}");
            return false;
        }

        if (mayBeTooDeep && BsonValidator.ValidateStructure(document) > ProtocolLimits.MaximumDepth)
        {
            scratch.Errors.Add(index, 15, $"cannot insert document because it exceeds {ProtocolLimits.MaximumDepth} levels of nesting");
            return false;
        }

        document = WithIdInFront(scratch.Document, document, out BsonType idType);
        if (ForbiddenIdType(idType) is { } kind)
        {
            scratch.Errors.Add(index, 53, $"The '_id' value cannot be of type {kind}");
            return false;
        }

        if (idType == BsonType.Document && DollarField(document) is { } dollar)
        {
            scratch.Errors.Add(index, 52, $"_id fields may not contain '$'-prefixed fields: {dollar} is not valid for storage.");
            return false;
        }

        document = ZeroTimestamps.Replace(document);
        try
        {
            CollectionIndex? duplicate = collection.Writer.Insert(document);
            if (duplicate != null)
                scratch.Errors.AddDuplicate(index, DuplicateKey.Of(collection, duplicate, document));
            return duplicate == null;
        }
        catch (Storage.Keys.IndexKeyException error)
        {
            scratch.Errors.Add(index, error.Code, error.Message);
            return false;
        }
    }

    /// <returns>The name of a type that no _id may have; else null.</returns>
    public static string? ForbiddenIdType(BsonType type) => type switch
    {
        BsonType.Array => "array",
        BsonType.Regex => "regex",
        BsonType.Undefined => "undefined",
        _ => null,
    };

    /// <returns>A name in the _id, which is a document, that begins with $; else null.</returns>
    public static string? DollarField(ReadOnlySpan<byte> document)
    {
        var id = new BsonReader(document);
        id.Find("_id"u8);
        var fields = new BsonReader(id.DocumentBytes);
        while (fields.Read())
        {
            if (fields.Name.Length > 0 && fields.Name[0] == '$' && !fields.NameIs("$ref"u8)
                && !fields.NameIs("$id"u8) && !fields.NameIs("$db"u8))
                return fields.NameText;
        }

        return null;
    }

    /// <summary>
    /// The document itself where its first element is <c>_id</c>; else a copy that starts with it, made up when it is missing.
    /// </summary>
    public static ReadOnlySpan<byte> WithIdInFront(BsonWriter scratch, ReadOnlySpan<byte> document, out BsonType idType)
    {
        var reader = new BsonReader(document);
        bool hasAny = reader.Read();
        if (hasAny && reader.NameIs("_id"u8))
        {
            idType = reader.Type;
            return document;
        }

        bool hasId = hasAny && reader.Find("_id"u8);
        scratch.Clear();
        scratch.StartDocument();
        idType = hasId ? reader.Type : BsonType.ObjectId;
        if (hasId)
            scratch.WriteValue("_id"u8, reader.Type, reader.Value);
        else
            scratch.WriteObjectId("_id"u8, ObjectIds.Next());
        var rest = new BsonReader(document);
        while (rest.Read())
        {
            if (!rest.NameIs("_id"u8))
                scratch.WriteValue(rest.Name, rest.Type, rest.Value);
        }

        scratch.End();
        return scratch.Written;
    }
}
