using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>Draws a figure whose axis is a parameter, threads, documents, deployments, phases or operations.</summary>
internal static class DimensionFigure
{
    /// <summary>The share of a panel's height within which a line lies on another.</summary>
    private const double LineWidth = 0.01;

    /// <summary>The results along one line.</summary>
    private sealed record Line(string Title, IReadOnlyList<Observation> Observations);

    /// <returns>Null when the runs have no such results.</returns>
    public static Chart? Build(IReadOnlyList<FigureRun> runs, FigureInfo figure, string name)
    {
        Observation[] shown = [.. Observations.Of(runs, figure, out IReadOnlyList<string> dimensions)
            .Where(o => o.ValueOf(figure.X) is { } value && (figure.To is null || FigureAxis.NumberOf(value) <= figure.To))];
        FigureMetric[] metrics = [.. figure.Y.Select(FigureMetric.Find)];
        if (!shown.Any(o => metrics.Any(m => o.Measure(m) is not null)))
            return null;
        // Of one run there is nothing to compare.
        if (figure.X == Dimension.Clients && shown.Select(o => o.ValueOf(figure.X)).Distinct().Count() == 1)
            return null;
        bool hasRate = shown.Any(o => o.Results.Any(r => r.HasRate));
        // As in the charts of a growth.
        var axis = FigureAxis.Of([.. shown.Select(o => o.ValueOf(figure.X)!).Distinct()], figure.X == Dimension.Documents);
        List<Line> all = LinesOf(shown, dimensions);
        Line[] drawn = [.. all.Take(FigureChart.MostLines)];
        ChartTable table = Table($"{name}.csv", figure.X, axis, drawn, metrics);
        Panel[] panels = [.. metrics.Select((metric, i) =>
            PanelOf(metric, metric.TitleOf(hasRate), table, drawn, 1 + (i * drawn.Length), figure.IsLogarithmic)).OfType<Panel>()
            .Select(panel => axis.IsNumeric ? WithHiddenLines(panel) : panel)];
        int? knee = axis.IsNumeric && figure.Y[0] == "rate" && (drawn.Length == 1 || drawn[0].Title == OperationResult.TotalName)
            ? Knee.Find([.. table.Rows.Select(row => (row[0], row[1]))]) : null;
        string label = figure.X == Dimension.Documents ? Words.Of("documents in the collection") : Words.Of(figure.X);
        return new Chart(name,
            figure.Title, HowToRead(figure, metrics, hasRate, knee is { } at ? axis.Values[at] : null) + FigureChart.LeftOut(all.Count),
            axis.Scale(label), panels)
        {
            Subtitle = FigureChart.Subtitle(shown),
            Marks = figure.X == Dimension.Documents ? (axis.IsNumeric ? [.. Outgrown(shown)] : [])
                : knee is { } bend ? [new Mark(axis.Places[bend], Words.Of($"knee at {axis.Values[bend]}"))] : [],
        };
    }

    private static List<Line> LinesOf(IEnumerable<Observation> observations, IReadOnlyList<string> dimensions) =>
        [.. observations.GroupBy(o => Observations.Key(o, dimensions))
            .Select(group => new Line(FigureChart.LineTitle(group.First(), dimensions), [.. group]))];

    private static ChartTable Table(string file, string x, FigureAxis axis, Line[] lines, FigureMetric[] metrics)
    {
        var table = new ChartTable(
            file, [x, .. metrics.SelectMany(metric => lines.Select(line => $"{line.Title} {metric.Name}".TrimStart()))])
        {
            RowNames = axis.IsNumeric ? null : axis.Values,
        };
        foreach ((string value, double place) in axis.Values.Zip(axis.Places))
        {
            Observation[][] here = [.. lines.Select(line => line.Observations.Where(o => o.ValueOf(x) == value).ToArray())];
            // Where a number is another line's, this one passes by; from name to name nothing leads past one between them.
            table.Add([place, .. metrics.SelectMany(metric => here.Select(own =>
                Observations.Mean(own, metric) ?? (own.Length == 0 && axis.IsNumeric ? ChartTable.None : ChartTable.Gap)))]);
        }

        return table;
    }

    /// <summary>Makes a metric's panel; null when nothing of it was measured.</summary>
    private static Panel? PanelOf(FigureMetric metric, string title, ChartTable table, Line[] lines, int firstColumn, bool isLogarithmic)
    {
        double least = table.Rows.SelectMany(row => row.Skip(firstColumn).Take(lines.Length))
            .Where(static value => value > 0).DefaultIfEmpty(0).Min();
        return Panel.Of(
            title,
            largest =>
                metric.Unit == MetricUnit.Microseconds && least > 0 && (isLogarithmic || largest / least >= FigureAxis.LogarithmicFrom)
                ? AxisScale.OfLatency(least, largest)
                : ScaleOf(metric.Unit, largest),
            lines.Select((line, i) => new Series(table, firstColumn + i, FigureChart.Legend(line.Title), Palette.OfLine(i))));
    }

    /// <summary>Lets a line shine through those that are drawn over it: they are dashed, and their points are small.</summary>
    private static Panel WithHiddenLines(Panel panel)
    {
        List<Series> lines = [];
        foreach (Series line in panel.Series)
        {
            int below = lines.Count(earlier => line.Values.Zip(earlier.Values)
                .Count(pair => Math.Abs(panel.Y.Share(pair.First) - panel.Y.Share(pair.Second)) < LineWidth) > 1);
            lines.Add(line with { Dash = 1 + below, PointSize = 1.0 / (1 + below) });
        }

        return panel with { Series = lines };
    }

    private static AxisScale ScaleOf(MetricUnit unit, double largest) => unit switch
    {
        MetricUnit.Microseconds => AxisScale.OfMicroseconds(largest),
        MetricUnit.Bytes => AxisScale.OfBytes(largest),
        _ => AxisScale.OfCount(largest),
    };

    /// <summary>Marks where each run's data outgrew the limit of its memory, or its cache where there was no such limit.</summary>
    private static IEnumerable<Mark> Outgrown(IReadOnlyList<Observation> shown)
    {
        FigureRun[] runs = [.. shown.Select(o => o.Run).DistinctBy(run => run.Deployment)];
        return runs.SelectMany(run =>
            GrowthFigures.Of(run.Stored).SelectMany(growth => CacheCrossing.OfSizes(growth, run.Stored).TakeLast(1))
                .Select(crossing =>
                    new Mark(crossing.Documents, (runs.Length == 1 ? "" : run.Deployment + ": ") + ChartText.CrossingText(crossing))));
    }

    private static string HowToRead(FigureInfo figure, FigureMetric[] metrics, bool hasRate, string? knee)
    {
        string shown = Words.Of($"{string.Join("; ", metrics.Select(m => m.TitleOf(hasRate)))} against {Words.Of(figure.X)}.");
        return knee is null ? shown
            : Words.Of($"{shown} The mark at {knee} is the knee, the point farthest from the straight line between the ends (V. "
                + $"Satopää et al., \"Finding a kneedle in a haystack\", 2011): "
                + $"beyond it, more {Words.Of(figure.X)} gains little.");
    }
}
