using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>The ObjectIds of collections' documents, so that what refers to them refers to those of the file.</summary>
internal sealed class ObjectIdMap
{
    /// <summary>Values that are looked for.</summary>
    private const int MostTried = 200;

    /// <summary>Of those that a part of the documents should have by their share of all.</summary>
    private const double Enough = 0.5;

    /// <summary>What the four bytes of a time go up to, in milliseconds since 1970.</summary>
    public const long LastTime = uint.MaxValue * 1000L;

    private readonly List<(string Collection, HashSet<ObjectId> Ids, double Share, ValueStatistics Values)> _collections = [];

    /// <param name="samples">All collections of the database.</param>
    public ObjectIdMap(IEnumerable<CollectionSample> samples)
    {
        foreach (CollectionSample sample in samples)
        {
            BsonValue[] ids = [.. sample.Documents.Select(document => document.Find("_id")).OfType<BsonValue>()
                .Where(id => id.Type == BsonType.ObjectId)];
            if (ids.Length > 0)
            {
                _collections.Add((sample.Name, [.. ids.Select(id => id.ToObjectId())],
                    Math.Min(1, (double)sample.Documents.Count / sample.Count),
                    new ValueStatistics(BsonType.ObjectId, ids, (double)ids.Length * sample.Count / sample.Documents.Count, false)));
            }
        }
    }

    /// <summary>What generates the ids of the collection whose documents' ids these are; null where they are of none.</summary>
    /// <param name="path">The collection and path where they stand.</param>
    /// <param name="values">ObjectIds.</param>
    public string? OfOther(string path, ValueStatistics values)
    {
        ObjectId[] some = [.. values.Values.Take(MostTried).Select(one => one.Key.ToObjectId())];
        var best = _collections.Where(one => $"{one.Collection}._id" != path)
            .Select(one => (one.Share, one.Values, Found: some.Count(one.Ids.Contains))).OrderByDescending(one => one.Found / one.Share)
            .FirstOrDefault();
        return best.Found > 0 && best.Found >= Enough * best.Share * some.Length ? Growing(best.Values) : null;
    }

    /// <summary>ObjectIds whose times rise from the first to the last.</summary>
    public static string Growing(ValueStatistics ids)
    {
        (long low, double step) = TimesOf(ids);
        return $"{{^objectId: {{start: {Rounding.Date(low)}, step: {Rounding.Duration(step)}}}}}";
    }

    /// <summary>Between which times they lie in the file.</summary>
    public static double[] KnotsOf(ValueStatistics ids)
    {
        (long low, double step) = TimesOf(ids);
        return [low, low + (step * Math.Max(1, ids.Total - 1))];
    }

    private static (long Low, double Step) TimesOf(ValueStatistics ids) =>
        (Rounding.OutwardDates(ids.Times[0], ids.Times[^1]).Low,
            Math.Max(1, Math.Round((ids.Times[^1] - ids.Times[0]) / Math.Max(1, ids.Total - 1))));
}
