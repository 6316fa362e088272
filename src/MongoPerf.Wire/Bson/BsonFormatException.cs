namespace MongoPerf.Wire.Bson;

/// <summary>Bytes that are not BSON: says at which offset, what was found and what is allowed.</summary>
public class BsonFormatException : FormatException
{
    public BsonFormatException(int offset, string what)
        : base($"BSON, byte {offset}: {what}") => Offset = offset;

    /// <summary>0-based, from the start of the document that was being read.</summary>
    public int Offset { get; }
}

/// <summary>Documents nested deeper than a server takes them.</summary>
public sealed class BsonDepthException(int limit) : BsonFormatException(0, $"nested deeper than {limit} documents");
