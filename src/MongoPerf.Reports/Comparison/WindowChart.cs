using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>
/// Rate and latencies of an operation with the compared runs laid over each other, by the windows that it was measured in.
/// </summary>
internal sealed class WindowChart
{
    /// <summary>The columns of each side before those of its percentiles.</summary>
    private static readonly string[] RateColumns = ["rate", "low", "high"];

    /// <summary>The dashes of lines as the legend calls them.</summary>
    private static readonly string[] Dashes = ["solid", "dashed", "dotted", "dash-dotted", "dash-dot-dotted"];

    private readonly RunComparison _comparison;
    private readonly PlotInfo _plot;
    private readonly ComparedOperation _operation;
    private readonly RateWindow _any;
    private readonly Measure[] _percentiles;
    private readonly WindowKind _kind;

    private WindowChart(RunComparison comparison, PlotInfo plot, ComparedOperation operation)
    {
        (_comparison, _plot, _operation) = (comparison, plot, operation);
        _any = comparison.Sides.SelectMany(side => KeysOf(side).Select(key => side.Windows.Runs[0].Find(key)!)).First();
        string[] named = [.. plot.Panels.Where(static panel => panel.Show == PlotLanguage.Latency).SelectMany(LinesOf).Distinct()];
        _percentiles = [.. named.Select(Measure.Find)];
        _kind = comparison.Sides.Any(side => KeysOf(side).Count() > 1) ? operation.Growth is null ? WindowKind.Repeats : WindowKind.Sizes
            : comparison.Sides.All(static side => side.Stored.Count == 1) ? WindowKind.Seconds : WindowKind.Runs;
    }

    /// <summary>What stands along the x-axis.</summary>
    private enum WindowKind
    {
        /// <summary>Each side ran once and has one window of the operation: its seconds are shown.</summary>
        Seconds,

        /// <summary>Each run has one window.</summary>
        Runs,
        Sizes,
        Repeats,
    }

    /// <summary>Makes a chart for each operation that was compared.</summary>
    public static IEnumerable<Chart> Build(RunComparison comparison, PlotInfo plot)
    {
        ComparedOperation[] operations = [.. comparison.Candidates.SelectMany(static one => one.Operations)
            .Select(static one => one.Operation).Distinct()];
        return operations.Zip(Names(plot.Name, operations))
            .Select(one => new WindowChart(comparison, plot, one.First).Draw(one.Second, one.First.NameAmong(operations)));
    }

    /// <summary>
    /// Names such as "operation-q4", "operation-q4-8" and "operation-read-limit-10". Names that come out alike get a number.
    /// </summary>
    private static IEnumerable<string> Names(string plot, ComparedOperation[] operations)
    {
        string[] names = [.. operations.Select(one => $"{plot}-{ComparisonCharts.Slug(one.TitleAmong(operations))}")];
        return names.Select((name, i) => names.Take(i).Count(other => other == name) is > 0 and int before ? $"{name}-{before + 1}" : name);
    }

    private Chart Draw(string name, string label)
    {
        ChartTable table = TableOf($"{name}.csv");
        double largest = table.Rows.Select(static row => row[0]).DefaultIfEmpty(1).Max();
        string threads = _operation.Threads == 1 ? Words.Of("1 thread") : Words.Of($"{_operation.Threads} threads");
        Panel[] panels =
            [.. _plot.Panels.Select(one => one.Show == PlotLanguage.Latency ? LatencyPanel(one, table) : RatePanel(one, table))];
        return new Chart(name, _plot.TitleWith(("operation", label), ("threads", threads)), _plot.Reading, AxisOf(largest), panels)
        {
            Verdict = string.Join("\n", _comparison.Candidates.Select(VerdictOf)), Columns = panels.Length, HasLegendAbove = true,
        };
    }

    private AxisScale AxisOf(double largest)
    {
        if (_kind == WindowKind.Seconds)
        {
            (AxisScale time, string unit) = AxisScale.OfTime(largest);
            return time with { Max = time.Max * 1.02, Label = Words.Of($"time since the end of the warm-up ({unit})") };
        }

        return (_kind == WindowKind.Sizes ? AxisScale.OfCount(largest) : AxisScale.OfWhole(largest)) with
        {
            Max = largest * 1.02,
            Label = _kind switch
            {
                WindowKind.Sizes => Words.Of("documents in the collection"),
                WindowKind.Runs => Words.Of("run, in the order of each side's repeats"),
                _ => Words.Of("repeat of the phase"),
            },
        };
    }

    private Panel RatePanel(PlotPanel wanted, ChartTable table) => new(
        wanted.TitleOr(_any.IsInsert ? Words.Of("documents/s") : Words.Of("operations/s")),
        AxisScale.OfCount(Values(table, 0, RateColumns.Length).DefaultIfEmpty(1).Max()),
        [.. ComparisonCharts.Lines(_comparison, table, 1, ColumnsPerSide).Select(static line => line with { HasSpread = true })]);

