using System.Globalization;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Comparing;

/// <summary>
/// Compares the indexes of a scenario with those of a deployment: those that only one has, their options, and their keys.
/// </summary>
internal static class IndexComparison
{
    private static readonly string[] Flags = ["sparse", "hidden"];

    /// <summary>The paths of dates by which the server removes documents.</summary>
    public static IReadOnlySet<string> Expiring(CollectionSample collection) => collection.Indexes
        .Where(index => index.Find("expireAfterSeconds") is not null)
        .Select(index => index.FindDocument("key")?.FirstOrDefault().Key ?? "").ToHashSet(StringComparer.Ordinal);

    /// <param name="collection">What the file calls it.</param>
    /// <param name="there">The deployment's.</param>
    /// <param name="here">The scenario's.</param>
    /// <param name="names">What the file calls the deployment's fields.</param>
    public static IEnumerable<Deviation> Of(string collection, CollectionSample there, CollectionSample here, WrittenNames names)
    {
        List<BsonDocument> left = [.. here.Indexes];
        foreach (BsonDocument index in there.Indexes)
        {
            string shown = Describe(index, names.Path);
            BsonDocument? same = left.FirstOrDefault(one => Describe(one, name => name) == shown);
            if (same is null)
            {
                yield return new(collection, $"index {shown}", 1, null, Deviation.OfSizes);
                continue;
            }

            left.Remove(same);
            var keys = new IndexKeys(index);
            if (!keys.IsKnown || there.Documents.Count == 0 || here.Documents.Count == 0)
                continue;
            var own = new IndexKeys(same);
            yield return Deviation.OfMeans(collection, $"index {shown}: keys of a document (B)",
                DataComparison.MeanOf([.. there.Documents.Select(one => (double)keys.BytesOf(one))]),
                DataComparison.MeanOf([.. here.Documents.Select(one => (double)own.BytesOf(one))]), Deviation.OfSizes);
        }

        foreach (BsonDocument more in left)
            yield return new(collection, $"index {Describe(more, name => name)}", null, 1, Deviation.OfSizes);
    }

    /// <summary>The key, with the fields of a text index as they were given, and what else makes it another index; no value.</summary>
    private static string Describe(BsonDocument index, Func<string, string> name)
    {
        (string Field, string Kind)[] key = [.. (index.FindDocument("key") ?? BsonDocument.Empty).Where(one => one.Key != "_ftsx")
            .SelectMany(one => one.Key == "_fts"
                ? (index.FindDocument("weights") ?? BsonDocument.Empty).Select(text => (name(text.Key), "text"))
                : [(name(one.Key), one.Value.IsNumber ? Number(one.Value) : one.Value.ToString())])];
        List<string> options = [];
        // Of several fields together it can't be kept.
        if (index.IsTrue("unique") && key.Length == 1)
            options.Add("unique");
        options.AddRange(Flags.Where(option => index.IsTrue(option)));
        if (index.Find("expireAfterSeconds") is { IsNumber: true } seconds)
            options.Add($"expires after {Number(seconds)} s");
        if (index.FindDocument("partialFilterExpression") is { } filter)
            options.Add($"partial {Condition(filter, name)}");
        if (index.FindDocument("wildcardProjection") is { } projection)
            options.Add($"of {string.Join(", ", projection.Select(one => name(one.Key)).Order(StringComparer.Ordinal))}");
        if (index.FindDocument("collation") is { } collation && collation.FindString("locale") is { } locale and not "simple")
            options.Add($"collation {locale}{(collation.FindInt64("strength") is { } strength and not 3 ? $" {strength}" : "")}");
        return string.Join('_', key.Select(one => $"{one.Field}_{one.Kind}"))
            + (options.Count == 0 ? "" : $" ({string.Join(", ", options)})");
    }

    /// <summary>Fields and operators, and of values their kind.</summary>
    private static string Condition(BsonDocument filter, Func<string, string> name) => $"{{{string.Join(", ", filter.Select(one =>
        $"{(one.Key is ['$', ..] ? one.Key : name(one.Key))}: {ValueOf(one.Key, one.Value, name)}"))}}}";

    private static string ValueOf(string key, BsonValue value, Func<string, string> name) => key is "$exists" or "$type" ? $"{value}"
        : value.Type == BsonType.Document ? Condition(value.ToDocument(), name)
        : value.Type == BsonType.Array ? $"[{string.Join(", ", value.ToDocument().Select(one => ValueOf("", one.Value, name)))}]"
        : value.IsNumber ? "number" : value.Type == BsonType.String ? "text" : value.Type == BsonType.Boolean ? $"{value.ToBoolean()}"
        : $"{value.Type}";

    private static string Number(BsonValue value) => value.ToDouble().ToString(CultureInfo.InvariantCulture);
}
