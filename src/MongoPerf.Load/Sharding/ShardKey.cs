using MongoPerf.Load.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Sharding;

/// <summary>A shard key over the generated documents, as <c>--shard-key</c> takes it.</summary>
/// <remarks>
/// "hashed" is a hashed _id; "FIELD" a range; several fields with commas between them a compound range; "FIELD:hashed"
/// hashes another field.
/// </remarks>
public sealed record ShardKey
{
    public const string HashedId = "hashed";

    /// <summary>Shards compare keys without a collation; where the collection has one, the command that shards it must say so.</summary>
    internal static readonly (string, object?) Collation = ("collation", BsonDocument.Of(("locale", "simple")));

    private const string HashedSuffix = ":hashed";

    private ShardKey(IReadOnlyList<string> fields, bool isHashed)
    {
        FieldNames = fields;
        IsHashed = isHashed;
        Document = BsonDocument.Of([.. fields.Select(field => (field, (object?)(isHashed ? "hashed" : 1)))]);
    }

    private ShardKey(BsonDocument key)
    {
        FieldNames = [.. key.Select(e => e.Key)];
        IsHashed = key.Any(e => e.Value.ToString() == HashedId);
        Document = key;
    }

    /// <summary>A key over any documents, such as {user: 1, _id: "hashed"}.</summary>
    public static ShardKey Of(BsonDocument key) => new(key);

    public IReadOnlyList<string> FieldNames { get; }

    public bool IsHashed { get; }

    /// <summary>The document, such as {_id: "hashed"}.</summary>
    public BsonDocument Document { get; }

    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static ShardKey Parse(string text)
    {
        if (text == HashedId)
            return new ShardKey(["_id"], isHashed: true);
        bool isHashed = text.EndsWith(HashedSuffix, StringComparison.Ordinal);
        string[] fields = (isHashed ? text[..^HashedSuffix.Length] : text).Split(',');
        if (fields.FirstOrDefault(field => field.Length == 0 || field.Any(c => c is '$' or ':' or ' ')) is { } wrong)
            throw new FormatException(
                $"'{wrong}' is not a shard key field; allowed: hashed, FIELD, FIELD:hashed, or several fields separated by commas");
        if (fields.Distinct().Count() != fields.Length)
            throw new FormatException($"'{text}' names a field twice");
        return isHashed && fields.Length > 1
            ? throw new FormatException($"'{text}': only one field can be hashed, such as Number:hashed")
            : new ShardKey(fields, isHashed);
    }

    /// <summary>Whether a collection's own key (config.collections' <c>key</c>) is this one.</summary>
    public bool IsThatOf(BsonDocument key) => Describe(key) == ToString();

    /// <summary>An index begins with it: what MongoDB demands of a collection with documents.</summary>
    public bool IsServedBy(BsonDocument index) => index.Take(FieldNames.Count).Select(Describe).SequenceEqual(Document.Select(Describe));

    /// <summary>The key as text, such as "{_id: hashed}".</summary>
    public static string Describe(BsonDocument key) => $"{{{string.Join(", ", key.Select(Describe))}}}";

    public override string ToString() => Describe(Document);

    /// <summary>Where a range key is cut into chunks that take equal numbers of documents; one less than there are chunks.</summary>
    /// <param name="chunks">2 or more.</param>
    /// <param name="documents">The documents in the collection at the end.</param>
    /// <param name="template">Makes the documents.</param>
    public IReadOnlyList<BsonDocument> SplitPoints(int chunks, long documents, DocumentTemplate template)
    {
        IReadOnlyList<BsonValue> sample = SampleOf(documents, template);
        var points = new List<BsonDocument>();
        for (int i = 1; i < chunks; i++)
        {
            object? first = FieldNames[0] == "_id" && template.Ids.AreOrdered(documents) ? template.Ids.Of(PartOf(documents, i, chunks))
                : template.Find(FieldNames[0]) is IUniform range ? Bounds.Typed(
                    range.Min + PartOf(range.Max - range.Min + 1, i, chunks), sample[0].Type)
                : sample[(int)PartOf(sample.Count, i, chunks)];
            points.Add(BsonDocument.Of([(FieldNames[0], first), .. FieldNames.Skip(1).Select(field => (field, (object?)Bounds.Least))]));
        }

        return points;
    }

    /// <summary>
    /// Where a range key is cut so that about a share of the documents lie below. Documents whose first fields are equal stay together.
    /// </summary>
    /// <param name="share">Between 0 and 1.</param>
    /// <param name="sample">As <see cref="SampleOf"/> makes it.</param>
    /// <returns>Its first field; null where all documents lie on one side: above up to a share of one half, otherwise below.</returns>
    public BsonDocument? PointAt(double share, IReadOnlyList<BsonValue> sample)
    {
        double at = share * sample.Count;
        int place = Math.Min((int)at, sample.Count - 1);
        (int first, int next) = (place, place + 1);
        while (first > 0 && IsAlike(first - 1))
            first--;
        while (next < sample.Count && IsAlike(next))
            next++;
        // Of equal values the nearer end.
        int cut = at - first <= next - at ? first : next;
        return cut == 0 || cut == sample.Count ? null : BsonDocument.Of((FieldNames[0], sample[cut]));

        bool IsAlike(int other) => BsonOrder.Values.Compare(sample[other], sample[place]) == 0;
    }

