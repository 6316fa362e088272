using System.Globalization;
using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Support;

/// <summary>Says what charts show and where it stands, for tests to approve: pictures differ between machines in the last bits.</summary>
internal static class ChartDump
{
    /// <summary>Each chart with its data.</summary>
    public static string Of(IEnumerable<Chart> charts)
    {
        var text = new StringWriter { NewLine = "\n" };
        foreach (Chart chart in charts)
        {
            Write(text, chart, new ChartLayout(chart));
            foreach (ChartTable table in chart.Tables)
            {
                text.Write($"== {table.FileName}\n");
                using var data = new StringWriter();
                table.Write(data);
                text.Write(data.ToString().Replace("\r\n", "\n", StringComparison.Ordinal));
            }
        }

        return text.ToString();
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
