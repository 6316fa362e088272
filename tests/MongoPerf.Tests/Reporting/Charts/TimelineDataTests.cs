using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Charts;

public sealed class TimelineDataTests : IDisposable
{
    private const long Start = 1_800_000_000_000;

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData(100, new[] { "read", "build" }, new[] { "read" })]
    [InlineData(1, new[] { "read", "build" }, new[] { "read", "build" })]
    public void What_was_done_once_is_not_in_the_panel_of_latencies_unless_there_is_nothing_else(long reads, string[] rated, string[] timed)
    {
        using StoredRun run = Stored(
            [RunParts.Phase(1, "read", RunParts.Result("read", operations: reads)), RunParts.Phase(2, "build", RunParts.Result("build", operations: 1))]);
        IReadOnlyList<Panel> panels = Panels(run);
        Assert.Equal(rated, panels.Single(p => p.Title == "operations/s").Series.Select(l => l.Title));
        Assert.Equal(timed, panels.Single(p => p.Title == "p99, ms").Series.Select(l => l.Title));
    }

    [Fact]
    public void Inserts_count_documents_in_a_panel_of_their_own_and_a_growths_latencies_are_left_to_its_charts()
    {
        using StoredRun run = Stored(
        [
            RunParts.Grown(1, "batch", 1, 1000, RunParts.Result("batch")), RunParts.Grown(2, "q4", 1, 1000, RunParts.Result("find")),
            RunParts.Grown(3, "mix", 1, 1000, RunParts.Result("read"), RunParts.Result("update")), RunParts.Phase(4, "after", RunParts.Result("find")),
        ]);
        IReadOnlyList<Panel> panels = Panels(run);
        Assert.Equal(["batch"], panels.Single(p => p.Title == "documents/s").Series.Select(l => l.Title));
        Assert.Equal(["q4", "mix read", "mix update", "find", "mix total"], panels.Single(p => p.Title == "operations/s").Series.Select(l => l.Title));
        Assert.Equal(["find"], panels.Single(p => p.Title == "p99, ms").Series.Select(l => l.Title));
        Assert.Equal([5000, 5000], OperationSeconds.Of(run).All.Where(second => second.Line == 0).Select(second => second.Count));
    }

    [Fact]
    public void Latencies_that_find_no_room_are_said_to_be_left_out()
    {
        using StoredRun run = Stored(Enumerable.Range(1, 10).Select(i => RunParts.Phase(i, $"p{i}", RunParts.Result($"op{i}") with { IsInsert = i % 2 == 0 })));
        Chart chart = TimelineChart.Build(run, OperationSeconds.Of(run))!;
        Assert.Equal(OverTime.MostLines, chart.Panels.Single(p => p.Title == "p99, ms").Series.Count);
        Assert.Contains("A panel holds 7 lines", chart.HowToRead, StringComparison.Ordinal);
    }

    [Fact]
    public void What_was_done_once_takes_no_room_from_the_latencies_of_others()
    {
        using StoredRun run = Stored(Enumerable.Range(1, 9).Select(i => RunParts.Phase(i, $"p{i}", RunParts.Result($"op{i}", operations: i <= 7 ? 1 : 100))));
        Assert.Equal(["op8", "op9"], Panels(run).Single(p => p.Title == "p99, ms").Series.Select(l => l.Title));
    }

    private static IReadOnlyList<Panel> Panels(StoredRun run) => TimelineChart.Build(run, OperationSeconds.Of(run))!.Panels;

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
                        store.AddSample(RunParts.Sample(second, result.Operation) with { Phase = phase.Number });
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
    public void A_week_of_seconds_fits_into_the_rows_asked_for()
    {
        const int Week = 7 * 86_400;
        var buckets = new TimeBuckets(1, Week, 1900);
        for (int second = 1; second < Week; second++)
            buckets.Add(second, 0, second % 2 == 0 ? 10 : 20, 1);

        var rows = buckets.Rows().ToList();

        Assert.InRange(rows.Count, 1800, 1901);
        Assert.All(rows, static row => Assert.Equal(15, row[1], 0.1));
    }

    [Fact]
    public void Missing_samples_break_the_line()
    {
        var buckets = new TimeBuckets(1, 100, 1900);
        foreach (int second in new[] { 1, 2, 3, 50, 51 })
            buckets.Add(second, 0, 7, 1);

        var gap = Assert.Single(buckets.Rows(), static row => double.IsNaN(row[1]));
        Assert.InRange(gap[0], 4, 49);
    }

    [Fact]
    public void A_counter_that_falls_back_gives_no_rate()
    {
        double[] counts = [1e6, 2e6, 0.5e6, 1.5e6];
        var samples = counts.Select((count, i) => Server(i + 1, "a", count)).ToList();

        var table = ServerTimeline.Read("x.dat", [CacheRead], () => samples, new TimeAxis(Seconds(1, 10)), 100);

        Assert.Equal([1, 1], table.Rows.Select(static row => row[1]));
        Assert.Equal([2, 4], table.Rows.Select(static row => row[0]));
    }

    /// <summary>A cold server reads most in its first second.</summary>
    [Fact]
    public void A_server_that_was_away_and_begins_at_nothing_is_counted_from_its_start()
    {
        MetricSample away = Server(3, "a", 0);
        Array.Fill(away.Values, double.NaN);
        MetricSample[] samples = [Server(1, "a", 1e6), Server(2, "a", 5e6), away, Server(4, "a", 3e6), Server(5, "a", 3.5e6)];

        var table = ServerTimeline.Read("x.dat", [CacheRead], () => samples, new TimeAxis(Seconds(1, 10)), 100);

        Assert.Equal([4, 3, 0.5], table.Rows.Select(static row => row[1]).Where(double.IsFinite));
    }

    [Fact]
    public void Several_servers_are_added_up()
    {
        MetricSample[] samples = [Server(1, "a", 0), Server(1, "b", 0), Server(2, "a", 3e6), Server(2, "b", 4e6)];

        var table = ServerTimeline.Read("x.dat", [CacheRead], () => samples, new TimeAxis(Seconds(1, 10)), 100);

        Assert.Equal(7, Assert.Single(table.Rows)[1]);
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

        var table = ServerTimeline.Read("x.dat", [CacheUsed], () => samples, new TimeAxis(Seconds(1, 20)), 100);

        Assert.All(table.Rows.Skip(1), static row => Assert.Equal(14, row[1]));
    }

    [Fact]
    public void A_server_that_went_away_leaves_the_sum()
    {
        MetricSample[] samples = [.. Enumerable.Range(1, 20).Select(static second => Used(second * 1000, "a")), .. Enumerable.Range(1, 5).Select(static second => Used(second * 1000, "b"))];

        var table = ServerTimeline.Read("x.dat", [CacheUsed], () => samples, new TimeAxis(Seconds(1, 20)), 100);

        Assert.Equal(14, table.Rows.Single(static row => row[0] == 4)[1]);
        Assert.All(table.Rows.Where(static row => row[0] > 9), static row => Assert.Equal(7, row[1]));
    }

    private static ServerTimeline.Line CacheUsed { get; } = ServerTimeline.ServerLines.First(static line => line.Key == "cache_used");

    private static MetricSample Used(long milliseconds, string member)
    {
        double[] values = [.. MetricCatalogue.Server.Select(static _ => double.NaN)];
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_used")] = 7;
        return new MetricSample(Start + milliseconds, member, values);
    }

    private static ServerTimeline.Line CacheRead { get; } = ServerTimeline.ServerLines.First(static line => line.Key == "cache_read");

    private static IEnumerable<long> Seconds(int from, int to) => Enumerable.Range(from, to - from + 1).Select(static second => Start + (second * 1000L));

    private static MetricSample Server(int second, string member, double cacheRead)
    {
        double[] values = [.. MetricCatalogue.Server.Select(static _ => double.NaN)];
        values[MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_read")] = cacheRead;
        return new MetricSample(Start + (second * 1000L), member, values);
    }
}
