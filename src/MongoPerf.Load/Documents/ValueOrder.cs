using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>
/// Orders values of one type, or numbers of several, as MongoDB does; other pairs by their types' numbers, which is no promise.
/// </summary>
public sealed class ValueOrder : IComparer<BsonValue>
{
    public static ValueOrder Instance { get; } = new();

    public int Compare(BsonValue x, BsonValue y) =>
        x.IsNumber && y.IsNumber ? CompareNumbers(x, y)
        : x.Type != y.Type ? x.Type.CompareTo(y.Type)
        : x.Type is BsonType.DateTime ? x.ToInt64().CompareTo(y.ToInt64())
        : x.Type is BsonType.String ? x.Bytes.Span[4..].SequenceCompareTo(y.Bytes.Span[4..])
        : x.Bytes.Span.SequenceCompareTo(y.Bytes.Span);

    private static int CompareNumbers(BsonValue x, BsonValue y) =>
        x.Type == BsonType.Double || y.Type == BsonType.Double ? x.ToDouble().CompareTo(y.ToDouble()) : x.ToInt64().CompareTo(y.ToInt64());
}
