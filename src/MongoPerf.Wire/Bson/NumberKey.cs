using System.Buffers.Binary;

namespace MongoPerf.Wire.Bson;

/// <summary>A number as a pair that sorts: the nearest double's bits, made sortable, and what an int64 differs from it.</summary>
/// <param name="SortableDouble">Grows with the double; NaN is 0, below all others, and -0.0 equals 0.0.</param>
/// <param name="Remainder">-1024 to 1024; 0 for doubles and for every integer below 2^53.</param>
public readonly record struct NumberKey(ulong SortableDouble, short Remainder)
{
    // At and beyond 2^53 not every integer is a double.
    public const double ExactIntegers = 9007199254740992.0;

    public static NumberKey Of(BsonType type, ReadOnlySpan<byte> value) => type switch
    {
        BsonType.Int32 => OfDouble(BinaryPrimitives.ReadInt32LittleEndian(value)),
        BsonType.Int64 => OfInt64(BinaryPrimitives.ReadInt64LittleEndian(value)),
        _ => OfDouble(BinaryPrimitives.ReadDoubleLittleEndian(value)),
    };

    /// <summary>Whether keys of this double carry a remainder; it depends on the double alone, so that keys stay comparable.</summary>
    public bool HasRemainder => SortableDouble >= Sortable(ExactIntegers) || SortableDouble <= Sortable(-ExactIntegers);

    public int CompareTo(NumberKey other)
    {
        int byDouble = SortableDouble.CompareTo(other.SortableDouble);
        return byDouble != 0 ? byDouble : Remainder.CompareTo(other.Remainder);
    }

    public static NumberKey OfDouble(double value) => new(Sortable(value), 0);

    public static NumberKey OfInt64(long value)
    {
        double nearest = value;
        // (long)2^63 saturates at 2^63 - 1; the remainder against the true 2^63 is one less.
        long back = nearest >= 9223372036854775808.0 ? long.MaxValue : (long)nearest;
        long remainder = nearest >= 9223372036854775808.0 ? value - back - 1 : value - back;
        return new NumberKey(Sortable(nearest), (short)remainder);
    }

    private static ulong Sortable(double value)
    {
        if (double.IsNaN(value))
            return 0;
        if (value == 0)
            value = 0.0;
        ulong bits = BitConverter.DoubleToUInt64Bits(value);
        return (bits >> 63) != 0 ? ~bits : bits | (1UL << 63);
    }
}
