using System.Diagnostics;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Null;

/// <summary>The commands around a run: handshake, indexes, statistics, dropping. What it does not know is answered with 59, as mongod does.</summary>
internal sealed class NullAdministration(NullSession session, int connectionId)
{
    public const string Version = "null";

    private const int WireVersion = 17;
    private const int NamespaceNotFound = 26;

    public ReadOnlySpan<byte> Answer(string command, ReadOnlySpan<byte> body, scoped in BsonReader first, int requestId)
    {
        session.Counters.Commands++;
        switch (command)
        {
            case "hello" or "isMaster" or "ismaster":
                return Hello(requestId);
            case "ping" or "endSessions" or "fsync":
                session.Begin(requestId);
                return session.Finish();
            case "buildInfo" or "buildinfo":
                return BuildInfo(requestId);
            case "getCmdLineOpts":
                return CommandLine(requestId);
            case "serverStatus":
                return NullStatus.Write(session, requestId);
            case "create" or "createIndexes":
                return CreateIndexes(body, first.StringBytes, requestId);
            case "listIndexes":
                return ListIndexes(body, first.StringBytes, requestId);
            case "listCollections":
                return ListCollections(body, requestId);
            case "listDatabases":
                return ListDatabases(requestId);
            case "collStats":
                return CollectionStatistics(body, first.StringBytes, requestId);
            case "dbStats":
                return DatabaseStatistics(body, requestId);
            case "drop":
                return Drop(body, first.StringBytes, requestId);
            case "dropDatabase":
                return DropDatabase(body, requestId);
            default:
                return session.Fail(requestId, 59, "CommandNotFound", $"no such command: '{command}'");
        }
    }

