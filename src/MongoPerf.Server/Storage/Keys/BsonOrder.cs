using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage.Keys;

/// <summary>MongoDB's order of BSON values: first by kind, then by value. Source: manual, "Comparison/Sort Order".</summary>
/// <remarks>Numbers of all types are one kind and compare by value, exactly.</remarks>
internal static class BsonOrder
{
    public const byte MinKeyRank = 1;
    public const byte UndefinedRank = 3;
    public const byte NullRank = 5;
    public const byte NumberRank = 10;
    public const byte StringRank = 15;
    public const byte MaxKeyRank = 127;

    /// <summary>The place of a type's kind in the order; types of one rank compare by value.</summary>
    public static byte Rank(BsonType type) => type switch
    {
        BsonType.MinKey => MinKeyRank,
        BsonType.Undefined => UndefinedRank,
        BsonType.Null => NullRank,
        BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128 => NumberRank,
        BsonType.String or BsonType.Symbol => StringRank,
        BsonType.Document => 20,
        BsonType.Array => 25,
        BsonType.Binary => 30,
        BsonType.ObjectId => 35,
        BsonType.Boolean => 40,
        BsonType.DateTime => 45,
        BsonType.Timestamp => 47,
        BsonType.Regex => 50,
        BsonType.DbPointer => 55,
        BsonType.JavaScript => 60,
        BsonType.JavaScriptWithScope => 65,
        BsonType.MaxKey => MaxKeyRank,
        _ => throw new StorageException($"BSON type 0x{(byte)type:x2} has no place in the order"),
    };

    /// <summary>Compares two values: below, at or above zero, as the first stands before, beside or after the second.</summary>
    /// <remarks>Strings by their bytes where there is no collation.</remarks>
    public static int Compare(
        BsonType leftType, ReadOnlySpan<byte> left, BsonType rightType, ReadOnlySpan<byte> right, Collation? collation = null)
    {
        if (leftType == BsonType.Int32 && rightType == BsonType.Int32)
            return BinaryPrimitives.ReadInt32LittleEndian(left).CompareTo(BinaryPrimitives.ReadInt32LittleEndian(right));
        byte leftRank = Rank(leftType);
        int byRank = leftRank.CompareTo(Rank(rightType));
        return byRank != 0 ? byRank : CompareSameRank(leftRank, leftType, left, rightType, right, collation);
    }

    private static int CompareSameRank(
        byte rank, BsonType leftType, ReadOnlySpan<byte> left, BsonType rightType, ReadOnlySpan<byte> right, Collation? collation) =>
        leftType switch
        {
            _ when rank == NumberRank => CompareNumbers(leftType, left, rightType, right),
            BsonType.String or BsonType.Symbol when collation != null => collation.Compare(left[4..^1], right[4..^1]),
            BsonType.String or BsonType.Symbol or BsonType.JavaScript => left[4..^1].SequenceCompareTo(right[4..^1]),
            BsonType.Document => CompareDocuments(left, right, withNames: true, collation),
            BsonType.Array => CompareDocuments(left, right, withNames: false, collation),
            BsonType.Binary => CompareBinary(left, right),
            BsonType.DateTime => BinaryPrimitives.ReadInt64LittleEndian(left).CompareTo(BinaryPrimitives.ReadInt64LittleEndian(right)),
            BsonType.Timestamp => BinaryPrimitives.ReadUInt64LittleEndian(left).CompareTo(BinaryPrimitives.ReadUInt64LittleEndian(right)),
            BsonType.JavaScriptWithScope => CompareCodeWithScope(left, right),
            _ => left.SequenceCompareTo(right),
        };

    /// <summary>Compares numbers of any two types without rounding either.</summary>
    private static int CompareNumbers(BsonType leftType, ReadOnlySpan<byte> left, BsonType rightType, ReadOnlySpan<byte> right)
    {
        if (leftType == BsonType.Decimal128 || rightType == BsonType.Decimal128)
            return DecimalKey.Of(leftType, left).CompareTo(DecimalKey.Of(rightType, right));
        return NumberKey.Of(leftType, left).CompareTo(NumberKey.Of(rightType, right));
    }

    private static int CompareDocuments(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right, bool withNames, Collation? collation = null)
    {
        // What expressions have made may be nested without bounds.
        RuntimeHelpers.EnsureSufficientExecutionStack();
        var leftReader = new BsonReader(left);
        var rightReader = new BsonReader(right);
        while (true)
        {
            bool leftHas = leftReader.Read();
            bool rightHas = rightReader.Read();
            if (!leftHas || !rightHas)
                return leftHas.CompareTo(rightHas);
            int order = Rank(leftReader.Type).CompareTo(Rank(rightReader.Type));
            if (order == 0 && withNames)
                order = leftReader.Name.SequenceCompareTo(rightReader.Name);
            if (order == 0)
                order = Compare(leftReader.Type, leftReader.Value, rightReader.Type, rightReader.Value, collation);
            if (order != 0)
                return order;
        }
    }

    private static int CompareBinary(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int byLength = BinaryPrimitives.ReadInt32LittleEndian(left).CompareTo(BinaryPrimitives.ReadInt32LittleEndian(right));
        return byLength != 0 ? byLength : left[4..].SequenceCompareTo(right[4..]);
    }

    private static int CompareCodeWithScope(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int leftCode = BinaryPrimitives.ReadInt32LittleEndian(left[4..]);
        int rightCode = BinaryPrimitives.ReadInt32LittleEndian(right[4..]);
        int byCode = left.Slice(8, leftCode - 1).SequenceCompareTo(right.Slice(8, rightCode - 1));
        return byCode != 0 ? byCode : CompareDocuments(left[(8 + leftCode)..], right[(8 + rightCode)..], withNames: true);
    }
}

/// <summary>A number as a pair that sorts: the nearest double's bits, made sortable, and what an int64 differs from it.</summary>
/// <param name="SortableDouble">Grows with the double; NaN is 0, below all others, and -0.0 equals 0.0.</param>
/// <param name="Remainder">-1024 to 1024; 0 for doubles and for every integer below 2^53.</param>
internal readonly record struct NumberKey(ulong SortableDouble, short Remainder) : IComparable<NumberKey>
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
