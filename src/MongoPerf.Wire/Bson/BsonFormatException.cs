using MongoPerf.Wire.Failures;

namespace MongoPerf.Wire.Bson;

/// <summary>Bytes that are not BSON: says at which offset, what was found and what is allowed.</summary>
public class BsonFormatException : FormatException, IFailure
{
    public BsonFormatException(int offset, string what)
        : base($"BSON, byte {offset}: {what}") => Offset = offset;

    /// <summary>0-based, from the start of the document that was being read.</summary>
    public int Offset { get; }

    /// <summary>Who sends such bytes is no MongoDB.</summary>
    public Fault Fault => Fault.CannotConnect;

    public string? Hint => null;
}

/// <summary>Documents nested deeper than a server takes them.</summary>
public sealed class BsonDepthException(int limit) : BsonFormatException(0, $"nested deeper than {limit} documents");
