using Microsoft.Data.Sqlite;
using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

/// <summary>What the lines of rates over time count: totals of mixes, and arrivals of what nobody answers.</summary>
public sealed class OperationSecondsTests : IDisposable
{
    private static readonly long Start = RunParts.Start.ToUnixTimeMilliseconds();

    private readonly TemporaryFolder _runs = new();
    private readonly RunStore _store;

    public OperationSecondsTests()
    {
        _store = RunStore.Create(_runs.At("run"), RunParts.Run(), RunParts.Settings());
        _store.SetEnvironment(RunParts.Environment());
    }

    public void Dispose()
    {
        _store.Dispose();
        _runs.Dispose();
    }

    [Fact]
    public void A_mix_has_a_line_of_its_total_and_a_phase_of_one_operation_has_none()
    {
        Seconds(1, 1, 5, ("read", 900), ("update", 100));
        Seconds(2, 11, 5, ("scan", 7));
        OperationSeconds seconds = Stored(RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update")),
            RunParts.Phase(2, "scans", RunParts.Result("scan")));

        Assert.Equal(["read", "update", "scan", "total"], seconds.Lines.Select(line => line.Title));
        Assert.Equal([1000, 1000, 1000, 1000, 1000], Rates(seconds, "total"));
        Assert.Equal([900, 900, 900, 900, 900], Rates(seconds, "read"));
        Assert.DoesNotContain(seconds.All, second => seconds.Lines[second.Line].IsTotal);
    }

    [Fact]
    public void Waits_for_a_connection_and_events_of_writes_are_no_part_of_a_total()
    {
        OperationResult wait = RunParts.Result("wait") with { Connections = new ConnectionResult(ConnectionKind.Pool, 2) };
        OperationResult watch = RunParts.Result("watch") with { Changes = new ChangeResult(1, 0, 0, 0, 0, 0, 0) };
        Seconds(1, 1, 3, ("read", 900), ("wait", 500));
        Seconds(2, 11, 3, ("read", 900), ("update", 100), ("watch", 100), ("wait", 500));
        PhaseRecord alone = RunParts.Phase(1, "alone", RunParts.Result("read"), wait);
        OperationSeconds seconds =
            Stored(alone, RunParts.Phase(2, "mix", RunParts.Result("read"), RunParts.Result("update"), watch, wait));

        Assert.Equal(["read", "wait", "update", "watch", "total"], seconds.Lines.Select(line => line.Title));
        Assert.Equal([1000, 1000, 1000], Rates(seconds, "total"));
        Assert.Equal(["read"], alone.Independent.Select(result => result.Operation));
        using StoredRun run = StoredRun.Open(_runs.At("run"));
        IReadOnlyList<Observation> all = Observations.Of(FigureRun.Of(run), new ResultChoice(), ["rate"], []).All;
        Assert.Equal([["read"], [OperationResult.TotalName]], all.Select(one => one.Results.Select(result => result.Operation)));
        Assert.Equal([["read"], ["read", "update"]], all.Select(one => one.OperationNames));
    }

