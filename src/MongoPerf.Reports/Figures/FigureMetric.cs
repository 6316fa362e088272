using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

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
/// <param name="Of">
/// Takes it from a run's phase and those of its operations that were chosen; null where it was not measured.
/// </param>
public sealed record FigureMetric(string Name, string Title, string Heading, MetricUnit Unit,
    Func<StoredRun, PhaseRecord, IReadOnlyList<OperationResult>, double?> Of)
{
    public static IReadOnlyList<FigureMetric> All { get; } =
    [
        new("rate", "operations/s", "ops/s", MetricUnit.PerSecond, (_, _, results) => Sum(results, r => r.OperationsPerSecond)),
        new("perMinute", "operations/min", "per minute", MetricUnit.PerMinute,
            (_, _, results) => Sum(results, r => r.OperationsPerSecond * 60)),
        new("documentRate", "documents/s", "docs/s", MetricUnit.PerSecond, (_, _, results) => Sum(results, r => r.DocumentsPerSecond)),
        .. LatencyMetric.Usual.Select(static name => OfLatency(LatencyMetric.Find(name)!)),
        new("seconds", "duration, s", "duration", MetricUnit.Seconds, (_, _, results) => results.Max(r => (double?)r.Seconds)),
        new(Dimension.Documents, "documents", "documents", MetricUnit.Count, (_, phase, _) => phase.DocumentsAtEnd()),
        Size("dataSize", "documents, uncompressed", "data", s => s.DataBytes),
        Size("storageSize", "documents, as stored", "storage", s => s.StorageBytes),
        Size("freeSize", "free space in the files", "free", s => s.FreeStorageBytes),
        Size("indexSize", "indexes, as stored", "indexes", s => s.IndexBytes),
        Size("totalSize", "documents and indexes", "total", s => s.StorageBytes + s.IndexBytes),
    ];

    /// <summary>Those of <see cref="All"/>, and any percentile.</summary>
    public static AllowedNames Names { get; } = LatencyMetric.AllowedWith([.. All.Select(m => m.Name)]);

    /// <summary>The figure of latencies that it is; null for any other metric.</summary>
    public LatencyMetric? Latency { get; private init; }

    /// <summary>Each operation has its own, and a phase's total has one.</summary>
    public bool IsPerOperation => Unit == MetricUnit.Microseconds;

    /// <summary>So much in a time: of several operations it is the sum, and more is better.</summary>
    public bool IsRate => Unit is MetricUnit.PerSecond or MetricUnit.PerMinute;

    /// <param name="hasRate">Operations were due at times of their own, so what is judged is their response time.</param>
    public string TitleOf(bool hasRate) => Latency is not { } latency ? Words.Of(Title) : latency.Span switch
    {
        LatencySpan.Service => Words.Of($"service time, {Heading}"),
        LatencySpan.Lateness => Words.Of($"lateness, {Heading}"),
        _ => hasRate ? Words.Of($"response time, {Words.Of(Heading)}") : Words.Of($"latency, {Words.Of(Heading)}"),
    };

    /// <inheritdoc cref="TitleOf"/>
    public string HeadingOf(bool hasRate) => Latency?.Span switch
    {
        LatencySpan.Service => "service " + Heading,
        LatencySpan.Lateness => "lateness " + Heading,
        LatencySpan.Reported when hasRate => "response " + Heading,
        _ => Heading,
    };

    /// <exception cref="InvalidOperationException">It is none of <see cref="Names"/>.</exception>
    public static FigureMetric Find(string name) => All.FirstOrDefault(m => m.Name == name)
        ?? OfLatency(LatencyMetric.Find(name) ?? throw new InvalidOperationException($"no metric '{name}'"));

    /// <summary>A name stands for one metric, however often it is made.</summary>
    public bool Equals(FigureMetric? other) => other?.Name == Name;

    public override int GetHashCode() => Name.GetHashCode(StringComparison.Ordinal);

    /// <summary>Writes a value for a table.</summary>
    public string Text(double? value) => Unit switch
    {
        MetricUnit.PerSecond or MetricUnit.PerMinute => Units.Rate(value),
        MetricUnit.Microseconds => Units.Latency(value),
        MetricUnit.Bytes => Units.Bytes(value),
        MetricUnit.Seconds => value is { } seconds ? Units.Duration(seconds) : Units.None,
        _ => value is { } count ? Units.Exact((long)count) : Units.None,
    };

    /// <summary>Adds up a metric of operations; null for a phase without any.</summary>
    private static double? Sum(IReadOnlyList<OperationResult> results, Func<OperationResult, double> of) =>
        results.Count == 0 ? null : results.Sum(of);

    private static FigureMetric OfLatency(LatencyMetric metric) => new(
        metric.Name, "latency", metric.Figure, MetricUnit.Microseconds,
        (run, _, results) => results.Count == 1 ? run.ValueOf(metric, results[0]) : null) { Latency = metric };

    /// <summary>Makes a metric of all collections whose sizes were taken; null where none were, or one has no such figure.</summary>
    private static FigureMetric Size(string name, string title, string heading, Func<SizeResult, long?> of) => new(
        name, title, heading, MetricUnit.Bytes,
        (_, phase, _) => phase.Sizes.Count == 0 || phase.Sizes.Any(s => of(s) is null) ? null : phase.Sizes.Sum(of));
}
