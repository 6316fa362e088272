using System.Buffers.Binary;
using System.Text;

namespace MongoPerf.Wire.Bson;

/// <summary>Walks the elements of one document, forward only, over bytes that it does not copy.</summary>
/// <remarks>
/// Every length is checked against the document before it is used, so hostile bytes end in a <see cref="BsonFormatException"/>
/// and never in a read outside the span. Nested documents are handed out as spans; open another reader on them.
/// UTF-8 is not checked here (see <see cref="BsonValidator"/>). Source: bsonspec.org 1.1.
/// </remarks>
public ref struct BsonReader
{
    /// <summary>int32 length and the final zero: an empty document.</summary>
    public const int MinimumDocumentLength = 5;

    private readonly ReadOnlySpan<byte> _bytes;
    private int _position;
    private int _nameStart;
    private int _nameLength;
    private int _valueStart;
    private int _valueLength;
    private BsonType _type;

    /// <param name="document">Starts with the document's length; bytes after its end are left alone.</param>
    /// <exception cref="BsonFormatException">The declared length does not fit, or the final zero is missing.</exception>
    public BsonReader(ReadOnlySpan<byte> document)
    {
        int length = ReadDocumentLength(document, 0);
        _bytes = document[..length];
        _position = 4;
    }

    /// <summary>Continues where another reader of the same, checked, document stood.</summary>
    internal BsonReader(ReadOnlySpan<byte> document, int position)
    {
        _bytes = document[..BinaryPrimitives.ReadInt32LittleEndian(document)];
        _position = position;
    }

    /// <summary>Where the next element starts.</summary>
    internal readonly int Position => _position;

    public readonly BsonType Type => _type;

    /// <summary>The element's key, without its final zero.</summary>
    public readonly ReadOnlySpan<byte> Name => _bytes.Slice(_nameStart, _nameLength);

    /// <summary>The element's value as it stands in the document.</summary>
    public readonly ReadOnlySpan<byte> Value => _bytes.Slice(_valueStart, _valueLength);

    /// <summary>Where the value starts, counted from the document's first byte.</summary>
    public readonly int ValueOffset => _valueStart;

    /// <summary>Where the element (its type byte) starts, counted from the document's first byte.</summary>
    public readonly int ElementOffset => _nameStart - 1;

    /// <summary>The whole document that is being read.</summary>
    public readonly ReadOnlySpan<byte> Document => _bytes;

    /// <summary>Goes to the next element.</summary>
    /// <returns>False after the last one.</returns>
    public bool Read()
    {
        int at = _position;
        byte type = _bytes[at];
        if (type == 0)
        {
            if (at != _bytes.Length - 1)
                ThrowEarlyEnd(at);
            return false;
        }

        _type = (BsonType)type;
        _nameStart = at + 1;
        _nameLength = _bytes[_nameStart..].IndexOf((byte)0);
        if (_nameLength < 0)
            ThrowUnterminated(_nameStart);
        _valueStart = _nameStart + _nameLength + 1;
        _valueLength = MeasureValue(_valueStart);
        _position = _valueStart + _valueLength;
        if (_position >= _bytes.Length)
            ThrowPastEnd(_valueStart, _valueLength);
        return true;
    }

    /// <summary>Continues to the element of that name; elements before it are skipped.</summary>
    public bool Find(ReadOnlySpan<byte> name)
    {
        while (Read())
        {
            if (Name.SequenceEqual(name))
                return true;
        }

        return false;
    }

    public readonly bool NameIs(ReadOnlySpan<byte> name) => Name.SequenceEqual(name);

    public readonly string NameText => Encoding.UTF8.GetString(Name);

    public readonly int Int32 => BinaryPrimitives.ReadInt32LittleEndian(Expect(BsonType.Int32));

    public readonly long Int64 => BinaryPrimitives.ReadInt64LittleEndian(Expect(BsonType.Int64));

    public readonly double Double => BinaryPrimitives.ReadDoubleLittleEndian(Expect(BsonType.Double));

    public readonly bool Boolean => Expect(BsonType.Boolean)[0] != 0;

    /// <summary>Milliseconds since 1970-01-01 UTC.</summary>
    public readonly long DateTimeMilliseconds => BinaryPrimitives.ReadInt64LittleEndian(Expect(BsonType.DateTime));

    public readonly ObjectId ObjectId => ObjectId.FromBytes(Expect(BsonType.ObjectId));

    /// <summary>A string's UTF-8 bytes, without length and final zero. Also for JavaScript and symbols.</summary>
    public readonly ReadOnlySpan<byte> StringBytes
    {
        get
        {
            if (_type is not (BsonType.String or BsonType.JavaScript or BsonType.Symbol))
                ThrowType(BsonType.String);
            return Value[4..^1];
        }
    }

    public readonly string StringText => Encoding.UTF8.GetString(StringBytes);

    /// <summary>The nested document's or array's bytes.</summary>
    public readonly ReadOnlySpan<byte> DocumentBytes
    {
        get
        {
            if (_type is not (BsonType.Document or BsonType.Array))
                ThrowType(BsonType.Document);
            return Value;
        }
    }

    public readonly bool IsNumber => _type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128;

    /// <summary>Any numeric type: servers send counters as int32, int64 or double, as the value or version goes.</summary>
    /// <exception cref="BsonFormatException">The element is no number.</exception>
    public readonly double ToDouble() => _type switch
    {
        BsonType.Int32 => Int32,
        BsonType.Int64 => Int64,
        BsonType.Double => Double,
        BsonType.Decimal128 => Decimal128.FromBytes(Value).ToDouble(),
        _ => throw new BsonFormatException(_valueStart, $"'{NameText}' is {_type}, a number is expected"),
    };

    /// <inheritdoc cref="ToDouble"/>
    public readonly long ToInt64() => _type switch
    {
        BsonType.Int32 => Int32,
        BsonType.Int64 => Int64,
        BsonType.Double => (long)Double,
        BsonType.Decimal128 => Decimal128.FromBytes(Value).ToInt64(),
        _ => throw new BsonFormatException(_valueStart, $"'{NameText}' is {_type}, a number is expected"),
    };

    /// <summary>What commands take for true: true itself, or a number other than zero.</summary>
    public readonly bool ToBoolean() => _type switch
    {
        BsonType.Boolean => Boolean,
        BsonType.Decimal128 => !Decimal128.FromBytes(Value).IsZero,
        _ => IsNumber && ToDouble() != 0,
    };

    private readonly ReadOnlySpan<byte> Expect(BsonType type)
    {
        if (_type != type)
            ThrowType(type);
        return Value;
    }

    private readonly int MeasureValue(int at) => _type switch
    {
        BsonType.Double or BsonType.DateTime or BsonType.Timestamp or BsonType.Int64 => 8,
        BsonType.Int32 => 4,
        BsonType.Boolean => MeasureBoolean(at),
        BsonType.ObjectId => ObjectId.Size,
        BsonType.Decimal128 => 16,
        BsonType.Null or BsonType.Undefined or BsonType.MinKey or BsonType.MaxKey => 0,
        BsonType.String or BsonType.JavaScript or BsonType.Symbol => MeasureString(at),
        BsonType.Document or BsonType.Array => ReadDocumentLength(_bytes, at),
        BsonType.Binary => MeasureBinary(at),
        BsonType.Regex => MeasureRegex(at),
        BsonType.DbPointer => MeasureString(at) + ObjectId.Size,
        BsonType.JavaScriptWithScope => MeasureCodeWithScope(at),
        _ => throw new BsonFormatException(_nameStart - 1, $"element type 0x{(byte)_type:x2} does not exist"),
    };

    private readonly int MeasureBoolean(int at)
    {
        if (at < _bytes.Length && _bytes[at] > 1)
            throw new BsonFormatException(at, $"boolean is {_bytes[at]}; allowed: 0 and 1");
        return 1;
    }

    private readonly int ReadLength(int at)
    {
        if (at + 4 > _bytes.Length)
            ThrowPastEnd(at, 4);
        return BinaryPrimitives.ReadInt32LittleEndian(_bytes[at..]);
    }

    private readonly int MeasureString(int at)
    {
        int length = ReadLength(at);
        if (length < 1 || length > _bytes.Length - at - 5)
            throw new BsonFormatException(at, $"string length is {length}; allowed: 1 to {Math.Max(1, _bytes.Length - at - 5)}");
        if (_bytes[at + 4 + length - 1] != 0)
            throw new BsonFormatException(at + 4 + length - 1, "string does not end with a zero byte");
        return 4 + length;
    }

    private readonly int MeasureBinary(int at)
    {
        int length = ReadLength(at);
        if (length < 0 || length > _bytes.Length - at - 6)
            throw new BsonFormatException(at, $"binary length is {length}; allowed: 0 to {Math.Max(0, _bytes.Length - at - 6)}");
        // Subtype 2 (old binary) repeats its length inside.
        if (_bytes[at + 4] == 2 && (length < 4 || BinaryPrimitives.ReadInt32LittleEndian(_bytes[(at + 5)..]) != length - 4))
            throw new BsonFormatException(at + 5, $"inner length of old binary is not {length - 4}");
        return 5 + length;
    }

    private readonly int MeasureRegex(int at)
    {
        int pattern = _bytes[at..].IndexOf((byte)0);
        if (pattern < 0)
            ThrowUnterminated(at);
        int options = _bytes[(at + pattern + 1)..].IndexOf((byte)0);
        if (options < 0)
            ThrowUnterminated(at + pattern + 1);
        return pattern + options + 2;
    }

    private readonly int MeasureCodeWithScope(int at)
    {
        int total = ReadLength(at);
        if (total < 4 + 5 + MinimumDocumentLength || total > _bytes.Length - at - 1)
            throw new BsonFormatException(
                at, $"code with scope declares {total} bytes; allowed: 14 to {Math.Max(14, _bytes.Length - at - 1)}");
        int code = MeasureString(at + 4);
        if (4 + code + 4 > total)
            throw new BsonFormatException(at + 4, "code runs past the end of its element");
        int scope = ReadDocumentLength(_bytes, at + 4 + code);
        if (4 + code + scope != total)
            throw new BsonFormatException(at, $"code with scope declares {total} bytes and holds {4 + code + scope}");
        return total;
    }

    private static int ReadDocumentLength(ReadOnlySpan<byte> bytes, int at)
    {
        int room = bytes.Length - at;
        if (room < MinimumDocumentLength)
            throw new BsonFormatException(at, $"{Math.Max(room, 0)} bytes are left, a document needs at least {MinimumDocumentLength}");
        int length = BinaryPrimitives.ReadInt32LittleEndian(bytes[at..]);
        if (length < MinimumDocumentLength || length > room)
            throw new BsonFormatException(at, $"document length is {length}; allowed: {MinimumDocumentLength} to {room}");
        if (bytes[at + length - 1] != 0)
            throw new BsonFormatException(at + length - 1, "document does not end with a zero byte");
        return length;
    }

    private readonly void ThrowType(BsonType expected) =>
        throw new BsonFormatException(_valueStart, $"'{NameText}' is {_type}, {expected} is expected");

    private static void ThrowUnterminated(int at) => throw new BsonFormatException(at, "key or text without its final zero byte");

    private static void ThrowEarlyEnd(int at) => throw new BsonFormatException(at, "document ends before its declared length");

    private static void ThrowPastEnd(int at, int length) =>
        throw new BsonFormatException(at, $"value of {length} bytes runs past the end of the document");
}
