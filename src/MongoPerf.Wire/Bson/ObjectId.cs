using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace MongoPerf.Wire.Bson;

/// <summary>A 12-byte ObjectId; compares as MongoDB does, byte by byte from the first.</summary>
/// <param name="High">Bytes 0 to 3, big-endian: by convention seconds since 1970.</param>
/// <param name="Low">Bytes 4 to 11, big-endian.</param>
public readonly record struct ObjectId(uint High, ulong Low) : IComparable<ObjectId>
{
    public const int Size = 12;

    public static ObjectId FromBytes(ReadOnlySpan<byte> bytes) =>
        new(BinaryPrimitives.ReadUInt32BigEndian(bytes), BinaryPrimitives.ReadUInt64BigEndian(bytes[4..]));

    /// <exception cref="FormatException">Not 24 hexadecimal digits.</exception>
    public static ObjectId Parse(string hex)
    {
        if (hex.Length != 2 * Size)
            throw new FormatException($"'{hex}' is not an ObjectId: {hex.Length} characters; allowed: 24 hexadecimal digits");
        return FromBytes(Convert.FromHexString(hex));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void CopyTo(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt32BigEndian(destination, High);
        BinaryPrimitives.WriteUInt64BigEndian(destination[4..], Low);
    }

    public int CompareTo(ObjectId other) => High != other.High ? High.CompareTo(other.High) : Low.CompareTo(other.Low);

    public static bool operator <(ObjectId left, ObjectId right) => left.CompareTo(right) < 0;

    public static bool operator >(ObjectId left, ObjectId right) => left.CompareTo(right) > 0;

    public static bool operator <=(ObjectId left, ObjectId right) => left.CompareTo(right) <= 0;

    public static bool operator >=(ObjectId left, ObjectId right) => left.CompareTo(right) >= 0;

    public override string ToString() => $"{High:x8}{Low:x16}";
}
