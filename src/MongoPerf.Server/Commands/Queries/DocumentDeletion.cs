using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Deletes what a query finds, for clients and for TTL indexes.</summary>
internal static class DocumentDeletion
{
    // As for inserts: a delete of very many documents is written in parts.
    private const long PartBytes = 1 << 20;

    /// <summary>Call inside the collection's read lock and its writer's gate.</summary>
    /// <param name="collection">Loses the documents.</param>
    /// <param name="query">Without a sort.</param>
    /// <returns>How many there were.</returns>
    public static int DeleteAll(Collection collection, FindQuery query)
    {
        var records = new List<long>();
        query.Open(collection);
        while (query.MoveNext())
            records.Add(query.Runner!.RecordId);
        CollectionWriter writer = collection.Writer;
        writer.Begin();
        foreach (long record in records)
        {
            ActiveOperation.Check();
            using var present = collection.Get(record);
            writer.Delete(record, present.Bytes);
            if (writer.BatchBytes > PartBytes)
                writer.Commit();
        }

        writer.Commit();
        return records.Count;
    }
}
