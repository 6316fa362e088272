using System.Buffers.Binary;
using System.Text;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Wire.Bson;

/// <summary>Writes BSON into a buffer of its own that grows and is used again after <see cref="Clear"/>.</summary>
/// <remarks>
/// One thread. Names are UTF-8 without zero bytes; the caller vouches for that (names here are the program's own).
/// Wire messages are written with the same class: <see cref="WriteRaw"/> and <see cref="PatchInt32"/> reach any byte.
/// </remarks>
public sealed class BsonWriter
{
    private const int MaximumDepth = 100;
#if DEBUG
    // Small, so that the growing path runs in every test of a debug build.
    private const int FirstCapacity = 16;
#else
    // Of a command mostly enough; thousands of connections have several writers each.
    private const int FirstCapacity = 512;
#endif
    private const int FirstDepth = 8;

    private int[] _starts = new int[FirstDepth];
    private byte[] _buffer;
    private int _length;
    private int _depth;

    public BsonWriter(int capacity = FirstCapacity) => _buffer = new byte[Math.Max(capacity, 16)];

    /// <summary>Bytes written so far.</summary>
    public int Length => _length;

    public ReadOnlySpan<byte> Written => _buffer.AsSpan(0, _length);

    /// <summary>The written bytes for a library that keeps them for the length of a call; valid until the next write.</summary>
    public ReadOnlyMemory<byte> WrittenMemory => _buffer.AsMemory(0, _length);

    /// <summary>The written bytes for patching in place; valid until the next write.</summary>
    public Span<byte> WrittenForPatching => _buffer.AsSpan(0, _length);

    public byte[] ToArray() => Written.ToArray();

    public void Clear()
    {
        _length = 0;
        _depth = 0;
    }

    /// <summary>Starts a document that is no element: the outermost one, or one of a document sequence.</summary>
    public void StartDocument()
    {
        if (_depth == MaximumDepth)
            throw new InvalidOperationException($"BSON nested deeper than {MaximumDepth} documents");
        if (_depth == _starts.Length)
            Array.Resize(ref _starts, MaximumDepth);
        _starts[_depth++] = _length;
        WriteRawInt32(0);
    }

    public void StartDocument(ReadOnlySpan<byte> name)
    {
        WriteName(BsonType.Document, name);
        StartDocument();
    }

    public void StartArray(ReadOnlySpan<byte> name)
    {
        WriteName(BsonType.Array, name);
        StartDocument();
    }

    /// <summary>Ends the innermost document or array and sets its length.</summary>
    public void End()
    {
        WriteRawByte(0);
        int start = _starts[--_depth];
        PatchInt32(start, _length - start);
    }

    public void WriteInt32(ReadOnlySpan<byte> name, int value)
    {
        WriteName(BsonType.Int32, name);
        WriteRawInt32(value);
    }

    public void WriteInt64(ReadOnlySpan<byte> name, long value)
    {
        WriteName(BsonType.Int64, name);
        WriteRawInt64(value);
    }

    public void WriteDouble(ReadOnlySpan<byte> name, double value)
    {
        WriteName(BsonType.Double, name);
        WriteRawInt64(BitConverter.DoubleToInt64Bits(value));
    }

    public void WriteBoolean(ReadOnlySpan<byte> name, bool value)
    {
        WriteName(BsonType.Boolean, name);
        WriteRawByte(value ? (byte)1 : (byte)0);
    }

    public void WriteNull(ReadOnlySpan<byte> name) => WriteName(BsonType.Null, name);

    /// <param name="name">The element's key.</param>
    /// <param name="milliseconds">Milliseconds since 1970-01-01 UTC.</param>
    public void WriteDateTime(ReadOnlySpan<byte> name, long milliseconds)
    {
        WriteName(BsonType.DateTime, name);
        WriteRawInt64(milliseconds);
    }

    public void WriteTimestamp(ReadOnlySpan<byte> name, ulong value)
    {
        WriteName(BsonType.Timestamp, name);
        WriteRawInt64(unchecked((long)value));
    }

    public void WriteObjectId(ReadOnlySpan<byte> name, ObjectId value)
    {
        WriteName(BsonType.ObjectId, name);
        value.CopyTo(Grow(ObjectId.Size));
    }

    public void WriteString(ReadOnlySpan<byte> name, ReadOnlySpan<byte> utf8)
    {
        WriteName(BsonType.String, name);
        WriteRawInt32(utf8.Length + 1);
        WriteRaw(utf8);
        WriteRawByte(0);
    }

    public void WriteString(ReadOnlySpan<byte> name, string text) => WriteString(name, Encoding.UTF8.GetBytes(text));

    public void WriteBinary(ReadOnlySpan<byte> name, ReadOnlySpan<byte> bytes, byte subtype = 0)
    {
        WriteName(BsonType.Binary, name);
        WriteRawInt32(bytes.Length);
        WriteRawByte(subtype);
        WriteRaw(bytes);
    }

    /// <summary>Writes a finished document as an element.</summary>
    public void WriteDocument(ReadOnlySpan<byte> name, ReadOnlySpan<byte> document)
    {
        WriteName(BsonType.Document, name);
        WriteRaw(document);
    }

    /// <summary>Writes any value as it stood in another document.</summary>
    public void WriteValue(ReadOnlySpan<byte> name, BsonType type, ReadOnlySpan<byte> value)
    {
        WriteName(type, name);
        WriteRaw(value);
    }

    public void WriteName(BsonType type, ReadOnlySpan<byte> name)
    {
        Span<byte> room = Grow(name.Length + 2);
        room[0] = (byte)type;
        name.CopyTo(room[1..]);
        room[^1] = 0;
    }

    public void WriteRaw(ReadOnlySpan<byte> bytes) => bytes.CopyTo(Grow(bytes.Length));

    public void WriteRawByte(byte value) => Grow(1)[0] = value;

    public void WriteRawInt32(int value) => BinaryPrimitives.WriteInt32LittleEndian(Grow(4), value);

    public void WriteRawInt64(long value) => BinaryPrimitives.WriteInt64LittleEndian(Grow(8), value);

    public void PatchInt32(int offset, int value) => BinaryPrimitives.WriteInt32LittleEndian(_buffer.AsSpan(offset, 4), value);

    /// <summary>Takes back everything written from <paramref name="length"/> on; the nesting must be as it was there.</summary>
    public void Truncate(int length) => _length = length;

    /// <summary>Room for bytes that the caller fills at once.</summary>
    public Span<byte> Grow(int count)
    {
        int at = _length;
        if (count > _buffer.Length - at)
            Enlarge(count);
        _length = at + count;
        return _buffer.AsSpan(at, count);
    }

    private void Enlarge(int count)
    {
        long needed = (long)_length + count;
        // Arrays of arrays of arrays, as a scenario may describe them, have no end.
        if (needed > Array.MaxLength)
            throw new MongoPerfException(Fault.WrongUsage, "a document of more than 2 GB; MongoDB allows 16 MB");
        Array.Resize(ref _buffer, (int)Math.Min(Array.MaxLength, Math.Max(2L * _buffer.Length, needed)));
    }
}
