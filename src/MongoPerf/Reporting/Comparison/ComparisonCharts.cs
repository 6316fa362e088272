using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Figures;
using MongoPerf.Reporting.Scenarios;

namespace MongoPerf.Reporting.Comparison;

/// <summary>The charts of a comparison: all ratios on one page, for each test the runs laid over each other, and the shards of each sharded run over time.</summary>
internal static class ComparisonCharts
{
    private const string RatioTemplate = "compare-all.gp";
    private const string TestTemplate = "compare-test.gp";
    private const string ShardTemplate = "compare-shards.gp";

    /// <summary>Left value with its low and high end, and two right values.</summary>
    private const int ColumnsPerSide = 5;

    public static ChartSet Build(RunComparison comparison)
    {
        List<Chart> charts = [.. ScenarioFigures.Of(comparison.FigureRuns, "compare-"), .. new[] { Ratios(comparison) }.OfType<Chart>()];
        foreach ((string test, int threads) in Tests(comparison))
            charts.Add(OfTest(comparison, test, threads));
        if (Sizes(comparison) is { } sizes)
            charts.Add(sizes);
        charts.AddRange(Laps(comparison));
        charts.AddRange(comparison.Sides.Select(side => Shards(side.First)).OfType<Chart>());
        return new ChartSet(
            charts, ["common.gp", "over-time.gp", RatioTemplate, TestTemplate, ShardTemplate, FigureChart.Template, LapChart.Template], ["compare-*"],
            $"mongoperf compare {string.Join(' ', comparison.Sides.Select(side => side.Id))}");
    }

    /// <summary>The runs' laps laid over each other, a chart for each phase and value of its parameters that several have; of repeats the first.</summary>
    private static IEnumerable<Chart> Laps(RunComparison comparison) => comparison.Sides
        .SelectMany(side => LapFigures.Of(side.First).Select(laps => (side.Title, Laps: laps)))
        .GroupBy(line => (Phase: ScenarioTables.Label(line.Laps.Measured), line.Laps.LengthText))
        .Where(phase => phase.Count() > 1)
        .Select((phase, i) => LapChart.Build($"compare-laps-{i + 1}", $"{phase.Key.Phase}: time per {phase.Key.LengthText} of each task", "the tasks' median, in a band from the fastest of them to the slowest", [.. phase]));

    /// <summary>A sharded run's shards stand by themselves: another run has others, or none.</summary>
    private static Chart? Shards(StoredRun run) => ShardChart.Build(run, $"compare-shards-{run.Run.Id}") is { } chart
        ? chart with { Title = $"{chart.Title}: {run.Run.Id}", SharedTemplate = ShardTemplate }
        : null;

    private static IEnumerable<(string Test, int Threads)> Tests(RunComparison comparison) =>
        comparison.Candidates.SelectMany(c => c.Tests).Select(t => (t.Test, t.Threads)).Distinct()
            .OrderBy(t => TestOrder.Of(t.Test)).ThenBy(t => t.Threads);

    /// <summary>A row per test and candidate with its interval.</summary>
    private static Chart? Ratios(RunComparison comparison)
    {
        var rows = Tests(comparison).SelectMany(one => comparison.Candidates.Select((candidate, i) => (
            Candidate: i + 1, All: candidate.Tests, Test: candidate.Tests.FirstOrDefault(t => t.Test == one.Test && t.Threads == one.Threads))))
            .Where(row => row.Test?.Rate is not null).ToList();
        if (rows.Count == 0)
            return null;
        var table = new ChartTable("compare-ratios.dat", ["row", "ratio", "low", "high", "side"]);
        for (int i = 0; i < rows.Count; i++)
        {
            Ratio rate = rows[i].Test!.Rate!;
            table.Add([i + 1, rate.Value, rate.Interval?.Low ?? rate.Value, rate.Interval?.High ?? rate.Value, rows[i].Candidate + 1]);
        }

        double least = Math.Min(1 - comparison.NoiseThreshold, table.Rows.Min(row => row[2]));
        double most = Math.Max(1 + comparison.NoiseThreshold, table.Rows.Max(row => row[3]));
        double margin = Math.Pow(most / least, 0.06);
        var settings = Head(comparison, "compare-ratios", "How fast, against the baseline", table)
            .Set("row_count", rows.Count)
            .SetArray("row_name", rows.ConvertAll(row => ComparisonText.NameOf(row.Test!, row.All)))
            .SetArray("row_text", rows.ConvertAll(row => $"{ComparisonText.WithRange(row.Test!.Rate)}  {ComparisonText.Describe(row.Test.Outcome)}"))
            .Set("x_low", least / margin)
            .Set("x_high", most * margin)
            .Set("x_tics", AxisScale.RatioTics(least / margin, most * margin))
            .Set("noise", comparison.NoiseThreshold)
            .Set("picture_height", 290 + (rows.Count * 62));
        return new Chart(
            "compare-ratios", "How fast, against the baseline",
            "Each point is a test's rate as a share of the baseline's, over all sizes, with its 95 % interval; left of 1 is slower. Within the grey band a difference is not called one.",
            settings, [table]) { SharedTemplate = RatioTemplate };
    }

