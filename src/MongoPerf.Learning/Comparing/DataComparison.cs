using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Comparing;

/// <summary>Compares documents that a scenario generates with those that a deployment has, by the same statistics.</summary>
public static class DataComparison
{
    /// <summary>Values that come less often are as many as chance has it.</summary>
    private const double Frequent = 0.02;

    /// <summary>Of the documents, 0 to 1: by so much a place in a distribution may differ.</summary>
    private const double Points = 0.10;

    /// <summary>By which ends of ranges are rounded outward, at most.</summary>
    private const double OfEnds = 0.25;

    /// <summary>Options of collections that files leave out, at least in part: that they differ is only told.</summary>
    private static readonly string[] Told = ["validator", "expireAfterSeconds"];

    /// <summary>Options that make a collection another one.</summary>
    private static readonly string[] Options =
        ["capped", "timeseries", "clusteredIndex", "collation", "changeStreamPreAndPostImages", .. Told];

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
            yield return new(name, "documents", there.Count, here?.Count, Deviation.OfSizes);
            if (here is null)
                continue;
            foreach (Deviation one in IndexComparison.Of(name, there, here, names))
                yield return one;
            foreach (string option in Options.Where(one => there.Options.Find(one) is null != here.Options.Find(one) is null))
                yield return new(name, $"option {option} (1: yes)", there.Options.Find(option) is null ? 0 : 1,
                    here.Options.Find(option) is null ? 0 : 1, Told.Contains(option) ? null : Deviation.OfRates);
            if (here.Documents.Count == 0 || there.Documents.Count == 0)
                continue;
            yield return Deviation.OfMeans(name, "mean document (B)", MeanOf([.. there.Documents.Select(one => (double)one.Bytes.Length)]),
                MeanOf([.. here.Documents.Select(one => (double)one.Bytes.Length)]), Deviation.OfSizes);
            foreach (Deviation one in Fields(
                name, FieldStatistics.Of(there), FieldStatistics.Of(here), names, IndexComparison.Expiring(there)))
                yield return one;
        }

        foreach (CollectionSample more in scenario.Where(one => deployment.All(there => names.Collection(there.Name) != one.Name)))
            yield return new(more.Name, "documents", null, more.Count, Deviation.OfSizes);
    }

    internal static (double Mean, double Deviation, double Count) MeanOf(double[] values)
    {
        double mean = values.Average();
        return (mean, Math.Sqrt(values.Average(value => (value - mean) * (value - mean))), values.Length);
    }

    private static IEnumerable<Deviation> Fields(
        string collection, FieldStatistics there, FieldStatistics here, WrittenNames names, IReadOnlySet<string> expiring)
    {
        FieldStatistics[] fields = [.. there.All().Where(IsCompared)];
        string[] maps = [.. there.All().Where(one => one.Map is not null).Select(one => $"{names.Path(one.Path)}.")];
        foreach (FieldStatistics field in fields)
        {
            string path = names.Path(field.Path);
            FieldStatistics? same = here.All().FirstOrDefault(one => one.Path == path && (one.Name.Length > 0) == (field.Name.Length > 0));
            if (same is null)
            {
                yield return new(collection, $"{path}: presence (%)", 100 * field.Presence, null, IsRare(field) ? null : Deviation.OfRates);
                continue;
            }

            if (field.Name.Length > 0 && (!field.IsAlways || !same.IsAlways))
                yield return Deviation.OfShares(collection, $"{path}: presence (%)", (field.Presence, field.Count / field.Presence),
                    (same.Presence, same.Count / same.Presence), Deviation.OfRates * field.Presence);
            foreach (Deviation type in Types(collection, path, field, same))
                yield return type;
            if (field.Values.Count == 0)
                continue;
            ValueStatistics most = field.Values.Values.MaxBy(values => values.Count)!;
            if (most.Type == BsonType.Null
                || same.Values.Values.Where(one => ClassOf(one.Type) == ClassOf(most.Type)).MaxBy(one => one.Count) is not { } made)
                continue;
            foreach (Deviation value in Values(collection, path, most, made, expiring.Contains(field.Path)))
                yield return value;
        }

        foreach (FieldStatistics more in here.All().Where(IsCompared)
            .Where(one => one.Name.Length > 0 && fields.All(field => names.Path(field.Path) != one.Path)
                && !maps.Any(map => one.Path.StartsWith(map, StringComparison.Ordinal))))
            yield return new(collection, $"{more.Path}: presence (%)", null, 100 * more.Presence, IsRare(more) ? null : Deviation.OfRates);

        static bool IsCompared(FieldStatistics field) => field.Path.Length > 0 && !field.Path.Contains('*', StringComparison.Ordinal);

        // By chance none of so few documents is on the other side.
        static bool IsRare(FieldStatistics field) => !field.IsAlways && field.Count < Deviation.Spread * Deviation.Spread;
    }

    /// <summary>Where a side has several: numbers count as one.</summary>
    private static IEnumerable<Deviation> Types(string collection, string path, FieldStatistics there, FieldStatistics here)
    {
        string[] classes = [.. there.Types.Keys.Concat(here.Types.Keys).Select(ClassOf).Distinct()];
        return classes.Length < 2 ? [] : classes.Select(one => Deviation.OfShares(collection, $"{path}: {one} (%)",
            (ShareOf(there, one), there.Count), (ShareOf(here, one), here.Count), Points));

        static double ShareOf(FieldStatistics field, string one) =>
            (double)field.Types.Where(type => ClassOf(type.Key) == one).Sum(type => type.Value) / field.Count;
    }

    private static string ClassOf(BsonType type) => type switch
    {
        BsonType.Int32 or BsonType.Int64 or BsonType.Double => "numbers",
        BsonType.Decimal128 => "decimals",
        BsonType.String or BsonType.Symbol or BsonType.JavaScript => "texts",
        BsonType.DateTime => "dates",
        BsonType.ObjectId => "ObjectIds",
        BsonType.Boolean => "booleans",
        BsonType.Document => "documents",
        BsonType.Array => "arrays",
        BsonType.Null or BsonType.Undefined => "nulls",
        BsonType.Binary => "binaries",
        _ => $"{type}",
    };

    private static IEnumerable<Deviation> Values(string collection, string path, ValueStatistics there, ValueStatistics here, bool isMoved)
    {
        (double own, double other) = (there.Cardinality.Distinct, here.Cardinality.Distinct);
        yield return new(collection, $"{path}: distinct values", Math.Round(own), Math.Round(other), Deviation.OfRates)
        {
            Chance = Deviation.Spread * Math.Sqrt(Square(there.DistinctError / own) + Square(here.DistinctError / other)),
        };
        (double often, double made) = (Top(there), Top(here));
        if (often >= Frequent || made >= Frequent)
            yield return Deviation.OfShares(collection, $"{path}: most frequent value (%)", (often, there.Count), (made, here.Count),
                Deviation.OfRates * Math.Max(often, Frequent));
        if (isMoved || there.Quantiles.Length == 0 || here.Quantiles.Length == 0 || !IsOrdered(there) || !IsOrdered(here))
            yield break;
        // Of few documents the ends of the range have not come. How far the scenario's goes beyond it depends on the rarest values.
        yield return new(collection, $"{path}: values within the scenario's range (%)", 100, 100 * Covered(there, here), OfEnds)
        {
            Chance = 5 * Deviation.Spread / Math.Min(there.Count, here.Count),
        };
        // Where few values, or a zipfian's most frequent ones, are made up, others have their places.
        double middle = there.Quantiles[there.Quantiles.Length / 2];
        if (!there.IsFew && there.Cardinality.Theta <= 0)
            yield return Deviation.OfShares(collection, $"{path}: below the deployment's median (%)",
                (there.ShareBelow(middle), there.Count), (here.ShareBelow(middle), here.Count), Points);
        // A few frequent values keep their places among the others.
        if ((there.IsFew || there.Cardinality.Theta <= 0 || there.Cardinality.IsSteepest) && StandsOut(there) && StandsOut(here))
            yield return Deviation.OfShares(collection, $"{path}: below the most frequent value (%)", (BelowTop(there), there.Count),
                (BelowTop(here), here.Count), Points);
    }

    private static bool IsOrdered(ValueStatistics values) =>
        values.Type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.DateTime;

    /// <summary>The share of values that lie within the range of others.</summary>
    private static double Covered(ValueStatistics values, ValueStatistics range) =>
        1 - values.ShareBelow(range.Quantiles[0])
            - ((double)values.Values.Where(one => ValueStatistics.NumberOf(one.Key) > range.Quantiles[^1]).Sum(one => one.Value)
                / values.Count);

    private static bool StandsOut(ValueStatistics values) => values.Values.Take(2).Select(one => (double)one.Value).ToArray() is var top
        && top[0] >= Frequent * values.Count && top[0] - top.ElementAtOrDefault(1) > Deviation.Spread * Math.Sqrt(2 * top[0]);

    private static double BelowTop(ValueStatistics values) => values.ShareBelow(ValueStatistics.NumberOf(values.Values.First().Key));

    private static double Top(ValueStatistics values) => (double)values.Values.First().Value / values.Count;

    private static double Square(double value) => value * value;
}
