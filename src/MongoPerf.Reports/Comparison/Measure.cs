using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Reports.Comparison;

/// <summary>What is compared of an operation.</summary>
/// <param name="Latency">
/// A percentile: of response time where a rate was set, otherwise of the time from an operation's start to its reply; or of service time,
/// which stands beside response time and is not judged. Null for the rate: documents per second of inserts, operations per second of
/// others.
/// </param>
public sealed record Measure(LatencyMetric? Latency)
{
    public static Measure Rate { get; } = new(Latency: null);

    public static Measure P50 { get; } = new(LatencyMetric.Find("p50"));

    public static Measure P99 { get; } = new(LatencyMetric.Find("p99"));

    /// <summary>The percentiles that are judged unless others are named.</summary>
    public static IReadOnlyList<Measure> UsualPercentiles { get; } = [P50, P99];

    /// <summary>What names of percentiles may be.</summary>
    public static AllowedNames Names { get; } =
        LatencyMetric.AllowedWith([.. UsualPercentiles.Select(one => one.Name)], onlyReported: true);

    /// <summary>rate, p50, serviceP99.</summary>
    public string Name => Latency?.Name ?? "rate";

    /// <summary>p50, also of service time.</summary>
    public string Figure => Latency?.Figure ?? Name;

    public bool IsRate => Latency is null;

    public bool IsService => Latency is { Span: LatencySpan.Service };

    /// <summary>75 of p75; 0 for a rate.</summary>
    public double Percent => Latency?.Percent ?? 0;

    /// <summary>The percentile of service time where this is one of response time.</summary>
    private Measure OfService => new(LatencyMetric.Find($"serviceP{Name[1..]}"));

    /// <summary>The rate, these percentiles, and the same of service time.</summary>
    public static IReadOnlyList<Measure> With(IReadOnlyList<Measure> percentiles) =>
        [Rate, .. percentiles, .. percentiles.Select(one => one.OfService)];

    /// <param name="name">rate, or one of <see cref="Names"/>.</param>
    public static Measure Find(string name) => name == Rate.Name ? Rate : new Measure(LatencyMetric.Find(name));

    /// <summary>The percentiles that plots over ratio show.</summary>
    public static IEnumerable<Measure> PercentilesOf(IEnumerable<PlotInfo> plots) => plots
        .Where(static plot => plot.X == PlotLanguage.Ratio).SelectMany(static plot => plot.Panels)
        .Select(static panel => Find(panel.Show)).Where(static one => !one.IsRate);
}
