using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Charts of a growth with documents in the collection below and one point per size.</summary>
internal static class GrowthCharts
{
    public const string Template = "by-documents.gp";

    /// <summary>Of their files, each with a number behind it from the second growth on.</summary>
    public static IReadOnlyList<string> Names { get; } = ["insert-rate", "query-rate", "query-throughput", "latency", "size"];

    private const double PlotShare = 0.9;
    private const double LegendWidth = 1430;
    private const double LegendCharacterWidth = 9.9;
    private const double LegendLineWidth = 75;

    /// <summary>All charts of all growths.</summary>
    public static IEnumerable<Chart> Of(StoredRun run)
    {
        IReadOnlyList<GrowthFigures> growths = GrowthFigures.Of(run);
        return growths.SelectMany((growth, i) =>
        {
            var frame = new GrowthFrame(run, growth, i == 0 ? "" : $"-{i + 1}", growths.Count == 1 ? Words.Of("as the collection grows") : Words.Of($"as {growth.Name} grows"));
            return new[] { InsertRate(frame), QueryRate(frame), QueryThroughput(frame), LatencyChart.Build(frame), SizeChart.Of(frame) }.OfType<Chart>();
        });
    }

    private static Chart? InsertRate(GrowthFrame frame)
    {
        IReadOnlyList<GrowthLine> inserts = frame.Growth.Inserts;
        Chart? chart = Build(
            frame, "insert-rate", Words.Of("Insert rate"), Words.Of("documents/s"), inserts, static result => result.DocumentsPerSecond,
            Words.Of("Each point is one way of inserting at one size; the collection grows to the right. A flat line means that size costs nothing."));
        if (chart is null)
            return null;

        double? megabytes = BytesPerDocument(inserts) / 1e6;
        double yMax = AxisScale.OfCount(chart.Tables[0].Largest()).Max;
        chart.Settings.Set("y2_per_y", megabytes ?? 0)
            .Set("y2_label", Words.Of("MB/s of documents (1 MB = 1,000,000 bytes)"))
            .Set("y2_tics", megabytes is null ? "" : AxisScale.OfSecondAxis(yMax * megabytes.Value).Tics);
        return chart;
    }

    private static Chart? QueryRate(GrowthFrame frame) => Build(
        frame, "query-rate", Words.Of("Query rate"), Words.Of("operations/s"), frame.Growth.Queries, static result => result.OperationsPerSecond,
        Words.Of("Operations per second, all threads together. A line that bends down belongs to an operation that suffers from size."));

    private static Chart? QueryThroughput(GrowthFrame frame) => Build(
        frame, "query-throughput", Words.Of("Query throughput"), Words.Of("MB/s of documents (1 MB = 1,000,000 bytes)"), frame.Growth.Queries, static result => result.MegabytesPerSecond,
        Words.Of("The same operations, counted in bytes of documents. Each returns a different amount, so compare these lines with what a network or a disk can carry."));

    private static Chart? Build(
        GrowthFrame frame, string kind, string what, string yLabel, IReadOnlyList<GrowthLine> lines, Func<OperationResult, double> valueOf, string howToRead)
    {
        if (lines.Count == 0)
            return null;

        // By threads, then by the plan: a row of the legend for each number of threads.
        List<string> variants = [.. lines.OrderByDescending(line => line.Threads).Select(VariantOf).Distinct()];
        List<GrowthLine> ordered = [.. lines.OrderBy(line => variants.IndexOf(VariantOf(line)))];
        string name = kind + frame.Suffix;
        var table = new ChartTable(name + ".dat", ["documents", .. ordered.Select(static line => $"{line.Label} {VariantOf(line)}")]);
        for (int step = 0; step < frame.Growth.Steps.Count; step++)
        {
            if (ordered.Exists(line => line.Results.ContainsKey(step)))
                table.Add([frame.Growth.Steps[step].Documents, .. ordered.Select(line => line.Results.GetValueOrDefault(step) is { } result ? valueOf(result) : double.NaN)]);
        }

        string title = Words.Of($"{what} {frame.Clause}{(variants.Count == 1 ? $", {variants[0]}" : "")}");
        GnuplotSettings settings = Head(frame.Run, frame.Growth.LargestDocuments, frame.Crossings, name, title, yLabel, table).SetAxis("y", AxisScale.OfCount(table.Largest()));
        Legend(
            settings, [.. ordered.Select(line => variants.Count == 1 ? ChartText.TitleOf(line) : $"{line.Label}, {VariantOf(line)}")],
            [.. ordered.Select(frame.ColorOf)], [.. ordered.Select(line => 1.0 + (variants.IndexOf(VariantOf(line)) % 5))]);
        return new Chart(name, title, howToRead, settings, [table]) { SharedTemplate = Template };
    }