    private static Chart OfTest(RunComparison comparison, string test, int threads)
    {
        string name = Name(comparison, test, threads);
        bool overTime = comparison.Sides.All(side => side.First.Steps.Count == 1) && comparison.Sides.All(side => side.Stored.Count == 1);
        ChartTable table = overTime ? ByTime(comparison, name, test, threads) : BySize(comparison, name, test, threads);
        bool isInsert = RunWindows.IsInsert(test);
        double largest = table.Rows.Select(row => row[0]).DefaultIfEmpty(1).Max();
        (double lowest, AxisScale latency) = AxisScale.OfLatency(Right(table, comparison).DefaultIfEmpty(1).Min(), Right(table, comparison).DefaultIfEmpty(10).Max());
        (AxisScale time, string unit) = AxisScale.OfTime(largest);
        string title = $"{(isInsert ? "Insert" : "Query")} rate and latency: {ChartText.SeriesTitle(comparison.Baseline.First.Settings, test, null)}, {ChartText.ThreadsText(threads)}";
        var settings = Head(comparison, name, title, table)
            .Set("verdict", Verdicts(comparison, test, threads))
            .SetAxis("x", overTime ? time with { Max = time.Max * 1.02 } : new AxisScale(largest * 1.02, AxisScale.OfCount(largest).Tics))
            .Set("x_label", overTime ? $"time since the end of the warm-up ({unit})" : "documents in the collection")
            .Set("left_title", isInsert ? "documents/s" : "operations/s")
            .SetAxis("y", AxisScale.OfCount(Left(table, comparison).DefaultIfEmpty(1).Max()))
            .Set("right_title", test == "unack" ? "time to send: p50 solid, p99 dashed" : "latency: p50 solid, p99 dashed")
            .Set("right_is_log", 1)
            .Set("right_min", lowest)
            .SetAxis("right", latency);
        string band = overTime ? "" : " The bands reach from the slowest to the fastest second at that size (with repeats: run).";
        return new Chart(name, title, $"The same test on each side; the text below the title is the verdict over all sizes.{band}", settings, [table])
        {
            SharedTemplate = TestTemplate,
        };
    }

    private static Chart? Sizes(RunComparison comparison)
    {
        if (!comparison.Sides.Any(side => side.First.Steps.Any(s => s.Sizes is not null)))
            return null;
        const string name = "compare-size";
        var table = new ChartTable(name + ".dat", Columns(comparison, "documents", "storage", "low", "high", "indexes", "-"));
        foreach (long documents in comparison.Sides.SelectMany(side => side.First.Steps).Select(s => s.Sizes?.Documents).OfType<long>().Distinct().Order())
        {
            table.Add([documents, .. comparison.Sides.SelectMany(side =>
            {
                SizeResult? sizes = side.First.Steps.Select(s => s.Sizes).FirstOrDefault(s => s?.Documents == documents);
                return (double[])[sizes?.StorageBytes ?? double.NaN, double.NaN, double.NaN, sizes?.IndexBytes ?? double.NaN, double.NaN];
            })]);
        }

        double largest = table.Rows.Max(row => row[0]);
        string text = comparison.Candidates is [{ Sizes.Count: > 0 } only]
            ? $"at {Units.Count(only.SizesAtDocuments)} documents: {string.Join(", ", only.Sizes.Select(s => $"{s.What} {ComparisonText.Number(s.Value)} of the baseline's"))}"
            : "";
        var settings = Head(comparison, name, "Size of documents and indexes as stored", table)
            .Set("verdict", text)
            .SetAxis("x", new AxisScale(largest * 1.02, AxisScale.OfCount(largest).Tics))
            .Set("x_label", "documents in the collection")
            .Set("left_title", "documents as stored")
            .SetAxis("y", AxisScale.OfBytes(Left(table, comparison).DefaultIfEmpty(1).Max()))
            .Set("right_title", "indexes as stored")
            .Set("right_is_log", 0)
            .Set("right_min", 0)
            .SetAxis("right", AxisScale.OfBytes(Right(table, comparison).DefaultIfEmpty(1).Max()));
        return new Chart(name, "Size of documents and indexes as stored", "What the same documents occupy on each side.", settings, [table]) { SharedTemplate = TestTemplate };
    }

