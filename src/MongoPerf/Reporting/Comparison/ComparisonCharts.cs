using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Figures;
using MongoPerf.Reporting.Phases;

namespace MongoPerf.Reporting.Comparison;

/// <summary>The charts of a comparison: all ratios on one page, for each operation the runs laid over each other, and the shards of each sharded run over time.</summary>
internal static class ComparisonCharts
{
    private const string RatioTemplate = "compare-all.gp";
    private const string OperationTemplate = "compare-operation.gp";
    private const string ShardTemplate = "compare-shards.gp";

    private const double PicturePixels = 1600;
    private const double NameCharacterPixels = 9.5;

    /// <summary>Characters in a row of an operation's name beside the plot.</summary>
    private const int LongestName = 32;

    /// <summary>Share of the picture that is left of the plot.</summary>
    private const double LeastPlotLeft = 0.09;

    /// <summary>Left value with its low and high end, and two right values.</summary>
    private const int ColumnsPerSide = 5;

    public static ChartSet Build(RunComparison comparison)
    {
        List<Chart> charts = [.. ScenarioFigures.Of(comparison.FigureRuns, "compare-"), .. new[] { Ratios(comparison) }.OfType<Chart>()];
        ComparedOperation[] operations = [.. comparison.Candidates.SelectMany(c => c.Operations).Select(o => o.Operation).Distinct()];
        foreach ((ComparedOperation operation, string name) in operations.Zip(Names(operations)))
            charts.Add(OfOperation(comparison, operation, operation.NameAmong(operations), name));
        if (Sizes(comparison) is { } sizes)
            charts.Add(sizes);
        charts.AddRange(Laps(comparison));
        charts.AddRange(comparison.Sides.Select(side => Shards(side.First)).OfType<Chart>());
        return new ChartSet(
            charts, ["common.gp", "over-time.gp", RatioTemplate, OperationTemplate, ShardTemplate, FigureChart.Template, LapChart.Template], ["compare-*"],
            $"mongoperf compare {string.Join(' ', comparison.Sides.Select(side => side.Id))}");
    }

    /// <summary>The runs' laps laid over each other, a chart for each phase and value of its parameters that several have; of repeats the first.</summary>
    private static IEnumerable<Chart> Laps(RunComparison comparison) => comparison.Sides
        .SelectMany(side => LapFigures.Of(side.First).Select(laps => (side.Title, Laps: laps)))
        .GroupBy(line => (Phase: PhaseLabels.Of(line.Laps.Phase), line.Laps.LengthText))
        .Where(phase => phase.Count() > 1)
        .Select((phase, i) => LapChart.Build($"compare-laps-{i + 1}", Words.Of($"{phase.Key.Phase}: time per {phase.Key.LengthText} and task"), Words.Of("median of the tasks, in a band from the fastest to the slowest"), [.. phase]));

    /// <summary>A sharded run's shards stand by themselves: another run has others, or none.</summary>
    private static Chart? Shards(StoredRun run) => ShardChart.Build(run, $"compare-shards-{run.Run.Id}") is { } chart
        ? chart with { Title = $"{chart.Title}: {run.Run.Id}", SharedTemplate = ShardTemplate }
        : null;

    /// <summary>Of files: "compare-q4", "compare-q4-8", "compare-read-limit-10". Names that come out alike get a number.</summary>
    private static IEnumerable<string> Names(ComparedOperation[] operations)
    {
        string[] names = [.. operations.Select(o => "compare-" + Slug(o.TitleAmong(operations)))];
        return names.Select((name, i) => names.Take(i).Count(n => n == name) is > 0 and int before ? $"{name}-{before + 1}" : name);
    }

    private static string Slug(string title) =>
        string.Join('-', new string([.. title.Select(c => char.IsAsciiLetterOrDigit(c) ? c : ' ')]).Split(' ', StringSplitOptions.RemoveEmptyEntries));

