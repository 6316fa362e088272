using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports;

/// <summary>Operations among which a group chooses by weight: they have a total, and one rate between them.</summary>
public sealed class MixTests : IDisposable
{
    private static readonly long[] Ten = [.. Enumerable.Range(1, 10).Select(i => i * 100_000L)];

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_total_has_the_percentiles_of_all_operations_together()
    {
        using StoredRun run = new MixedRun().Write(_runs.Path);
        PhaseRecord phase = Assert.Single(run.Phases);
        OperationResult total = phase.Total!;
        Assert.Equal(("total", 8), (total.Operation, total.Threads));
        Assert.Equal(phase.Operations.Sum(result => result.Operations), total.Operations);
        Assert.Equal(phase.Operations.Sum(result => result.OperationsPerSecond), total.OperationsPerSecond);
        var all = new LatencyHistogram();
        foreach (StoredHistogram histogram in run.ReadHistograms())
            HistogramEncoding.DecodeInto(all, histogram.Encoded.Span);
        Assert.Equal(LatencySummaries.From(all), total.LatencyMicroseconds);
        Assert.Equal([total], phase.Independent);
        Assert.Equal([total], phase.Totals);
    }

    [Fact]
    public void A_total_has_the_percentiles_of_each_second_in_charts_and_page()
    {
        using StoredRun run = new MixedRun { Seconds = 5 }.Write(_runs.Path);
        double[] expected =
        [
            .. run.ReadSamples(withHistograms: true).GroupBy(sample => sample.AtMilliseconds).Select(second =>
            {
                var all = new LatencyHistogram();
                foreach (Sample sample in second)
                    HistogramEncoding.DecodeInto(all, sample.Histogram.Span);
                return all.ValueAtPercentile(99)!.Value;
            }),
        ];
        Panel latencies = RunPanels.Of(run).Latencies!;
        Assert.Equal(["total p50", "total p99", "total max", "read p50"], latencies.Series.Select(series => series.Title).Take(4));
        Assert.Equal(expected, latencies.Series[1].Values.Where(double.IsFinite));
        // With two operations all their percentiles are shown; of the total the one that is judged.
        Assert.Equal([false, true, false, true, true, true], latencies.Series.Take(6).Select(series => series.IsShown));
    }

    [Fact]
    public void A_total_has_what_the_client_allocated_per_operation_of_all()
    {
        OperationResult Of(string name, long operations, double bytes) =>
            RunParts.Result(name, 1, operations) with { ClientAllocatedBytesPerOperation = bytes };
        GroupShare Group(string name, params string[] mix) => new(name, 1, 1, 1, 1, 1, 0, new Accounting(1, 1, 0, 0)) { Mix = mix };
        string folder = Path.Combine(_runs.Path, "allocated");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            store.EndPhase(
                RunParts.Phase(1, "mix", Of("read", 300, 64), Of("update", 100, 64)) with { Groups = [Group("", "read", "update")] });
            // Each group counts the bytes of the whole process: 25,600, and 6,000 while it ran.
            store.EndPhase(RunParts.Phase(2, "both", Of("read", 300, 64), Of("update", 100, 64),
                Of("scan", 12, 500)) with { Groups = [Group("a", "read", "update"), Group("b")] });
        }

