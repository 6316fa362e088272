using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// What a time series tells apart by its meta field: the server has a bucket for each and hour, so how many there are, and in which order
/// they come, decides what it takes.
/// </summary>
/// <param name="Field">The meta field, of which each value comes once; or in their order, again and again.</param>
/// <param name="Documents">How many are drawn from; 0 where they come in turn.</param>
/// <param name="Key">How unevenly they are drawn, as text.</param>
internal sealed record SeriesMeta(FieldStatistics Field, long Documents, string Key)
{
    /// <summary>So many rounds at least are turns, and so many are written down to be recognised as such.</summary>
    private const int Rounds = 4;

    private const double Nearly = 0.9;

    /// <param name="sample">The collection.</param>
    /// <param name="root">Its documents; the succession of its times is set where all come once in each round.</param>
    /// <returns>Null where there is none, or its values have no more than one part and don't come in turn.</returns>
    public static SeriesMeta? Of(CollectionSample sample, FieldStatistics root)
    {
        if (sample.Options.FindString("timeseries.metaField") is not { } meta || root.Find(meta) is not { IsAlways: true } field)
            return null;
        BsonDocument[] inOrder = [.. sample.IsWhole ? sample.Documents : sample.Consecutive];
        string[] came = [.. inOrder.Select(document => document.Find(meta) is { } of ? Convert.ToHexString(of.Bytes.Span) : "")];
        int different = came.Distinct(StringComparer.Ordinal).Count();
        string[][] rounds = [.. came.Chunk(Math.Max(1, different)).Where(round => round.Length == different)];
        if (different > 1 && rounds.Length >= Rounds
            && rounds.Count(round => round.Distinct(StringComparer.Ordinal).Count() == different) >= Nearly * rounds.Length)
        {
            SetTimes(sample, root, inOrder, different);
            BsonValue[] once = [.. inOrder.Take(different).Select(document => document.Find(meta)!.Value)];
            int times = Math.Max(Rounds, (Succession.Least / different) + 1);
            return new SeriesMeta(FieldStatistics.Of(meta, [.. Enumerable.Repeat(once, times).SelectMany(values => values)]), 0, "");
        }

        if (!field.IsOnly(BsonType.Document) || field.Fields.Count < 2)
            return null;
        KeyValuePair<string, BsonValue[]>[] all =
        [
            .. sample.Documents.Select(document => document.Find(meta)!.Value).GroupBy(one => Convert.ToHexString(one.Bytes.Span))
                .Select(one => KeyValuePair.Create(one.Key, one.ToArray())).OrderBy(one => one.Key, StringComparer.Ordinal),
        ];
        var cardinality = Cardinality.Of(all.Select(one => (long)one.Value.Length).ToArray(), sample.Count);
        return all.Length * 2 > sample.Documents.Count ? null
            : new SeriesMeta(FieldStatistics.Of(meta, [.. all.Select(one => one.Value[0])]),
                (long)Math.Max(1, Math.Round(cardinality.Drawn)), ValueWriter.Key(cardinality));
    }

    /// <summary>All of a round have one time, and are later by no more than half of what lies between rounds.</summary>
    private static void SetTimes(CollectionSample sample, FieldStatistics root, BsonDocument[] inOrder, int different)
    {
        if (sample.Options.FindString("timeseries.timeField") is not { } time
            || root.Find(time)?.Values.GetValueOrDefault(BsonType.DateTime) is not { } values)
            return;
        double[][] rounds = [.. inOrder.Select(document => document.Find(time) is { Type: BsonType.DateTime } at ? at.ToInt64() : 0.0)
            .Chunk(different).Where(round => round.Length == different)];
        double step = (rounds[^1][0] - rounds[0][0]) / (rounds.Length - 1);
        double spread = rounds.Average(round => round.Max() - round.Min()) * (different + 1) / (different - 1);
        if (step > 0 && spread <= step / 2)
            values.Succession = new Succession(different, [], spread / step);
    }
}
