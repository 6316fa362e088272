using System.Buffers.Binary;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Messages;

/// <summary>A parsed OP_QUERY: what some drivers still open with (hello only). Source: wire protocol, "OP_QUERY".</summary>
public readonly ref struct OpQuery
{
    private const int ExhaustFlag = 64;

    private OpQuery(int flags, ReadOnlySpan<byte> collection, int numberToReturn, ReadOnlySpan<byte> query)
    {
        Collection = collection;
        NumberToReturn = numberToReturn;
        Query = query;
        IsExhaust = (flags & ExhaustFlag) != 0;
    }

    public bool IsExhaust { get; }

    /// <summary>1 or -1 for a command.</summary>
    public int NumberToReturn { get; }

    /// <summary>Database, dot, collection; <c>admin.$cmd</c> for a command.</summary>
    public ReadOnlySpan<byte> Collection { get; }

    /// <summary>The document as it was sent.</summary>
    public ReadOnlySpan<byte> Query { get; }

    /// <summary>
    /// The command document: the sent one, or what stands in its <c>$query</c> (or <c>query</c>) where a read preference goes beside it.
    /// </summary>
    public ReadOnlySpan<byte> Command
    {
        get
        {
            var reader = new BsonReader(Query);
            return reader.Read() && reader.Type == BsonType.Document && (reader.NameIs("$query"u8) || reader.NameIs("query"u8))
                ? reader.Value
                : Query;
        }
    }

    public bool IsCommand => Collection.EndsWith(".$cmd"u8);

    /// <summary>The database that a command is for.</summary>
    public ReadOnlySpan<byte> Database => Collection[..^".$cmd"u8.Length];

    /// <param name="message">Header included, exactly as long as the header says.</param>
    /// <exception cref="WireProtocolException">A name without an end, or a document that does not fit.</exception>
    public static OpQuery Parse(ReadOnlySpan<byte> message)
    {
        // int32 flags, cstring collection, int32 numberToSkip, int32 numberToReturn, document query.
        ReadOnlySpan<byte> rest = message[MessageHeader.Size..];
        int nameLength = rest.Length > 4 ? rest[4..].IndexOf((byte)0) : -1;
        int at = 4 + nameLength + 1 + 8;
        if (nameLength < 0 || rest.Length < at + 5)
            throw new WireProtocolException($"OP_QUERY of {message.Length} bytes ends before its query document");
        int size = BinaryPrimitives.ReadInt32LittleEndian(rest[at..]);
        if (size < 5 || size > rest.Length - at)
            throw new WireProtocolException($"OP_QUERY document declares {size} bytes; allowed: 5 to {rest.Length - at}");
        return new OpQuery(
            BinaryPrimitives.ReadInt32LittleEndian(rest), rest.Slice(4, nameLength),
            BinaryPrimitives.ReadInt32LittleEndian(rest[(at - 4)..]), rest.Slice(at, size));
    }
}
