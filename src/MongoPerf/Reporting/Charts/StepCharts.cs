using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Charts with documents in the collection below and one point per step.</summary>
internal static class StepCharts
{
    private const double PlotShare = 0.9;
    private const double LegendWidth = 1430;
    private const double LegendCharacterWidth = 9.9;
    private const double LegendLineWidth = 75;

    /// <summary>A test, with its thread count where the run has several.</summary>
    private sealed record Series(string Test, int Threads, string Title, int Dash)
    {
        public TestResult? In(StepResult step) => step.Tests.FirstOrDefault(result => result.Test == Test && result.Threads == Threads);
    }

    public static Chart? InsertRate(StoredRun run)
    {
        var chart = Build(run, "insert-rate", "Insert rate as the collection grows", "documents/s", ChartText.InsertTests,
            static result => result.DocumentsPerSecond,
            "Each point is one test of one step; further right the collection is larger. A flat line means that growth costs nothing.");
        if (chart is null)
            return null;

        double? megabytes = BytesPerDocument(run) / 1e6;
        double yMax = AxisScale.OfCount(chart.Tables[0].Largest()).Max;
        chart.Settings.Set("y2_per_y", megabytes ?? 0)
            .Set("y2_label", "MB/s of documents (1 MB = 1,000,000 bytes)")
            .Set("y2_tics", megabytes is null ? "" : AxisScale.OfSecondAxis(yMax * megabytes.Value).Tics);
        return chart;
    }

    public static Chart? QueryRate(StoredRun run) =>
        WithoutSecondAxis(Build(run, "query-rate", "Query rate as the collection grows", "operations/s", ChartText.QueryTests,
            static result => result.OperationsPerSecond,
            "Whole queries answered per second, all threads together. A line that bends down shows a query that suffers from size."));

    public static Chart? QueryThroughput(StoredRun run) =>
        WithoutSecondAxis(Build(run, "query-throughput", "Query throughput as the collection grows", "MB/s of documents (1 MB = 1,000,000 bytes)",
            ChartText.QueryTests, static result => result.MegabytesPerSecond,
            "The same queries counted in bytes of documents received; the tests return different amounts, so this is where they can be compared with a network or a disk."));

    public static Chart? Size(StoredRun run)
    {
        var steps = run.Steps.Where(static step => step.Sizes is not null).ToList();
        if (steps.Count == 0)
            return null;

        (string Key, string Title, Func<SizeResult, long?> Of)[] all =
        [
            ("disk", "data folder on disk", static size => size.DiskBytes),
            ("data", "documents, uncompressed", static size => size.DataBytes),
            ("storage", "documents, as stored", static size => size.StorageBytes),
            ("index", "indexes, as stored", static size => size.IndexBytes),
        ];
        var kept = all.Where(line => steps.Exists(step => line.Of(step.Sizes!) is not null)).ToList();
        var table = new ChartTable("size.dat", ["documents", .. kept.Select(static line => line.Key)]);
        foreach (var step in steps)
            table.Add([step.Sizes!.Documents, .. kept.Select(line => (double?)line.Of(step.Sizes) ?? double.NaN)]);

        long cache = run.Deployment?.AllCacheBytes ?? 0;
        double largest = table.Largest();
        // A limit far above everything measured would press the lines into the bottom.
        bool showsLimit = cache > 0 && cache <= largest * 3;
        var settings = Head(run, "size", "Size of data and indexes", "size", table, LargestDocuments(run))
            .SetAxis("y", AxisScale.OfBytes(showsLimit ? Math.Max(largest, cache) : largest))
            .Set("y2_tics", "");
        if (showsLimit)
            settings.Set("limit", cache).Set("limit_label", $"cache limit\n{Units.BinaryBytes(cache)}");
        Legend(settings, kept.Select(static line => line.Title).ToList(), kept.Select(static line => line.Key).ToList(), kept.Select(static _ => 1.0).ToList());
        return new Chart("size", "Size of data and indexes", "What the documents and their indexes occupy; beyond the server's cache limit, reads may need the disk.", settings, [table]);
    }

    /// <summary>Largest collection of the run, which ends the x axis of every chart over documents.</summary>
    public static double LargestDocuments(StoredRun run) => run.Steps.Select(static step => (double)step.Documents).DefaultIfEmpty(0).Max();

