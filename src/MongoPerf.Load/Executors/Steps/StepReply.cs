using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>What a step brings of the reply to a command without a cursor.</summary>
public static class StepReply
{
    /// <param name="operation">The step's.</param>
    /// <param name="reply">The server's.</param>
    /// <param name="values">Gets what the step brings.</param>
    /// <param name="slot">The step's place there.</param>
    public static void Keep(Operation operation, ReadOnlySpan<byte> reply, StepValues values, int slot)
    {
        ReadOnlySpan<byte> field = operation switch
        {
            CountDocuments => "n"u8,
            DistinctValues => "values"u8,
            FindAndModify => "value"u8,
            _ => default,
        };
        var reader = new BsonReader(reply);
        if (field.Length == 0)
            values.Set(slot, BsonType.Document, reader.Document);
        else if (reader.Find(field) && reader.Type != BsonType.Null)
            values.Set(slot, reader.Type, reader.Value);
    }
}
