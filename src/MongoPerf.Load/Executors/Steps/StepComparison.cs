using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>Compares values where they are, within their kind. Nothing allocates, except where a decimal128 is compared.</summary>
internal static class StepComparison
{
    /// <summary>No null, no empty array or document, not 0 and not false.</summary>
    public static bool IsAnything(BsonType type, ReadOnlySpan<byte> value) => type switch
    {
        BsonType.Null or BsonType.Undefined => false,
        BsonType.Boolean => value[0] != 0,
        BsonType.Array or BsonType.Document => value.Length > BsonReader.MinimumDocumentLength,
        _ => !BsonOrder.AreOfOneKind(type, BsonType.Int32) || BsonOrder.Compare(type, value, BsonType.Int32, [0, 0, 0, 0]) != 0,
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
        int? order = !isThere ? (expectedType == BsonType.Null ? 0 : null)
            : BsonOrder.AreOfOneKind(type, expectedType) ? BsonOrder.Compare(type, value, expectedType, expected) : null;
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
}
