using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>The little that the null server understands of filters.</summary>
internal static class NullFilter
{
    /// <summary>Whether each field of the filter is in the document with the same type and value. No operators.</summary>
    public static bool Matches(ReadOnlySpan<byte> document, ReadOnlySpan<byte> filter)
    {
        var wanted = new BsonReader(filter);
        while (wanted.Read())
        {
            var reader = new BsonReader(document);
            if (!reader.Find(wanted.Name) || reader.Type != wanted.Type || !reader.Value.SequenceEqual(wanted.Value))
                return false;
        }

        return true;
    }

    public static bool IsEmpty(ReadOnlySpan<byte> document) => document.Length <= BsonReader.MinimumDocumentLength;

    /// <summary>Reads {_id: {$gte: a, $lt: b}} and its kin.</summary>
    /// <param name="filter">The whole filter; only _id is looked at.</param>
    /// <param name="from">The least ObjectId that is wanted.</param>
    /// <param name="to">The first that is not.</param>
    /// <returns>False when the filter is no range of _id.</returns>
    public static bool TryReadIdRange(ReadOnlySpan<byte> filter, out ObjectId from, out ObjectId to)
    {
        (from, to) = (default, new ObjectId(uint.MaxValue, ulong.MaxValue));
        var reader = new BsonReader(filter);
        if (!reader.Find("_id"u8) || reader.Type != BsonType.Document)
            return false;
        var bounds = new BsonReader(reader.DocumentBytes);
        while (bounds.Read())
        {
            if (bounds.Type != BsonType.ObjectId)
                return false;
            if (bounds.NameIs("$gte"u8))
                from = bounds.ObjectId;
            else if (bounds.NameIs("$gt"u8))
                from = Next(bounds.ObjectId);
            else if (bounds.NameIs("$lt"u8))
                to = bounds.ObjectId;
            else if (bounds.NameIs("$lte"u8))
                to = Next(bounds.ObjectId);
            else
                return false;
        }

        return true;
    }

    /// <summary>The ObjectId behind this one; the greatest stays.</summary>
    public static ObjectId Next(ObjectId id) => id switch
    {
        { Low: < ulong.MaxValue } => id with { Low = id.Low + 1 },
        { High: < uint.MaxValue } => new ObjectId(id.High + 1, 0),
        _ => id,
    };

    /// <summary>Copies a document with the fields that a projection of ones (and perhaps _id: 0) lets through; an empty one lets all through.</summary>
    public static void WriteProjected(BsonWriter writer, ReadOnlySpan<byte> document, ReadOnlySpan<byte> projection)
    {
        if (IsEmpty(projection))
        {
            writer.WriteRaw(document);
            return;
        }

        writer.StartDocument();
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            var wanted = new BsonReader(projection);
            bool named = wanted.Find(reader.Name);
            if (named ? wanted.ToBoolean() : reader.NameIs("_id"u8))
                writer.WriteValue(reader.Name, reader.Type, reader.Value);
        }

        writer.End();
    }
}
