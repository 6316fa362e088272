using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Charts of a growth with documents in the collection below and one point per size.</summary>
internal static class GrowthCharts
{
    /// <summary>The end of the names of a growth's charts; empty for the first growth.</summary>
    /// <param name="place">The place of the growth among those of the run, 0-based.</param>
    public static string SuffixOf(int place) => place == 0 ? "" : $"-{place + 1}";

    /// <summary>Makes a plot's chart of a growth; null where it has nothing of what the plot shows.</summary>
    public static Chart? Build(PlotInfo plot, GrowthFrame frame)
    {
        if (plot.Panels[0].Show == PlotLanguage.Percentiles)
            return LatencyChart.Build(plot, frame);
        string name = plot.Name + frame.Suffix;
        Panel[] panels =
            [.. plot.Panels.Select((one, i) => PanelOf(one, frame, i == 0 ? $"{name}.csv" : $"{name}-panel-{i + 1}.csv")).OfType<Panel>()];
        if (panels.Length == 0)
            return null;
        string[] variants = [.. plot.Panels.SelectMany(one => LinesOf(one, frame)).Select(VariantOf).Distinct()];
        string title = plot.TitleWith(("growth", frame.Clause)) + (variants.Length == 1 ? $", {variants[0]}" : "");
        return OverDocuments(frame.Run, frame.Growth.LargestDocuments, plot.HasMarks ? frame.Crossings : [], name,
            title, plot.Reading, panels);
    }

    private static IReadOnlyList<GrowthLine> LinesOf(PlotPanel one, GrowthFrame frame)
    {
        IReadOnlyList<GrowthLine> lines = one.Show switch { "inserts" => frame.Growth.Inserts, "queries" => frame.Growth.Queries, _ => [] };
        return one.Lines.Count == 0 ? lines : [.. lines.Where(line => one.Lines.Contains(line.Label))];
    }

    private static Panel? PanelOf(PlotPanel one, GrowthFrame frame, string file)
    {
        if (one.Show == "sizes")
            return SizeChart.Of(one, frame, file);
        IReadOnlyList<GrowthLine> lines = LinesOf(one, frame);
        if (lines.Count == 0)
            return null;
        string metric = one.Y ?? (one.Show == "inserts" ? "documentRate" : "rate");
        Func<OperationResult, double> valueOf = metric switch
        {
            "documentRate" => static result => result.DocumentsPerSecond,
            "rate" => static result => result.OperationsPerSecond,
            "throughput" => static result => result.MegabytesPerSecond,
            _ when LatencyMetric.Find(metric) is { } latency => result => frame.Run.ValueOf(latency, result) ?? double.NaN,
            _ => throw new InvalidOperationException($"no metric '{metric}'"),
        };

        // By threads, then by the plan: a row of the legend for each number of threads.
        List<string> variants = [.. lines.OrderByDescending(line => line.Threads).Select(VariantOf).Distinct()];
        List<GrowthLine> ordered = [.. lines.OrderBy(line => variants.IndexOf(VariantOf(line)))];
        var table = new ChartTable(file, ["documents", .. ordered.Select(static line => $"{line.Label} {VariantOf(line)}")]);
        for (int step = 0; step < frame.Growth.Steps.Count; step++)
        {
            if (ordered.Exists(line => line.Results.ContainsKey(step)))
                table.Add([frame.Growth.Steps[step].Documents,
                    .. ordered.Select(line => line.Results.GetValueOrDefault(step) is { } result ? valueOf(result) : double.NaN)]);
        }

        Series[] series =
        [
            .. ordered.Select((line, i) => new Series(
                table, i + 1, variants.Count == 1 ? ChartText.TitleOf(line) : $"{line.Label}, {VariantOf(line)}", frame.ColorOf(line))
            {
                Dash = 1 + (variants.IndexOf(VariantOf(line)) % 5),
            }),
        ];
        bool isLatency = metric is not ("documentRate" or "rate" or "throughput");
        double[] values = [.. series.SelectMany(static line => line.Values)
            .Where(static value => value > 0 && double.IsFinite(value)).DefaultIfEmpty(1)];
        var panel = new Panel(
            one.TitleOr(TitleOf(metric)),
            isLatency ? AxisScale.OfLatency(values.Min(), values.Max()) : AxisScale.OfCount(table.Largest()), series);
        double megabytes = one.HasMegabytes ? BytesPerDocument(lines) / 1e6 ?? 0 : 0;
        return megabytes == 0 ? panel : panel with
        {
            Right = AxisScale.OfSecondAxis(panel.Y.Max * megabytes) with { Label = Words.Of("MB/s of documents (1 MB = 1,000,000 bytes)") },
        };
    }

    private static string TitleOf(string metric) => metric switch
    {
        "documentRate" => Words.Of("documents/s"),
        "rate" => Words.Of("operations/s"),
        "throughput" => Words.Of("MB/s of documents (1 MB = 1,000,000 bytes)"),
        _ => FigureMetric.Find(metric).TitleOf(false),
    };

    /// <summary>Names what tells lines of one operation apart: "8 threads", or "limit=10, 8 threads".</summary>
    private static string VariantOf(GrowthLine line) =>
        (line.Parameters.Length > 0 ? line.Parameters + ", " : "") + Words.Counted(line.Threads, "thread");

    /// <summary>Makes a chart with documents in the collection on the x-axis.</summary>
    /// <param name="run">The run in its subtitle.</param>
    /// <param name="documents">Where the axis ends.</param>
    /// <param name="crossings">Where data and indexes outgrow the cache, and files the memory limit: these places are marked.</param>
    /// <param name="name">The name of its files.</param>
    /// <param name="title">The title above the picture.</param>
    /// <param name="howToRead">A sentence for the report.</param>
    /// <param name="panels">The panels; at least one.</param>
    public static Chart OverDocuments(StoredRun run, double documents, IReadOnlyList<CacheCrossing> crossings, string name, string title,
        string howToRead, IReadOnlyList<Panel> panels) =>
        new(name, title, howToRead, AxisScale.OfDocuments(documents) with { Label = Words.Of("documents in the collection") }, panels)
        {
            Subtitle = ChartText.Subtitle(run), Marks = ChartText.Marks(crossings),
            // One for all of them, if they have the same lines.
            HasLegendAbove = panels.All(panel => panel.Series.All(line => panels[0].Series.Any(first => first.Title == line.Title))),
        };

    /// <summary>The mean size of the documents; null when the ways of inserting differ, so that one axis can't serve them all.</summary>
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
/// <param name="Suffix">The end of their names; empty for the first growth.</param>
/// <param name="Clause">A part of their titles, such as "as the collection grows".</param>
internal sealed record GrowthFrame(StoredRun Run, GrowthFigures Growth, string Suffix, string Clause)
{
    /// <summary>Makes the frames of all growths of a run.</summary>
    public static IEnumerable<GrowthFrame> Of(StoredRun run)
    {
        IReadOnlyList<GrowthFigures> growths = GrowthFigures.Of(run);
        return growths.Select((growth, i) =>
            new GrowthFrame(run, growth, GrowthCharts.SuffixOf(i),
                growths.Count == 1 ? Words.Of("as the collection grows") : Words.Of($"as {growth.Name} grows")));
    }

    public IReadOnlyList<CacheCrossing> Crossings { get; } = CacheCrossing.OfSizes(Growth, Run);

    /// <summary>The name of an operation's color, which is the same in all charts.</summary>
    public string ColorOf(GrowthLine line) => Palette.OfOperation(Growth.Labels.ToList().IndexOf(line.Label));
}
