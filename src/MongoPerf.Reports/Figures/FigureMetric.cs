using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>What a metric is counted in, which decides axis and text.</summary>
public enum MetricUnit
{
    PerSecond,
    PerMinute,
    Microseconds,
    Seconds,
    Bytes,
    Count,
}

/// <summary>A figure of a phase's result that scenarios and plots can name.</summary>
/// <param name="Name">The name in scenarios and plots.</param>
/// <param name="Title">The title at an axis.</param>
/// <param name="Heading">The heading of a table's column.</param>
/// <param name="Unit">The unit of the value.</param>
/// <param name="Of">Takes it from a phase and those of its operations that were chosen; null where it was not measured.</param>
public sealed record FigureMetric(
    string Name, string Title, string Heading, MetricUnit Unit, Func<PhaseRecord, IReadOnlyList<OperationResult>, double?> Of)
{
    private const string Timed = "latency";

    public static IReadOnlyList<FigureMetric> All { get; } =
    [
        new("rate", "operations/s", "ops/s", MetricUnit.PerSecond, (_, results) => Sum(results, r => r.OperationsPerSecond)),
        new("perMinute", "operations/min", "per minute", MetricUnit.PerMinute,
            (_, results) => Sum(results, r => r.OperationsPerSecond * 60)),
        new("documentRate", "documents/s", "docs/s", MetricUnit.PerSecond, (_, results) => Sum(results, r => r.DocumentsPerSecond)),
        Latency("mean", l => l.Mean),
        Latency("min", l => l.Min),
        Latency("max", l => l.Max),
        Latency("p50", l => l.P50),
        Latency("p95", l => l.P95),
        Latency("p99", l => l.P99),
        Other("serviceP50", "service time, p50", "service p50", r => r.LatencyMicroseconds.P50),
        Other("serviceP99", "service time, p99", "service p99", r => r.LatencyMicroseconds.P99),
        Other("latenessP50", "lateness, p50", "lateness p50", r => r.LatenessMicroseconds?.P50),
        Other("latenessP99", "lateness, p99", "lateness p99", r => r.LatenessMicroseconds?.P99),
        new("seconds", "duration, s", "duration", MetricUnit.Seconds, (_, results) => results.Max(r => (double?)r.Seconds)),
        new(Dimension.Documents, "documents", "documents", MetricUnit.Count, (phase, _) => phase.DocumentsAtEnd()),
        Size("dataSize", "documents, uncompressed", "data", s => s.DataBytes),
        Size("storageSize", "documents, as stored", "storage", s => s.StorageBytes),
        Size("freeSize", "free space in the files", "free", s => s.FreeStorageBytes),
        Size("indexSize", "indexes, as stored", "indexes", s => s.IndexBytes),
        Size("totalSize", "documents and indexes", "total", s => s.StorageBytes + s.IndexBytes),
    ];

    public static IReadOnlyList<string> Names { get; } = [.. All.Select(m => m.Name)];

    /// <summary>Each operation has its own, and a phase's total has one.</summary>
    public bool IsPerOperation => Unit == MetricUnit.Microseconds;

    /// <summary>So much in a time: of several operations it is the sum, and more is better.</summary>
    public bool IsRate => Unit is MetricUnit.PerSecond or MetricUnit.PerMinute;

    /// <param name="hasRate">Operations were due at times of their own, so what is judged is their response time.</param>
    public string TitleOf(bool hasRate) =>
        Words.Of(hasRate && Title.StartsWith(Timed, StringComparison.Ordinal) ? "response time" + Title[Timed.Length..] : Title);

    /// <inheritdoc cref="TitleOf"/>
    public string HeadingOf(bool hasRate) =>
        hasRate && Title.StartsWith(Timed, StringComparison.Ordinal) ? "response " + Heading : Heading;

    public static FigureMetric Find(string name) => All.First(m => m.Name == name);

    /// <summary>Writes a value for a table.</summary>
    public string Text(double? value) => Unit switch
    {
        MetricUnit.PerSecond or MetricUnit.PerMinute => Units.Rate(value),
        MetricUnit.Microseconds => Units.Latency(value),
        MetricUnit.Bytes => Units.Bytes(value),
        MetricUnit.Seconds => value is { } seconds ? Units.Duration(TimeSpan.FromSeconds(seconds)) : Units.None,
        _ => value is { } count ? Units.Exact((long)count) : Units.None,
    };

    /// <summary>Adds up a metric of operations; null for a phase without any.</summary>
    private static double? Sum(IReadOnlyList<OperationResult> results, Func<OperationResult, double> of) =>
        results.Count == 0 ? null : results.Sum(of);

    private static FigureMetric Latency(string name, Func<LatencySummary, double?> of) =>
        Other(name, $"{Timed}, {name}", name, r => of(r.ReportedMicroseconds));

    private static FigureMetric Other(string name, string title, string heading, Func<OperationResult, double?> of) =>
        new(name, title, heading, MetricUnit.Microseconds, (_, results) => results.Count == 1 ? of(results[0]) : null);

    /// <summary>Makes a metric of all collections whose sizes were taken; null where none were, or one has no such figure.</summary>
    private static FigureMetric Size(string name, string title, string heading, Func<SizeResult, long?> of) => new(
        name, title, heading, MetricUnit.Bytes,
        (phase, _) => phase.Sizes.Count == 0 || phase.Sizes.Any(s => of(s) is null) ? null : phase.Sizes.Sum(of));
}