    /// <summary>Where data and indexes outgrow the cache, as marks.</summary>
    public static IReadOnlyList<PlacedMark> CacheMarks(StoredRun run, double xMax) => PlacedMark.Place(
        CacheCrossing.Find(run.Steps, run.Deployment?.AllCacheBytes).Select(static crossing => (crossing.Documents, ChartText.CrossingText(crossing))),
        xMax, PlotShare, 2);

    private static Chart? Build(
        StoredRun run, string name, string title, string yLabel, List<string> tests, Func<TestResult, double> valueOf, string howToRead)
    {
        var series = SeriesOf(run, tests);
        if (series.Count == 0)
            return null;

        var table = new ChartTable(name + ".dat", ["documents", .. series.Select(static one => $"{one.Test} {one.Threads}")]);
        foreach (var step in run.Steps.Where(step => series.Exists(one => one.In(step) is not null)))
            table.Add([step.Documents, .. series.Select(one => one.In(step) is { } result ? valueOf(result) : double.NaN)]);

        string threads = series.Select(static one => one.Threads).Distinct().Count() == 1 ? $", {ChartText.ThreadsText(series[0].Threads)}" : "";
        var settings = Head(run, name, title + threads, yLabel, table, LargestDocuments(run)).SetAxis("y", AxisScale.OfCount(table.Largest()));
        Legend(
            settings, series.Select(static one => one.Title).ToList(), series.Select(static one => one.Test).ToList(),
            series.Select(static one => (double)one.Dash).ToList());
        return new Chart(name, title + threads, howToRead, settings, [table]);
    }

    private static List<Series> SeriesOf(StoredRun run, List<string> tests)
    {
        var present = run.Steps.SelectMany(static step => step.Tests)
            .Where(result => tests.Contains(result.Test))
            .Select(static result => (result.Test, result.Threads))
            .Distinct()
            .OrderByDescending(static one => one.Threads)
            .ThenBy(one => tests.IndexOf(one.Test))
            .ToList();
        var threadCounts = present.Select(static one => one.Threads).Distinct().ToList();
        return present.ConvertAll(one => new Series(
            one.Test,
            one.Threads,
            ChartText.SeriesTitle(run.Settings, one.Test, threadCounts.Count > 1 ? one.Threads : null),
            1 + (threadCounts.IndexOf(one.Threads) % 5)));
    }

    private static GnuplotSettings Head(StoredRun run, string name, string title, string yLabel, ChartTable table, double largestDocuments)
    {
        var x = AxisScale.OfDocuments(largestDocuments);
        return new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", name)
            .Set("data", table.FileName)
            .Set("title", title)
            .Set("subtitle", ChartText.Subtitle(run))
            .SetAxis("x", x)
            .Set("y_label", yLabel)
            .Set("point_size", table.Rows.Count > 40 ? 0.6 : 1.2)
            .SetMarks(CacheMarks(run, x.Max));
    }

    private static void Legend(GnuplotSettings settings, List<string> titles, List<string> colors, List<double> dashes)
    {
        int fitting = (int)(LegendWidth / (LegendLineWidth + (titles.Max(static title => title.Length) * LegendCharacterWidth)));
        // Series come ordered by threads, then tests: as many columns as tests puts a thread count into each row.
        int tests = colors.Distinct().Count();
        int columns = Math.Clamp(Math.Min(fitting, tests), 1, titles.Count);
        settings.Set("series_count", titles.Count)
            .SetArray("series_title", titles)
            .SetArray("series_color", colors)
            .SetArray("series_dash", dashes)
            .Set("legend_columns", columns)
            .Set("legend_rows", (titles.Count + columns - 1) / columns);
    }

    private static Chart? WithoutSecondAxis(Chart? chart)
    {
        chart?.Settings.Set("y2_tics", "");
        return chart;
    }

    /// <summary>Null when the tests differ, so that one axis can't serve them all.</summary>
    private static double? BytesPerDocument(StoredRun run)
    {
        var ratios = run.Steps.SelectMany(static step => step.Tests)
            .Where(static result => ChartText.InsertTests.Contains(result.Test) && result.DocumentsPerSecond > 0 && result.MegabytesPerSecond > 0)
            .Select(static result => result.MegabytesPerSecond * 1e6 / result.DocumentsPerSecond)
            .ToList();
        return ratios.Count > 0 && ratios.Max() <= ratios.Min() * 1.02 ? ratios.Average() : null;
    }
}
