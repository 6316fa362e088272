using System.Buffers.Binary;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>Compares values where they stand: numbers by value, all others within their type. Nothing allocates.</summary>
internal static class StepComparison
{
    /// <summary>No null, no empty array or document, not 0 and not false.</summary>
    public static bool IsAnything(BsonType type, ReadOnlySpan<byte> value) => type switch
    {
        BsonType.Null or BsonType.Undefined => false,
        BsonType.Boolean => value[0] != 0,
        BsonType.Array or BsonType.Document => value.Length > BsonReader.MinimumDocumentLength,
        _ => Number(type, value) is not 0.0,
    };

    /// <param name="comparison">One of <see cref="Plans.StepCondition.Comparisons"/>.</param>
    /// <param name="isThere">There is a value.</param>
    /// <param name="type">Of the value.</param>
    /// <param name="value">As it stands in a document.</param>
    /// <param name="expectedType">Of what it is compared with.</param>
    /// <param name="expected">As <paramref name="value"/>.</param>
    public static bool Holds(
        string comparison, bool isThere, BsonType type, ReadOnlySpan<byte> value, BsonType expectedType, ReadOnlySpan<byte> expected)
    {
        if (comparison == "$exists")
            return isThere == (expectedType != BsonType.Boolean || expected[0] != 0);
        int? order = !isThere ? (expectedType == BsonType.Null ? 0 : null) : Order(type, value, expectedType, expected);
        return comparison switch
        {
            "$eq" => order == 0,
            "$ne" => order != 0,
            "$gt" => order > 0,
            "$gte" => order >= 0,
            "$lt" => order < 0,
            _ => order <= 0,
        };
    }

    /// <returns>Null where they can't be compared.</returns>
    private static int? Order(BsonType type, ReadOnlySpan<byte> value, BsonType otherType, ReadOnlySpan<byte> other)
    {
        if (Number(type, value) is { } number)
            return Number(otherType, other) is { } otherNumber ? number.CompareTo(otherNumber) : null;
        if (type != otherType)
            return null;
        return type switch
        {
            BsonType.String => value[4..].SequenceCompareTo(other[4..]),
            BsonType.DateTime or BsonType.Timestamp =>
                BinaryPrimitives.ReadInt64LittleEndian(value).CompareTo(BinaryPrimitives.ReadInt64LittleEndian(other)),
            _ => value.SequenceCompareTo(other),
        };
    }

    private static double? Number(BsonType type, ReadOnlySpan<byte> value) => type switch
    {
        BsonType.Int32 => BinaryPrimitives.ReadInt32LittleEndian(value),
        BsonType.Int64 => BinaryPrimitives.ReadInt64LittleEndian(value),
        BsonType.Double => BinaryPrimitives.ReadDoubleLittleEndian(value),
        BsonType.Decimal128 => Decimal128.FromBytes(value).ToDouble(),
        _ => null,
    };
}
