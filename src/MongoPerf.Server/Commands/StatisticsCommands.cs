using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Sizes: counted with the documents, or measured by the storage library. Nothing here is estimated by this server.</summary>
internal static class StatisticsCommands
{
    public static void CollStats(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        reply.Body.WriteString("ns"u8, $"{session.Database}.{reader.StringText}");
        WriteStorageStats(reply.Body, session.FindCollection(name), Scale(request.Body));
        reply.Succeed();
    }

    public static void DbStats(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        long scale = Scale(request.Body);
        Collection[] collections = [.. CatalogCommands.InDatabase(session, session.Database)];
        long documents = collections.Sum(collection => collection.DocumentCount);
        long data = collections.Sum(collection => collection.DataBytes);
        long storage = collections.Sum(collection => collection.StorageBytes);
        long indexes = collections.Sum(AllIndexBytes);
        BsonWriter body = reply.Body;
        body.WriteString("db"u8, session.Database);
        body.WriteInt32("collections"u8, collections.Length);
        body.WriteInt32("views"u8, 0);
        Numbers.Write(body, "objects"u8, documents);
        body.WriteDouble("avgObjSize"u8, documents == 0 ? 0 : (double)data / documents);
        body.WriteDouble("dataSize"u8, data / scale);
        body.WriteDouble("storageSize"u8, storage / scale);
        body.WriteInt32("indexes"u8, collections.Sum(collection => collection.Indexes.Length));
        body.WriteDouble("indexSize"u8, indexes / scale);
        body.WriteDouble("totalSize"u8, (storage + indexes) / scale);
        body.WriteDouble("scaleFactor"u8, scale);
        if (session.Server.Options.DataPath is { } path)
            WriteFileSystem(body, path, scale);
        reply.Succeed();
    }

    /// <summary>The part of collStats that $collStats has too. A missing collection is all zeros.</summary>
    /// <param name="body">Stands in the document.</param>
    /// <param name="collection">Null for a missing one.</param>
    /// <param name="scale">What sizes are divided by.</param>
    /// <param name="shard">The number of a shard of a sharded collection: its documents, and its share of all else. Null for all.</param>
    public static void WriteStorageStats(BsonWriter body, Collection? collection, long scale, int? shard = null)
    {
        ShardCounts? counts = shard == null ? null : collection?.Shards?.Counts;
        long documents = counts?.Documents(shard!.Value) ?? collection?.DocumentCount ?? 0;
        long data = counts?.Bytes(shard!.Value) ?? collection?.DataBytes ?? 0;
        double share = counts == null ? 1 : (double)data / Math.Max(1, collection!.DataBytes);
        long storage = (long)(share * (collection?.StorageBytes ?? 0));
        long indexes = collection == null ? 0 : (long)(share * AllIndexBytes(collection));
        Numbers.Write(body, "size"u8, data / scale);
        Numbers.Write(body, "count"u8, documents);
        if (documents > 0)
            Numbers.Write(body, "avgObjSize"u8, data / documents);
        body.WriteInt32("numOrphanDocs"u8, 0);
        Numbers.Write(body, "storageSize"u8, storage / scale);
        body.WriteInt32("freeStorageSize"u8, 0);
        body.WriteBoolean("capped"u8, false);
        body.StartDocument("mongoperfStorage"u8);
        body.WriteString("engine"u8, ProtocolLimits.StorageEngine);
        Numbers.Write(body, "memtableBytes"u8, (long)(share * (collection?.MemtableBytes ?? 0)));
        body.End();
        body.WriteInt32("nindexes"u8, collection?.Indexes.Length ?? 0);
        Numbers.Write(body, "totalIndexSize"u8, indexes / scale);
        Numbers.Write(body, "totalSize"u8, (storage + indexes) / scale);
        body.StartDocument("indexSizes"u8);
        foreach (CollectionIndex index in collection?.Indexes ?? [])
            Numbers.Write(body, System.Text.Encoding.UTF8.GetBytes(index.Spec.Name), (long)(share * collection!.IndexBytes(index)) / scale);
        body.End();
        Numbers.Write(body, "scaleFactor"u8, scale);
    }

    public static long TotalBytes(Collection collection) => collection.StorageBytes + AllIndexBytes(collection);

    private static long AllIndexBytes(Collection collection) => collection.Indexes.Sum(collection.IndexBytes);

    public static long Scale(ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        return reader.Find("scale"u8) && reader.IsNumber ? Math.Max(1, reader.ToInt64()) : 1;
    }

    private static void WriteFileSystem(BsonWriter body, string path, long scale)
    {
        var drive = new DriveInfo(Path.GetFullPath(path));
        body.WriteDouble("fsUsedSize"u8, (drive.TotalSize - drive.TotalFreeSpace) / scale);
        body.WriteDouble("fsTotalSize"u8, drive.TotalSize / scale);
    }
}
