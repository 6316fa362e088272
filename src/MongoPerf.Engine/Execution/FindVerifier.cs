using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Execution;

/// <summary>Compares returned documents with the generator's, and with what was asked for.</summary>
/// <remarks>Whole documents must be the generator's, byte for byte; every document must meet the filter, and stand in the order asked for.</remarks>
internal sealed class FindVerifier(FindSpecification specification, DocumentGenerator generator)
{
    private readonly byte[] _scratch = new byte[DocumentGenerator.DocumentLength];
    private readonly (string Field, int Direction)? _order = OrderOf(specification.Sort);

    /// <param name="batch">The reply's array of documents.</param>
    /// <param name="drawn">The values that were in the filter, in the order of the parameters.</param>
    public VerificationOutcome Verify(ReadOnlySpan<byte> batch, ReadOnlySpan<int> drawn)
    {
        int seen = 0;
        int wrong = 0;
        long? previous = null;
        var items = new BsonReader(batch);
        while (items.Read())
        {
            seen++;
            if (!TryRead(items, drawn, ref previous))
                wrong++;
        }

        return new VerificationOutcome(seen, seen > specification.Limit ? wrong + seen - specification.Limit : wrong);
    }

    /// <summary>Bytes that are no document, or fields of other types, are a wrong document and no end of the phase.</summary>
    private bool TryRead(BsonReader item, ReadOnlySpan<int> drawn, ref long? previous)
    {
        try
        {
            return IsRight(item.DocumentBytes, drawn, ref previous);
        }
        catch (BsonFormatException)
        {
            return false;
        }
    }

    private bool IsRight(ReadOnlySpan<byte> document, ReadOnlySpan<int> drawn, ref long? previous)
    {
        long number = -1;
        int value = -1;
        int value1 = -1;
        long date = -1;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.NameIs("_id"u8) && reader.Type == BsonType.ObjectId)
                number = generator.Numbers.NumberOf(reader.ObjectId);
            else if (reader.NameIs("Number"u8))
                value = (int)reader.ToInt64();
            else if (reader.NameIs("Number1"u8))
                value1 = (int)reader.ToInt64();
            else if (reader.NameIs("Date"u8) && reader.Type == BsonType.DateTime)
                date = reader.DateTimeMilliseconds;
        }

        if (drawn.Length > 0 && value < drawn[0])
            return false;
        if (drawn.Length > 1 && value1 < drawn[1])
            return false;
        if (_order is var (field, direction))
        {
            long key = field switch { "Date" => date, "Number" => value, "Number1" => value1, _ => number };
            if (previous is { } before && key.CompareTo(before) == -direction)
                return false;
            previous = key;
        }

        return !specification.ReturnsWholeDocuments || (number >= 0 && generator.Matches(number, document, _scratch));
    }

    /// <summary>By its first field, which is all that the workloads sort by.</summary>
    private static (string Field, int Direction)? OrderOf(BsonDocument? sort)
    {
        foreach ((string field, BsonValue direction) in sort ?? BsonDocument.Empty)
            return (field, Math.Sign(direction.ToInt64()));
        return null;
    }
}
