using System.Text;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>hello, its older names, and buildInfo: what a client learns before anything else.</summary>
/// <remarks>There is no topologyVersion: clients then poll instead of waiting for changes.</remarks>
internal static class HelloCommand
{
    public const string Version = "6.0.5-mongoperf";
    private const int WireVersion = 17;

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonWriter body = reply.Body;
        var reader = new BsonReader(request.Body);
        bool isHello = reader.Read() && reader.NameIs("hello"u8);
        bool saysHelloOk = reader.Find("helloOk"u8) && reader.ToBoolean();
        if (saysHelloOk)
            body.WriteBoolean("helloOk"u8, true);
        body.WriteBoolean(isHello ? "isWritablePrimary"u8 : "ismaster"u8, true);
        if (session.Server.Router != null)
            body.WriteString("msg"u8, "isdbgrid");
        WriteLimits(session.Server, session.ConnectionId, body);
        // Drivers would send a mongos with sessions their writes as retryable ones, which this server does not have.
        if (session.Server.Router == null)
            body.WriteInt32("logicalSessionTimeoutMinutes"u8, SessionCommands.TimeoutMinutes);
        LoginCommands.WriteToHello(session, request.Body, reply);
        reply.Succeed();
    }

    /// <summary>What every server says of itself, whatever it is.</summary>
    public static void WriteLimits(ServerContext server, int connectionId, BsonWriter body)
    {
        body.WriteInt32("maxBsonObjectSize"u8, ProtocolLimits.MaximumDocumentBytes);
        body.WriteInt32("maxMessageSizeBytes"u8, ProtocolLimits.MaximumMessageBytes);
        body.WriteInt32("maxWriteBatchSize"u8, ProtocolLimits.MaximumWriteBatch);
        body.WriteDateTime("localTime"u8, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        body.WriteInt32("connectionId"u8, connectionId);
        body.WriteInt32("minWireVersion"u8, 0);
        body.WriteInt32("maxWireVersion"u8, WireVersion);
        body.WriteBoolean("readOnly"u8, false);
        WriteKind(server, body);
    }

    public static void BuildInfo(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonWriter body = reply.Body;
        body.WriteString("version"u8, Version);
        body.WriteString("gitVersion"u8, "none");
        body.StartArray("modules"u8);
        body.End();
        body.WriteString("allocator"u8, "system");
        body.StartArray("versionArray"u8);
        foreach ((byte name, int part) in (ReadOnlySpan<(byte, int)>)[((byte)'0', 6), ((byte)'1', 0), ((byte)'2', 5), ((byte)'3', 0)])
            body.WriteInt32([name], part);
        body.End();
        body.WriteInt32("bits"u8, 64);
        body.WriteBoolean("debug"u8, false);
        body.WriteInt32("maxBsonObjectSize"u8, ProtocolLimits.MaximumDocumentBytes);
        body.StartArray("storageEngines"u8);
        body.WriteString("0"u8, ProtocolLimits.StorageEngine);
        body.End();
        WriteKind(session.Server, body);
        reply.Succeed();
    }

    /// <summary>Tells MongoPerf's servers from MongoDB's, and from each other.</summary>
    public static void WriteKind(ServerContext server, BsonWriter body) =>
        body.WriteBoolean(Encoding.UTF8.GetBytes(server.Options.KindField), true);
}
