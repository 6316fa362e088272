using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>hello, its older names, and buildInfo: what a client learns before anything else.</summary>
/// <remarks>
/// Public in parts, so that other handlers behind a <see cref="TcpServer"/> introduce themselves in the same way. There is no
/// topologyVersion (clients then poll instead of waiting for changes).
/// </remarks>
public static class HelloCommand
{
    public const string Version = "6.0.5-mongoperf";
    private const int WireVersion = 17;

    /// <summary>Writes the elements of a hello reply, without <c>ok</c>.</summary>
    /// <param name="body">Stands inside the reply document.</param>
    /// <param name="request">Its first element's name decides between the new and the old field name.</param>
    /// <param name="connectionId">Shown to the client.</param>
    /// <param name="kindField">Tells what this server is, such as <c>mongoperfEmbedded</c>.</param>
    public static void WriteElements(BsonWriter body, ReadOnlySpan<byte> request, int connectionId, ReadOnlySpan<byte> kindField)
    {
        var reader = new BsonReader(request);
        bool isHello = reader.Read() && reader.NameIs("hello"u8);
        bool saysHelloOk = reader.Find("helloOk"u8) && reader.ToBoolean();
        if (saysHelloOk)
            body.WriteBoolean("helloOk"u8, true);
        body.WriteBoolean(isHello ? "isWritablePrimary"u8 : "ismaster"u8, true);
        body.WriteInt32("maxBsonObjectSize"u8, Limits.MaximumDocumentBytes);
        body.WriteInt32("maxMessageSizeBytes"u8, Limits.MaximumMessageBytes);
        body.WriteInt32("maxWriteBatchSize"u8, Limits.MaximumWriteBatch);
        body.WriteDateTime("localTime"u8, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        body.WriteInt32("connectionId"u8, connectionId);
        body.WriteInt32("minWireVersion"u8, 0);
        body.WriteInt32("maxWireVersion"u8, WireVersion);
        body.WriteBoolean("readOnly"u8, false);
        body.WriteBoolean(kindField, true);
    }

    /// <summary>Writes the elements of a buildInfo reply, without <c>ok</c>.</summary>
    /// <param name="body">Stands inside the reply document.</param>
    /// <param name="storageEngine">As serverStatus names it.</param>
    /// <param name="kindField">As in <see cref="WriteElements"/>.</param>
    public static void WriteBuildInfo(BsonWriter body, string storageEngine, ReadOnlySpan<byte> kindField)
    {
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
        body.WriteInt32("maxBsonObjectSize"u8, Limits.MaximumDocumentBytes);
        body.StartArray("storageEngines"u8);
        body.WriteString("0"u8, storageEngine);
        body.End();
        body.WriteBoolean(kindField, true);
    }

    internal static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteElements(reply.Body, request.Body, session.ConnectionId, Limits.KindField);
        reply.Body.WriteInt32("logicalSessionTimeoutMinutes"u8, SessionCommands.TimeoutMinutes);
        reply.Succeed();
    }

    internal static void BuildInfo(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        WriteBuildInfo(reply.Body, Limits.StorageEngine, Limits.KindField);
        reply.Succeed();
    }
}
