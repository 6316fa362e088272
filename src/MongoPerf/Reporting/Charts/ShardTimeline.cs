using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting.Charts;

/// <summary>The samples of the shards over the time axis: for each figure a line for each shard.</summary>
internal sealed class ShardTimeline
{
    /// <summary>More lines than these nobody can follow: then there is one of the fullest, one of the emptiest, and the mean.</summary>
    private const int MostLines = 6;

    private static readonly string[] Extremes = ["largest", "mean", "smallest"];

    private readonly string[] _lines;

    private ShardTimeline(string[] lines, ChartTable data)
    {
        _lines = lines;
        Data = data;
    }

    /// <summary>A panel.</summary>
    /// <param name="Title">Of its axis.</param>
    /// <param name="Metric">Null for the share of operations.</param>
    /// <param name="IsAlwaysShown">Also when it is 0 throughout.</param>
    public sealed record Figure(string Title, string? Metric, bool IsAlwaysShown);

    public static IReadOnlyList<Figure> Figures { get; } =
    [
        new("documents", "documents", true), new("chunks", "chunks", true), new("orphans", "orphans", false),
        new("% of operations", null, false),
    ];

    public ChartTable Data { get; }

    /// <returns>Null for fewer than two shards.</returns>
    public static ShardTimeline? Read(StoredRun run, TimeAxis axis, string fileName)
    {
        string[] shards = [.. run.ReadShardSamples().Select(static sample => sample.Member).Distinct().Order(StringComparer.Ordinal)];
        if (shards.Length < 2)
            return null;
        var buckets = new TimeBuckets(Figures.Count * shards.Length, axis.Seconds, OverTime.MostRows / 2);
        var last = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in run.ReadShardSamples())
        {
            AddSample(buckets, axis.At(sample.AtMilliseconds), Array.IndexOf(shards, sample.Member), shards.Length, sample, last.GetValueOrDefault(sample.Member));
            last[sample.Member] = sample;
        }

        string[] lines = shards.Length <= MostLines ? shards : [.. Extremes.Select(extreme => Words.Of(extreme))];
        var table = new ChartTable(fileName, ["seconds", .. Figures.SelectMany(figure => lines.Select(line => $"{figure.Title} {line}"))]);
        foreach (double[] row in buckets.Rows())
            table.Add([row[0], .. Enumerable.Range(0, Figures.Count).SelectMany(i => Condensed(Values(row, i, shards.Length)))]);
        return new ShardTimeline(lines, table);
    }

    /// <summary>Figures that are worth a panel, with a line for each shard.</summary>
    public IEnumerable<(Figure Figure, IReadOnlyList<Series> Lines)> Shown =>
        Figures.Select((figure, i) => (Figure: figure, Lines: LinesOf(i))).Where(static one => one.Figure.IsAlwaysShown || one.Lines.Any(static line => line.Largest > 0));

    private IReadOnlyList<Series> LinesOf(int figure) => [.. _lines.Select((line, i) => new Series(Data, 1 + (figure * _lines.Length) + i, line, $"shard{i + 1}"))];

    private static void AddSample(TimeBuckets buckets, double at, int shard, int shards, MetricSample now, MetricSample? before)
    {
        for (int i = 0; i < Figures.Count; i++)
        {
            int column = (i * shards) + shard;
            if (Figures[i].Metric is { } metric)
                buckets.Add(at, column, now.Values[MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric)], 1);
            else if (before is not null && now.AtMilliseconds > before.AtMilliseconds)
                buckets.Add(at, column, ShardOperations.Between(before, now), (now.AtMilliseconds - before.AtMilliseconds) / 1000.0);
        }
    }

    /// <summary>A figure's values for the shards; operations as shares of their sum in percent.</summary>
    private static double[] Values(double[] row, int figure, int shards)
    {
        double[] values = row[(1 + (figure * shards))..(1 + ((figure + 1) * shards))];
        if (Figures[figure].Metric is not null)
            return values;
        double sum = values.Where(double.IsFinite).Sum();
        return [.. values.Select(value => sum > 0 ? value * 100 / sum : double.NaN)];
    }

    private static double[] Condensed(double[] values)
    {
        if (values.Length <= MostLines)
            return values;
        double[] known = [.. values.Where(double.IsFinite)];
        return known.Length == 0 ? [double.NaN, double.NaN, double.NaN] : [known.Max(), known.Average(), known.Min()];
    }
}
