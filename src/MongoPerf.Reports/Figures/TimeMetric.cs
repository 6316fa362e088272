using MongoPerf.Reports.Charts;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Reports.Figures;

/// <summary>
/// The metrics of figures over time: those of operations, servers and the client's machine, from the samples of each second.
/// </summary>
internal static class TimeMetric
{
    /// <summary>
    /// The sum and weight of a sample, as <see cref="TimeBuckets"/> takes them; latencies are <see cref="LatencyMetric"/>.
    /// </summary>
    private static readonly (string Name, Func<Sample, (double? Sum, double Weight)> Of)[] Operations =
    [
        ("rate", s => (s.Operations, s.Seconds)),
        ("perMinute", s => (s.Operations * 60, s.Seconds)),
        ("documentRate", s => (s.Documents, s.Seconds)),
        (Dimension.Documents, s => (s.CollectionDocuments, 1)),
    ];

    public static AllowedNames Names { get; } = LatencyMetric.AllowedWith(
    [
        .. Operations.Select(o => o.Name), .. LatencyMetric.Usual,
        .. MetricCatalogue.Server.Concat(MetricCatalogue.Host).Select(m => m.Name),
    ]);

    /// <summary>Whether a metric is of operations; false for those of servers and machine.</summary>
    public static bool IsOfOperations(string name) => LatencyMetric.Find(name) is not null || Operations.Any(o => o.Name == name);

    /// <summary>Whether samples must be read with their histograms.</summary>
    public static bool NeedsHistograms(IEnumerable<string> names) => names.Any(name => LatencyMetric.Find(name) is { IsStored: false });

    public static bool IsOfServer(string name) => MetricCatalogue.Server.Any(m => m.Name == name);

    /// <summary>Adds one sample to a column of its own.</summary>
    public static void Add(TimeBuckets buckets, int column, string name, Sample sample, double at)
    {
        (double? sum, double weight) = LatencyMetric.Find(name) is { } latency
            ? (latency.Of(sample), 1) : Operations.First(o => o.Name == name).Of(sample);
        if (sum is { } value)
            buckets.Add(at, column, value, weight);
    }

    /// <summary>Tells how a metric of servers or machine is read: bytes that are counted in MB/s, processor time in cores.</summary>
    public static ServerTimeline.Line LineOf(string name)
    {
        IReadOnlyList<Metric> catalogue = IsOfServer(name) ? MetricCatalogue.Server : MetricCatalogue.Host;
        Metric metric = catalogue[MetricCatalogue.IndexOf(catalogue, name)];
        double factor = (metric.Unit, metric.Kind) switch
        {
            ("bytes", MetricKind.Counter) or ("microseconds" or "core-microseconds", MetricKind.Counter) => 1e-6,
            ("megabytes", _) => 1024 * 1024,
            _ => 1,
        };
        return new ServerTimeline.Line(name, "", metric.Title, catalogue, [name], factor);
    }

    /// <summary>Makes the title at the axis.</summary>
    /// <param name="name">The metric's name.</param>
    /// <param name="hasRate">Operations were due at times of their own.</param>
    public static string TitleOf(string name, bool hasRate)
    {
        if (IsOfOperations(name))
            return FigureMetric.Find(name).TitleOf(hasRate);
        ServerTimeline.Line line = LineOf(name);
        string unit = (line.Catalogue[MetricCatalogue.IndexOf(line.Catalogue, name)].Unit, line.IsCounter) switch
        {
            ("bytes" or "megabytes", false) => "",
            ("bytes", true) => ", MB/s",
            ("microseconds" or "core-microseconds", true) => Words.Of(", cores"),
            (_, true) => "/s",
            ({ } other, false) => other == "count" ? "" : $", {other}",
        };
        return Words.Of(line.Title) + unit;
    }

    public static AxisScale ScaleOf(string name, double largest, int ticks)
    {
        bool isBytes = !IsOfOperations(name) && LineOf(name) is { IsCounter: false } line
            && line.Catalogue[MetricCatalogue.IndexOf(line.Catalogue, name)].Unit is "bytes" or "megabytes";
        return isBytes ? AxisScale.OfBytes(largest, ticks)
            : IsOfOperations(name) && FigureMetric.Find(name).IsPerOperation ? AxisScale.OfMicroseconds(largest, ticks)
            : AxisScale.OfCount(largest, ticks);
    }
}
