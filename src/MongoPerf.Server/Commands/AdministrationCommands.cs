using System.Runtime.InteropServices;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Small commands about the server as a process.</summary>
internal static class AdministrationCommands
{
    public static void Ping(CommandSession session, in CommandRequest request, ReplyWriter reply) => reply.Succeed();

    public static void Fsync(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        RequireAdmin(session, "fsync");
        var reader = new BsonReader(request.Body);
        if (reader.Find("lock"u8) && reader.ToBoolean())
            throw CommandException.NotSupported("fsync with lock");
        session.Server.Store.SyncLog();
        reply.Body.WriteInt32("numFiles"u8, 1);
        reply.Succeed();
    }

    public static void Shutdown(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        RequireAdmin(session, "shutdown");
        reply.Succeed();
        reply.CloseAfterwards = true;
        session.Server.ShutdownRequested();
    }

    public static void GetCommandLine(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        RequireAdmin(session, "getCmdLineOpts");
        EmbeddedServerOptions options = session.Server.Options;
        BsonWriter body = reply.Body;
        body.StartArray("argv"u8);
        body.End();
        body.StartDocument("parsed"u8);
        body.StartDocument("net"u8);
        body.WriteString("bindIp"u8, options.Listen.Address.ToString());
        body.WriteInt32("port"u8, session.Server.Port);
        if (options.Listen.Tls is not null)
        {
            body.StartDocument("tls"u8);
            body.WriteString("mode"u8, "requireTLS");
            body.End();
        }

        body.End();
        if (options.Listen.RequiresLogin)
        {
            body.StartDocument("security"u8);
            body.WriteString("authorization"u8, "enabled");
            body.End();
        }

        body.StartDocument("storage"u8);
        body.WriteString("dbPath"u8, options.DataPath ?? "");
        body.WriteString("engine"u8, ProtocolLimits.StorageEngine);
        body.WriteInt64("mongoperfCacheBytes"u8, options.EffectiveCacheBytes);
        body.End();
        body.End();
        reply.Succeed();
    }

    public static void HostInfo(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        long memory = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes >> 20;
        BsonWriter body = reply.Body;
        body.StartDocument("system"u8);
        body.WriteDateTime("currentTime"u8, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        body.WriteString("hostname"u8, $"{Environment.MachineName}:{session.Server.Port}");
        body.WriteInt32("cpuAddrSize"u8, 64);
        body.WriteInt64("memSizeMB"u8, memory);
        body.WriteInt64("memLimitMB"u8, memory);
        body.WriteInt32("numCores"u8, Environment.ProcessorCount);
        body.WriteString("cpuArch"u8, RuntimeInformation.OSArchitecture == Architecture.X64 ? "x86_64" : "aarch64");
        body.WriteBoolean("numaEnabled"u8, false);
        body.End();
        body.StartDocument("os"u8);
        body.WriteString("type"u8, "Linux");
        body.WriteString("name"u8, RuntimeInformation.OSDescription);
        body.WriteString("version"u8, $"Kernel {Environment.OSVersion.Version}");
        body.End();
        body.StartDocument("extra"u8);
        body.WriteInt32("pageSize"u8, Environment.SystemPageSize);
        body.End();
        reply.Succeed();
    }

    public static void WhatsMyUri(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        reply.Body.WriteString("you"u8, $"127.0.0.1:{session.ConnectionId}");
        reply.Succeed();
    }

    public static void GetLog(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        reply.Body.WriteInt32("totalLinesWritten"u8, 0);
        reply.Body.StartArray("log"u8);
        reply.Body.End();
        reply.Succeed();
    }

    /// <exception cref="CommandException">The command was sent to another database.</exception>
    public static void RequireAdmin(CommandSession session, string command)
    {
        if (session.Database != "admin")
            throw CommandException.AdminOnly(command);
    }
}