    /// <summary>A row per operation and candidate with its interval.</summary>
    private static Chart? Ratios(RunComparison comparison)
    {
        (int Side, CandidateJudgement Candidate, OperationJudgement Judged)[] rows =
        [
            .. comparison.Candidates.SelectMany((candidate, i) => candidate.Operations.Select(judged => (Side: i + 2, Candidate: candidate, Judged: judged)))
                .GroupBy(row => row.Judged.Operation).SelectMany(operation => operation),
        ];
        if (rows.Length == 0)
            return null;
        var table = new ChartTable("compare-ratios.dat", ["row", "ratio", "low", "high", "side"]);
        for (int i = 0; i < rows.Length; i++)
        {
            Ratio rate = rows[i].Judged.Rate.Ratio;
            table.Add([i + 1, rate.Value, rate.Interval?.Low ?? rate.Value, rate.Interval?.High ?? rate.Value, rows[i].Side]);
        }

        double least = Math.Min(1 - comparison.NoiseThreshold, table.Rows.Min(row => row[2]));
        double most = Math.Max(1 + comparison.NoiseThreshold, table.Rows.Max(row => row[3]));
        double margin = Math.Pow(most / least, 0.06);
        List<string> names = [.. rows.Select(row => ChartText.Wrap(row.Candidate.TitleOf(row.Judged), LongestName))];
        int widest = names.SelectMany(name => name.Split('\n')).Max(line => line.Length);
        var settings = Head(comparison, "compare-ratios", Words.Of("Rates relative to the baseline"), table)
            .Set("row_count", rows.Length)
            .SetArray("row_name", names)
            .Set("plot_left", Math.Max(LeastPlotLeft, (40 + (widest * NameCharacterPixels)) / PicturePixels))
            .SetArray("row_text", rows.Select(row => $"{ComparisonText.WithRange(row.Judged.Rate.Ratio)}  {ComparisonText.Describe(row.Judged.Rate.Outcome)}").ToList())
            .Set("x_low", least / margin)
            .Set("x_high", most * margin)
            .Set("x_tics", AxisScale.RatioTics(least / margin, most * margin))
            .Set("noise", comparison.NoiseThreshold)
            .Set("picture_height", 290 + (rows.Length * 62));
        return new Chart(
            "compare-ratios", Words.Of("Rates relative to the baseline"),
            Words.Of("Each point is an operation's rate divided by the baseline's, over all sizes, with its 95 % interval; left of 1 is slower. An interval within the grey band is equivalent."),
            settings, [table]) { SharedTemplate = RatioTemplate };
    }