    [Theory]
    [InlineData(1, true)]
    [InlineData(2, true)]
    [InlineData(1, false)]
    public void Latencies_of_all_together_are_those_that_are_stored_or_else_those_of_the_histograms(int groups, bool hasColumns)
    {
        var stored = new GroupLatency(1.25, 2.5, 3.75);
        for (int second = 1; second <= 3; second++)
        {
            foreach ((string operation, int microseconds) in new[] { ("read", 100), ("update", 900) })
            {
                var histogram = new LatencyHistogram();
                histogram.Record(microseconds);
                _store.AddSample(RunParts.Sample(second, operation) with
                {
                    IsWarmup = false, Histogram = HistogramEncoding.EncodeCompressed(histogram),
                    OfGroup = operation == "read" ? stored : null,
                });
            }
        }

        GroupShare Group(params string[] mix) => new("", 1, 1, 1, 1, 1, 0, new Accounting(1, 1, 0, 0))
        {
            Mix = mix, Joint = new JointLatency(new LatencySummary { P50 = 1 }),
        };
        PhaseRecord phase = RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update")) with
        {
            Groups = groups == 1 ? [Group("read", "update")] : [Group("read"), Group("update")],
        };
        _store.EndPhase(phase);
        _store.Dispose();
        if (!hasColumns)
            DropColumns(RunSchema.SampleGroupColumns.Split(", "));

        using StoredRun run = StoredRun.Open(_runs.At("run"));
        OperationSeconds seconds = OperationSeconds.Of(run);
        OperationSecond[] totals = [.. seconds.Timed.Where(second => seconds.Lines[second.Line].IsTotal)];
        Assert.Equal(3, totals.Length);
        var added = new LatencyHistogram();
        added.Record(100);
        added.Record(900);
        GroupLatency expected = groups == 1 && hasColumns ? stored : GroupLatency.Of(added)!.Value;
        Assert.All(totals, total => Assert.Equal(expected, new GroupLatency(total.P50, total.P99, total.Max)));
        if (groups == 1)
            Assert.Equal(LatencySummaries.Rounded(expected.P99),
                seconds.Joint.P99Of(run.Phases[0], run.Phases[0].Mixes.Single(), totals[0].AtMilliseconds));
        // A run of an earlier version is continued with all columns.
        using (RunStore.Open(_runs.At("run")))
        {
        }

        using SqliteConnection continued = RunSchema.Open(_runs.At("run"), readOnly: true);
        Assert.Superset(RunSchema.SampleGroupColumns.Split(", ").ToHashSet(), RunSchema.ColumnsOf(continued, RunSchema.SampleTable));
    }

    private void DropColumns(IEnumerable<string> columns)
    {
        using SqliteConnection connection = RunSchema.Open(_runs.At("run"), readOnly: false);
        foreach (string column in columns)
        {
            using SqliteCommand drop = connection.CreateCommand();
            drop.CommandText = $"ALTER TABLE sample DROP COLUMN {column}";
            drop.ExecuteNonQuery();
        }
    }

    [Fact]
    public void A_total_counts_batches_of_inserts_as_operations_and_of_inserts_alone_documents()
    {
        Seconds(1, 1, 3, ("read", 90), ("batch", 10));
        Seconds(2, 11, 3, ("batch", 10), ("safe", 30));
        OperationSeconds seconds = Stored(RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("batch")),
            RunParts.Phase(2, "fill", RunParts.Result("batch"), RunParts.Result("safe")));

