using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>What clients are told and held to; MongoDB's own figures.</summary>
internal static class ProtocolLimits
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

    /// <summary>Pipelines of stages inside each other.</summary>
    public const int MaximumSubPipelines = 20;
    public const int MaximumSortFields = 32;

    /// <summary>Replies with documents stop here; one document more is always allowed.</summary>
    public const int MaximumReplyBytes = 16_777_216;
    public const int DefaultFirstBatch = 101;
    public const string StorageEngine = "rocksdb";

    public static CommandException TooLarge(long bytes) =>
        new(10334, "BSONObjectTooLarge",
            $"BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {MaximumBodyBytes}(16MB)");

    public static CommandException TooDeep() => CommandException.Overflow(
        $"cannot convert document to BSON because it exceeds the limit of {BsonValidator.MaximumDepth} levels of nesting");

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

    /// <summary>A dotted path, but that of a filter or an update.</summary>
    /// <exception cref="CommandException">15 for more than <see cref="MaximumPath"/> names, 16411 for a zero byte.</exception>
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
}