    private ReadOnlySpan<byte> Hello(int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.WriteBoolean("helloOk"u8, true);
        reply.WriteBoolean("ismaster"u8, true);
        reply.WriteBoolean("isWritablePrimary"u8, true);
        reply.WriteInt32("maxBsonObjectSize"u8, 16 * 1024 * 1024);
        reply.WriteInt32("maxMessageSizeBytes"u8, MessageHeader.MaximumMessageLength);
        reply.WriteInt32("maxWriteBatchSize"u8, 100_000);
        reply.WriteDateTime("localTime"u8, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        reply.WriteInt32("connectionId"u8, connectionId);
        reply.WriteInt32("minWireVersion"u8, 0);
        reply.WriteInt32("maxWireVersion"u8, WireVersion);
        reply.WriteBoolean("readOnly"u8, false);
        reply.WriteBoolean("mongoperfNull"u8, true);
        return session.Finish();
    }

    private ReadOnlySpan<byte> BuildInfo(int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.WriteString("version"u8, Version);
        reply.WriteInt32("bits"u8, 64);
        reply.WriteInt32("maxBsonObjectSize"u8, 16 * 1024 * 1024);
        reply.StartArray("storageEngines"u8);
        reply.WriteString("0"u8, "null"u8);
        reply.End();
        reply.WriteBoolean("mongoperfNull"u8, true);
        return session.Finish();
    }

    private ReadOnlySpan<byte> CommandLine(int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.StartArray("argv"u8);
        string[] arguments = Environment.GetCommandLineArgs();
        for (int i = 0; i < arguments.Length; i++)
            reply.WriteString(Key(i), arguments[i]);
        reply.End();
        reply.StartDocument("parsed"u8);
        reply.End();
        return session.Finish();
    }

    // "create" has no indexes; the collection alone is made then.
    private ReadOnlySpan<byte> CreateIndexes(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        bool isNew = session.Resolve(body, name, create: false) is null;
        NullCollection collection = session.Resolve(body, name, create: true)!;
        int before = collection.Indexes.Length + 1;
        var reader = new BsonReader(body);
        if (reader.Find("indexes"u8))
        {
            var items = new BsonReader(reader.DocumentBytes);
            while (items.Read())
            {
                var index = new BsonReader(items.DocumentBytes);
                if (!index.Find("name"u8))
                    return session.Fail(requestId, 9, "FailedToParse", "The 'name' field is a required property of an index specification");
                collection.AddIndex(items.DocumentBytes.ToArray(), index.StringBytes);
            }
        }

        BsonWriter reply = session.Begin(requestId);
        reply.WriteInt32("numIndexesBefore"u8, before);
        reply.WriteInt32("numIndexesAfter"u8, collection.Indexes.Length + 1);
        reply.WriteBoolean("createdCollectionAutomatically"u8, isNew);
        return session.Finish();
    }

    private ReadOnlySpan<byte> ListIndexes(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        if (session.Resolve(body, name, create: false) is not { } collection)
            return NotFound(requestId);
        BsonWriter reply = BeginCursor(requestId);
        reply.StartDocument("0"u8);
        reply.WriteInt32("v"u8, 2);
        reply.StartDocument("key"u8);
        reply.WriteInt32("_id"u8, 1);
        reply.End();
        reply.WriteString("name"u8, "_id_"u8);
        reply.End();
        byte[][] indexes = collection.Indexes;
        for (int i = 0; i < indexes.Length; i++)
            reply.WriteDocument(Key(i + 1), indexes[i]);
        return EndCursor(reply, $"{collection.Database}.$cmd.listIndexes.{collection.Name}");
    }

    // A filter may ask for a name; nothing else is looked at.
    private ReadOnlySpan<byte> ListCollections(ReadOnlySpan<byte> body, int requestId)
    {
        string database = Database(body);
        var request = new BsonReader(body);
        string? wanted = null;
        if (request.Find("filter"u8))
        {
            var filter = new BsonReader(request.DocumentBytes);
            wanted = filter.Find("name"u8) && filter.Type == BsonType.String ? filter.StringText : null;
        }

        BsonWriter reply = BeginCursor(requestId);
        int count = 0;
        foreach (NullCollection collection in session.Store.CollectionsOf(database))
        {
            if (wanted is not null && wanted != collection.Name)
                continue;
            reply.StartDocument(Key(count++));
            reply.WriteString("name"u8, collection.Name);
            reply.WriteString("type"u8, "collection"u8);
            reply.StartDocument("options"u8);
            reply.End();
            reply.End();
        }

        return EndCursor(reply, $"{database}.$cmd.listCollections");
    }

    private ReadOnlySpan<byte> ListDatabases(int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.StartArray("databases"u8);
        int count = 0;
        foreach (string database in session.Store.Databases())
        {
            reply.StartDocument(Key(count++));
            reply.WriteString("name"u8, database);
            reply.WriteInt64("sizeOnDisk"u8, 0);
            reply.WriteBoolean("empty"u8, false);
            reply.End();
        }

        reply.End();
        reply.WriteInt64("totalSize"u8, 0);
        return session.Finish();
    }

    private ReadOnlySpan<byte> CollectionStatistics(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        NullCollection? collection = session.Resolve(body, name, create: false);
        long count = collection?.Count ?? 0;
        byte[][] indexes = collection?.Indexes ?? [];
        BsonWriter reply = session.Begin(requestId);
        if (collection is not null)
            reply.WriteString("ns"u8, collection.Namespace);
        WriteSizes(reply, "count"u8, "size"u8, count, collection?.Bytes ?? 0);
        reply.WriteInt32("nindexes"u8, collection is null ? 0 : indexes.Length + 1);
        reply.WriteInt64("totalIndexSize"u8, 0);
        reply.WriteInt64("totalSize"u8, 0);
        reply.StartDocument("indexSizes"u8);
        if (collection is not null)
            reply.WriteInt64("_id_"u8, 0);
        foreach (byte[] index in indexes)
        {
            var reader = new BsonReader(index);
            if (reader.Find("name"u8))
                reply.WriteInt64(reader.StringBytes, 0);
        }

        reply.End();
        reply.WriteString("remark"u8, "the null server stores nothing: sizes on disk are 0"u8);
        return session.Finish();
    }

    private ReadOnlySpan<byte> DatabaseStatistics(ReadOnlySpan<byte> body, int requestId)
    {
        string database = Database(body);
        List<NullCollection> collections = session.Store.CollectionsOf(database);
        BsonWriter reply = session.Begin(requestId);
        reply.WriteString("db"u8, database);
        reply.WriteInt32("collections"u8, collections.Count);
        WriteSizes(reply, "objects"u8, "dataSize"u8, collections.Sum(item => item.Count), collections.Sum(item => item.Bytes));
        reply.WriteInt32("indexes"u8, collections.Sum(item => item.Indexes.Length + 1));
        reply.WriteInt64("indexSize"u8, 0);
        reply.WriteString("remark"u8, "the null server stores nothing: sizes on disk are 0"u8);
        return session.Finish();
    }

    private static void WriteSizes(BsonWriter reply, ReadOnlySpan<byte> countName, ReadOnlySpan<byte> sizeName, long count, long bytes)
    {
        reply.WriteInt64(sizeName, bytes);
        reply.WriteInt64(countName, count);
        reply.WriteInt64("avgObjSize"u8, count == 0 ? 0 : bytes / count);
        reply.WriteInt64("storageSize"u8, 0);
        reply.WriteInt64("freeStorageSize"u8, 0);
    }

    private ReadOnlySpan<byte> Drop(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        if (session.Resolve(body, name, create: false) is not { } collection)
            return NotFound(requestId);
        session.Store.Drop(collection);
        BsonWriter reply = session.Begin(requestId);
        reply.WriteString("ns"u8, collection.Namespace);
        reply.WriteInt32("nIndexesWas"u8, collection.Indexes.Length + 1);
        return session.Finish();
    }

    private ReadOnlySpan<byte> DropDatabase(ReadOnlySpan<byte> body, int requestId)
    {
        string database = Database(body);
        foreach (NullCollection collection in session.Store.CollectionsOf(database))
            session.Store.Drop(collection);
        BsonWriter reply = session.Begin(requestId);
        reply.WriteString("dropped"u8, database);
        return session.Finish();
    }

    private ReadOnlySpan<byte> NotFound(int requestId) => session.Fail(requestId, NamespaceNotFound, "NamespaceNotFound", "ns not found");

    private BsonWriter BeginCursor(int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.StartDocument("cursor"u8);
        reply.StartArray("firstBatch"u8);
        return reply;
    }

    private ReadOnlySpan<byte> EndCursor(BsonWriter reply, string ns)
    {
        reply.End();
        reply.WriteInt64("id"u8, 0);
        reply.WriteString("ns"u8, ns);
        reply.End();
        return session.Finish();
    }

    private static string Database(ReadOnlySpan<byte> body) => System.Text.Encoding.UTF8.GetString(NullSession.DatabaseOf(body));

    private static byte[] Key(int index) => System.Text.Encoding.ASCII.GetBytes($"{index}");
}

/// <summary>serverStatus of the null server: what it counts itself, in mongod's places.</summary>
internal static class NullStatus
{
    private const double MegaByte = 1024 * 1024;

