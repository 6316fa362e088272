using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Takes a value; its bytes are valid during the call.</summary>
internal delegate void ValueHandler(BsonType type, ReadOnlySpan<byte> value);

/// <summary>All values of a path, elements of arrays each for itself, as distinct and $lookup see them.</summary>
/// <remarks>
/// A number after an array means a place in it, and nothing else, where a filter also looks for a field of that name in each element;
/// of arrays in arrays the inner ones are values.
/// </remarks>
internal static class PathValues
{
    public static void Visit(FieldPath path, ReadOnlySpan<byte> document, ValueHandler handler) => Visit(path, document, 0, handler);

    /// <summary>The elements of an array, or the value that is none.</summary>
    public static void VisitLast(BsonType type, ReadOnlySpan<byte> value, ValueHandler handler)
    {
        if (type != BsonType.Array)
        {
            handler(type, value);
            return;
        }

        var elements = new BsonReader(value);
        while (elements.Read())
            handler(elements.Type, elements.Value);
    }

    private static void Visit(FieldPath path, ReadOnlySpan<byte> document, int step, ValueHandler handler)
    {
        var reader = new BsonReader(document);
        if (!reader.Find(path.Step(step)))
            return;
        if (step == path.StepCount - 1)
            VisitLast(reader.Type, reader.Value, handler);
        else if (reader.Type == BsonType.Document
            || (reader.Type == BsonType.Array && path.Step(step + 1).IndexOfAnyExceptInRange((byte)'0', (byte)'9') < 0))
            Visit(path, reader.Value, step + 1, handler);
        else if (reader.Type == BsonType.Array)
            VisitElements(path, reader.Value, step + 1, handler);
    }

    private static void VisitElements(FieldPath path, ReadOnlySpan<byte> array, int step, ValueHandler handler)
    {
        var elements = new BsonReader(array);
        while (elements.Read())
        {
            if (elements.Type is BsonType.Document or BsonType.Array)
                Visit(path, elements.Value, step, handler);
        }
    }
}
