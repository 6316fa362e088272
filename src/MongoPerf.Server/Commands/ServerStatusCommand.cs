using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// serverStatus: MongoDB's names where this server has the same thing, <c>mongoperfStorage</c> for its own store. No wiredTiger section.
/// </summary>
internal static class ServerStatusCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        ServerContext server = session.Server;
        BsonWriter body = reply.Body;
        body.WriteString("host"u8, $"{Environment.MachineName}:{server.Port}");
        body.WriteString("version"u8, HelloCommand.Version);
        body.WriteString("process"u8, server.Router == null ? "mongoperf" : "mongos");
        body.WriteInt64("pid"u8, Environment.ProcessId);
        body.WriteDouble("uptime"u8, Math.Floor(server.Uptime.TotalSeconds));
        body.WriteInt64("uptimeMillis"u8, (long)server.Uptime.TotalMilliseconds);
        body.WriteInt64("uptimeEstimate"u8, (long)server.Uptime.TotalSeconds);
        body.WriteDateTime("localTime"u8, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        WriteConnections(body, server.Network);
        WriteProcess(body);
        WriteQueues(body, server.Counters);
        WriteNetwork(body, server.Network);
        WriteOperations(body, server.Counters);
        if (server.Router is { } router)
        {
            // What lies on shards a mongos does not tell.
            body.StartDocument("shardingStatistics"u8);
            router.Operations.Write(body);
            body.End();
        }
        else
        {
            WriteMetrics(body, server);
            WriteStorage(body, server.Store.Figures);
        }

        HelloCommand.WriteKind(server, body);
        reply.Succeed();
    }

    private static void WriteConnections(BsonWriter body, NetworkCounters network)
    {
        body.StartDocument("connections"u8);
        body.WriteInt32("current"u8, network.Connections);
        body.WriteInt32("available"u8, int.MaxValue - network.Connections);
        body.WriteInt32("totalCreated"u8, network.ConnectionsCreated);
        body.WriteInt32("active"u8, network.Connections);
        body.End();
    }

    private static void WriteProcess(BsonWriter body)
    {
        ProcessFigures figures = ProcessFigures.Read();
        body.StartDocument("extra_info"u8);
        body.WriteString("note"u8, "fields vary by platform");
        body.WriteInt64("user_time_us"u8, figures.UserMicroseconds);
        body.WriteInt64("system_time_us"u8, figures.SystemMicroseconds);
        body.WriteInt64("maximum_resident_set_kb"u8, figures.PeakResidentBytes >> 10);
        body.WriteInt64("page_faults"u8, figures.MajorFaults);
        body.WriteInt64("page_reclaims"u8, figures.MinorFaults);
        body.End();
        body.StartDocument("mem"u8);
        body.WriteInt32("bits"u8, 64);
        body.WriteInt32("resident"u8, (int)(figures.ResidentBytes >> 20));
        body.WriteInt32("virtual"u8, (int)Math.Min(int.MaxValue, figures.VirtualBytes >> 20));
        body.WriteBoolean("supported"u8, true);
        body.End();
    }

    private static void WriteQueues(BsonWriter body, ServerCounters counters)
    {
        body.StartDocument("globalLock"u8);
        body.StartDocument("currentQueue"u8);
        // Of the writers inside, one writes and the others wait for it; readers never wait.
        int waiting = Math.Max(0, counters.ActiveWriters - 1);
        body.WriteInt32("total"u8, waiting);
        body.WriteInt32("readers"u8, 0);
        body.WriteInt32("writers"u8, waiting);
        body.End();
        body.StartDocument("activeClients"u8);
        body.WriteInt32("total"u8, counters.ActiveReaders + counters.ActiveWriters);
        body.WriteInt32("readers"u8, counters.ActiveReaders);
        body.WriteInt32("writers"u8, counters.ActiveWriters);
        body.End();
        body.End();
    }

    private static void WriteNetwork(BsonWriter body, NetworkCounters network)
    {
        body.StartDocument("network"u8);
        body.WriteInt64("bytesIn"u8, network.BytesIn);
        body.WriteInt64("bytesOut"u8, network.BytesOut);
        body.WriteInt64("physicalBytesIn"u8, network.BytesIn);
        body.WriteInt64("physicalBytesOut"u8, network.BytesOut);
        body.WriteInt64("numRequests"u8, network.Requests);
        body.End();
    }

    private static void WriteOperations(BsonWriter body, ServerCounters counters)
    {
        body.StartDocument("opcounters"u8);
        body.WriteInt64("insert"u8, counters.Inserts);
        body.WriteInt64("query"u8, counters.Queries);
        body.WriteInt64("update"u8, counters.Updates);
        body.WriteInt64("delete"u8, counters.Deletes);
        body.WriteInt64("getmore"u8, counters.GetMores);
        body.WriteInt64("command"u8, counters.Commands);
        body.End();
    }

    private static void WriteMetrics(BsonWriter body, ServerContext server)
    {
        ServerCounters counters = server.Counters;
        body.StartDocument("metrics"u8);
        body.StartDocument("cursor"u8);
        body.WriteInt64("timedOut"u8, server.Cursors.TimedOut);
        body.StartDocument("open"u8);
        body.WriteInt64("total"u8, server.Cursors.Count);
        body.End();
        body.End();
        body.StartDocument("document"u8);
        body.WriteInt64("deleted"u8, counters.DocumentsDeleted);
        body.WriteInt64("inserted"u8, counters.DocumentsInserted);
        body.WriteInt64("returned"u8, counters.DocumentsReturned);
        body.WriteInt64("updated"u8, counters.DocumentsUpdated);
        body.End();
        body.StartDocument("operation"u8);
        body.WriteInt64("scanAndOrder"u8, counters.BlockingSorts);
        body.WriteInt64("writeConflicts"u8, 0);
        body.End();
        body.StartDocument("queryExecutor"u8);
        body.WriteInt64("scanned"u8, counters.KeysExamined);
        body.WriteInt64("scannedObjects"u8, counters.DocumentsExamined);
        body.StartDocument("collectionScans"u8);
        body.WriteInt64("total"u8, counters.CollectionScans);
        body.End();
        body.End();
        body.StartDocument("ttl"u8);
        body.WriteInt64("deletedDocuments"u8, server.Ttl.Deleted);
        body.WriteInt64("passes"u8, server.Ttl.Passes);
        body.End();
        body.End();
    }

    private static void WriteStorage(BsonWriter body, StoreFigures store)
    {
        ProcessFigures process = ProcessFigures.Read();
        body.StartDocument("storageEngine"u8);
        body.WriteString("name"u8, ProtocolLimits.StorageEngine);
        body.WriteBoolean("persistent"u8, true);
        body.End();
        body.StartDocument("mongoperfStorage"u8);
        body.WriteInt64("cacheBytesUsed"u8, store.CacheBytesUsed);
        body.WriteInt64("cacheBytesMax"u8, store.CacheBytesMaximum);
        body.WriteInt64("dirtyBytes"u8, store.MemtableBytes);
        body.WriteInt64("dirtyBytesMax"u8, store.MemtableBytesMaximum);
        body.WriteInt64("fileBytes"u8, store.FileBytes);
        body.WriteInt64("logBytes"u8, store.LogBytes);
        body.WriteInt64("bytesRead"u8, process.DiskBytesRead);
        body.WriteInt64("bytesWritten"u8, process.DiskBytesWritten);
        body.WriteInt64("backgroundJobsRunning"u8, store.RunningJobs);
        body.WriteInt64("pendingCompactionBytes"u8, store.PendingCompactionBytes);
        body.WriteBoolean("writesStopped"u8, store.AreWritesStopped);
        body.End();
    }
}
