using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>
/// What a cluster knows of itself, in the database config of the store, where clients read it as on any cluster. Each call is one write:
/// all of it is there after a kill, or nothing. Any thread.
/// </summary>
internal sealed class ConfigCollections(DocumentStore store)
{
    private const string Database = "config";

    public IReadOnlyList<BsonDocument> Read(string name)
    {
        if (!store.TryFind($"{Database}.{name}", out Collection? collection))
            return [];
        collection.Lock.EnterReadLock();
        try
        {
            if (collection.IsDropped)
                return [];
            var documents = new List<BsonDocument>();
            using RocksIterator records = collection.IterateRecords();
            for (records.SeekToFirst(); records.Valid; records.Next())
                documents.Add(new BsonDocument(records.Value.ToArray()));
            return documents;
        }
        finally
        {
            collection.Lock.ExitReadLock();
        }
    }

    /// <summary>Puts documents in the place of those of which the condition holds, and of those that have their _ids.</summary>
    public void Replace(string name, Func<BsonDocument, bool> isReplaced, params IReadOnlyList<BsonDocument> documents) =>
        Write(name, collection => Replace(collection, isReplaced, documents));

    /// <summary>Adds a document whose _id nobody has.</summary>
    public void Add(string name, BsonDocument document) => Write(name, collection =>
    {
        collection.Writer.Begin();
        collection.Writer.Insert(document.Bytes);
        collection.Writer.Commit();
    });

    private void Write(string name, Action<Collection> write)
    {
        while (!TryWrite(name, write))
        {
        }
    }

    /// <returns>False where a client has dropped it since it was looked up.</returns>
    private bool TryWrite(string name, Action<Collection> write)
    {
        Collection collection = store.GetOrCreate(Database, name, out _)
            ?? throw CommandException.DatabaseDiffersInCase(store.FindOtherCase(Database), Database);
        collection.Lock.EnterReadLock();
        try
        {
            if (collection.IsDropped)
                return false;
            using (collection.Writer.Gate.Enter())
                write(collection);
            return true;
        }
        finally
        {
            collection.Lock.ExitReadLock();
        }
    }

    private static void Replace(Collection collection, Func<BsonDocument, bool> isReplaced, IReadOnlyList<BsonDocument> documents)
    {
        var missing = documents.ToDictionary(document => IdOf(document));
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        using (RocksIterator records = collection.IterateRecords())
        {
            for (records.SeekToFirst(); records.Valid; records.Next())
            {
                var present = new BsonDocument(records.Value.ToArray());
                if (missing.Remove(IdOf(present), out BsonDocument? replacement))
                    writer.Replace(RecordId.Read(records.Key), present.Bytes, replacement.Bytes);
                else if (isReplaced(present))
                    writer.Delete(RecordId.Read(records.Key), present.Bytes);
            }
        }

        foreach (BsonDocument document in missing.Values)
            writer.Insert(document.Bytes);
        writer.Commit();
    }

    private static string IdOf(BsonDocument document) => ExtendedJson.Write(document.Find("_id") is { } id
        ? BsonDocument.Of(("_id", id)).Bytes : BsonDocument.Empty.Bytes);
}