    private static Chart OfOperation(RunComparison comparison, ComparedOperation operation, string label, string name)
    {
        bool overTime = comparison.Sides.All(side => side.Stored.Count == 1 && KeysOf(side, operation).Count() <= 1);
        bool isSingle = comparison.Sides.All(side => KeysOf(side, operation).Count() <= 1);
        bool overRuns = !overTime && isSingle;
        bool overSize = operation.Growth is not null && !overRuns;
        ChartTable table = overTime ? ByTime(comparison, name, operation) : overRuns ? ByRun(comparison, name, operation) : ByWindow(comparison, name, operation);
        RateWindow any = comparison.Sides.SelectMany(side => KeysOf(side, operation).Select(key => side.Windows.Runs[0].Find(key)!)).First();
        double largest = table.Rows.Select(row => row[0]).DefaultIfEmpty(1).Max();
        (double lowest, AxisScale latency) = AxisScale.OfLatency(Right(table, comparison).DefaultIfEmpty(1).Min(), Right(table, comparison).DefaultIfEmpty(10).Max());
        (AxisScale time, string unit) = AxisScale.OfTime(largest);
        string title = Words.Of($"{label}: rate and latency, {(operation.Threads == 1 ? Words.Of("1 thread") : Words.Of($"{operation.Threads} threads"))}");
        var settings = Head(comparison, name, title, table)
            .Set("verdict", Verdicts(comparison, operation))
            .SetAxis("x", overTime ? time with { Max = time.Max * 1.02 } : new AxisScale(largest * 1.02, overSize ? AxisScale.OfCount(largest).Tics : AxisScale.OfWhole((long)largest).Tics))
            .Set("x_label", overTime ? Words.Of($"time since the end of the warm-up ({unit})") : overSize ? Words.Of("documents in the collection") : overRuns ? Words.Of("run, in the order of each side's repeats") : Words.Of("repeat of the phase"))
            .Set("left_title", any.IsInsert ? Words.Of("documents/s") : Words.Of("operations/s"))
            .SetAxis("y", AxisScale.OfCount(Left(table, comparison).DefaultIfEmpty(1).Max()))
            .Set("right_title", any.IsUnacknowledged ? Words.Of("time to send: p50 solid, p99 dashed") : any.Service is not null ? Words.Of("response time: p50 solid, p99 dashed") : Words.Of("latency: p50 solid, p99 dashed"))
            .Set("right_is_log", 1)
            .Set("right_min", lowest)
            .SetAxis("right", latency);
        string what = overTime ? Words.Of("The same operation on each side, second by second; the verdict is below the title.")
            : overRuns ? Words.Of("The same operation on each side, run by run; the verdict below the title is over all runs. The bands reach from the slowest to the fastest second of each run.")
            : overSize ? Words.Of("The same operation on each side; the verdict below the title is over all sizes. The bands reach from the slowest to the fastest second at each size, of repeated runs from the slowest to the fastest run.")
            : Words.Of("The same operation on each side; the verdict below the title is over all repeats. The bands reach from the slowest to the fastest second at each repeat, of repeated runs from the slowest to the fastest run.");
        return new Chart(name, title, what, settings, [table]) { SharedTemplate = OperationTemplate };
    }

    private static IEnumerable<WindowKey> KeysOf(ComparedSide side, ComparedOperation operation) => side.Windows.Runs[0].Keys.Where(key => key.Operation == operation);

    private static Chart? Sizes(RunComparison comparison)
    {
        Dictionary<long, StoredSize>[] sides = [.. comparison.Sides.Select(side => StoredSize.Of(side.First).GroupBy(s => s.Documents).ToDictionary(group => group.Key, group => group.Last()))];
        // A single size is no line; the table has it.
        if (sides.SelectMany(side => side.Keys).Distinct().Count() < 2)
            return null;
        const string name = "compare-size";
        var table = new ChartTable(name + ".dat", Columns(comparison, "documents", "storage", "low", "high", "indexes", "-"));
        foreach (long documents in sides.SelectMany(side => side.Keys).Distinct().Order())
        {
            table.Add([documents, .. sides.SelectMany(side => side.TryGetValue(documents, out StoredSize? size)
                ? (double[])[size.StorageBytes, double.NaN, double.NaN, size.IndexBytes, double.NaN]
                : [double.NaN, double.NaN, double.NaN, double.NaN, double.NaN])]);
        }

        double largest = table.Rows.Max(row => row[0]);
        string text = comparison.Candidates is [{ Sizes.Count: > 0 } only]
            ? Words.Of($"at {Units.Count(only.SizesAtDocuments)} documents, relative to the baseline: {string.Join(", ", only.Sizes.Select(s => $"{s.What} {ComparisonText.Number(s.Value)}"))}")
            : "";
        var settings = Head(comparison, name, Words.Of("Size of documents and indexes as stored"), table)
            .Set("verdict", text)
            .SetAxis("x", new AxisScale(largest * 1.02, AxisScale.OfCount(largest).Tics))
            .Set("x_label", Words.Of("documents in the collection"))
            .Set("left_title", Words.Of("documents, as stored"))
            .SetAxis("y", AxisScale.OfBytes(Left(table, comparison).DefaultIfEmpty(1).Max()))
            .Set("right_title", Words.Of("indexes, as stored"))
            .Set("right_is_log", 0)
            .Set("right_min", 0)
            .SetAxis("right", AxisScale.OfBytes(Right(table, comparison).DefaultIfEmpty(1).Max()));
        return new Chart(name, Words.Of("Size of documents and indexes as stored"), Words.Of("What the same documents occupy on each side."), settings, [table]) { SharedTemplate = OperationTemplate };
    }

