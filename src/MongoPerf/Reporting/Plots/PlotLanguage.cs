using MongoPerf.Reporting.Figures;
using MongoPerf.Scenarios;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Reporting.Plots;

/// <summary>
/// Every key of a plot file, with what it takes and what it means. What a figure of a scenario may have, a plot may have too.
/// </summary>
internal static class PlotLanguage
{
    public const string Time = "time";
    public const string Documents = "documents";
    public const string Filled = "filled";
    public const string Inserting = "inserting";
    public const string Lap = "lap";
    public const string Restart = "restart";

    /// <summary>Each stands for several panels.</summary>
    public const string Servers = "servers";
    public const string Shards = "shards";

    /// <summary>A panel of each operation, in rows and columns.</summary>
    public const string Percentiles = "percentiles";

    /// <summary>Axes of plots that have panels, what they are, and what can be shown on them.</summary>
    public static IReadOnlyList<(string Name, string Description, IReadOnlyList<string> Shows)> Axes { get; } =
    [
        (Time, "the whole run", ["inserts", "operations", "latency", Servers, .. ServerPanels, Shards, .. ShardPanels]),
        (Documents, "documents in a growing collection", ["inserts", "queries", "sizes", Percentiles]),
        (Filled, "documents in a collection that other phases fill", ["sizes"]),
        (Inserting, "the time spent inserting", ["rates"]),
        (Lap, "laps of a phase's tasks", ["laps"]),
        (Restart, "the time since a server was started again", ["operations", "cache", "cache-read", "page-faults"]),
    ];

    public static IReadOnlyList<string> ServerPanels => ["cache", "disk", "cache-io", "page-faults", "cpu", "memory", "in-progress"];

    public static IReadOnlyList<string> ShardPanels => ["shard-documents", "shard-chunks", "shard-orphans", "shard-operations"];

    /// <summary>What inserts and queries can be drawn by over documents.</summary>
    public static IReadOnlyList<string> GrowthMetrics { get; } = ["documentRate", "rate", "throughput", "mean", "p50", "p95", "p99", "max"];

    /// <summary>Shaded stretches of time, and the kinds of bands that each has.</summary>
    public static IReadOnlyList<(string Name, IReadOnlyList<string> Kinds)> Bands { get; } =
        [("migrations", ["migration", "migration_failed"]), ("index-builds", ["index_build"]), ("outages", ["outage"]), ("other-programs", ["others"])];

    public static KeySet Panel { get; } = new("panel", "Lines that share an axis of values.",
    [
        new("show", KeyKind.Text, "What it takes its lines from, such as operations or cpu."),
        new("y", KeyKind.Text, "Of inserts and queries over documents, what they are drawn by [default: documentRate of inserts, rate of queries].") { Allowed = GrowthMetrics },
        new("megabytes", KeyKind.Flag, "Of inserts over documents, MB/s along the right [default: false]."),
        new("title", KeyKind.Text, "Beside the axis, in place of its own."),
        new("lines", KeyKind.Texts, "Only these lines, by their names in the legend, such as [q4 p50, q4 p99]; over time also those that the interactive page shows only when asked."),
    ]);

    public static KeySet File { get; } = new("plot", "A chart of stored runs for MongoPerf.",
    [
        new("description", KeyKind.Text, "A sentence for lists."),
        new("place", KeyKind.Number, "Its place in a report: lower ones come first [default: last]."),
        new("title", KeyKind.Text, "Title above the chart; {growth}, {collection}, {phase} and {length} stand for what a run has there."),
        new("read", KeyKind.Text, "How to read it, for the report."),
        new("x", KeyKind.Text, $"The x-axis. With panels: {string.Join(", ", Axes.Select(axis => $"{axis.Name} ({axis.Description})"))}. With y: as in figures of scenarios."),
        new("panels", KeyKind.Values, "Panels from the top, each by what it shows, or as a mapping.", Panel),
        new("needs", KeyKind.Texts, "Draw it only where one of these panels is there [default: any of its panels]."),
        new("marks", KeyKind.Flag, "Marks events, pauses, and where data outgrow the cache [default: true]."),
        new("bands", KeyKind.Texts, $"What is shaded over time: {string.Join(", ", Bands.Select(band => band.Name))} [default: all]."),
        .. ScenarioLanguage.Figure.Keys.Where(key => key.Name is not ("title" or "x")),
    ]);

    /// <exception cref="InvalidOperationException">No axis has that name.</exception>
    public static IReadOnlyList<string> ShowsOn(string axis) => Axes.First(one => one.Name == axis).Shows;

    /// <summary>What x may be beside parameters, in a plot with y.</summary>
    public static IReadOnlyList<string> Dimensions { get; } =
        [Dimension.Threads, Dimension.Clients, Dimension.Documents, Dimension.Time, Dimension.Deployment, Dimension.Phase, Dimension.Operation];
}
