using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>Makes the tables of a scenario file.</summary>
internal static class FigureTables
{
    /// <summary>Makes the tables for which the runs have results.</summary>
    public static IEnumerable<ReportTable> Of(IReadOnlyList<FigureRun> runs) =>
        Listed(runs).Select(table => Build(runs, table)).OfType<ReportTable>();

    public static IReadOnlyList<TableInfo> Listed(IReadOnlyList<FigureRun> runs) => runs[0].Stored.Settings.Plan.Tables;

    /// <returns>Null when the runs have no such results.</returns>
    public static ReportTable? Build(IReadOnlyList<FigureRun> runs, TableInfo table)
    {
        List<string> named = [.. table.Rows];
        if (table.Columns is { } columns)
            named.Add(columns);
        Observations chosen = Observations.Of(runs, table.Of, table.Values, named);
        FigureMetric[] metrics = [.. table.Values.Select(FigureMetric.Find)];
        Observation[] shown = [.. chosen.All.Where(o => metrics.Any(m => o.Measure(m) is not null))];
        if (shown.Length == 0)
            return null;
        bool hasRate = shown.Any(o => o.Results.Any(r => r.HasRate));
        List<string> rows = [.. table.Rows, .. chosen.Mixed];
        string?[] spread = table.Columns is null ? [null] : [.. shown.Select(o => o.ValueOf(table.Columns)).Distinct()];
        (string? Value, FigureMetric Metric)[] cells = [.. spread.SelectMany(value => metrics.Select(metric => (value, metric)))];
        return new ReportTable(
            table.Title,
            [.. rows.Select(r => "<" + r), .. cells.Select(cell => table.Columns is null
                ? cell.Metric.HeadingOf(hasRate)
                : $"{FigureChart.ValueText(table.Columns, cell.Value)} {cell.Metric.HeadingOf(hasRate)}")],
            [
                .. Ordered(shown, rows).Select(row => (IReadOnlyList<string>)
                [
                    .. rows.Select(r => row[0].ValueOf(r) ?? Units.None),
                    .. cells.Select(cell => cell.Metric.Text(
                        Observations.Mean(row.Where(o => table.Columns is null || o.ValueOf(table.Columns) == cell.Value), cell.Metric))),
                ]),
            ])
        {
            Together = metrics.Length,
        };
    }

    /// <summary>Orders rows by the first dimension, then by the next: each value where it first came.</summary>
    private static IEnumerable<Observation[]> Ordered(Observation[] shown, List<string> dimensions)
    {
        List<string?>[] orders = [.. dimensions.Select(d => shown.Select(o => o.ValueOf(d)).Distinct().ToList())];
        IOrderedEnumerable<Observation[]> ordered = shown.GroupBy(o => Observations.Key(o, dimensions))
            .Select(group => group.ToArray()).OrderBy(_ => 0);
        foreach ((string dimension, List<string?> order) in dimensions.Zip(orders))
            ordered = ordered.ThenBy(row => order.IndexOf(row[0].ValueOf(dimension)));
        return ordered;
    }
}