    private static GnuplotSettings Head(RunComparison comparison, string name, string title, ChartTable table) => new GnuplotSettings()
        .Set("kinds", "png svg")
        .Set("chart", name)
        .Set("data", table.FileName)
        .Set("title", title)
        .Set("side_count", comparison.Sides.Count())
        .SetArray("side_title", comparison.Sides.Select((side, i) => i == 0 ? Words.Of($"baseline {side.Title}") : side.Title).ToList())
        .Set("point_size", table.Rows.Count > 40 ? 0.4 : 1.1);

    private static ChartTable ByWindow(RunComparison comparison, string name, ComparedOperation operation)
    {
        var table = new ChartTable(name + ".dat", Columns(comparison, operation.Growth is null ? "repeat" : "documents", "rate", "low", "high", "p50", "p99"));
        foreach (WindowKey key in comparison.Sides.SelectMany(side => KeysOf(side, operation)).Distinct().OrderBy(key => key.At))
            table.Add([key.At, .. comparison.Sides.SelectMany(side => AtWindow(side, side.Windows.At(key)))]);
        return table;
    }

    /// <summary>Run by run, where each has but one window.</summary>
    private static ChartTable ByRun(RunComparison comparison, string name, ComparedOperation operation)
    {
        var table = new ChartTable(name + ".dat", Columns(comparison, "run", "rate", "low", "high", "p50", "p99"));
        for (int run = 0; run < comparison.Sides.Max(side => side.Stored.Count); run++)
            table.Add([run + 1, .. comparison.Sides.SelectMany(side => OfRun(side, operation, run))]);
        return table;
    }

    private static double[] OfRun(ComparedSide side, ComparedOperation operation, int run)
    {
        RateWindow? window = run < side.Windows.Runs.Count ? KeysOf(side, operation).Select(side.Windows.Runs[run].Find).FirstOrDefault() : null;
        if (window is null)
            return [double.NaN, double.NaN, double.NaN, double.NaN, double.NaN];
        return
        [
            window.Rate, window.Rates.Length > 1 ? window.Rates.Min() : double.NaN, window.Rates.Length > 1 ? window.Rates.Max() : double.NaN,
            Latency([window], static l => l.P50), Latency([window], static l => l.P99),
        ];
    }

    private static double[] AtWindow(ComparedSide side, IReadOnlyList<RateWindow> windows)
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

    /// <summary>Second by second, where there is but one window.</summary>
    private static ChartTable ByTime(RunComparison comparison, string name, ComparedOperation operation)
    {
        var table = new ChartTable(name + ".dat", Columns(comparison, "seconds", "rate", "low", "high", "p50", "p99"));
        RateWindow?[] windows = [.. comparison.Sides.Select(side => KeysOf(side, operation).Select(side.Windows.Runs[0].Find).FirstOrDefault())];
        for (int second = 0; second < windows.Max(w => w?.Rates.Length ?? 0); second++)
        {
            table.Add([second + 1, .. windows.SelectMany(w => w is null || second >= w.Rates.Length
                ? (double[])[double.NaN, double.NaN, double.NaN, double.NaN, double.NaN]
                : [w.Rates[second], double.NaN, double.NaN, w.Samples[second].JudgedMicroseconds.P50 ?? double.NaN, w.Samples[second].JudgedMicroseconds.P99 ?? double.NaN])]);
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

    private static string Verdicts(RunComparison comparison, ComparedOperation operation) => string.Join("\n", comparison.Candidates.Select(candidate =>
    {
        OperationJudgement? judgement = candidate.Operations.FirstOrDefault(o => o.Operation == operation);
        string text = judgement is null ? Words.Of("not measured on both sides") : ComparisonText.Sentence(judgement);
        return comparison.Candidates.Count == 1 ? text : $"{candidate.Candidate.Label}: {text}";
    }));
}
