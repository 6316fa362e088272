using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>
/// Orders values as MongoDB does: by kind, then by value (manual, "Comparison/Sort Order"). Of documents, arrays and whatever else has
/// parts it compares bytes, which is no promise.
/// </summary>
public sealed class ValueOrder : IComparer<BsonValue>
{
    public static ValueOrder Instance { get; } = new();

    public int Compare(BsonValue x, BsonValue y) =>
        x.IsNumber && y.IsNumber ? CompareNumbers(x, y)
        : x.Type != y.Type ? Rank(x.Type).CompareTo(Rank(y.Type))
        : x.Type is BsonType.DateTime ? x.ToInt64().CompareTo(y.ToInt64())
        : x.Type is BsonType.String ? x.Bytes.Span[4..].SequenceCompareTo(y.Bytes.Span[4..])
        : x.Bytes.Span.SequenceCompareTo(y.Bytes.Span);

    private static int CompareNumbers(BsonValue x, BsonValue y)
    {
        bool areWhole = x.Type is BsonType.Int32 or BsonType.Int64 && y.Type is BsonType.Int32 or BsonType.Int64;
        int order = areWhole ? 0 : x.ToDouble().CompareTo(y.ToDouble());
        // Decimals and int64s have digits that a double has not.
        return order != 0 || x.Type == BsonType.Double || y.Type == BsonType.Double ? order : x.ToInt64().CompareTo(y.ToInt64());
    }

    /// <summary>The place of a type's kind; numbers are one kind.</summary>
    private static int Rank(BsonType type) => type switch
    {
        BsonType.MinKey => 0,
        BsonType.Undefined => 1,
        BsonType.Null => 2,
        BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128 => 3,
        BsonType.String => 4,
        BsonType.Symbol => 5,
        BsonType.Document => 6,
        BsonType.Array => 7,
        BsonType.Binary => 8,
        BsonType.ObjectId => 9,
        BsonType.Boolean => 10,
        BsonType.DateTime => 11,
        BsonType.Timestamp => 12,
        BsonType.Regex => 13,
        BsonType.DbPointer => 14,
        BsonType.JavaScript => 15,
        BsonType.JavaScriptWithScope => 16,
        _ => 17,
    };
}
