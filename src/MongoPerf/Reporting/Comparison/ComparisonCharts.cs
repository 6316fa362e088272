using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Comparison.Statistics;
using MongoPerf.Reporting.Figures;
using MongoPerf.Reporting.Phases;
using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Comparison;

/// <summary>The charts of a comparison: all ratios on one page, for each operation the runs laid over each other, and the shards of each sharded run over time.</summary>
internal static class ComparisonCharts
{
    /// <summary>Characters in a row of an operation's name beside the plot.</summary>
    private const int LongestName = 32;

    /// <summary>Left value with its low and high end, and two right values.</summary>
    private const int ColumnsPerSide = 5;

    private static readonly double[] Missing = [.. Enumerable.Repeat(double.NaN, ColumnsPerSide)];

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
        return new ChartSet(charts, ["compare-*"]);
    }

    /// <summary>The runs' laps laid over each other, a chart for each phase and value of its parameters that several have; of repeats the first.</summary>
    private static IEnumerable<Chart> Laps(RunComparison comparison) => comparison.Sides
        .SelectMany(side => LapFigures.Of(side.First).Select(laps => (side.Title, Laps: laps)))
        .GroupBy(line => (Phase: PhaseLabels.Of(line.Laps.Phase), line.Laps.LengthText))
        .Where(phase => phase.Count() > 1)
        .Select((phase, i) => LapChart.Build($"compare-laps-{i + 1}", Words.Of($"{phase.Key.Phase}: time per {phase.Key.LengthText} and task"), Words.Of("median of the tasks, in a band from the fastest to the slowest"), PlotLibrary.Of("laps").Reading, [.. phase]));

    /// <summary>A sharded run's shards stand by themselves: another run has others, or none.</summary>
    private static Chart? Shards(StoredRun run) => TimeCharts.Build(run, PlotLibrary.Of("shards"), "compare-shards-" + Slug(run.Run.Id)) is { } chart
        ? chart with { Title = $"{chart.Title}: {run.Run.Id}" }
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
            .. comparison.Candidates.SelectMany((candidate, i) => candidate.RatedOperations.Select(judged => (Side: i + 1, Candidate: candidate, Judged: judged)))
                .GroupBy(row => row.Judged.Operation).SelectMany(operation => operation),
        ];
        if (rows.Length == 0)
            return null;
        var table = new ChartTable("compare-ratios.csv", Columns(comparison, "row", "ratio", "low", "high"));
        for (int i = 0; i < rows.Length; i++)
        {
            double[] row = [.. Enumerable.Repeat(double.NaN, table.Columns.Count)];
            Ratio rate = rows[i].Judged.Rate.Ratio;
            // Where hardly anything was done the interval reaches down to 0, for which a logarithmic axis has no place.
            Interval? interval = rate.Interval is { Low: > 0 } ? rate.Interval : null;
            row[0] = i + 1;
            ((double[])[rate.Value, interval?.Low ?? rate.Value, interval?.High ?? rate.Value]).CopyTo(row, 1 + (3 * rows[i].Side));
            table.Add(row);
        }

        double[] ratios = [.. table.Rows.SelectMany(static row => row.Skip(1)).Where(double.IsFinite)];
        double least = Math.Min(1 - comparison.NoiseThreshold, ratios.Min());
        double most = Math.Max(1 + comparison.NoiseThreshold, ratios.Max());
        double margin = Math.Pow(most / least, 0.06);
        AxisScale Rows(Func<CandidateJudgement, OperationJudgement, string> textOf) =>
            new(0.4, [.. rows.Select((row, i) => new Tick(i + 1, textOf(row.Candidate, row.Judged)))]) { Min = rows.Length + 0.6 };
        return new Chart(
            "compare-ratios", Words.Of("Rates relative to the baseline"),
            Words.Of("Each point is an operation's rate divided by the baseline's, over all sizes, with its 95 % interval; left of 1 is slower. An interval within the grey band is equivalent."),
            AxisScale.OfRatios(least / margin, most * margin) with { Label = Words.Of("candidate to baseline: left of 1 is slower, right of 1 is faster") },
            [
                new Panel("", Rows((candidate, judged) => Words.Wrap(candidate.TitleOf(judged), LongestName)), Series(comparison, table, 1, 3, static series => series with { HasSpread = true, LiesAcross = true }))
                {
                    Right = Rows(static (_, judged) => $"{ComparisonText.WithRange(judged.Rate.Ratio)}  {ComparisonText.Describe(judged.Rate.Outcome)}"),
                },
            ])
        {
            HasLegendAbove = true,
            PanelHeight = 110 + (62 * rows.Length),
            Bands = [new Band(1 - comparison.NoiseThreshold, 1 + comparison.NoiseThreshold, "noise")],
            Marks = [new Mark(1, "")],
        };
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
        AxisScale latency = AxisScale.OfLatency(Right(table, comparison).DefaultIfEmpty(1).Min(), Right(table, comparison).DefaultIfEmpty(10).Max());
        (AxisScale time, string unit) = AxisScale.OfTime(largest);
        AxisScale x = overTime ? time with { Max = time.Max * 1.02, Label = Words.Of($"time since the end of the warm-up ({unit})") }
            : (overSize ? AxisScale.OfCount(largest) : AxisScale.OfWhole((long)largest)) with
            {
                Max = largest * 1.02, Label = overSize ? Words.Of("documents in the collection") : overRuns ? Words.Of("run, in the order of each side's repeats") : Words.Of("repeat of the phase"),
            };
        string title = Words.Of($"{label}: rate and latency, {(operation.Threads == 1 ? Words.Of("1 thread") : Words.Of($"{operation.Threads} threads"))}");
        string rightTitle = any.IsUnacknowledged ? Words.Of("time to send: p50 solid, p99 dashed") : any.Service is not null ? Words.Of("response time: p50 solid, p99 dashed") : Words.Of("latency: p50 solid, p99 dashed");
        string what = overTime ? Words.Of("The same operation on each side, second by second; the verdict is below the title.")
            : overRuns ? Words.Of("The same operation on each side, run by run; the verdict below the title is over all runs. The bands reach from the slowest to the fastest second of each run.")
            : overSize ? Words.Of("The same operation on each side; the verdict below the title is over all sizes. The bands reach from the slowest to the fastest second at each size; for repeated runs, from the slowest to the fastest run.")
            : Words.Of("The same operation on each side; the verdict below the title is over all repeats. The bands reach from the slowest to the fastest second at each repeat; for repeated runs, from the slowest to the fastest run.");
        return new Chart(name, title, what, x,
        [
            new Panel(any.IsInsert ? Words.Of("documents/s") : Words.Of("operations/s"), AxisScale.OfCount(Left(table, comparison).DefaultIfEmpty(1).Max()), Series(comparison, table, 1, ColumnsPerSide, static series => series with { HasSpread = true })),
            new Panel(rightTitle, latency, [.. Series(comparison, table, 4, ColumnsPerSide), .. Series(comparison, table, 5, ColumnsPerSide, static series => series with { Dash = 2 })]),
        ]) { Verdict = Verdicts(comparison, operation), Columns = 2, HasLegendAbove = true };
    }

    private static IEnumerable<WindowKey> KeysOf(ComparedSide side, ComparedOperation operation) => side.Windows.Runs[0].Keys.Where(key => key.Operation == operation);

    private static Chart? Sizes(RunComparison comparison)
    {
        Dictionary<long, StoredSize>[] sides = [.. comparison.Sides.Select(side => StoredSize.Of(side.First).GroupBy(s => s.Documents).ToDictionary(group => group.Key, group => group.Last()))];
        // A single size is no line; the table has it.
        if (sides.SelectMany(side => side.Keys).Distinct().Count() < 2)
            return null;
        const string name = "compare-size";
        var table = new ChartTable(name + ".csv", Columns(comparison, "documents", "storage", "low", "high", "indexes", "-"));
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
        return new Chart(
            name, Words.Of("Size of documents and indexes as stored"), Words.Of("What the same documents occupy on each side."),
            AxisScale.OfCount(largest) with { Max = largest * 1.02, Label = Words.Of("documents in the collection") },
            [
                new Panel(Words.Of("documents, as stored"), AxisScale.OfBytes(Left(table, comparison).DefaultIfEmpty(1).Max()), Series(comparison, table, 1, ColumnsPerSide)),
                new Panel(Words.Of("indexes, as stored"), AxisScale.OfBytes(Right(table, comparison).DefaultIfEmpty(1).Max()), Series(comparison, table, 4, ColumnsPerSide)),
            ]) { Verdict = text, Columns = 2, HasLegendAbove = true };
    }

    /// <summary>One of each side, named alike in all charts.</summary>
    private static Series[] Series(RunComparison comparison, ChartTable table, int first, int perSide, Func<Series, Series>? changed = null) =>
    [
        .. comparison.Sides.Select((side, i) => new Series(table, first + (i * perSide), i == 0 ? Words.Of($"baseline {side.Title}") : side.Title, Palette.OfLine(i))).Select(changed ?? (static series => series)),
    ];

    private static ChartTable ByWindow(RunComparison comparison, string name, ComparedOperation operation)
    {
        var table = new ChartTable(name + ".csv", Columns(comparison, operation.Growth is null ? "repeat" : "documents", "rate", "low", "high", "p50", "p99"));
        foreach (WindowKey key in comparison.Sides.SelectMany(side => KeysOf(side, operation)).Distinct().OrderBy(key => key.At))
            table.Add([key.At, .. comparison.Sides.SelectMany(side => AtWindow(side, side.Windows.At(key)))]);
        return table;
    }

    /// <summary>Run by run, where each has but one window.</summary>
    private static ChartTable ByRun(RunComparison comparison, string name, ComparedOperation operation)
    {
        var table = new ChartTable(name + ".csv", Columns(comparison, "run", "rate", "low", "high", "p50", "p99"));
        for (int run = 0; run < comparison.Sides.Max(side => side.Stored.Count); run++)
            table.Add([run + 1, .. comparison.Sides.SelectMany(side => OfRun(side, operation, run))]);
        return table;
    }

    private static double[] OfRun(ComparedSide side, ComparedOperation operation, int run)
    {
        RateWindow? window = run < side.Windows.Runs.Count ? KeysOf(side, operation).Select(side.Windows.Runs[run].Find).FirstOrDefault() : null;
        return window is null ? Missing : Row(window.Rate, [window], window.Rates);
    }

    private static double[] AtWindow(ComparedSide side, IReadOnlyList<RateWindow> windows) => windows.Count == 0 ? Missing
        : Row(Math.Exp(windows.Average(w => Math.Log(w.Rate))), windows, side.Stored.Count > 1 ? [.. windows.Select(w => w.Rate)] : windows[0].Rates);

    private static double[] Row(double rate, IReadOnlyList<RateWindow> windows, double[] spread) =>
    [
        rate, spread.Length > 1 ? spread.Min() : double.NaN, spread.Length > 1 ? spread.Max() : double.NaN,
        Latency(windows, l => l.P50), Latency(windows, l => l.P99),
    ];

    private static double Latency(IReadOnlyList<RateWindow> windows, Func<LatencySummary, double?> percentile)
    {
        double?[] values = [.. windows.Select(w => percentile(w.Latency))];
        return values.Any(v => v is not > 0) ? double.NaN : Math.Exp(values.Average(v => Math.Log(v!.Value)));
    }

    /// <summary>Second by second, where there is but one window.</summary>
    private static ChartTable ByTime(RunComparison comparison, string name, ComparedOperation operation)
    {
        var table = new ChartTable(name + ".csv", Columns(comparison, "seconds", "rate", "low", "high", "p50", "p99"));
        RateWindow?[] windows = [.. comparison.Sides.Select(side => KeysOf(side, operation).Select(side.Windows.Runs[0].Find).FirstOrDefault())];
        for (int second = 0; second < windows.Max(w => w?.Rates.Length ?? 0); second++)
        {
            table.Add([second + 1, .. windows.SelectMany(w => w is null || second >= w.Rates.Length
                ? Missing
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
