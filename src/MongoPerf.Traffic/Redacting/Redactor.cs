using System.Buffers.Binary;
using System.Security.Cryptography;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Redacting;

/// <summary>
/// Replaces the values in requests by pseudonyms, and leaves what they are made of: names, operators and options. One thread.
/// </summary>
/// <remarks>The key is random, of one recording, and stored nowhere.</remarks>
internal sealed class Redactor
{
    private static readonly string[] GeoTypes =
        ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"];

    private readonly Pseudonyms _pseudonyms;
    private byte[] _message = [];

    public Redactor()
    {
        ReadOnlySpan<byte> key = RandomNumberGenerator.GetBytes(16);
        _pseudonyms = new Pseudonyms(new Permutation(
            BinaryPrimitives.ReadUInt64LittleEndian(key), BinaryPrimitives.ReadUInt64LittleEndian(key[8..])));
    }

    /// <param name="message">An OP_MSG, unpacked.</param>
    /// <param name="redacted">The same without its checksum, if it had one. Valid until the next call.</param>
    /// <returns>False for a request with code in it, which must not be stored.</returns>
    /// <exception cref="BsonFormatException">It is no BSON.</exception>
    /// <exception cref="WireProtocolException">It is no OP_MSG.</exception>
    public bool TryRedact(ReadOnlySpan<byte> message, out ReadOnlySpan<byte> redacted)
    {
        if (_message.Length < message.Length)
            _message = new byte[message.Length];
        Span<byte> copy = _message.AsSpan(0, message.Length);
        message.CopyTo(copy);
        OpMsg parsed = OpMsg.Parse(copy);
        if ((parsed.Flags & OpMsgFlags.ChecksumPresent) != 0)
        {
            copy = copy[..^4];
            BinaryPrimitives.WriteInt32LittleEndian(copy, copy.Length);
            BinaryPrimitives.WriteInt32LittleEndian(copy[MessageHeader.Size..], (int)(parsed.Flags & ~OpMsgFlags.ChecksumPresent));
        }

        redacted = copy;
        foreach (DocumentSequence sequence in parsed.Sequences)
        {
            RedactionRule rule = RedactionRule.Command.Of(sequence.Name);
            for (ReadOnlySpan<byte> left = sequence.Documents; left.Length > 0;)
            {
                ReadOnlySpan<byte> document = new BsonReader(left).Document;
                BsonValidator.ValidateStructure(document);
                if (!TryRedact(Writable(copy, document), rule))
                    return false;
                left = left[document.Length..];
            }
        }

        BsonValidator.ValidateStructure(parsed.Body);
        return TryRedactCommand(Writable(copy, parsed.Body));
    }

    /// <summary>The same bytes, of the copy that may be written.</summary>
    private static Span<byte> Writable(Span<byte> copy, ReadOnlySpan<byte> part)
    {
        ((ReadOnlySpan<byte>)copy).Overlaps(part, out int at);
        return copy.Slice(at, part.Length);
    }

    private bool TryRedactCommand(Span<byte> command)
    {
        RedactionRule? rule = null;
        var reader = new BsonReader(command);
        while (reader.Read())
        {
            Span<byte> value = command.Slice(reader.ValueOffset, reader.Value.Length);
            if (rule is null)
            {
                rule = RedactionRule.OfCommand(reader.NameText);
                if (!TryRedactFirst(reader, value))
                    return false;
            }
            else if (!TryRedact(reader.Type, value, rule.Of(reader.Name)))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>What names a command has its collection as value, mostly, or 1; with explain what is explained.</summary>
    private bool TryRedactFirst(in BsonReader first, Span<byte> value) => first.Type switch
    {
        BsonType.String or BsonType.Int32 or BsonType.Int64 or BsonType.Double => true,
        BsonType.Document when first.NameIs("explain"u8) => TryRedactCommand(value),
        _ => TryRedact(first.Type, value, RedactionRule.Data),
    };

    private bool TryRedact(Span<byte> document, RedactionRule rule)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            Span<byte> value = document.Slice(reader.ValueOffset, reader.Value.Length);
            if (reader.Type == BsonType.String && reader.NameIs("type"u8) && !rule.IsCode && GeoTypes.Contains(reader.StringText))
                continue;
            if (!TryRedact(reader.Type, value, rule.Of(reader.Name)))
                return false;
        }

        return true;
    }

    private bool TryRedactItems(Span<byte> array, RedactionRule rule)
    {
        var reader = new BsonReader(array);
        while (reader.Read())
        {
            if (!TryRedact(reader.Type, array.Slice(reader.ValueOffset, reader.Value.Length), rule))
                return false;
        }

        return true;
    }

    private bool TryRedact(BsonType type, Span<byte> value, RedactionRule rule)
    {
        if (rule.IsCode || type is BsonType.JavaScript or BsonType.JavaScriptWithScope)
            return false;
        if (rule.KeepsAll)
            return true;
        switch (type)
        {
            case BsonType.Document:
                return TryRedact(value, rule);
            case BsonType.Array:
                return TryRedactItems(value, rule.OfItems());
            case BsonType.String when rule.KeepsTexts || (rule.KeepsPaths && value[4] == '$'):
                break;
            case BsonType.String when rule.IsPattern:
                _pseudonyms.ReplacePattern(value[4..^1]);
                break;
            case BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128 when rule.KeepsNumbers:
                break;
            default:
                _pseudonyms.Replace(type, value);
                break;
        }

        return true;
    }
}
