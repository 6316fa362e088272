using MongoPerf.Engine.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Execution.Sharding;

/// <summary>A shard key over the generated documents, as <c>--shard-key</c> takes it.</summary>
/// <remarks>"hashed" is a hashed _id; "_id", "Number", "Number1" and "Date" are ranges; several with commas between them a compound range; "FIELD:hashed" hashes another field.</remarks>
public sealed record ShardKey
{
    public const string HashedId = "hashed";

    private const string HashedSuffix = ":hashed";

    private static readonly string[] Fields = ["_id", "Number", "Number1", "Date"];

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

    /// <summary>A key over any documents, such as {user: 1, _id: "hashed"}; it has no <see cref="SplitPoints"/>.</summary>
    public static ShardKey Of(BsonDocument key) => new(key);

    public IReadOnlyList<string> FieldNames { get; }

    public bool IsHashed { get; }

    /// <summary>Such as {_id: "hashed"}.</summary>
    public BsonDocument Document { get; }

    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static ShardKey Parse(string text)
    {
        if (text == HashedId)
            return new ShardKey(["_id"], isHashed: true);
        bool isHashed = text.EndsWith(HashedSuffix, StringComparison.Ordinal);
        string[] fields = (isHashed ? text[..^HashedSuffix.Length] : text).Split(',');
        if (fields.FirstOrDefault(field => !Fields.Contains(field)) is { } unknown)
            throw new FormatException($"'{unknown}' is no field to shard by, allowed are hashed, {string.Join(", ", Fields)}, FIELD:hashed, or several fields with commas");
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

    /// <summary>Such as "{_id: hashed}".</summary>
    public static string Describe(BsonDocument key) => $"{{{string.Join(", ", key.Select(Describe))}}}";

    public override string ToString() => Describe(Document);

    /// <summary>Where a range key is cut into chunks that take equal numbers of documents; one less than there are chunks.</summary>
    /// <param name="chunks">2 or more.</param>
    /// <param name="documents">In the collection at the end.</param>
    /// <param name="numbers">Of the run's seed.</param>
    public IReadOnlyList<BsonDocument> SplitPoints(int chunks, long documents, DocumentNumbers numbers)
    {
        var points = new List<BsonDocument>();
        for (int i = 1; i < chunks; i++)
        {
            object? first = FieldNames[0] switch
            {
                "_id" => numbers.IdOf(PartOf(documents, i, chunks)),
                "Date" => DateTimeOffset.FromUnixTimeMilliseconds(DocumentGenerator.FirstDate + PartOf(documents, i, chunks)).UtcDateTime,
                _ => (int)PartOf(DocumentGenerator.ValueRange, i, chunks),
            };
            points.Add(BsonDocument.Of([(FieldNames[0], first), .. FieldNames.Skip(1).Select(field => (field, (object?)Bounds.Least))]));
        }

        return points;
    }

    /// <summary>The key's least or greatest value.</summary>
    /// <param name="bound">Of <see cref="Bounds"/>.</param>
    public BsonDocument At(BsonValue bound) => BsonDocument.Of([.. FieldNames.Select(field => (field, (object?)bound))]);

    private static long PartOf(long whole, int part, int parts) => (long)((Int128)whole * part / parts);

    private static string Describe(KeyValuePair<string, BsonValue> element) =>
        $"{element.Key}: {(element.Value.IsNumber ? element.Value.ToInt64().ToString(System.Globalization.CultureInfo.InvariantCulture) : element.Value.ToString())}";
}

/// <summary>What is below and above every value.</summary>
internal static class Bounds
{
    public static BsonValue Least { get; } = new(BsonType.MinKey, ReadOnlyMemory<byte>.Empty);

    public static BsonValue Greatest { get; } = new(BsonType.MaxKey, ReadOnlyMemory<byte>.Empty);
}
