using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>Changes documents of one collection. Inside its read lock and its writer's gate.</summary>
internal sealed class UpdateExecutor(CommandSession session, Collection collection)
{
    /// <summary>
    /// The collection of an upsert. It is made for a document that can be stored: one that is refused leaves no collection behind.
    /// </summary>
    public static Collection CollectionFor(CommandSession session, ReadOnlySpan<byte> name, BsonDocument filter, DocumentUpdate update)
    {
        if (session.FindCollection(name) is { } there)
            return there;
        NewDocument(session, filter, update);
        return session.GetOrCreate(name, out _);
    }

    /// <summary>Carries out changes of a collection inside its read lock and its writer's gate.</summary>
    /// <exception cref="CommandException">175: it was dropped meanwhile.</exception>
    public static void Within(CommandSession session, Collection collection, Action<UpdateExecutor> change)
    {
        using var use = CollectionUse.ToWrite(session, collection);
        if (collection.IsDropped)
            throw new CommandException(175, "QueryPlanKilled", $"collection {collection.Namespace} dropped while it was written");
        using (collection.Writer.Gate.Enter())
            change(new UpdateExecutor(session, collection));
    }

    /// <summary>All that match, before the first is changed: a changed document must not be met a second time.</summary>
    public static List<long> Matches(FindQuery query, Collection collection)
    {
        var records = new List<long>();
        query.Open(collection);
        while (query.MoveNext())
            records.Add(query.UsesBlockingSort ? RecordOf(collection, query.Current) : query.Runner!.RecordId);
        return records;
    }

    public BsonDocument Get(long record)
    {
        using PinnedValue pinned = collection.Get(record);
        return new BsonDocument(pinned.Bytes.ToArray());
    }

    /// <returns>Whether anything changed, and the document afterwards.</returns>
    /// <exception cref="CommandException">
    /// Among others a <see cref="DuplicateKey"/>: the changed document's key is taken, and nothing was written.
    /// </exception>
    public (bool IsChanged, BsonDocument Document) Update(long record, DocumentUpdate update)
    {
        BsonDocument present = Get(record);
        string? place = update.IsPositional ? MatchPosition.Of(session.Query.Filter, present.Bytes) : null;
        BsonDocument changed = update.Apply(present, isInsert: false, place, out bool isChange);
        RequireSize(changed);
        if (!isChange)
            return (false, present);
        if (collection.Shards is { } map)
            ShardWrites.RequireSameKey(map, session.Query, present, changed);
        Write(writer => writer.Replace(record, present.Bytes, changed.Bytes), changed);
        return (true, changed);
    }

    /// <returns>The new document.</returns>
    /// <inheritdoc cref="Update" path="/exception"/>
    public BsonDocument Upsert(BsonDocument filter, DocumentUpdate update)
    {
        BsonDocument whole = NewDocument(session, filter, update);
        Write(writer => writer.Insert(whole.Bytes), whole);
        return whole;
    }

    /// <summary>Adds documents; those before one that is refused stay.</summary>
    /// <inheritdoc cref="Update" path="/exception"/>
    public void Insert(IReadOnlyList<BsonDocument> documents)
    {
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        try
        {
            foreach (BsonDocument document in documents)
            {
                var whole = new BsonDocument(ZeroTimestamps.Replace(Storable(session, document).Bytes).ToArray());
                if (writer.Insert(whole.Bytes) is { } duplicate)
                    throw DuplicateKey.Of(collection, duplicate, whole.Bytes).ToException();
            }
        }
        finally
        {
            writer.Commit();
        }
    }

    public void Delete(long record)
    {
        BsonDocument present = Get(record);
        collection.Writer.Begin();
        collection.Writer.Delete(record, present.Bytes);
        collection.Writer.Commit();
    }

    private static BsonDocument NewDocument(CommandSession session, BsonDocument filter, DocumentUpdate update)
    {
        return Storable(session, update.Apply(UpsertSeed.Of(filter, update.IsReplacement), isInsert: true, place: null, out _));
    }

    /// <summary>The document with its _id in front.</summary>
    /// <exception cref="CommandException">It cannot be stored.</exception>
    private static BsonDocument Storable(CommandSession session, BsonDocument document)
    {
        var whole = new BsonDocument(InsertCommand.WithIdInFront(session.Insert.Document, document.Bytes, out BsonType idType).ToArray());
        if (InsertCommand.ForbiddenIdType(idType) is { } kind)
            throw new CommandException(53, "InvalidIdField", $"The '_id' value cannot be of type {kind}");
        if (idType == BsonType.Document && InsertCommand.DollarField(whole.Bytes) is { } dollar)
            throw new CommandException(
                52, "DollarPrefixedFieldName", $"_id fields may not contain '$'-prefixed fields: {dollar} is not valid for storage.");
        RequireSize(whole);
        return whole;
    }

    private void Write(Func<CollectionWriter, CollectionIndex?> write, BsonDocument document)
    {
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        try
        {
            if (write(writer) is { } duplicate)
                throw DuplicateKey.Of(collection, duplicate, document.Bytes).ToException();
        }
        catch (IndexKeyException error)
        {
            throw new CommandException(error.Code, error.CodeName, error.Message);
        }

        writer.Commit();
    }

    private static void RequireSize(BsonDocument document)
    {
        if (document.Bytes.Length > ProtocolLimits.MaximumDocumentBytes)
            throw CommandException.Location(17420, $"Document to upsert is larger than {ProtocolLimits.MaximumDocumentBytes}");
        if (BsonValidator.ValidateStructure(document.Bytes) > ProtocolLimits.MaximumDepth)
            throw CommandException.Overflow($"Document exceeds maximum nesting depth of {ProtocolLimits.MaximumDepth}");
    }

    /// <summary>Finds the record by the _id: a document that was sorted in memory is not on the iterator any more.</summary>
    private static long RecordOf(Collection collection, ReadOnlySpan<byte> document)
    {
        var keys = new IndexKeys();
        keys.Build(collection.Indexes[0].Spec, document);
        return collection.FindUnique(collection.Indexes[0], keys[0]);
    }
}
