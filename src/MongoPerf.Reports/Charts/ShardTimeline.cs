using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Makes panels of the samples of the shards over the time axis: for each figure one with a line for each shard.</summary>
internal static class ShardTimeline
{
    /// <summary>Nobody can follow more lines: then there is one of the fullest shard, one of the emptiest, and the mean.</summary>
    private const int MostLines = 6;

    private const int Ticks = 4;

    /// <summary>The seconds after which a line ends: shards are asked every two seconds, and less often when they answer slowly.</summary>
    private const double LongestGap = 30;

    private static readonly string[] Extremes = ["largest", "mean", "smallest"];

    /// <summary>A panel.</summary>
    /// <param name="Title">What it shows.</param>
    /// <param name="Metric">The metric; null for the share of operations.</param>
    /// <param name="IsAlwaysShown">It is shown also when it is 0 throughout.</param>
    private sealed record Figure(string Title, string? Metric, bool IsAlwaysShown);

    private static readonly Figure[] Figures =
    [
        new("documents", "documents", true), new("chunks", "chunks", true), new("orphans", "orphans", false),
        new("% of operations", null, false),
    ];

    /// <returns>The panels; none for fewer than two shards.</returns>
    /// <inheritdoc cref="ServerTimeline.Panels"/>
    public static IEnumerable<Panel> Panels(StoredRun run, TimeAxis axis, Func<int, double, PanelBuilder> builderOf, double since)
    {
        string[] shards = [.. run.ReadShardSamples().Select(static sample => sample.Member).Distinct().Order(StringComparer.Ordinal)];
        if (shards.Length < 2)
            yield break;
        string[] lines = shards.Length <= MostLines ? shards : [.. Extremes.Select(static extreme => Words.Of(extreme))];
        PanelBuilder[] builders = [.. Figures.Select(_ => builderOf(lines.Length, LongestGap))];
        foreach ((double at, IReadOnlyDictionary<string, double[]> members) in MemberRounds.Of(Values(run, axis), LongestGap)
            .Where(round => round.At >= since))
        {
            for (int figure = 0; figure < Figures.Length; figure++)
            {
                double[] values = [.. shards.Select(shard => members.TryGetValue(shard, out double[]? its) ? its[figure] : double.NaN)];
                foreach ((int line, double value) in Condensed(Figures[figure].Metric is null ? Shares(values) : values).Index())
                    builders[figure].Add(at, line, value);
            }
        }

        foreach ((Figure figure, PanelBuilder builder) in Figures.Zip(builders))
        {
            ChartTable table = builder.Build($"{figure.Metric ?? "operations"}.csv", lines);
            Series[] series = [.. lines.Select((line, i) => new Series(table, i + 1, line, $"shard{i + 1}"))];
            double largest = series.Max(static one => one.Largest);
            if (figure.IsAlwaysShown || largest > 0)
                yield return new Panel(TitleOf(figure, Distribution.WatchedIn(run)), ScaleOf(figure, largest), series) { IsState = true };
        }
    }

    /// <summary>Titles a panel: what shards hold is one collection's, what they do is all that they do.</summary>
    private static string TitleOf(Figure figure, string? collection) =>
        figure.Metric is null || collection is null
            ? Words.Of($"Shards: {Words.Of(figure.Title)}")
            : Words.Of($"Shards: {Words.Of(figure.Title)} of {collection}");

    /// <summary>Streams what each shard has in its columns, and its operations per second.</summary>
    private static IEnumerable<(double At, string Member, double[] Values)> Values(StoredRun run, TimeAxis axis)
    {
        int[] columns =
            [.. Figures.Select(static figure => figure.Metric is { } metric ? MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric) : -1)];
        var last = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in run.ReadShardSamples())
        {
            double rate = last.TryGetValue(sample.Member, out MetricSample? before) && sample.AtMilliseconds > before.AtMilliseconds
                ? ShardOperations.Between(before, sample) * 1000 / (sample.AtMilliseconds - before.AtMilliseconds) : double.NaN;
            yield return (axis.At(sample.AtMilliseconds), sample.Member,
                [.. columns.Select(column => column >= 0 ? sample.Values[column] : rate)]);
            last[sample.Member] = sample;
        }
    }

    /// <summary>The values in percent of their sum.</summary>
    private static double[] Shares(double[] values)
    {
        double sum = values.Where(double.IsFinite).Sum();
        return [.. values.Select(value => sum > 0 ? value * 100 / sum : double.NaN)];
    }

    private static double[] Condensed(double[] values)
    {
        if (values.Length <= MostLines)
            return values;
        double[] known = [.. values.Where(double.IsFinite)];
        return known.Length == 0 ? [] : [known.Max(), known.Average(), known.Min()];
    }

    /// <summary>Chooses the axis: a share can't be more than all.</summary>
    private static AxisScale ScaleOf(Figure figure, double largest) =>
        figure.Metric is null
            ? new AxisScale(100, [new(0, "0"), new(25, "25"), new(50, "50"), new(75, "75"), new(100, "100")])
            : AxisScale.OfWholeCount(largest, Ticks);
}
