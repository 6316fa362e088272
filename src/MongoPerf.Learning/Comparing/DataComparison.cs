using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Comparing;

/// <summary>Compares documents that a scenario generates with those that a deployment has, by the same statistics.</summary>
public static class DataComparison
{
    /// <summary>Values that come less often are as many as chance has it.</summary>
    private const double Frequent = 0.02;

    /// <param name="deployment">Its collections.</param>
    /// <param name="scenario">The scenario's, under the names of the file.</param>
    /// <param name="names">What the file calls the deployment's collections and fields.</param>
    public static IEnumerable<Deviation> Of(
        IReadOnlyList<CollectionSample> deployment, IReadOnlyList<CollectionSample> scenario, WrittenNames names)
    {
        foreach (CollectionSample there in deployment)
        {
            string name = names.Collection(there.Name);
            CollectionSample? here = scenario.FirstOrDefault(one => one.Name == name);
            yield return new(name, "documents", there.Count, here?.Count ?? 0, Deviation.OfSizes);
            if (here is not { Documents.Count: > 0 } || there.Documents.Count == 0)
                continue;
            yield return new(name, "mean document (B)", there.Documents.Average(one => one.Bytes.Length),
                here.Documents.Average(one => one.Bytes.Length), Deviation.OfSizes);
            foreach (Deviation one in Fields(name, FieldStatistics.Of(there), FieldStatistics.Of(here), names))
                yield return one;
            foreach (Deviation one in Indexes(name, there, here, names))
                yield return one;
        }

        foreach (CollectionSample more in scenario.Where(one => deployment.All(there => names.Collection(there.Name) != one.Name)))
            yield return new(more.Name, "documents", null, more.Count, Deviation.OfSizes);
    }

    private static IEnumerable<Deviation> Fields(string collection, FieldStatistics there, FieldStatistics here, WrittenNames names)
    {
        foreach (FieldStatistics field in there.All().Where(one => one.Path.Length > 0 && !one.Path.Contains('*',
            StringComparison.Ordinal)))
        {
            string path = names.Path(field.Path);
            FieldStatistics? same = here.All().FirstOrDefault(one => one.Path == path && (one.Name.Length > 0) == (field.Name.Length > 0));
            if (field.Name.Length > 0 && (!field.IsAlways || same is not { IsAlways: true }))
                yield return new(collection, $"{path}: presence (%)", 100 * field.Presence, 100 * (same?.Presence ?? 0), Deviation.OfRates);
            if (same is null || field.Values.Count == 0)
                continue;
            ValueStatistics most = field.Values.Values.MaxBy(values => values.Count)!;
            if (!same.Values.TryGetValue(most.Type, out ValueStatistics? made) || most.Type == BsonType.Null)
                continue;
            yield return new(collection, $"{path}: distinct values", Math.Round(most.Cardinality.Distinct),
                Math.Round(made.Cardinality.Distinct), Deviation.OfRates);
            (double often, double made2) = (Top(most), Top(made));
            if (often >= Frequent)
                yield return new(collection, $"{path}: most frequent value (%)", 100 * often, 100 * made2, Deviation.OfRates);
        }
    }

    private static double Top(ValueStatistics values) => (double)values.Values.First().Value / values.Count;

    private static IEnumerable<Deviation> Indexes(string collection, CollectionSample there, CollectionSample here, WrittenNames names)
    {
        foreach (BsonDocument index in there.Indexes)
        {
            string key = Describe(index, names.Path);
            BsonDocument? same = here.Indexes.FirstOrDefault(one => Describe(one, name => name) == key);
            if (same is null)
            {
                yield return new(collection, $"index {key}", 1, null, Deviation.OfSizes);
                continue;
            }

            var keys = new IndexKeys(index);
            if (!keys.IsKnown)
                continue;
            var own = new IndexKeys(same);
            yield return new(collection, $"index {key}: keys of a document (B)", there.Documents.Average(one => (double)keys.BytesOf(one)),
                here.Documents.Average(one => (double)own.BytesOf(one)), Deviation.OfSizes);
        }
    }

    /// <summary>The key, with the fields of a text index as they were given.</summary>
    private static string Describe(BsonDocument index, Func<string, string> name) => string.Join('_',
        (index.FindDocument("key") ?? BsonDocument.Empty).Where(one => one.Key != "_ftsx").SelectMany(one => one.Key == "_fts"
            ? (index.FindDocument("weights") ?? BsonDocument.Empty).Select(text => $"{name(text.Key)}_text")
            : [$"{name(one.Key)}_{(one.Value.IsNumber ? one.Value.ToDouble() : one.Value)}"]));
}
