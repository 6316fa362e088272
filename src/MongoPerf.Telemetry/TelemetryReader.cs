using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Telemetry;

/// <summary>A value of a metric.</summary>
/// <param name="Metric">Which.</param>
/// <param name="Attributes">What tells it from the metric's other values.</param>
/// <param name="Value">In the metric's unit; of a histogram nothing.</param>
public sealed record TelemetryPoint(TelemetryMetric Metric, IReadOnlyList<KeyValuePair<string, object?>> Attributes, double Value)
{
    /// <summary>Of a histogram all values since the run began; otherwise null.</summary>
    public LatencyHistogram? Latencies { get; init; }
}

/// <summary>A run as it was at a look.</summary>
/// <param name="Resource">What it is that the values are of: run, scenario, server.</param>
/// <param name="Points">Ordered by metric as they came.</param>
public sealed record TelemetrySnapshot(IReadOnlyList<KeyValuePair<string, object>> Resource, IReadOnlyList<TelemetryPoint> Points);

/// <summary>
/// Looks at a run's folder again and again, and adds up what is new: it asks nothing of the process that measures. One thread.
/// </summary>
/// <param name="folder">Of the run.</param>
public sealed class TelemetryReader(string folder)
{
    /// <summary>An operation without a sample for so long is not under way.</summary>
    private const long StillAfterMilliseconds = 3000;

    private readonly Dictionary<Source, Total> _totals = [];
    private readonly Dictionary<string, MetricSample> _servers = [];
    private MetricSample? _host;
    private RunPosition _position;

    /// <summary>An operation of a phase, whatever the size of a growth.</summary>
    private sealed record Source(string Phase, string Parameters, string Operation);

    private sealed class Total
    {
        public long Operations { get; set; }

        public long Documents { get; set; }

        public long Bytes { get; set; }

        public long Failed { get; set; }

        public Sample? Last { get; set; }

        public LatencyHistogram Latencies { get; } = new();
    }

    /// <summary>Everything that the run has stored. Looking again at a run that stored nothing meanwhile gives the same.</summary>
    /// <exception cref="RunStoreException">The folder can't be read.</exception>
    public TelemetrySnapshot Look()
    {
        using StoredRun run = StoredRun.OpenFrom(folder, _position);
        if (run.End.IsBehind(_position))
        {
            // A phase began anew, and its rows are gone.
            _position = default;
            _totals.Clear();
            return Look();
        }

        ILookup<int, PhaseRecord> phases = run.Phases.ToLookup(phase => phase.Number);
        foreach (Sample sample in run.ReadSamples(withHistograms: true))
            Add(sample, phases[sample.Phase].FirstOrDefault());
        foreach (MetricSample sample in run.ReadServerSamples())
            _servers[sample.Member] = sample;
        _host = run.ReadHostSamples().LastOrDefault() ?? _host;
        _position = run.End;
        return new TelemetrySnapshot(ResourceOf(run), [.. Points(run)]);
    }

    private void Add(Sample sample, PhaseRecord? phase)
    {
        var source = new Source(
            phase?.Phase ?? "", string.Join(", ", (phase?.Parameters ?? []).Select(one => $"{one.Name}={one.Value}")), sample.Operation);
        if (!_totals.TryGetValue(source, out Total? total))
            _totals[source] = total = new Total();
        total.Operations += sample.Operations;
        total.Documents += sample.Documents;
        total.Bytes += sample.Bytes;
        total.Failed += sample.Failed;
        total.Last = sample;
        if (sample.ReportedHistogram.IsEmpty)
            return;
        try
        {
            HistogramEncoding.DecodeInto(total.Latencies, sample.ReportedHistogram.Span);
        }
        catch (HistogramFormatException)
        {
            // The latencies of that second are damaged; the rest is right.
        }
    }

