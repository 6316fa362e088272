using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace MongoPerf.Wire.Bson;

/// <summary>MongoDB's order of BSON values: first by kind, then by value. Source: manual, "Comparison/Sort Order".</summary>
/// <remarks>
/// Numbers of all types are one kind and compare by value, exactly. A sort differs in one respect: it takes an array by its least or its
/// greatest element. Nothing allocates, except where a decimal128 is compared.
/// </remarks>
public static class BsonOrder
{
    public const byte MinKeyRank = 1;
    public const byte UndefinedRank = 3;
    public const byte NullRank = 5;
    public const byte NumberRank = 10;
    public const byte StringRank = 15;
    public const byte MaxKeyRank = 127;

    /// <summary>Compares values without a collation. Stateless: any thread may use it.</summary>
    public static IComparer<BsonValue> Values { get; } =
        Comparer<BsonValue>.Create(static (left, right) => Compare(left.Type, left.Bytes.Span, right.Type, right.Bytes.Span));

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
        _ => throw new BsonFormatException(0, $"type 0x{(byte)type:x2} has no place in the order of values"),
    };

    /// <summary>Whether both types are of one kind, as all numbers are: values of different kinds never equal each other.</summary>
    public static bool AreOfOneKind(BsonType left, BsonType right) => Rank(left) == Rank(right);

    /// <summary>Compares two values: negative, zero or positive, as the first comes before, equals or follows the second.</summary>
    /// <param name="leftType">The type of the first.</param>
    /// <param name="left">Its bytes, as a document holds them.</param>
    /// <param name="rightType">The type of the second.</param>
    /// <param name="right">Its bytes.</param>
    /// <param name="strings">The order of strings; null for that of their bytes.</param>
    /// <exception cref="BsonFormatException">Either holds a type that BSON does not have.</exception>
    /// <exception cref="InsufficientExecutionStackException">Both are nested too deep.</exception>
    public static int Compare(
        BsonType leftType, ReadOnlySpan<byte> left, BsonType rightType, ReadOnlySpan<byte> right, IStringOrder? strings = null)
    {
        if (leftType == BsonType.Int32 && rightType == BsonType.Int32)
            return BinaryPrimitives.ReadInt32LittleEndian(left).CompareTo(BinaryPrimitives.ReadInt32LittleEndian(right));
        byte leftRank = Rank(leftType);
        int byRank = leftRank.CompareTo(Rank(rightType));
        return byRank != 0 ? byRank : CompareSameRank(leftRank, leftType, left, rightType, right, strings);
    }

    private static int CompareSameRank(
        byte rank, BsonType leftType, ReadOnlySpan<byte> left, BsonType rightType, ReadOnlySpan<byte> right, IStringOrder? strings) =>
        leftType switch
        {
            _ when rank == NumberRank => CompareNumbers(leftType, left, rightType, right),
            BsonType.String or BsonType.Symbol when strings != null => strings.Compare(left[4..^1], right[4..^1]),
            BsonType.String or BsonType.Symbol or BsonType.JavaScript => left[4..^1].SequenceCompareTo(right[4..^1]),
            BsonType.Document => CompareDocuments(left, right, withNames: true, strings),
            BsonType.Array => CompareDocuments(left, right, withNames: false, strings),
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

    private static int CompareDocuments(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right, bool withNames, IStringOrder? strings = null)
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
                order = Compare(leftReader.Type, leftReader.Value, rightReader.Type, rightReader.Value, strings);
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

/// <summary>An order of strings other than that of their bytes, such as a collation's.</summary>
public interface IStringOrder
{
    /// <param name="left">The text in UTF-8, without its final zero byte.</param>
    /// <param name="right">As <paramref name="left"/>.</param>
    /// <returns>Negative, zero or positive, as the first comes before, equals or follows the second.</returns>
    int Compare(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right);
}