    /// <summary>"8 threads", or "limit=10, 8 threads".</summary>
    private static string VariantOf(GrowthLine line) => (line.Parameters.Length > 0 ? line.Parameters + ", " : "") + Words.Counted(line.Threads, "thread");

    /// <summary>Everything but the axis of values and the legend.</summary>
    /// <param name="run">Of its subtitle.</param>
    /// <param name="documents">Where the axis ends.</param>
    /// <param name="crossings">Where data and indexes outgrow the cache, and files the memory limit: they are marked.</param>
    /// <param name="name">Of its files.</param>
    /// <param name="title">Of the picture.</param>
    /// <param name="yLabel">Of the axis of values.</param>
    /// <param name="table">Its data.</param>
    public static GnuplotSettings Head(StoredRun run, double documents, IReadOnlyList<CacheCrossing> crossings, string name, string title, string yLabel, ChartTable table)
    {
        var x = AxisScale.OfDocuments(documents);
        return GnuplotSettings.Of(name, title, ChartText.Subtitle(run), table.FileName)
            .SetAxis("x", x)
            .Set("y_label", yLabel)
            .Set("point_size", table.Rows.Count > 40 ? 0.6 : 1.2)
            .SetMarks(PlacedMark.Place(crossings.Select(static crossing => (crossing.Documents, ChartText.CrossingText(crossing))), x.Max, PlotShare, 2));
    }

    public static void Legend(GnuplotSettings settings, List<string> titles, List<string> colors, List<double> dashes)
    {
        int fitting = (int)(LegendWidth / (LegendLineWidth + (titles.Max(static title => title.Length) * LegendCharacterWidth)));
        // As many columns as labels puts each number of threads into a row of its own.
        int labels = colors.Distinct().Count();
        int columns = Math.Clamp(Math.Min(fitting, labels), 1, titles.Count);
        settings.Set("series_count", titles.Count)
            .SetArray("series_title", titles)
            .SetArray("series_color", colors)
            .SetArray("series_dash", dashes)
            .Set("legend_columns", columns)
            .Set("legend_rows", (titles.Count + columns - 1) / columns);
    }

    /// <summary>Null when the ways of inserting differ, so that one axis can't serve them all.</summary>
    private static double? BytesPerDocument(IReadOnlyList<GrowthLine> inserts)
    {
        var ratios = inserts.SelectMany(static line => line.Results.Values)
            .Where(static result => result is { DocumentsPerSecond: > 0, MegabytesPerSecond: > 0 })
            .Select(static result => result.MegabytesPerSecond * 1e6 / result.DocumentsPerSecond)
            .ToList();
        return ratios.Count > 0 && ratios.Max() <= ratios.Min() * 1.02 ? ratios.Average() : null;
    }
}

/// <summary>What the charts of one growth have in common.</summary>
/// <param name="Run">Whose growth it is.</param>
/// <param name="Growth">What they show.</param>
/// <param name="Suffix">Of their names; empty for the first growth.</param>
/// <param name="Clause">Of their titles, such as "as the collection grows".</param>
internal sealed record GrowthFrame(StoredRun Run, GrowthFigures Growth, string Suffix, string Clause)
{
    public IReadOnlyList<CacheCrossing> Crossings { get; } = CacheCrossing.OfSizes(Growth, Run);

    /// <summary>Name of a colour in common.gp: an operation has the same in all charts.</summary>
    public string ColorOf(GrowthLine line) => ChartText.ColorOf(Growth.Labels.ToList().IndexOf(line.Label));
}
