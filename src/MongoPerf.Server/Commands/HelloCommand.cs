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

/// <summary>What clients are told and held to; MongoDB's own figures.</summary>
internal static class Limits
{
    public const int MaximumDocumentBytes = 16_777_216;
    public const int MaximumMessageBytes = 48_000_000;
    public const int MaximumWriteBatch = 100_000;
    public const int MaximumIndexes = 64;

    /// <summary>A document that is not stored as such: a command, or what a pipeline hands from stage to stage.</summary>
    public const int MaximumBodyBytes = MaximumDocumentBytes + (16 << 10);

    /// <summary>Levels of a stored document, itself counted.</summary>
    public const int MaximumDepth = 180;

    /// <summary>Operators inside each other in an expression.</summary>
    public const int MaximumExpressionDepth = 100;

    /// <summary>Names in a dotted path of a filter.</summary>
    public const int MaximumFilterPath = 180;

    /// <summary>Names in any other dotted path.</summary>
    public const int MaximumPath = 200;
    public const int MaximumStages = 1000;
    public const int MaximumSortFields = 32;

    /// <summary>Replies with documents stop here; one document more is always allowed.</summary>
    public const int MaximumReplyBytes = 16_777_216;
    public const int DefaultFirstBatch = 101;
    public const string StorageEngine = "rocksdb";

    public static CommandException TooLarge(long bytes) =>
        new(10334, "BSONObjectTooLarge", $"BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {MaximumBodyBytes}(16MB)");

    public static CommandException TooDeep() => CommandException.Overflow($"cannot convert document to BSON because it exceeds the limit of {BsonValidator.MaximumDepth} levels of nesting");

    /// <summary>What expressions may have made of a document on its way to the client.</summary>
    /// <exception cref="CommandException">10334 for one that is too large, 15 for one that is nested too deeply.</exception>
    public static void RequireReturnable(BsonDocument document)
    {
        if (document.Bytes.Length > MaximumBodyBytes)
            throw TooLarge(document.Bytes.Length);
        try
        {
            BsonValidator.ValidateStructure(document.Bytes);
        }
        catch (BsonDepthException)
        {
            throw TooDeep();
        }
    }

    public static void RequirePath(string path)
    {
        if (path.AsSpan().Count('.') >= MaximumPath)
            throw CommandException.Overflow("FieldPath is too long");
        RequireName(path);
    }

    /// <summary>A text that becomes the name of a field: a zero byte in it would end the name early and break the document.</summary>
    public static void RequireName(string name)
    {
        if (name.Contains('\0'))
            throw CommandException.Location(16411, "FieldPath field names may not contain '\\0'.");
    }

    public static ReadOnlySpan<byte> KindField => "mongoperfEmbedded"u8;
}
