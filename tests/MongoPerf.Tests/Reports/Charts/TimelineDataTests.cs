using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class TimelineDataTests : IDisposable
{
    private const long Start = 1_800_000_000_000;

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Inserts_count_documents_in_a_panel_of_their_own()
    {
        using StoredRun run = Stored(
        [
            RunParts.Grown(1, "batch", 1, 1000, RunParts.Result("batch")), RunParts.Grown(2, "q4", 1, 1000, RunParts.Result("find")),
            RunParts.Grown(3, "mix", 1, 1000, RunParts.Result("read"), RunParts.Result("update")),
            RunParts.Phase(4, "after", RunParts.Result("find")),
        ]);
        IReadOnlyList<Panel> panels = Panels(run);
        Assert.Equal(["batch"], panels.Single(p => p.Title == "Rate of inserts").Series.Select(l => l.Title));
        Assert.Equal(["mix total", "q4", "mix read", "mix update", "find"],
            panels.Single(p => p.Title == "Rate of operations").Series.Select(l => l.Title));
        Assert.Equal(["batch p99", "q4 p99", "mix read p99", "mix update p99", "find p99"],
            panels.Single(p => p.Title == "Latency").Series.Select(l => l.Title));
        Assert.Equal([5000, 5000], OperationSeconds.Of(run).All.Where(second => second.Line == 0).Select(second => second.Count));
    }

    [Fact]
    public void Chart_and_page_show_the_same_panels()
    {
        using StoredRun run = Stored([RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update"))]);
        Plot page = RunPlot.Of(run)!;

        Assert.Equal(page.Panels.Select(panel => panel.Label), Panels(run).Select(panel => panel.Label));
        foreach ((Panel explored, Panel drawn) in page.Panels.Zip(Panels(run)))
        {
            Assert.Equal(explored.Series.Select(series => (series.Title, series.Color, series.Dash)),
                drawn.Series.Select(series => (series.Title, series.Color, series.Dash)));
            Assert.Same(explored.Table.Rows, drawn.Table.Rows);
        }
    }

    [Fact]
    public void Lines_that_find_no_room_are_said_to_be_left_out_and_totals_are_never_among_them()
    {
        using StoredRun run = Stored([RunParts.Phase(1, "mix", [.. Enumerable.Range(1, 10).Select(i => RunParts.Result($"op{i}"))])]);
        Chart chart = TimeCharts.Build(run, PlotLibrary.TryFind("timeline")!)!;
        Assert.Equal(["op1 p99", "op2 p99", "op3 p99", "op4 p99", "op5 p99", "op6 p99", "op7 p99"],
            chart.Panels.Single(p => p.Title == "Latency").Series.Select(l => l.Title));
        Assert.Equal(["total", "op1", "op2", "op3", "op4", "op5", "op6"],
            chart.Panels.Single(p => p.Title == "Rate of operations").Series.Select(l => l.Title));
        Assert.Contains("A panel holds 7 lines", chart.HowToRead, StringComparison.Ordinal);
    }

    private static IReadOnlyList<Panel> Panels(StoredRun run) => TimeCharts.Build(run, PlotLibrary.TryFind("timeline")!)!.Panels;

    /// <summary>With two seconds of samples of each operation.</summary>
    private StoredRun Stored(IEnumerable<PhaseRecord> phases)
    {
        string folder = _runs.At("run");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            int second = 0;
            foreach (PhaseRecord phase in phases)
            {
                for (int i = 0; i < 2; i++, second++)
                {
                    foreach (OperationResult result in phase.Operations)
                        store.AddSample(RunParts.Sample(second, result.Operation) with { Phase = phase.Number, Histogram = default });
                }

                store.EndPhase(phase);
            }
        }

        return StoredRun.Open(folder);
    }

    [Fact]
    public void A_pause_between_two_sessions_is_cut_out()
    {
        var axis = new TimeAxis([.. Seconds(1, 100), .. Seconds(10_000, 10_100)]);

        var pause = Assert.Single(axis.Pauses);
        Assert.InRange(axis.Seconds, 200, 220);
        Assert.InRange(pause.At, 100, 110);
        Assert.InRange(pause.Pause.TotalSeconds, 9880, 9900);
        Assert.InRange(axis.At(Start + 5_000_000), 100, 110);
        Assert.Equal(axis.Seconds, axis.At(Start + 10_100_000), 3);
    }

    [Fact]
    public void Without_a_pause_time_is_left_as_it_is()
    {
        var axis = new TimeAxis(Seconds(1, 500));

        Assert.Empty(axis.Pauses);
        Assert.Equal(500, axis.Seconds);
        Assert.Equal(42, axis.At(Start + 42_000));
    }

    [Fact]
    public void A_run_without_samples_has_an_empty_axis() => Assert.True(new TimeAxis([]).IsEmpty);

    [Fact]
    public void What_is_laid_over_each_other_is_averaged_second_by_second()
    {
        var buckets = new TimeBuckets(1);
        foreach ((double at, double value) in new[] { (1.2, 10.0), (1.8, 20.0), (3.5, 7.0) })
            buckets.Add(at, 0, value, 1);

        Assert.Equal([[1.5, 15], [3.5, 7]], buckets.Rows());
    }

    [Fact]
    public void A_week_of_seconds_fits_into_the_rows_of_a_panel_with_its_only_spike()
    {
        const int Week = 7 * 86_400;
        var builder = new PanelBuilder(1, Week, 3);
        for (int second = 1; second < Week; second++)
            builder.Add(second, 0, second == 100_000 ? 99 : second % 2 == 0 ? 10 : 20);

        ChartTable table = builder.Build("x.csv", ["x"]);

        Assert.InRange(table.Rows.Count, 3900, PanelBuilder.MostRows + 2);
        Assert.InRange(Assert.Single(table.Rows, static row => row[1] == 99)[0], 100_000 - builder.PieceSeconds,
            100_000 + builder.PieceSeconds);
        Assert.Equal([10, 20, 99], table.Rows.Select(static row => row[1]).Distinct().Order());
    }

    /// <summary>Samples of two sessions may lie beside each other, or on the same tenth of a second.</summary>
    [Theory]
    [InlineData(9.9, 10.0)]
    [InlineData(9.96, 10.0)]
    [InlineData(9.98, 10.02)]
    [InlineData(9.92, 10.12)]
    public void A_line_ends_at_a_pause_and_keeps_every_point(double last, double first)
    {
        var axis = new TimeAxis([.. Seconds(1, 9), .. Seconds(10_000, 10_010)]);
        Assert.Equal(10, Assert.Single(axis.Pauses).At);
        var builder = new PanelBuilder(1, 20, 3, [10]);
        foreach ((int i, double at) in new[] { last - 1, last, first, first + 1 }.Index())
            builder.Add(at, 0, i);

        ChartTable table = builder.Build("x.csv", ["x"]);

        Assert.Equal([0, 1, ChartTable.Gap, 2, 3], table.Rows.Select(static row => row[1]));
        Assert.All(table.Rows.Zip([last - 1, last, last, first, first + 1]),
            static row => Assert.InRange(row.First[0] - row.Second, -0.1, 0.2));
    }

    [Fact]
    public void A_line_that_is_thinned_ends_at_a_pause_and_mixes_nothing_from_its_two_sides()
    {
        var axis = new TimeAxis([.. Seconds(1, 1999), .. Seconds(10_000, 11_600)]);
        double pause = Assert.Single(axis.Pauses).At;
        var builder = new PanelBuilder(1, 3600, 3, [pause]);
        for (int tenth = 1; tenth <= 36_000; tenth++)
            builder.Add(tenth / 10.0, 0, tenth / 10.0 < pause ? 1 : 2);

        double[] values = [.. builder.Build("x.csv", ["x"]).Rows.Select(static row => row[1])];

        Assert.True(builder.PieceSeconds > 0);
        Assert.Equal(
            [.. values.TakeWhile(static value => value == 1), ChartTable.Gap, .. values.Where(static value => value == 2)], values);
    }

    [Fact]
    public void A_counter_that_falls_back_gives_no_rate()
    {
        double[] counts = [1e6, 2e6, 0.5e6, 1.5e6];
        var samples = counts.Select((count, i) => Server(i + 1, "a", count)).ToList();

        var values = ServerTimeline.Read([CacheRead], samples, new TimeAxis(Seconds(1, 10))).ToList();

        Assert.Equal([(2, 0, 1), (4, 0, 1)], values);
    }

    /// <summary>A cold server reads most in its first second.</summary>
    [Fact]
    public void A_server_that_was_away_and_begins_at_nothing_is_counted_from_its_start()
    {
        MetricSample away = Server(3, "a", 0);
        Array.Fill(away.Values, double.NaN);
        MetricSample[] samples = [Server(1, "a", 1e6), Server(2, "a", 5e6), away, Server(4, "a", 3e6), Server(5, "a", 3.5e6)];

        var values = ServerTimeline.Read([CacheRead], samples, new TimeAxis(Seconds(1, 10))).ToList();

        Assert.Equal([4, 3, 0.5], values.Select(static one => one.Value));
    }

    [Fact]
    public void Several_servers_are_added_up()
    {
        MetricSample[] samples = [Server(1, "a", 0), Server(1, "b", 0), Server(2, "a", 3e6), Server(2, "b", 4e6)];

        var values = ServerTimeline.Read([CacheRead], samples, new TimeAxis(Seconds(1, 10))).ToList();

        Assert.Equal(7, Assert.Single(values).Value);
    }

    [Fact]
    public void A_server_that_was_sampled_a_moment_before_or_after_the_others_is_not_missing_from_the_sum()
    {
        MetricSample[] samples = [.. Enumerable.Range(1, 20).SelectMany(second => new[]
        {
            Used(second * 1000, "a"),
            // Now just before the second's end, now just behind it.
            Used((second * 1000) + (second % 2 == 0 ? -20 : 20), "b"),
        })];

        var values = ServerTimeline.Read([CacheUsed], samples, new TimeAxis(Seconds(1, 20))).ToList();

        Assert.Equal(Enumerable.Repeat(14.0, 20), values.Select(static one => one.Value));
    }

    [Fact]
    public void A_server_that_went_away_leaves_the_sum()
    {
        MetricSample[] samples = [.. Enumerable.Range(1, 20).SelectMany(static second =>
            (MetricSample[])[Used(second * 1000, "a"), .. second <= 5 ? [Used(second * 1000, "b")] : Array.Empty<MetricSample>()])];

        var values = ServerTimeline.Read([CacheUsed], samples, new TimeAxis(Seconds(1, 20))).ToList();

        Assert.Equal(14, values.Single(static one => one.At == 4).Value);
        Assert.All(values.Where(static one => one.At > 9), static one => Assert.Equal(7, one.Value));
    }

    private static ServerTimeline.Line CacheUsed { get; } = new(
        "cache_used", "server", "cache used", MetricCatalogue.Server, ["cache_used"]);

    private static MetricSample Used(long milliseconds, string member)
    {
        double[] values = [.. MetricCatalogue.Server.Select(static _ => double.NaN)];
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_used")] = 7;
        return new MetricSample(Start + milliseconds, member, values);
    }

    private static ServerTimeline.Line CacheRead { get; } = new(
        "cache_read", "read", "read into cache", MetricCatalogue.Server, ["cache_read"], 1e-6);

    private static IEnumerable<long> Seconds(int from, int to) =>
        Enumerable.Range(from, to - from + 1).Select(static second => Start + (second * 1000L));

    private static MetricSample Server(int second, string member, double cacheRead)
    {
        double[] values = [.. MetricCatalogue.Server.Select(static _ => double.NaN)];
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_read")] = cacheRead;
        return new MetricSample(Start + (second * 1000L), member, values);
    }
}