    /// <summary>Values of its first field in documents from all over the collection, in order.</summary>
    /// <param name="documents">The documents in the collection at the end, 1 or more.</param>
    /// <param name="template">Makes the documents.</param>
    public IReadOnlyList<BsonValue> SampleOf(long documents, DocumentTemplate template)
    {
        const int Size = 4096;
        int count = (int)Math.Clamp(documents, 1, Size);
        BsonValue missing = BsonDocument.Of(("v", null)).First().Value;
        // The field alone, where each document has it: documents may be large.
        (DocumentValue made, string path) = template.Find(FieldNames[0]) is { } value ? (DocumentValue.Of(("v", value)), "v")
            : (template.Root, FieldNames[0]);
        return [.. Enumerable.Range(0, count)
            .Select(i => made.ToDocument(template.ContextOf(PartOf(documents, i, count))).Find(path) is { } found
                ? new BsonValue(found.Type, found.Bytes.ToArray()) : missing)
            .Order(BsonOrder.Values)];
    }

    /// <summary>Whether its first field is hashed, so that its chunks are ranges of 64-bit numbers.</summary>
    public bool BeginsHashed => Document.First().Value.ToString() == HashedId;

    /// <summary>
    /// Where the chunks of a key that begins hashed are cut further, each into equal ranges, so that there are as many as asked for.
    /// </summary>
    /// <param name="chunks">How many chunks there are to be, more than there are now.</param>
    /// <param name="bounds">The chunks that are there: their lower bounds in order, and the last one's upper bound.</param>
    /// <returns>All bounds, old and new, in order.</returns>
    public IReadOnlyList<BsonDocument> HashedPoints(int chunks, IReadOnlyList<BsonDocument> bounds)
    {
        int there = bounds.Count - 1;
        List<BsonDocument> points = [];
        for (int i = 0; i < there; i++)
        {
            points.Add(bounds[i]);
            (Int128 low, Int128 high) = (HashAt(bounds[i]), HashAt(bounds[i + 1]));
            int parts = (chunks / there) + (i < chunks % there ? 1 : 0);
            for (int part = 1; part < parts; part++)
                points.Add(BsonDocument.Of([(FieldNames[0], (object?)(long)(low + ((high - low) * part / parts))),
                    .. FieldNames.Skip(1).Select(field => (field, (object?)Bounds.Least))]));
        }

        return [.. points, bounds[^1]];
    }

    private static Int128 HashAt(BsonDocument bound) => bound.First().Value is { Type: BsonType.Int64 } value ? value.ToInt64()
        : bound.First().Value.Type == BsonType.MinKey ? long.MinValue : (Int128)long.MaxValue + 1;

    /// <summary>The key's least or greatest value.</summary>
    /// <param name="bound">One of <see cref="Bounds"/>.</param>
    public BsonDocument At(BsonValue bound) => BsonDocument.Of([.. FieldNames.Select(field => (field, (object?)bound))]);

    /// <summary>A whole key, of which only the first fields may be given.</summary>
    /// <param name="first">Values of its first fields; null for none.</param>
    /// <param name="instead">One of <see cref="Bounds"/>: all of the key where nothing is given.</param>
    internal BsonDocument At(BsonDocument? first, BsonValue instead) => first is null ? At(instead)
        : BsonDocument.Of([.. first.Select(field => (field.Key, (object?)field.Value)),
            .. FieldNames.Skip(first.Count()).Select(field => (field, (object?)Bounds.Least))]);

    private static long PartOf(long whole, int part, int parts) => (long)((Int128)whole * part / parts);

    private static string Describe(KeyValuePair<string, BsonValue> element) =>
        element.Value.IsNumber ? $"{element.Key}: {element.Value.ToInt64()}" : $"{element.Key}: {element.Value}";
}

/// <summary>What is below and above every value.</summary>
internal static class Bounds
{
    public static BsonValue Least { get; } = new(BsonType.MinKey, ReadOnlyMemory<byte>.Empty);

    /// <param name="value">A number, or milliseconds since 1970.</param>
    /// <param name="type">The type as documents have it.</param>
    public static BsonValue Typed(long value, BsonType type) => BsonDocument.Of(("v", type switch
    {
        BsonType.Int32 => (object)(int)value,
        BsonType.DateTime => DateTimeOffset.FromUnixTimeMilliseconds(value).UtcDateTime,
        BsonType.Double => (double)value,
        _ => value,
    })).First().Value;

    public static BsonValue Greatest { get; } = new(BsonType.MaxKey, ReadOnlyMemory<byte>.Empty);
}
