using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// Draws what documents and indexes take up against documents in the collection: of a growth, and of collections that other phases fill.
/// </summary>
internal static class SizeChart
{
    private const string DataFolder = "disk";

    /// <summary>
    /// A data folder so many times as large as all else in it would press the other lines to the ground: an empty server's journal alone
    /// takes 300 MB.
    /// </summary>
    private const double FarOff = 4;

    private static readonly (string Key, string Title, Func<SizeResult, long?> Of)[] Lines =
    [
        (DataFolder, "data folder on disk", static size => size.DiskBytes),
        ("data", "documents, uncompressed", static size => size.DataBytes),
        ("storage", "documents, as stored", static size => size.StorageBytes),
        ("index", "indexes, as stored", static size => size.IndexBytes),
    ];

    /// <summary>Makes the panel of a growth; null when no sizes were taken.</summary>
    public static Panel? Of(PlotPanel wanted, GrowthFrame frame, string file) =>
        frame.Growth.Sizes.Count == 0 ? null : Drawn(wanted, PanelOf(frame.Run, file, frame.Growth.Sizes));

    /// <summary>Makes a chart of each collection whose size is known with several numbers of documents in it.</summary>
    public static IEnumerable<Chart> OfFilled(StoredRun run, OperationSeconds seconds, PlotInfo plot)
    {
        FilledCollection[] filled = [.. FilledCollection.Of(run, seconds).Where(static collection => collection.Sizes.Count > 1)];
        return filled.Select((collection, i) => Build(
            run, plot, plot.Name + (i == 0 ? "" : $"-{i + 1}"),
            filled.Length > 1 && collection.Name is { } name ? name : Words.Of("the collection"),
            collection.Sizes)).OfType<Chart>();
    }

    private static Chart? Build(
        StoredRun run, PlotInfo plot, string name, string collection, IReadOnlyList<(long Documents, SizeResult Sizes)> sizes)
    {
        Panel own = PanelOf(run, name + ".csv", sizes);
        Panel[] panels = [.. plot.Panels.Select(one => Drawn(one, own)).OfType<Panel>()];
        IReadOnlyList<CacheCrossing> crossings =
            plot.HasMarks ? CacheCrossing.Find(sizes, run.Deployment?.AllCacheBytes, CacheCrossing.MemoryOf(run)) : [];
        return panels.Length == 0 ? null
            : GrowthCharts.OverDocuments(
                run, sizes[^1].Documents, crossings, name, plot.TitleWith(("collection", collection)), plot.Reading, panels);
    }

    /// <summary>What a plot draws of a panel: the lines that it names, or the usual ones.</summary>
    private static Panel? Drawn(PlotPanel wanted, Panel own) =>
        wanted.Of(own) is { } panel ? panel with { Series = [.. panel.Series.Where(static one => one.IsShown)] } : null;

    private static Panel PanelOf(StoredRun run, string file, IReadOnlyList<(long Documents, SizeResult Sizes)> sizes)
    {
        var kept = Lines.Where(line => sizes.Any(one => line.Of(one.Sizes) is not null)).ToList();
        var table = new ChartTable(file, ["documents", .. kept.Select(static line => line.Key)]);
        foreach ((long at, SizeResult size) in sizes)
            table.Add([at, .. kept.Select(line => (double?)line.Of(size) ?? double.NaN)]);

        long cache = run.Deployment?.AllCacheBytes ?? 0;
        Series[] series = [.. kept.Select((line, i) => new Series(table, i + 1, Words.Of(line.Title), line.Key))];
        double ofOthers = series.Where(static one => one.Color != DataFolder).Select(static one => one.Largest).DefaultIfEmpty(0).Max();
        bool showsFolder = ofOthers == 0 || table.Largest() <= FarOff * ofOthers;
        series = [.. series.Select(one => one with { IsShown = showsFolder || one.Color != DataFolder })];
        double largest = series.Where(static one => one.IsShown).Select(static one => one.Largest).DefaultIfEmpty(0).Max();
        // A limit far above everything measured would press the lines into the bottom.
        bool showsLimit = cache > 0 && cache <= largest * 3;
        return new Panel(Words.Of("size"), ScaleOf(largest), series)
        {
            ScaleOf = ScaleOf,
            Limit = showsLimit ? (cache, Words.Of($"cache limit\n{Units.BinaryBytes(cache)}")) : null,
        };

        AxisScale ScaleOf(double most) => AxisScale.OfBytes(showsLimit ? Math.Max(most, cache) : most);
    }
}