    private Panel LatencyPanel(PlotPanel wanted, ChartTable table)
    {
        (string Name, int Column)[] lines = [.. LinesOf(wanted)
            .Select(name => (name, RateColumns.Length + Array.FindIndex(_percentiles, one => one.Name == name)))];
        double[] values = [.. lines.SelectMany(line => Values(table, line.Column, 1))];
        string what = _any.IsUnacknowledged ? Words.Of("time to send")
            : _any.Service is not null ? Words.Of("response time") : Words.Of("latency");
        string dashes = string.Join(", ", lines.Select((line, i) => $"{line.Name} {Words.Of(Dashes[i % Dashes.Length])}"));
        return new Panel(
            wanted.TitleOr(Words.Of($"{what}: {dashes}")),
            AxisScale.OfLatency(values.DefaultIfEmpty(1).Min(), values.DefaultIfEmpty(10).Max()),
            [.. lines.SelectMany((line, i) =>
                ComparisonCharts.Lines(_comparison, table, 1 + line.Column, ColumnsPerSide).Select(one => one with { Dash = 1 + i }))]);
    }

    private static IReadOnlyList<string> LinesOf(PlotPanel panel) => panel.Lines.Count == 0 ? ["p50", "p99"] : panel.Lines;

    private int ColumnsPerSide => RateColumns.Length + _percentiles.Length;

    /// <summary>What only other sides have: a line connects all points of its own side, which may be of other sizes.</summary>
    private double[] Missing => [.. Enumerable.Repeat(ChartTable.None, ColumnsPerSide)];

    private IEnumerable<WindowKey> KeysOf(ComparedSide side) => side.Windows.Runs[0].Keys.Where(key => key.Operation == _operation);

    private ChartTable TableOf(string file)
    {
        string x = _kind switch { WindowKind.Seconds =>
            "seconds", WindowKind.Runs => "run", WindowKind.Sizes => "documents", _ => "repeat" };
        var table = new ChartTable(
            file, ComparisonCharts.Columns(_comparison, x, [.. RateColumns, .. _percentiles.Select(static one => one.Name)]));
        foreach (double[] row in _kind switch { WindowKind.Seconds => BySecond(), WindowKind.Runs => ByRun(), _ => ByWindow() })
            table.Add(row);
        return table;
    }

    private IEnumerable<double[]> ByWindow() => _comparison.Sides.SelectMany(KeysOf).Distinct().OrderBy(static key => key.At)
        .Select(key => (double[])[key.At, .. _comparison.Sides.SelectMany(side => AtWindow(side, side.Windows.At(key)))]);

    private IEnumerable<double[]> ByRun() => Enumerable.Range(0, _comparison.Sides.Max(static side => side.Stored.Count))
        .Select(run => (double[])[run + 1, .. _comparison.Sides.SelectMany(side => OfRun(side, run))]);

    private IEnumerable<double[]> BySecond()
    {
        RateWindow?[] windows = [.. _comparison.Sides.Select(side => KeysOf(side).Select(side.Windows.Runs[0].Find).FirstOrDefault())];
        return Enumerable.Range(0, windows.Max(static window => window?.Rates.Length ?? 0))
            .Select(second => (double[])[second + 1, .. windows.SelectMany(window => OfSecond(window, second))]);
    }

    private double[] OfSecond(RateWindow? window, int second) => window is null || second >= window.Rates.Length ? Missing
        : [window.Rates[second], double.NaN, double.NaN,
            .. _percentiles.Select(one => one.Latency!.Of(window.Samples[second]) ?? double.NaN)];

    private double[] OfRun(ComparedSide side, int run)
    {
        RateWindow? window = run < side.Windows.Runs.Count ? KeysOf(side).Select(side.Windows.Runs[run].Find).FirstOrDefault() : null;
        return window is null ? Missing : Row(window.Rate, [window], window.Rates);
    }

    private double[] AtWindow(ComparedSide side, IReadOnlyList<RateWindow> windows) => windows.Count == 0 ? Missing
        : Row(Math.Exp(windows.Average(static window => Math.Log(window.Rate))), windows,
            side.Stored.Count > 1 ? [.. windows.Select(static window => window.Rate)] : windows[0].Rates);

    private double[] Row(double rate, IReadOnlyList<RateWindow> windows, double[] spread) =>
    [
        rate, spread.Length > 1 ? spread.Min() : double.NaN, spread.Length > 1 ? spread.Max() : double.NaN,
        .. _percentiles.Select(one => MeanOf([.. windows.Select(window => window.ValueOf(one))])),
    ];

    /// <summary>The geometric mean; NaN where one is missing.</summary>
    private static double MeanOf(double?[] values) =>
        values.Any(static value => value is not > 0) ? double.NaN : Math.Exp(values.Average(static value => Math.Log(value!.Value)));

    /// <summary>The finite values of some columns of all sides.</summary>
    private IEnumerable<double> Values(ChartTable table, int column, int count) => table.Rows
        .SelectMany(row => _comparison.Sides.SelectMany((_, side) => row.Skip(1 + (side * ColumnsPerSide) + column).Take(count)))
        .Where(double.IsFinite);

    private string VerdictOf(CandidateComparison candidate)
    {
        OperationComparison? compared = candidate.Operations.FirstOrDefault(one => one.Operation == _operation);
        string text = compared is null ? Words.Of("not measured on both sides") : ComparisonText.Sentence(compared);
        return _comparison.Candidates.Count == 1 ? text : $"{candidate.Candidate.Label}: {text}";
    }
}
