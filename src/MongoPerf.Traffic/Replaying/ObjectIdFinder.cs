using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>Finds the ObjectIds of a message, at any depth.</summary>
internal static class ObjectIdFinder
{
    /// <param name="message">OP_MSG, unpacked. Of what is no BSON, ids before the fault are found.</param>
    /// <param name="found">Gets the place in the message and the id.</param>
    /// <exception cref="WireProtocolException">It is no OP_MSG.</exception>
    public static void ForEach(ReadOnlySpan<byte> message, Action<int, ObjectId> found)
    {
        OpMsg parsed = OpMsg.Parse(message);
        try
        {
            VisitAll(message, parsed.Body, found);
            foreach (DocumentSequence sequence in parsed.Sequences)
                VisitAll(message, sequence.Documents, found);
        }
        catch (BsonFormatException)
        {
            // A server refuses it.
        }
    }

    private static void VisitAll(ReadOnlySpan<byte> message, ReadOnlySpan<byte> documents, Action<int, ObjectId> found)
    {
        while (documents.Length > 0)
        {
            ReadOnlySpan<byte> document = new BsonReader(documents).Document;
            message.Overlaps(document, out int start);
            Visit(document, start, found, 0);
            documents = documents[document.Length..];
        }
    }

    private static void Visit(ReadOnlySpan<byte> document, int start, Action<int, ObjectId> found, int depth)
    {
        if (depth > BsonValidator.MaximumDepth)
            return;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.Type == BsonType.ObjectId)
                found(start + reader.ValueOffset, reader.ObjectId);
            else if (reader.Type is BsonType.Document or BsonType.Array)
                Visit(reader.Value, start + reader.ValueOffset, found, depth + 1);
        }
    }
}
