using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>
/// $count, or $group by a constant with sums of constants: what drivers send to count documents. Only the matches are counted.
/// </summary>
internal sealed class CountingStage
{
    private readonly Func<long, BsonDocument> _result;

    private CountingStage(Func<long, BsonDocument> result) => _result = result;

    /// <returns>Null for a stage that has to see its documents.</returns>
    public static CountingStage? TryParse(string name, BsonValue value)
    {
        if (name == "$count")
            return new CountingStage(count => BsonDocument.Of((value.ToString(), Numbers.Of(count))));
        if (name != "$group" || value.Type != BsonType.Document || !value.ToDocument().All(field => IsConstant(field.Key, field.Value)))
            return null;
        return new CountingStage(count => Grouped(value.ToDocument(), count));
    }

    public BsonDocument[] Count(CommandSession session, Collection collection, Pipeline pipeline, IndexHint hint)
    {
        pipeline.Prepare(session.Query, hint);
        return Result(CountCommand.Count(session, collection));
    }

    /// <summary>No match gives no document, not a zero.</summary>
    public BsonDocument[] Result(long count) => count == 0 ? [] : [_result(count)];

    private static bool IsConstant(string name, BsonValue value)
    {
        if (name == "_id")
            return value.Type is BsonType.Null or BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Boolean;
        return value.Type == BsonType.Document
            && value.ToDocument().FirstOrDefault() is { Key: "$sum", Value.Type: BsonType.Int32 or BsonType.Int64 };
    }

    private static BsonDocument Grouped(BsonDocument group, long count)
    {
        var result = new List<(string, object?)>();
        foreach ((string name, BsonValue value) in group)
        {
            if (name == "_id")
            {
                result.Insert(0, (name, value));
                continue;
            }

            BsonValue term = value.ToDocument().First().Value;
            Int128 sum = (Int128)term.ToInt64() * count;
            // As everywhere: what int64 cannot hold is a double.
            result.Add((name, sum != (long)sum ? (double)sum : term.Type == BsonType.Int64 ? (long)sum : Numbers.Of((long)sum)));
        }

        return BsonDocument.Of([.. result]);
    }
}
