using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Charts of a growth with documents in the collection below and one point per size.</summary>
internal static class GrowthCharts
{
    /// <summary>Of their files, each with a number behind it from the second growth on.</summary>
    public static IReadOnlyList<string> Names { get; } = ["insert-rate", "query-rate", "query-throughput", "latency", "size"];

    /// <summary>Behind the names of a growth's charts; empty for the first growth.</summary>
    /// <param name="place">Of the growth among those of the run, 0-based.</param>
    public static string SuffixOf(int place) => place == 0 ? "" : $"-{place + 1}";

    /// <summary>All charts of all growths.</summary>
    public static IEnumerable<Chart> Of(StoredRun run)
    {
        IReadOnlyList<GrowthFigures> growths = GrowthFigures.Of(run);
        return growths.SelectMany((growth, i) =>
        {
            var frame = new GrowthFrame(run, growth, SuffixOf(i), growths.Count == 1 ? Words.Of("as the collection grows") : Words.Of($"as {growth.Name} grows"));
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

        double megabytes = BytesPerDocument(inserts) / 1e6 ?? 0;
        Panel rate = chart.Panels[0];
        AxisScale right = AxisScale.OfSecondAxis(rate.Y.Max * megabytes) with { Label = Words.Of("MB/s of documents (1 MB = 1,000,000 bytes)") };
        return megabytes == 0 ? chart : chart with { Panels = [rate with { Right = right }] };
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
        var table = new ChartTable(name + ".csv", ["documents", .. ordered.Select(static line => $"{line.Label} {VariantOf(line)}")]);
        for (int step = 0; step < frame.Growth.Steps.Count; step++)
        {
            if (ordered.Exists(line => line.Results.ContainsKey(step)))
                table.Add([frame.Growth.Steps[step].Documents, .. ordered.Select(line => line.Results.GetValueOrDefault(step) is { } result ? valueOf(result) : double.NaN)]);
        }

        string title = Words.Of($"{what} {frame.Clause}{(variants.Count == 1 ? $", {variants[0]}" : "")}");
        Series[] series =
        [
            .. ordered.Select((line, i) => new Series(table, i + 1, variants.Count == 1 ? ChartText.TitleOf(line) : $"{line.Label}, {VariantOf(line)}", frame.ColorOf(line))
            {
                Dash = 1 + (variants.IndexOf(VariantOf(line)) % 5),
            }),
        ];
        return OverDocuments(frame.Run, frame.Growth.LargestDocuments, frame.Crossings, name, title, howToRead, new Panel(yLabel, AxisScale.OfCount(table.Largest()), series));
    }

    /// <summary>"8 threads", or "limit=10, 8 threads".</summary>
    private static string VariantOf(GrowthLine line) => (line.Parameters.Length > 0 ? line.Parameters + ", " : "") + Words.Counted(line.Threads, "thread");

    /// <summary>One panel with documents in the collection below.</summary>
    /// <param name="run">Of its subtitle.</param>
    /// <param name="documents">Where the axis ends.</param>
    /// <param name="crossings">Where data and indexes outgrow the cache, and files the memory limit: they are marked.</param>
    /// <param name="name">Of its files.</param>
    /// <param name="title">Of the picture.</param>
    /// <param name="howToRead">A sentence for the report.</param>
    /// <param name="panel">The only one.</param>
    public static Chart OverDocuments(StoredRun run, double documents, IReadOnlyList<CacheCrossing> crossings, string name, string title, string howToRead, Panel panel) =>
        new(name, title, howToRead, AxisScale.OfDocuments(documents) with { Label = Words.Of("documents in the collection") }, [panel])
        {
            Subtitle = ChartText.Subtitle(run), HasLegendAbove = true, Marks = ChartText.Marks(crossings),
        };

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

    /// <summary>Name of a colour: an operation has the same in all charts.</summary>
    public string ColorOf(GrowthLine line) => Palette.OfOperation(Growth.Labels.ToList().IndexOf(line.Label));
}
