using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>What each shard holds and does over time, with the migrations shaded.</summary>
internal static class ShardChart
{
    public const string Name = "shards";
    private const int Ticks = 4;

    /// <summary>Null unless several shards were looked at.</summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="name">Of its files, where charts of several runs lie in one folder.</param>
    public static Chart? Build(StoredRun run, string name = Name) => Build(run, OperationSeconds.Of(run), name);

    /// <inheritdoc cref="Build(StoredRun, string)"/>
    public static Chart? Build(StoredRun run, OperationSeconds seconds, string name = Name)
    {
        TimeAxis axis = seconds.Axis;
        var table = ShardTimeline.Read(run, axis, name + ".dat");
        if (table is null)
            return null;

        int[] inserts = [.. seconds.Inserts.Take(OverTime.MostLines)];
        ChartTable rates = OverTime.Rates(seconds, name + "-inserts.dat", inserts, axis.At, axis.Seconds);
        return OverTime.Chart(
            run, axis, name, Words.Of("Shards over time"),
            Words.Of("Lines that run together are shards that fill evenly. Shaded: a chunk is on its way from one shard to another. "
            + "Orphans are documents that have moved away and are not deleted yet."),
            [.. Panels(table, inserts.Select((insert, i) => new Series(rates, i + 1, seconds.Lines[insert].Title, seconds.Lines[insert].Color)))]);
    }

    private static IEnumerable<Panel> Panels(ShardTimeline shards, IEnumerable<Series> inserts)
    {
        if (Panel.Of(Words.Of("documents/s"), static largest => AxisScale.OfCount(largest, Ticks), inserts) is { } rates)
            yield return rates;
        foreach ((ShardTimeline.Figure figure, IReadOnlyList<Series> lines) in shards.Shown)
            yield return new Panel(Words.Of(figure.Title), ScaleOf(figure, lines.Max(static line => line.Largest)), lines) { IsState = true };
    }

    /// <summary>A share can't be more than all.</summary>
    private static AxisScale ScaleOf(ShardTimeline.Figure figure, double largest) =>
        figure.Metric is null ? new AxisScale(100, [new(0, "0"), new(25, "25"), new(50, "50"), new(75, "75"), new(100, "100")]) : AxisScale.OfCount(largest, Ticks);
}