    public static ReadOnlySpan<byte> Write(NullSession session, int requestId)
    {
        NullCounters sum = session.Store.Sum();
        using var self = Process.GetCurrentProcess();
        BsonWriter reply = session.Begin(requestId);
        reply.WriteString("host"u8, Environment.MachineName);
        reply.WriteString("version"u8, NullAdministration.Version);
        reply.WriteString("process"u8, "mongoperf null-server"u8);
        reply.WriteInt64("pid"u8, Environment.ProcessId);
        reply.WriteDouble("uptime"u8, Math.Floor((DateTime.UtcNow - session.Store.StartedAt).TotalSeconds));
        reply.StartDocument("connections"u8);
        reply.WriteInt32("current"u8, session.Store.ConnectionsOpen);
        reply.WriteInt32("totalCreated"u8, session.Store.ConnectionsCreated);
        reply.End();
        reply.StartDocument("extra_info"u8);
        reply.WriteInt64("user_time_us"u8, (long)self.UserProcessorTime.TotalMicroseconds);
        reply.WriteInt64("system_time_us"u8, (long)self.PrivilegedProcessorTime.TotalMicroseconds);
        reply.End();
        reply.StartDocument("mem"u8);
        reply.WriteInt32("resident"u8, (int)(self.WorkingSet64 / MegaByte));
        reply.WriteInt32("virtual"u8, (int)Math.Min(int.MaxValue, self.VirtualMemorySize64 / MegaByte));
        reply.End();
        reply.StartDocument("metrics"u8);
        reply.StartDocument("document"u8);
        reply.WriteInt64("inserted"u8, sum.Inserted);
        reply.WriteInt64("returned"u8, sum.Returned);
        reply.End();
        reply.End();
        reply.StartDocument("network"u8);
        reply.WriteInt64("bytesIn"u8, sum.BytesIn);
        reply.WriteInt64("bytesOut"u8, sum.BytesOut);
        reply.WriteInt64("numRequests"u8, sum.Requests);
        reply.End();
        reply.StartDocument("opcounters"u8);
        reply.WriteInt64("insert"u8, sum.Inserted);
        reply.WriteInt64("query"u8, sum.Queries);
        reply.WriteInt64("update"u8, sum.Updates);
        reply.WriteInt64("delete"u8, sum.Deletes);
        reply.WriteInt64("getmore"u8, sum.GetMores);
        reply.WriteInt64("command"u8, sum.Commands);
        reply.End();
        return session.Finish();
    }
}