        using StoredRun run = StoredRun.Open(folder);
        Assert.Equal(64, run.Phases[0].Total!.ClientAllocatedBytesPerOperation);
        Assert.Equal(64, run.Phases[1].Mixes.Single().Total.ClientAllocatedBytesPerOperation);
        Assert.Equal(25_600 / 412.0, run.Phases[1].Total!.ClientAllocatedBytesPerOperation!.Value, 1e-9);
    }

    [Fact]
    public void Latencies_of_answered_operations_and_times_to_send_are_not_added_up()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(100);
        OperationLatency answered = new(false, histogram, null, null);
        Assert.Null(JointLatency.Of([answered, answered with { IsUnacknowledged = true }]));
        Assert.Null(JointLatency.Of([answered]));
        Assert.Null(JointLatency.Of([answered, answered with { Response = histogram }])!.Response);
        Assert.NotNull(JointLatency.Of([answered with { Response = histogram }, answered with { Response = histogram }])!.Response);
    }

    [Fact]
    public void A_growth_s_mix_has_a_total_in_tables_charts_and_files()
    {
        using StoredRun run = new MixedRun { Sizes = [1000, 2000, 3000], Seconds = 5 }.Write(_runs.Path);
        OperationResult total = run.Phases[0].Total!;
        string p99 = Units.Latency(total.LatencyMicroseconds.P99);
        GrowthFigures growth = Assert.Single(GrowthFigures.Of(run));
        Assert.Equal(["documents", "mix read", "mix update", "mix total"], GrowthTables.Rates(run, growth).Columns);
        ReportTable table = Assert.Single(GrowthTables.Of(run), table => table.Title.StartsWith("mix total", StringComparison.Ordinal));
        Assert.Equal(Units.Rate(total.OperationsPerSecond), table.Rows[0][1]);
        Assert.Contains(p99, table.Rows[0]);

        Chart[] charts = [.. ChartCatalogue.Build(run)];
        Assert.Contains("mix total 8 threads", charts.Single(chart => chart.Name == "query-rate").Tables[0].Columns);
        ChartTable latency = charts.Single(chart => chart.Name == "latency").Tables[0];
        Assert.Equal(total.LatencyMicroseconds.P99, latency.Rows[0][latency.Columns.ToList().IndexOf("mix total, 8 threads p99")]);

        using var csv = new StringWriter();
        CsvReport.WriteResults(run, csv);
        string[][] rows = [.. csv.ToString().Split("\r\n").Select(line => line.Split(','))];
        int At(string column) => rows[0].ToList().IndexOf(column);
        Assert.Equal(3, rows.Count(row => row.Length > 9 && row[At("operation")] == "total"));
        Assert.Equal(total.LatencyMicroseconds.P99, double.Parse(rows.First(row => row[At("operation")] == "total")[At("p99_us")],
            System.Globalization.CultureInfo.InvariantCulture));

        using var json = new StringWriter();
        JsonReport.Write(run, json);
        JsonElement stored = JsonDocument.Parse(json.ToString()).RootElement.GetProperty("phases")[0].GetProperty("totals")[0];
        Assert.Equal(("total", total.LatencyMicroseconds.P99),
            (stored.GetProperty("operation").GetString(), stored.GetProperty("latencyMicroseconds").GetProperty("p99").GetDouble()));
    }

    [Fact]
    public void Tables_of_phases_and_figures_show_the_total_s_percentiles()
    {
        using StoredRun run = new MixedRun().Write(_runs.Path);
        string p99 = Units.Latency(run.Phases[0].Total!.LatencyMicroseconds.P99);
        ReportTable table = PhaseTables.Of(run).First();
        Assert.Equal(["read", "update", "total"], table.Rows.Select(row => row[0]));
        Assert.Contains(p99, table.Rows[2]);
        var figure = new FigureInfo { Title = "All", X = "threads", Y = ["rate", "p99"] };
        Chart chart = DimensionFigure.Build(FigureRun.Of(run), figure, "figure-1")!;
        ChartTable drawn = chart.Tables[0];
        Assert.Equal(run.Phases[0].Total!.LatencyMicroseconds.P99, drawn.Rows[0][drawn.Columns.ToList().IndexOf("total p99")]);
    }

    /// <summary>Four rates that fall together are one finding, not four.</summary>
    [Fact]
    public void Findings_judge_a_mix_once_by_its_total()
    {
        using StoredRun run = new MixedRun { Sizes = Ten, Seconds = 5, Rate = place => 10_000 / (1 + (0.2 * place)) }.Write(_runs.Path);
        Finding[] falls = [.. RunFindings.Shown(run)
            .Where(finding => finding.Id is FindingIds.SizeDecline or FindingIds.LinearGrowth or FindingIds.SizeCliff)];
        Assert.Equal(["mix total"], Assert.Single(falls).Operations);
        Assert.DoesNotContain(RunFindings.Shown(run),
            finding => finding.Rate is not null && finding.Operations.Any(name => name is "mix read" or "mix update"));
    }

    [Fact]
    public void Seconds_of_a_mix_are_judged_as_those_of_its_total()
    {
        using StoredRun run = new MixedRun { Seconds = 80 }.Write(_runs.Path);
        Assert.Equal(["mix total"], RunSeries.Of(run).Independent.Select(one => one.Label));
        Assert.Equal(80, RunSeries.Of(run).Independent[0].Seconds.Count);
        Assert.Equal(
            run.Phases[0].Total!.OperationsPerSecond, RunSeries.Of(run).Independent[0].Seconds.Average(second => second.Rate), 5.0);
    }

    [Fact]
    public void A_comparison_judges_a_mix_by_its_total_s_rate_and_by_each_operation_s_latency()
    {
        using StoredRun baseline = new MixedRun { Seconds = 60 }.Write(_runs.Path);
        using StoredRun candidate = new MixedRun
        {
            Id = "2026-11-21-b", Seconds = 60, NoiseSeed = 2, Rate = _ => 700, Latency = name => name == "read" ? 140 : 1000,
        }.Write(_runs.Path);
        RunComparison comparison = RunComparer.Compare([.. new[] { baseline, candidate }.Select(run => new ComparedSide([run]))],
            RunComparer.DefaultNoiseThreshold);
        ApprovedReports.Check(ComparisonReport.Of(comparison));
        CandidateComparison judged = Assert.Single(comparison.Candidates);
        Assert.Equal(["mix read", "mix update", "mix total"], judged.Operations.Select(judged.TitleOf));
        Assert.Equal(
            [(false, Outcome.Undecided), (false, Outcome.Undecided), (true, Outcome.Slower)],
            judged.Operations.Select(o => (o.Rate.IsTested, o.Rate.Outcome)));
        Assert.Equal([Measure.P50, Measure.P99], judged.Operations[0].Tested.Select(one => one.Measure));
        Assert.Equal(Outcome.Slower, judged.Operations[0].P50!.Outcome);
        Assert.Equal(Outcome.Equivalent, judged.Operations[1].P50!.Outcome);
        OperationComparison total = judged.Operations[2];
        Assert.Equal([Measure.Rate], total.Tested.Select(one => one.Measure));
        Assert.Equal(baseline.Phases[0].Total!.LatencyMicroseconds.P99!.Value, total.P99!.Baseline, 1e-6);
        Assert.Equal(0.7, total.Rate.Ratio.Value, 0.02);
        Assert.Null(judged.Operations[0].Rate.HolmP);
        Assert.All(judged.Operations[0].Windows, window => Assert.Null(window.Rate.HolmP));

        // One row among the rates, and no verdict beside the others.
        Assert.Single(ComparisonCharts.Build(comparison).Charts.Single(chart => chart.Name == "ratios").Tables[0].Rows);
        ReportTable table = ComparisonTables.Of(comparison).First(table => table.Columns.Contains("<verdict"));
        Assert.Equal(["", "slower", "slower", "", "equivalent", "equivalent", "slower", "", ""], table.Rows.Select(row => row[^1]));
        string verdict = Assert.Single(
            ComparisonText.Verdicts(comparison, judged), verdict => verdict.Text.StartsWith("mix total", StringComparison.Ordinal)).Text;
        Assert.StartsWith("mix total: rate 30 % slower", verdict, StringComparison.Ordinal);
    }

    [Fact]
    public void Replies_that_change_size_as_the_collection_grows_are_noted()
    {
        using StoredRun run = new MixedRun
        {
            Sizes = [15_000, 50_000, 150_000], Seconds = 5, Replies = place => place switch { 0 => 0.26, 1 => 6, _ => 17.8 },
        }.Write(_runs.Path);
        Verdict note = Assert.Single(OperationVerdicts.Of(run), verdict => verdict.Finding == VerdictFinding.ReplySize);
        Assert.Matches(
            "^mix read returned 0\\.2[56]\\d* documents per operation at 15k documents and 17\\.8 at 150k, so its curve shows how its "
            + "replies change, not only how the collection grows$", note.Text);
        Assert.Contains(RunFindings.Of(run), finding => finding.Id == FindingIds.ReplySize);
    }

    [Fact]
    public void Replies_that_stay_within_twice_their_size_are_not()
    {
        using StoredRun run =
            new MixedRun { Sizes = [15_000, 150_000], Seconds = 5, Replies = place => place == 0 ? 10 : 19 }.Write(_runs.Path);
        Assert.DoesNotContain(OperationVerdicts.Of(run), verdict => verdict.Finding == VerdictFinding.ReplySize);
    }
}
