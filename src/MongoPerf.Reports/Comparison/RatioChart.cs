using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Reports.Plots;

namespace MongoPerf.Reports.Comparison;

/// <summary>Ratios of the candidates to the baseline: a row for each operation and candidate with its interval.</summary>
internal static class RatioChart
{
    /// <summary>Characters in a row of an operation's name beside the plot.</summary>
    private const int LongestName = 32;

    private static readonly string[] ColumnsOfSide = ["ratio", "low", "high"];

    private sealed record Row(int Side, CandidateComparison Candidate, OperationComparison Operation, MeasureComparison Compared);

    /// <returns>Null when nothing of it was judged.</returns>
    public static Chart? Build(RunComparison comparison, PlotInfo plot)
    {
        (PlotPanel Wanted, Measure Measure, Row[] Rows)[] shown =
        [
            .. plot.Panels.Select(panel => (panel, Measure: Measure.Find(panel.Show)))
                .Select(one => (one.panel, one.Measure, RowsOf(comparison, one.Measure))).Where(static one => one.Item3.Length > 0),
        ];
        Panel[] panels = [.. shown.Select((one, i) => PanelOf(
            comparison, one.Rows, i == 0 ? $"{plot.Name}.csv" : $"{plot.Name}-panel-{i + 1}.csv",
            TitleOf(one.Wanted, one.Measure, shown.Length)))];
        if (panels.Length == 0)
            return null;
        double[] ratios = [.. panels.SelectMany(static panel => panel.Table.Rows)
            .SelectMany(static row => row.Skip(1)).Where(double.IsFinite)];
        double least = Math.Min(1 - comparison.NoiseThreshold, ratios.Min());
        double most = Math.Max(1 + comparison.NoiseThreshold, ratios.Max());
        double margin = Math.Pow(most / least, 0.06);
        return new Chart(plot.Name, plot.TitleWith(), plot.Reading, AxisScale.OfRatios(least / margin, most * margin) with
        {
            Label = LabelOf([.. shown.Select(static one => one.Measure)]),
        }, panels)
        {
            HasLegendAbove = true,
            PanelHeight = 110 + (62 * shown.Max(static one => one.Rows.Length)),
            Bands = [new Band(1 - comparison.NoiseThreshold, 1 + comparison.NoiseThreshold, "noise")],
            Marks = plot.HasMarks ? [new Mark(1, "")] : [],
        };
    }

    /// <summary>The rows of an operation stand together; a mix has its rate once, by its total.</summary>
    private static Row[] RowsOf(RunComparison comparison, Measure measure) =>
    [
        .. comparison.Candidates.SelectMany((candidate, i) => candidate.Operations
                .Select(operation => (Operation: operation, Compared: operation.Tested.FirstOrDefault(one => one.Measure == measure)))
                .Where(static one => one.Compared is { Ratio.Value: > 0 })
                .Select(one => new Row(i + 1, candidate, one.Operation, one.Compared!)))
            .GroupBy(static row => row.Operation.Operation).SelectMany(static operation => operation),
    ];

    private static Panel PanelOf(RunComparison comparison, Row[] rows, string file, string title)
    {
        var table = new ChartTable(file, ComparisonCharts.Columns(comparison, "operation", ColumnsOfSide))
        {
            RowNames = [.. rows.Select(static row => row.Candidate.TitleOf(row.Operation))],
        };
        for (int i = 0; i < rows.Length; i++)
        {
            double[] values = [.. Enumerable.Repeat(double.NaN, table.Columns.Count)];
            Ratio ratio = rows[i].Compared.Ratio;
            // Where hardly anything was done the interval reaches down to 0, for which a logarithmic axis has no place.
            Interval? interval = ratio.Interval is { Low: > 0 } ? ratio.Interval : null;
            values[0] = i + 1;
            ((double[])[ratio.Value, interval?.Low ?? ratio.Value, interval?.High ?? ratio.Value])
                .CopyTo(values, 1 + (ColumnsOfSide.Length * rows[i].Side));
            table.Add(values);
        }

        return new Panel(
            title, Rows(static row => Words.Wrap(row.Candidate.TitleOf(row.Operation), LongestName)),
            [.. ComparisonCharts.Lines(comparison, table, 1, ColumnsOfSide.Length)
                .Select(static line => line with { HasSpread = true, LiesAcross = true })])
        {
            Right = Rows(static row => $"{ComparisonText.WithRange(row.Compared.Ratio)}  {ComparisonText.Describe(row.Compared.Outcome)}"),
        };

        AxisScale Rows(Func<Row, string> textOf) =>
            new(0.4, [.. rows.Select((row, i) => new Tick(i + 1, textOf(row)))]) { Min = rows.Length + 0.6 };
    }

    /// <summary>A single panel is named by the axis below it.</summary>
    private static string TitleOf(PlotPanel wanted, Measure measure, int panels) =>
        wanted.TitleOr(panels == 1 ? "" : measure.IsRate ? Words.Of("rate") : measure.Name);

    private static string LabelOf(Measure[] measures) =>
        measures.All(static one => one.IsRate) ? Words.Of("candidate to baseline: left of 1 is slower, right of 1 is faster")
            : measures.All(static one => !one.IsRate) ? Words.Of("candidate to baseline: left of 1 is faster, right of 1 is slower")
            : Words.Of("candidate to baseline");
}