        OperationLine[] totals = [.. seconds.Lines.Where(line => line.IsTotal)];
        Assert.Equal([false, true], totals.Select(line => line.IsInsert));
        // Each sample has 5,000 documents, however many operations.
        Assert.Equal([100, 100, 100, 10_000, 10_000, 10_000],
            seconds.Counted.Where(second => seconds.Lines[second.Line].IsTotal).Select(second => second.Count));
    }

    [Fact]
    public void Groups_that_are_sampled_at_different_moments_are_added_up_by_time()
    {
        Seconds(1, 1, 6, ("read", 100));
        foreach (int second in Enumerable.Range(1, 6))
            _store.AddSample(RunParts.Sample(
                second, "update") with { AtMilliseconds = Start + (second * 1000) + 400, Operations = second <= 3 ? 10 : 20 });
        OperationSeconds seconds = Stored(RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update")));

        // The second ends 0.6 s into the update's fourth, which is twice as fast.
        Assert.Equal([106, 110, 110, 116, 120, 120], Rates(seconds, "total"));
    }

    [Fact]
    public void A_mix_of_a_growth_has_its_total_beside_it()
    {
        Seconds(1, 1, 3, ("read", 900), ("update", 100));
        OperationSeconds seconds = Stored(RunParts.Grown(1, "mix", 1, 1000, RunParts.Result("read"), RunParts.Result("update")));

        Assert.Equal(["mix read", "mix update", "mix total"], seconds.Lines.Select(line => line.Title));
    }

    [Fact]
    public void What_nobody_answers_is_drawn_as_the_server_counted_it_until_all_has_arrived()
    {
        // Sent within three seconds, and taken in over ten.
        Seconds(1, 1, 3, ("unack", 20_000));
        for (int second = 0; second <= 12; second++)
            Server("a", second, ("documents_inserted", Math.Min(second, 10) * 6000), ("opcounters_insert", 1));
        OperationSeconds seconds = Stored(
            RunParts.Phase(1, "unack", RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(60_000, 60_000, 0, 8) }));

        Assert.Equal("unack (arrived)", Assert.Single(seconds.Lines).Title);
        Assert.Equal(Enumerable.Repeat(6000.0, 10), Rates(seconds, "unack (arrived)"));
        Assert.Equal("unack (to send)", seconds.Lines[0].TimedTitle);
        Assert.Equal([5000, 5000, 5000], seconds.All.Select(second => second.Count));
    }

    [Fact]
    public void What_the_next_phase_inserts_did_not_arrive_in_this_one()
    {
        // The samples go on until the fence is answered.
        Seconds(1, 1, 2, ("unack", 20_000));
        foreach (int second in Enumerable.Range(3, 8))
            _store.AddSample(RunParts.Sample(second, "unack") with { Operations = 0, Documents = 0, Histogram = default });
        Seconds(2, 11, 10, ("batch", 10));
        for (int second = 0; second <= 20; second++)
            Server("a", second, ("documents_inserted", second <= 10 ? second * 1000 : (second - 8) * 5000));
        OperationSeconds seconds = Stored(
            RunParts.Phase(1, "unack", RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(10_000, 10_000, 0, 8.5) }),
            RunParts.Phase(2, "batch", RunParts.Result("batch")));

        Assert.Equal(Enumerable.Repeat(1000.0, 10), Rates(seconds, "unack (arrived)"));
    }

    [Fact]
    public void Without_counters_the_line_says_that_it_was_sent()
    {
        Seconds(1, 1, 3, ("unack", 20_000));
        OperationSeconds seconds = Stored(RunParts.Phase(1, "unack", RunParts.Result("unack")));

        Assert.Equal(["unack (sent)"], seconds.Lines.Select(line => line.Title));
        Assert.Equal([5000, 5000, 5000], Rates(seconds, "unack (sent)"));
    }

    [Fact]
    public void A_phase_too_short_for_the_servers_samples_is_drawn_at_its_mean()
    {
        Seconds(1, 1, 1, ("unack", 900));
        Server("a", 0, ("documents_inserted", 0));
        Server("a", 1.4, ("documents_inserted", 1000));
        OperationSeconds seconds = Stored(
            RunParts.Phase(1, "unack", RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(900, 880, 20, 2) }));

        Assert.Equal([440], Rates(seconds, "unack (arrived)"));
    }

    [Fact]
    public void What_was_answered_of_the_same_kind_is_not_counted_among_what_arrived()
    {
        Seconds(1, 1, 5, ("log", 500), ("update", 100), ("read", 10));
        for (int second = 0; second <= 5; second++)
            Server("a", second, ("opcounters_update", second * 350), ("documents_inserted", second));
        OperationSeconds seconds = Stored(RunParts.Phase(
            1, "mix", RunParts.Result("log") with { IsUnacknowledged = true, ServerCounter = "opcounters_update" },
            RunParts.Result("update") with { ServerCounter = "opcounters_update" }, RunParts.Result("read")));

        Assert.Equal([250, 250, 250, 250, 250], Rates(seconds, "log (arrived)"));
        Assert.Equal([360, 360, 360, 360, 360], Rates(seconds, "total"));
    }

    [Fact]
    public void A_router_does_not_count_again_what_its_shards_counted()
    {
        Seconds(1, 1, 4, ("unack", 900));
        for (int second = 0; second <= 4; second++)
        {
            Server("s0", second, ("documents_inserted", second * 300), ("cache_max", 1e9));
            Server("s1", second + 0.1, ("documents_inserted", second * 500), ("cache_max", 1e9));
            Server("router", second, ("documents_inserted", second * 800), ("cache_max", double.NaN));
        }

        OperationSeconds seconds = Stored(RunParts.Phase(1, "unack", RunParts.Result("unack")));

        Assert.All(Rates(seconds, "unack (arrived)").Skip(1), rate => Assert.Equal(800, rate, 1e-6));
    }

    [Fact]
    public void The_page_has_the_same_lines_and_no_latencies_of_a_total_where_histograms_are_missing()
    {
        Seconds(1, 1, 5, ("read", 900), ("update", 100));
        Stored(RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update")));
        using StoredRun run = StoredRun.Open(_runs.At("run"));
        Plot plot = RunPlot.Of(run)!;

        Panel rates = plot.Panels.Single(panel => panel.Title == "Rate of operations");
        Assert.Equal(["total", "read", "update"], rates.Series.Select(series => series.Title));
        Assert.All(rates.Series[0].Values, rate => Assert.Equal(1000, rate));
        Assert.Equal(["read p50", "read p99", "read max", "update p50", "update p99", "update max"],
            plot.Panels.Single(panel => panel.Y.IsLogarithmic).Series.Select(series => series.Title));
    }

    [Fact]
    public void Seconds_in_which_other_programs_used_the_machine_are_bands_of_charts_and_page()
    {
        Seconds(1, 1, 60, ("read", 900));
        double idle = 0;
        double other = 0;
        for (int second = 1; second <= 60; second++)
        {
            // Of 8 cores the client uses one, the servers two; from 20 to 30 s others use three, from 40 s on half of one.
            double cores = second is > 20 and <= 30 ? 3 : second > 40 ? 0.5 : 0;
            other += cores;
            idle += 5 - cores;
            Host(second, ("cpu_user", ((3 * second) + other) * 1e6), ("cpu_idle", idle * 1e6), ("client_cpu_user", second * 1e6),
                ("servers_cpu", 2e6 * second));
        }

        Stored(RunParts.Phase(1, "reads", RunParts.Result("read")));
        using StoredRun run = StoredRun.Open(_runs.At("run"));

        Assert.Equal([new Band(20, 30, "others")], Happenings.Bands(run, OperationSeconds.Of(run).Axis)
            .Select(band => band with { From = Math.Round(band.From), To = Math.Round(band.To) }));
        Band band = Assert.Single(RunPlot.Of(run)!.Bands, band => band.Kind == "others");
        Assert.Equal((20, 30), (Math.Round(band.From), Math.Round(band.To)));
        Assert.Contains(ChartCatalogue.Build(run).Single(chart => chart.Name == "timeline").Bands, band => band.Kind == "others");
    }

    [Fact]
    public void What_a_resumed_run_used_before_its_new_process_is_not_taken_for_other_programs()
    {
        Seconds(1, 1, 20, ("read", 900));
        for (int second = 1; second <= 20; second++)
        {
            // Killed and resumed behind the tenth second: its own counter begins anew.
            int own = second <= 10 ? second : second - 10;
            Host(second, ("cpu_user", 3e6 * second), ("cpu_idle", 5e6 * second), ("client_cpu_user", 1e6 * own),
                ("servers_cpu", 2e6 * second));
        }

        Stored(RunParts.Phase(1, "reads", RunParts.Result("read")));
        using StoredRun run = StoredRun.Open(_runs.At("run"));
        Assert.Empty(Happenings.Bands(run, OperationSeconds.Of(run).Axis));
    }

    [Fact]
    public void Sizes_of_a_collection_that_is_filled_twice_are_drawn_over_documents_and_one_size_is_no_line()
    {
        Seconds(1, 1, 3, ("load", 900));
        Seconds(2, 11, 3, ("load", 900));
        _store.EndPhase(RunParts.Phase(
            1, "load", RunParts.Result("load")) with { Kind = PhaseKind.Load, Documents = 1000, Sizes = [RunParts.Sizes(1000)] });
        using (StoredRun one = StoredRun.Open(_runs.At("run")))
            Assert.Empty(SizeChart.OfFilled(one, OperationSeconds.Of(one), PlotLibrary.TryFind("size-filled")!));
        Stored(RunParts.Phase(
            2, "more", RunParts.Result("load")) with { Kind = PhaseKind.Load, Documents = 3000, Sizes = [RunParts.Sizes(3000)] });
        using StoredRun run = StoredRun.Open(_runs.At("run"));

        Chart chart = Assert.Single(SizeChart.OfFilled(run, OperationSeconds.Of(run), PlotLibrary.TryFind("size-filled")!));

        Assert.Equal(["documents", "disk", "data", "storage", "index"], chart.Tables[0].Columns);
        Assert.Equal([1000, 3000], chart.Tables[0].Rows.Select(row => row[0]));
        Assert.Contains(chart.Name, ChartCatalogue.Build(run).Select(one => one.Name));
    }

    /// <summary>Found in a first report: beside 300 MB of journal, 20 MB of documents lay on the ground.</summary>
    [Theory]
    [InlineData(10_000_000, true)]
    [InlineData(300_000_000, false)]
    public void A_data_folder_far_larger_than_its_collection_is_drawn_only_where_a_plot_names_it(long bytes, bool isDrawn)
    {
        PhaseRecord[] loads = [.. new[] { 1, 2 }.Select(phase => RunParts.Phase(phase, "load", RunParts.Result("load")) with
        {
            Kind = PhaseKind.Load, Documents = phase * 1500, Sizes = [RunParts.Sizes(phase * 1500) with { DiskBytes = bytes }],
        })];
        foreach (PhaseRecord load in loads)
            Seconds(load.Number, load.Number * 10, 3, ("load", 900));
        Stored(loads);
        using StoredRun run = StoredRun.Open(_runs.At("run"));
        PlotInfo plot = PlotLibrary.TryFind("size-filled")!;
        Chart chart = Assert.Single(SizeChart.OfFilled(run, OperationSeconds.Of(run), plot));
        Chart named = Assert.Single(SizeChart.OfFilled(run, OperationSeconds.Of(run), plot with
        {
            Panels = [plot.Panels[0] with { Lines = ["data folder on disk"] }],
        }));

        string[] others = ["documents, uncompressed", "documents, as stored", "indexes, as stored"];
        Assert.Equal(isDrawn ? ["data folder on disk", .. others] : others, chart.Panels[0].Series.Select(series => series.Title));
        Assert.Contains("disk", chart.Tables[0].Columns);
        Assert.Equal(["data folder on disk"], named.Panels[0].Series.Select(series => series.Title));
        Assert.InRange(named.Panels[0].Y.Max, bytes, 4 * bytes);
    }

    [Fact]
    public void A_load_on_shards_is_followed_while_it_fills_them()
    {
        Seconds(1, 1, 20, ("load", 900));
        for (int second = 2; second <= 30; second += 2)
        {
            double documents = Math.Min(second, 20) * 100;
            Shard("s0", second, ("documents", documents), ("data", documents * 1000), ("storage", documents * 500),
                ("indexes", documents * 10));
            Shard("s1", second, ("documents", second == 4 ? double.NaN : documents), ("data", documents * 1000),
                ("storage", documents * 500), ("indexes", documents * 10));
        }

        Stored(RunParts.Phase(
            1, "load", RunParts.Result("load")) with { Kind = PhaseKind.Load, Documents = 4000, Sizes = [RunParts.Sizes(4000)] });
        using StoredRun run = StoredRun.Open(_runs.At("run"));

        ChartTable table = Assert.Single(SizeChart.OfFilled(run, OperationSeconds.Of(run), PlotLibrary.TryFind("size-filled")!)).Tables[0];

        // Where a shard said nothing, nobody knows the sum; the last is what the phase took at its end.
        Assert.Equal([400, 1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000], table.Rows.Select(row => row[0]));
        Assert.Equal([400_000, 200_000, 4000], table.Rows[0].Skip(2));
        Assert.Equal(4000 * 1024, table.Rows[^1][2]);
    }

    [Fact]
    public void Migrations_are_shaded_over_the_rates_of_reads_and_updates_too()
    {
        Seconds(1, 1, 20, ("read", 900), ("update", 100));
        Shard("s0", 2, ("documents", 10));
        _store.AddChunkEvents([new ChunkEvent
        {
            Id = "m", Kind = ChunkEventKind.Migration, AtMilliseconds = Start + 5000, EndMilliseconds = Start + 8000, From = "s0",
            To = "s1", Outcome = ChunkEventOutcome.Done,
        }]);
        OperationSeconds seconds = Stored(RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update")));
        using StoredRun run = StoredRun.Open(_runs.At("run"));

        Chart chart = MigrationChart.Build(run, seconds, PlotLibrary.TryFind("migrations")!)!;

        Assert.Equal(["seconds", "read", "update"], chart.Tables[0].Columns);
        Assert.Equal("migration", Assert.Single(chart.Bands).Kind);
    }

    [Fact]
    public void Reads_on_shards_between_which_nothing_moved_have_no_chart_of_migrations()
    {
        Seconds(1, 1, 20, ("read", 900));
        Shard("s0", 2, ("documents", 10));
        OperationSeconds seconds = Stored(RunParts.Phase(1, "reads", RunParts.Result("read")));
        using StoredRun run = StoredRun.Open(_runs.At("run"));

        Assert.Null(MigrationChart.Build(run, seconds, PlotLibrary.TryFind("migrations")!));
    }

    private static IEnumerable<double> Rates(OperationSeconds seconds, string title) =>
        seconds.Counted.Where(second => seconds.Lines[second.Line].Title == title).Select(second => second.Count / second.Seconds);

    /// <summary>Samples of whole seconds.</summary>
    private void Seconds(int phase, int from, int count, params (string Operation, long Operations)[] operations)
    {
        for (int second = from; second < from + count; second++)
        {
            foreach ((string operation, long done) in operations)
                _store.AddSample(
                    RunParts.Sample(second, operation) with { Phase = phase, Operations = done, IsWarmup = false, Histogram = default });
        }
    }

    private void Server(string member, double second, params (string Metric, double Value)[] values) =>
        _store.AddServerSample(Sample(MetricCatalogue.Server, member, second, values));

    private void Host(double second, params (string Metric, double Value)[] values) =>
        _store.AddHostSample(Sample(MetricCatalogue.Host, "client", second, values));

    private void Shard(string shard, double second, params (string Metric, double Value)[] values) =>
        _store.AddShardSample(Sample(MetricCatalogue.Shard, shard, second, values));

    private static MetricSample Sample(IReadOnlyList<Metric> catalogue, string member, double second, (string Metric, double Value)[] given)
    {
        double[] values = new double[catalogue.Count];
        foreach ((string metric, double value) in given)
            values[MetricCatalogue.IndexOf(catalogue, metric)] = value;
        return new MetricSample(Start + (long)(second * 1000), member, values);
    }

    private OperationSeconds Stored(params PhaseRecord[] phases)
    {
        foreach (PhaseRecord phase in phases)
            _store.EndPhase(phase);
        _store.Dispose();
        return OperationSeconds.Of(StoredRun.Open(_runs.At("run")));
    }
}