    private IEnumerable<TelemetryPoint> Points(StoredRun run)
    {
        bool isActive = run is { Run.State: RunState.Running, IsAborted: false };
        yield return new TelemetryPoint(TelemetryMetric.Active, [], isActive ? 1 : 0);
        foreach ((Source source, Total total) in _totals)
        {
            KeyValuePair<string, object?>[] attributes =
            [
                KeyValuePair.Create("mongoperf.phase", (object?)source.Phase),
                KeyValuePair.Create("db.operation.name", (object?)source.Operation),
                .. source.Parameters.Length == 0 ? Array.Empty<KeyValuePair<string, object?>>()
                    : [KeyValuePair.Create("mongoperf.parameters", (object?)source.Parameters)],
            ];
            bool isUnderWay = isActive && total.Last is { Seconds: > 0 } last
                && last.AtMilliseconds > run.End.AtMilliseconds - StillAfterMilliseconds;
            yield return new TelemetryPoint(TelemetryMetric.Duration, attributes, 0) { Latencies = total.Latencies };
            yield return new TelemetryPoint(TelemetryMetric.Operations, attributes, total.Operations);
            yield return new TelemetryPoint(
                TelemetryMetric.Rate, attributes, isUnderWay ? total.Last!.Operations / total.Last.Seconds : 0);
            yield return new TelemetryPoint(TelemetryMetric.Errors, attributes, total.Failed);
            yield return new TelemetryPoint(TelemetryMetric.Documents, attributes, total.Documents);
            yield return new TelemetryPoint(TelemetryMetric.DocumentBytes, attributes, total.Bytes);
        }

        if (_totals.Values.Select(total => total.Last).MaxBy(sample => sample?.AtMilliseconds) is { } newest)
            yield return new TelemetryPoint(TelemetryMetric.CollectionDocuments, [], newest.CollectionDocuments);
        foreach (MetricSample sample in _servers.Values)
        {
            foreach (TelemetryPoint point in Sampled(SampledMetric.Server, sample, AddressOf(sample.Member)))
                yield return point;
        }

        foreach (TelemetryPoint point in _host is null ? [] : Sampled(SampledMetric.Host, _host, []))
            yield return point;
    }

    private static IEnumerable<TelemetryPoint> Sampled(
        IReadOnlyList<SampledMetric> metrics, MetricSample sample, KeyValuePair<string, object?>[] attributes) =>
        metrics.Zip(sample.Values).Where(one => double.IsFinite(one.Second)).Select(one => new TelemetryPoint(
            one.First.Metric, one.First.Attribute is { } own ? [.. attributes, own] : attributes, one.Second * one.First.Factor));

    /// <summary>host:port as the semantic conventions have it.</summary>
    private static KeyValuePair<string, object?>[] AddressOf(string member)
    {
        int colon = member.LastIndexOf(':');
        return colon > 0 && int.TryParse(member.AsSpan(colon + 1), out int port)
            ? [KeyValuePair.Create("server.address", (object?)member[..colon]), KeyValuePair.Create("server.port", (object?)port)]
            : [KeyValuePair.Create("server.address", (object?)member)];
    }

    private static IReadOnlyList<KeyValuePair<string, object>> ResourceOf(StoredRun run)
    {
        (string Key, string? Value)[] all =
        [
            ("service.name", "mongoperf"),
            ("service.version", run.Run.Version),
            // Two agents' first runs of a day have the same id.
            ("service.instance.id", run.Run.Part is { } own ? $"{run.Run.Id}/{own.Name}" : run.Run.Id),
            ("host.name", run.Environment?.Host),
            ("db.system.name", run.Deployment?.NotMongoDb ?? "mongodb"),
            ("mongoperf.agent", run.Run.Part?.Name),
            ("mongoperf.scenario", run.Settings.Plan.Name),
            ("mongoperf.deployment", run.DeploymentName),
            ("mongoperf.topology", run.Deployment?.Topology.Text()),
            ("mongoperf.server.version", run.Deployment?.ServerVersion),
            ("mongoperf.engine", run.Settings.Engine.Text),
        ];
        return [.. all.Where(one => !string.IsNullOrEmpty(one.Value)).Select(one => KeyValuePair.Create(one.Key, (object)one.Value!))];
    }
}
