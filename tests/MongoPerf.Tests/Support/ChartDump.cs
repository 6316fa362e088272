using System.Globalization;
using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Support;

/// <summary>Says what charts show and where it stands, for tests to approve: pictures differ between machines in the last bits.</summary>
internal static class ChartDump
{
    /// <summary>The most rows of a table that are written out; of a longer one, as many of its rows and the sums of all of them.</summary>
    private const int MostRows = 24;

    /// <summary>A chart with its data.</summary>
    /// <param name="chart">The chart.</param>
    /// <param name="purpose">What its approved file is to notice; the first line.</param>
    public static string Of(Chart chart, string purpose)
    {
        var text = new StringWriter { NewLine = "\n" };
        text.WriteLine($"# {purpose}");
        Write(text, chart, new ChartLayout(chart));
        foreach (ChartTable table in chart.Tables)
            Write(text, table);
        return text.ToString();
    }

    private static void Write(StringWriter text, ChartTable table)
    {
        using var data = new StringWriter();
        table.Write(data);
        string[] lines = data.ToString().Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        int every = (lines.Length - 2 + MostRows) / MostRows;
        text.WriteLine($"== {table.FileName}{(every > 1 ? $": {lines.Length - 1} rows, of which every {every}th" : "")}");
        text.WriteLine(lines[0]);
        for (int row = 1; row < lines.Length; row += every)
            text.WriteLine(lines[row]);
        if (every == 1)
            return;
        foreach ((int column, string name) in table.Columns.Index())
        {
            double[] known = [.. table.Rows.Select(row => row[column]).Where(double.IsFinite)];
            text.WriteLine($"  {name}: {known.Length} values, {table.Rows.Count(row => double.IsNaN(row[column]))} ends, "
                + $"{N(known.Min())} to {N(known.Max())}, sum {N(known.Sum())}");
        }
    }

    private static void Write(StringWriter text, Chart chart, ChartLayout layout)
    {
        text.WriteLine($"== {chart.Name}: {N(layout.Width)} by {N(layout.Height)}");
        Line($"title at {N(layout.TitleY)}", chart.Title);
        Line($"subtitle at {N(layout.SubtitleY)}", chart.Subtitle);
        Line($"verdict at {N(layout.VerdictY)}", layout.Verdict);
        Line("x", Axis(chart.X));
        if (chart.Top is { } top)
            Line("top", Axis(top));
        foreach ((double x, double y, Series series) in layout.LegendAbove)
            Line($"legend at {N(x)}, {N(y)}", Named(series));
        foreach (PlacedMark mark in layout.Marks)
            Line($"mark at {N(mark.X)}, row {mark.Row}{(mark.IsLeftOfLine ? ", left" : "")}", mark.Text);
        foreach (Band band in chart.Bands)
            text.WriteLine($"band {band.Kind} from {N(band.From)} to {N(band.To)}");
        for (int i = 0; i < chart.Panels.Count; i++)
        {
            (Panel panel, ChartLayout.Place place) = (chart.Panels[i], layout.Panels[i]);
            text.WriteLine($"panel {i + 1} from {N(place.Left)}, {N(place.Top)} to {N(place.Right)}, {N(place.Bottom)}"
                + $"{(panel.IsState ? ", of states" : "")}");
            Line("  title", panel.Label + (panel.Color.Length > 0 ? $" [{panel.Color}]" : ""));
            Line("  y", Axis(panel.Y));
            if (panel.Right is { } right)
                Line("  right", Axis(right));
            if (panel.Limit is (double at, string what))
                Line($"  limit at {N(at)}", what);
            Series[] named = [.. layout.NamedBeside(i)];
            foreach (Series series in panel.Series)
                Line($"  {series.Table.FileName}, column {series.Column}{(named.Contains(series) ? ", named beside" : "")}", Named(series));
        }

        void Line(string what, string said)
        {
            if (said.Length > 0)
                text.WriteLine($"{what}: {said.Replace("\n", "⏎", StringComparison.Ordinal)}");
        }
    }

    private static string Named(Series series) =>
        $"{series.Title} [{series.Color}]{(series.Dash > 1 ? $" dash {series.Dash}" : "")}{(series.HasSpread ? " spread" : "")}"
        + $"{(series.LiesAcross ? " across" : "")}";

    private static string Axis(AxisScale scale)
    {
        string kind = $"{(scale.IsLogarithmic ? " logarithmic" : "")}{(scale.IsOfNames ? " names" : "")}";
        string ticks = string.Join(" ", scale.Ticks.Select(tick => $"{tick.Text}@{N(tick.At)}"));
        return $"{scale.Label} {N(scale.Min)} to {N(scale.Max)}{kind}: {ticks}".TrimStart();
    }

    private static string N(double value) => value.ToString("0.####", CultureInfo.InvariantCulture);
}
