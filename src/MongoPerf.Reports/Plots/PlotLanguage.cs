using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Histories;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Reports.Plots;

/// <summary>
/// Every key of a plot file, with what it takes and what it means: reader, messages and plots/schema.json go by it. A plot may have all
/// keys of a scenario's figure.
/// </summary>
internal static class PlotLanguage
{
    public const string Time = "time";
    public const string Documents = "documents";
    public const string Filled = "filled";
    public const string Inserting = "inserting";
    public const string Lap = "lap";
    public const string Restart = "restart";

    /// <summary>The axis of ratios between compared runs.</summary>
    public const string Ratio = "ratio";

    /// <summary>The axis of what the results of an operation on compared runs stand at: sizes, repeats, runs or seconds.</summary>
    public const string Window = "window";

    /// <summary>The axis of runs of one scenario, in the order in which they ran.</summary>
    public const string History = "history";

    /// <summary>This name stands for all of <see cref="ServerPanels"/>.</summary>
    public const string Servers = "servers";

    /// <summary>This name stands for all of <see cref="ShardPanels"/>.</summary>
    public const string Shards = "shards";

    /// <summary>This name stands for a panel of each operation, in rows and columns.</summary>
    public const string Percentiles = "percentiles";

    /// <summary>This name stands for a panel of each operation, one below the other.</summary>
    public const string Rates = "rates";

    /// <summary>Latencies over time, or of an operation on compared runs.</summary>
    public const string Latency = "latency";

    /// <summary>The axes of plots that have panels, what they are, and what can be shown on them.</summary>
    public static IReadOnlyList<(string Name, string Description, AllowedNames Shows)> Axes { get; } =
    [
        (Time, "the whole run", new(["inserts", "operations", Latency, Servers, .. ServerPanels, Shards, .. ShardPanels])),
        (Documents, "documents in a growing collection", new(["inserts", "queries", "sizes", Percentiles])),
        (Filled, "documents in a collection that other phases fill", new(["sizes"])),
        (Inserting, "the time spent inserting", new([Rates])),
        (Lap, "laps of a phase's tasks", new(["laps"])),
        (Restart, "the time since a server was started again", new(["operations", "cache", "cache-read", "page-faults"])),
        (Ratio, "the candidates of a comparison relative to its baseline",
            LatencyMetric.AllowedWith(["rate", "p50", "p99"], onlyReported: true)),
        (Window, "sizes, repeats, runs or seconds of each operation of a comparison", new(["rate", Latency])),
        (History, "runs of one scenario, one after the other", HistoryMetric.Names),
    ];

    public static IReadOnlyList<string> ServerPanels =>
    [
        "cache", "disk", "cache-io", "page-faults", "cpu", "memory", "in-progress", "flow-control", "write-conflicts", "shards-asked",
        "replication-lag", "replication-majority-lag", "replication-oplog-window", "replication-term",
    ];

    public static IReadOnlyList<string> ShardPanels =>
    [
        "shard-documents", "shard-chunks", "shard-orphans", "shard-operations", "shard-documents-sent", "shard-critical-section",
        "shard-range-deletions-due", "shard-range-deleted",
    ];

    /// <summary>The metrics by which inserts and queries can be drawn over documents.</summary>
    public static AllowedNames GrowthMetrics { get; } =
        LatencyMetric.AllowedWith(["documentRate", "rate", "throughput", "mean", "p50", "p95", "p99", "max"]);

    /// <summary>The lines that latencies over windows can have, by their names in <c>lines</c>.</summary>
    public static AllowedNames WindowLines { get; } =
        LatencyMetric.AllowedWith(["p50", "p95", "p99", "p999", "max"], onlyReported: true);

    /// <summary>The lines that percentiles over documents can have, by their names in <c>lines</c>; service where a rate was set.</summary>
    public static AllowedNames PercentileLines { get; } = LatencyMetric.AllowedWith([.. UsualPercentiles, Service], onlyReported: true);

    /// <summary>The lines that percentiles over documents have by themselves, beside <see cref="Service"/>.</summary>
    public static IReadOnlyList<string> UsualPercentiles => ["p50", "p95", "p99", "p999"];

    /// <summary>The line of service time beside response times.</summary>
    public const string Service = "service";

    /// <summary>Shaded stretches of time, and the kinds of bands that each has.</summary>
    public static IReadOnlyList<(string Name, IReadOnlyList<string> Kinds)> Bands { get; } =
    [
        ("migrations", ["migration", "migration_failed", "resharding"]), ("index-builds", ["index_build"]), ("outages", ["outage"]),
        ("other-programs", ["others"]),
    ];

    public static IReadOnlyList<string> BandNames { get; } = [.. Bands.Select(static band => band.Name)];

    /// <summary>The values of the key runs, by <see cref="PlotRuns"/>.</summary>
    public static IReadOnlyList<string> Runs { get; } = ["one", "several", "any"];

    public static KeySet Panel { get; } = new("panel", "Lines that share an axis of values.",
    [
        new("show", KeyKind.Text, "What it takes its lines from, such as operations or cpu."),
        new("y", KeyKind.Text, "Of inserts and queries over documents, the metric [default: documentRate of inserts, rate of queries]."),
        new("megabytes", KeyKind.Flag, "Of inserts over documents, MB/s along the right [default: false]."),
        new("title", KeyKind.Text, "Label of the axis of values, unit included [default: what the panel shows, with its unit]."),
        new("lines", KeyKind.Texts,
            "Only these lines, by their names in the legend, such as [q4 p50, q4 p99]; over time also those that the "
            + "interactive page shows only when asked; of percentiles, and of latency over windows, any percentile, such as [p50, p9999]."),
    ]);

    public static KeySet File { get; } = new("plot", "A chart of stored runs for MongoPerf.",
    [
        new("description", KeyKind.Text, "A sentence for lists."),
        new("place", KeyKind.Number, "Its place in a report: lower numbers come first [default: last]."),
        new("runs", KeyKind.Text, "What it is drawn of: reports of one run, comparisons of several, or any of them "
            + "[default: several over ratio, window and history, any with y, otherwise one].") { Allowed = Runs },
        new("title", KeyKind.Text, "Title above the chart; {growth}, {collection}, {phase}, {length}, {operation}, {threads} and "
            + "{scenario} stand for what a run has there."),
        new("read", KeyKind.Text, "How to read it, for the report."),
        new("x", KeyKind.Text,
            $"The x-axis. With panels: {string.Join(", ", Axes.Select(static axis => $"{axis.Name} ({axis.Description})"))}. "
            + "With y: as in figures of scenarios."),
        new("panels", KeyKind.Values, "Panels from the top, each by what it shows, or as a mapping.", Panel),
        new("needs", KeyKind.Texts, "Draw it only where one of these panels is there [default: any of its panels]."),
        new("marks", KeyKind.Flag, "Marks events, pauses, and where data outgrow the cache [default: true]."),
        new("bands", KeyKind.Texts, $"What is shaded over time: {string.Join(", ", BandNames)} [default: all]."),
        .. FigureLanguage.Figure.Keys.Where(static key => key.Name is not ("title" or "x")),
    ]);

    /// <summary>The keys that belong to y and that a plot with panels can't have.</summary>
    public static IReadOnlyList<string> KeysOfY { get; } =
        [.. FigureLanguage.Figure.Keys.Select(static key => key.Name).Where(static name => name is not ("title" or "x" or "y"))];

    /// <exception cref="InvalidOperationException">No axis has that name.</exception>
    public static AllowedNames ShowsOn(string axis) => Axes.First(one => one.Name == axis).Shows;
}
