using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>The parts of a find command that the null server looks at: spans into the message.</summary>
internal ref struct FindRequest
{
    private static readonly byte[] EmptyDocument = [5, 0, 0, 0, 0];

    public ReadOnlySpan<byte> Filter { get; private set; }

    public ReadOnlySpan<byte> Projection { get; private set; }

    public ReadOnlySpan<byte> Sort { get; private set; }

    /// <summary>0 when there is none.</summary>
    public int Limit { get; private set; }

    public int? BatchSize { get; private set; }

    public bool SingleBatch { get; private set; }

    public static FindRequest Read(ReadOnlySpan<byte> body)
    {
        var find = new FindRequest { Filter = EmptyDocument, Projection = EmptyDocument, Sort = EmptyDocument };
        var reader = new BsonReader(body);
        while (reader.Read())
        {
            if (reader.NameIs("filter"u8))
                find.Filter = reader.DocumentBytes;
            else if (reader.NameIs("projection"u8))
                find.Projection = reader.DocumentBytes;
            else if (reader.NameIs("sort"u8))
                find.Sort = reader.DocumentBytes;
            else if (reader.NameIs("limit"u8))
                find.Limit = (int)Math.Clamp(Math.Abs(reader.ToInt64()), 0, int.MaxValue);
            else if (reader.NameIs("batchSize"u8))
                find.BatchSize = (int)Math.Clamp(reader.ToInt64(), 0, int.MaxValue);
            else if (reader.NameIs("singleBatch"u8))
                find.SingleBatch = reader.ToBoolean();
        }

        return find;
    }
}