    private static GnuplotSettings Head(RunComparison comparison, string name, string title, ChartTable table) => new GnuplotSettings()
        .Set("kinds", "png svg")
        .Set("chart", name)
        .Set("data", table.FileName)
        .Set("title", title)
        .Set("side_count", comparison.Sides.Count())
        .SetArray("side_title", comparison.Sides.Select((side, i) => (i == 0 ? "baseline " : "") + side.Title).ToList())
        .Set("point_size", table.Rows.Count > 40 ? 0.4 : 1.1);

    private static ChartTable BySize(RunComparison comparison, string name, string test, int threads)
    {
        var table = new ChartTable(name + ".dat", Columns(comparison, "documents", "rate", "low", "high", "p50", "p99"));
        var sizes = comparison.Sides.SelectMany(side => side.Windows.Runs[0].Keys.Where(key => key.Test == test && key.Threads == threads)
                .Select(key => (Key: key, side.Windows.Runs[0].Find(key)!.Documents)))
            .GroupBy(pair => pair.Key).OrderBy(group => group.Key.Step);
        foreach (var size in sizes)
            table.Add([size.First().Documents, .. comparison.Sides.SelectMany(side => AtSize(side, side.Windows.At(size.Key)))]);
        return table;
    }

    private static double[] AtSize(ComparedSide side, IReadOnlyList<RateWindow> windows)
    {
        if (windows.Count == 0)
            return [double.NaN, double.NaN, double.NaN, double.NaN, double.NaN];
        double[] spread = side.Stored.Count > 1 ? [.. windows.Select(w => w.Rate)] : windows[0].Rates;
        return
        [
            Math.Exp(windows.Average(w => Math.Log(w.Rate))),
            spread.Length > 1 ? spread.Min() : double.NaN, spread.Length > 1 ? spread.Max() : double.NaN,
            Latency(windows, l => l.P50), Latency(windows, l => l.P99),
        ];
    }

    private static double Latency(IReadOnlyList<RateWindow> windows, Func<LatencySummary, double?> percentile)
    {
        double?[] values = [.. windows.Select(w => percentile(w.Latency))];
        return values.Any(v => v is not > 0) ? double.NaN : Math.Exp(values.Average(v => Math.Log(v!.Value)));
    }

    /// <summary>Second by second, where there is but one size.</summary>
    private static ChartTable ByTime(RunComparison comparison, string name, string test, int threads)
    {
        var table = new ChartTable(name + ".dat", Columns(comparison, "seconds", "rate", "low", "high", "p50", "p99"));
        RateWindow?[] windows = [.. comparison.Sides.Select(side => side.Windows.Runs[0].Keys.Where(key => key.Test == test && key.Threads == threads).Select(side.Windows.Runs[0].Find).FirstOrDefault())];
        for (int second = 0; second < windows.Max(w => w?.Rates.Length ?? 0); second++)
        {
            table.Add([second + 1, .. windows.SelectMany(w => w is null || second >= w.Rates.Length
                ? (double[])[double.NaN, double.NaN, double.NaN, double.NaN, double.NaN]
                : [w.Rates[second], double.NaN, double.NaN, w.Samples[second].LatencyMicroseconds.P50 ?? double.NaN, w.Samples[second].LatencyMicroseconds.P99 ?? double.NaN])]);
        }

        return table;
    }

    private static List<string> Columns(RunComparison comparison, string x, params string[] names) =>
        [x, .. comparison.Sides.SelectMany(side => names.Select(name => $"{side.Id} {name}"))];

    private static IEnumerable<double> Left(ChartTable table, RunComparison comparison) => Values(table, comparison, 0, 3);

    private static IEnumerable<double> Right(ChartTable table, RunComparison comparison) => Values(table, comparison, 3, 5);

    private static IEnumerable<double> Values(ChartTable table, RunComparison comparison, int from, int to) =>
        table.Rows.SelectMany(row => comparison.Sides.SelectMany((_, side) => row[(1 + (side * ColumnsPerSide) + from)..(1 + (side * ColumnsPerSide) + to)]))
            .Where(double.IsFinite);

    private static string Verdicts(RunComparison comparison, string test, int threads) => string.Join("\n", comparison.Candidates.Select(candidate =>
    {
        TestJudgement? judgement = candidate.Tests.FirstOrDefault(t => t.Test == test && t.Threads == threads);
        string text = judgement is null ? "not measured on both sides" : ComparisonText.Sentence(judgement);
        return comparison.Candidates.Count == 1 ? text : $"{candidate.Candidate.Label}: {text}";
    }));

    private static string Name(RunComparison comparison, string test, int threads) =>
        Tests(comparison).Count(one => one.Test == test) > 1 ? $"compare-{test}-{threads}" : $"compare-{test}";
}
