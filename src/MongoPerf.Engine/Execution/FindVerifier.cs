using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Execution;

/// <summary>Compares returned documents with the generator's, and with what was asked for.</summary>
/// <remarks>Whole documents must be the generator's, byte for byte; every document must meet the filter, and stand in the order asked for.</remarks>
internal sealed class FindVerifier(FindSpecification specification, DocumentGenerator generator)
{
    private readonly byte[] _scratch = new byte[DocumentGenerator.DocumentLength];

    /// <param name="batch">The reply's array of documents.</param>
    /// <param name="drawn">The values that were in the filter, in the order of the parameters.</param>
    public VerificationOutcome Verify(ReadOnlySpan<byte> batch, ReadOnlySpan<int> drawn)
    {
        int seen = 0;
        int wrong = 0;
        long previousDate = long.MaxValue;
        var items = new BsonReader(batch);
        while (items.Read())
        {
            seen++;
            if (!TryRead(items, drawn, ref previousDate))
                wrong++;
        }

        return new VerificationOutcome(seen, seen > specification.Limit ? wrong + seen - specification.Limit : wrong);
    }

    /// <summary>Bytes that are no document, or fields of other types, are a wrong document and no end of the phase.</summary>
    private bool TryRead(BsonReader item, ReadOnlySpan<int> drawn, ref long previousDate)
    {
        try
        {
            return IsRight(item.DocumentBytes, drawn, ref previousDate);
        }
        catch (BsonFormatException)
        {
            return false;
        }
    }

    private bool IsRight(ReadOnlySpan<byte> document, ReadOnlySpan<int> drawn, ref long previousDate)
    {
        long number = -1;
        int value = -1;
        int value1 = -1;
        long date = long.MaxValue;
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
        if (specification.Sort is not null && date > previousDate)
            return false;
        previousDate = date;
        return !specification.ReturnsWholeDocuments || (number >= 0 && generator.Matches(number, document, _scratch));
    }
}
