using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>The parts of a find that the null server looks at: spans into the message.</summary>
internal ref struct FindRequest
{
    private const int DefaultFirstBatch = 101;

    private static readonly byte[] EmptyDocument = [5, 0, 0, 0, 0];

    public FindRequest() => Filter = Projection = EmptyDocument;

    public ReadOnlySpan<byte> Filter { get; set; }

    public ReadOnlySpan<byte> Projection { get; private set; }

    /// <summary>The sort's first field is _id, downwards.</summary>
    public bool IsDescendingById { get; private set; }

    /// <summary>0 when there is none.</summary>
    public long Limit { get; set; }

    public long? BatchSize { get; private set; }

    public bool SingleBatch { get; private set; }

    /// <summary>Documents of the first reply, when there are so many.</summary>
    public readonly long FirstBatch =>
        SingleBatch && Limit > 0 ? Limit : Math.Min(Limit > 0 ? Limit : long.MaxValue, BatchSize ?? DefaultFirstBatch);

    /// <summary>Documents of an answer that is not continued.</summary>
    public readonly long OnlyBatch => Limit > 0 ? Limit : BatchSize ?? DefaultFirstBatch;

    /// <exception cref="BsonFormatException">A field has a type that it can't have.</exception>
    public static FindRequest Read(ReadOnlySpan<byte> body)
    {
        var find = new FindRequest();
        var reader = new BsonReader(body);
        while (reader.Read())
        {
            if (reader.NameIs("filter"u8))
                find.Filter = reader.DocumentBytes;
            else if (reader.NameIs("projection"u8))
                find.Projection = reader.DocumentBytes;
            else if (reader.NameIs("sort"u8))
                find.IsDescendingById = IsDescending(reader.DocumentBytes);
            else if (reader.NameIs("limit"u8))
                find.Limit = Math.Max(0, reader.ToInt64());
            else if (reader.NameIs("batchSize"u8))
                find.BatchSize = Math.Max(0, reader.ToInt64());
            else if (reader.NameIs("singleBatch"u8))
                find.SingleBatch = reader.ToBoolean();
        }

        return find;
    }

    private static bool IsDescending(ReadOnlySpan<byte> sort)
    {
        var field = new BsonReader(sort);
        return field.Read() && field.NameIs("_id"u8) && field.IsNumber && field.ToDouble() < 0;
    }
}

/// <summary>What came of a find.</summary>
/// <param name="Documents">Written into the first batch.</param>
/// <param name="Rest">Null when there is none.</param>
/// <param name="Pool">Nothing was written: the answer is any of these documents.</param>
internal readonly record struct FindOutcome(int Documents, NullCursor? Rest = null, DocumentPool? Pool = null)
{
    public FindOutcome(DocumentPool pool)
        : this(0, null, pool)
    {
    }
}

/// <summary>The documents of a range that were not returned yet.</summary>
internal sealed class NullCursor(NumberedCollection collection, ReadOnlySpan<byte> projection)
{
    public NumberedCollection Collection { get; } = collection;

    public byte[] Projection { get; } = projection.ToArray();

    /// <summary>The number to continue at.</summary>
    public long Next { get; set; }

    public long End { get; init; }

    /// <summary>Documents that it may still return.</summary>
    public long Left { get; set; }
}
