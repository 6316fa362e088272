using System.Text;
using MongoPerf.Storage;

namespace MongoPerf.Telemetry;

/// <summary>How a metric's values go together.</summary>
public enum TelemetryKind
{
    /// <summary>It only grows, until its source starts again.</summary>
    Counter,
    Gauge,

    /// <summary>How often each value occurred.</summary>
    Histogram,
}

/// <summary>A metric as monitoring systems know it. The one table of names, for OTLP and Prometheus alike.</summary>
/// <param name="Name">
/// OpenTelemetry's, by its semantic conventions where they have one (of a mongod, that of the collector's receiver for MongoDB).
/// </param>
/// <param name="Unit">In UCUM: s, By, or what is counted in braces.</param>
/// <param name="Kind">How its values go together.</param>
/// <param name="Description">In a few words.</param>
public sealed record TelemetryMetric(string Name, string Unit, TelemetryKind Kind, string Description)
{
    /// <summary>Seconds from sending an operation, or with a rate from when it was due, to its reply.</summary>
    public static TelemetryMetric Duration { get; } = new("db.client.operation.duration", "s", TelemetryKind.Histogram,
        "Latency of operations: response time where a rate is set, otherwise service time");

    public static TelemetryMetric Operations { get; } = new(
        "mongoperf.operations", "{operation}", TelemetryKind.Counter, "Operations that succeeded, warm-up included");

    public static TelemetryMetric Rate { get; } = new(
        "mongoperf.operation.rate", "{operation}/s", TelemetryKind.Gauge, "Operations per second in the last second");

    public static TelemetryMetric Errors { get; } = new(
        "mongoperf.errors", "{error}", TelemetryKind.Counter, "Operations that failed");

    public static TelemetryMetric Documents { get; } = new(
        "mongoperf.documents", "{document}", TelemetryKind.Counter, "Documents inserted or received");

    public static TelemetryMetric DocumentBytes { get; } = new(
        "mongoperf.document.io", "By", TelemetryKind.Counter, "Bytes of these documents");

    public static TelemetryMetric CollectionDocuments { get; } = new(
        "mongoperf.collection.documents", "{document}", TelemetryKind.Gauge, "Documents in the collection, as far as the client knows");

    public static TelemetryMetric Active { get; } = new(
        "mongoperf.run.active", "", TelemetryKind.Gauge, "1 while the run is under way, 0 when it has ended");

    /// <summary>Those of operations and of the run.</summary>
    public static IReadOnlyList<TelemetryMetric> OfRun { get; } =
        [Duration, Operations, Rate, Errors, Documents, DocumentBytes, CollectionDocuments, Active];

    /// <summary>Every metric that there can be, once.</summary>
    public static IReadOnlyList<TelemetryMetric> All { get; } =
    [
        .. OfRun, .. SampledMetric.Server.Concat(SampledMetric.Host).Select(sampled => sampled.Metric).DistinctBy(metric => metric.Name),
    ];

    /// <summary>The name in Prometheus's text format, by OpenTelemetry's rules: unit at the end, and _total behind counters.</summary>
    public string PrometheusName
    {
        get
        {
            string unit = Unit switch
            {
                "s" => "_seconds",
                "By" => "_bytes",
                _ when Unit.EndsWith("/s", StringComparison.Ordinal) => "_per_second",
                _ => "",
            };
            return NameOf(Name) + unit + (Kind == TelemetryKind.Counter ? "_total" : "");
        }
    }

    /// <summary>A name of letters, digits and underscores.</summary>
    internal static string NameOf(string name)
    {
        var text = new StringBuilder(name.Length);
        foreach (char c in name)
            text.Append(char.IsAsciiLetterOrDigit(c) ? c : '_');
        return text.ToString();
    }
}

/// <summary>A metric that is sampled on servers or the machine, under its name in monitoring systems.</summary>
/// <param name="Source">In the catalogue.</param>
/// <param name="Metric">What it is called.</param>
/// <param name="Factor">From the catalogue's unit to the metric's.</param>
/// <param name="Attribute">Tells it from others of the same name; null for none.</param>
public sealed record SampledMetric(
    Metric Source, TelemetryMetric Metric, double Factor, KeyValuePair<string, object?>? Attribute = null)
{
    private const double Mebibyte = 1 << 20;

    /// <summary>By names in the catalogue: the name elsewhere, what it counts, and what tells it from others of that name.</summary>
    private static readonly Dictionary<string, (string Name, string Description, string? Key, string? Value)> Named = new()
    {
        ["opcounters_insert"] = Operation("insert"),
        ["opcounters_query"] = Operation("query"),
        ["opcounters_update"] = Operation("update"),
        ["opcounters_delete"] = Operation("delete"),
        ["opcounters_getmore"] = Operation("getmore"),
        ["opcounters_command"] = Operation("command"),
        ["connections_current"] = Connection("current"),
        ["connections_available"] = Connection("available"),
        ["connections_active"] = Connection("active"),
        ["mem_resident"] = ("mongodb.memory.usage", "Memory of the server", "type", "resident"),
        ["mem_virtual"] = ("mongodb.memory.usage", "Memory of the server", "type", "virtual"),
        ["network_in"] = ("mongodb.network.io.receive", "Bytes that the server received", null, null),
        ["network_out"] = ("mongodb.network.io.transmit", "Bytes that the server sent", null, null),
        ["server_user_time"] = ("mongoperf.server.cpu.time", "CPU time of the server", "cpu.mode", "user"),
        ["server_system_time"] = ("mongoperf.server.cpu.time", "CPU time of the server", "cpu.mode", "system"),
        ["checkpoint_milliseconds"] = ("mongoperf.server.checkpoint.duration", "How long the last checkpoint took", null, null),
        ["cpu_user"] = Cpu("user"),
        ["cpu_system"] = Cpu("system"),
        ["cpu_iowait"] = Cpu("iowait"),
        ["cpu_idle"] = Cpu("idle"),
        ["cpu_steal"] = Cpu("steal"),
        ["memory_available"] = ("system.linux.memory.available", "Memory available on the client's machine", null, null),
        ["memory_page_cache"] = ("system.memory.usage", "Memory of the client's machine", "system.memory.state", "cached"),
        ["disk_read"] = ("system.disk.io", "Bytes read from and written to the disk under the data", "disk.io.direction", "read"),
        ["disk_written"] = ("system.disk.io", "Bytes read from and written to the disk under the data", "disk.io.direction", "write"),
        ["disk_busy"] = ("system.disk.io_time", "Time in which the disk under the data was busy", null, null),
        ["disk_free"] = ("system.filesystem.usage", "Room in the file system under the data", "system.filesystem.state", "free"),
        ["network_received"] = ("system.network.io", "Bytes on the network, loopback included", "network.io.direction", "receive"),
        ["network_sent"] = ("system.network.io", "Bytes on the network, loopback included", "network.io.direction", "transmit"),
        ["client_cpu_user"] = ("process.cpu.time", "CPU time of the client", "cpu.mode", "user"),
        ["client_cpu_system"] = ("process.cpu.time", "CPU time of the client", "cpu.mode", "system"),
        ["client_resident"] = ("process.memory.usage", "Memory of the client", null, null),
    };

    /// <summary>In the order of <see cref="MetricCatalogue.Server"/>.</summary>
    public static IReadOnlyList<SampledMetric> Server { get; } = [.. MetricCatalogue.Server.Select(metric => Of(metric, "server"))];

    /// <summary>In the order of <see cref="MetricCatalogue.Host"/>.</summary>
    public static IReadOnlyList<SampledMetric> Host { get; } = [.. MetricCatalogue.Host.Select(metric => Of(metric, "host"))];

    private static SampledMetric Of(Metric source, string scope)
    {
        (string unit, double factor) = UnitOf(source.Unit);
        TelemetryKind kind = source.Kind == MetricKind.Counter ? TelemetryKind.Counter : TelemetryKind.Gauge;
        return Named.TryGetValue(source.Name, out (string Name, string Description, string? Key, string? Value) named)
            ? new SampledMetric(source, new TelemetryMetric(named.Name, unit, kind, named.Description), factor,
                named.Key is null ? null : KeyValuePair.Create(named.Key, (object?)named.Value))
            : new SampledMetric(
                source, new TelemetryMetric($"mongoperf.{scope}.{source.Name.Replace('_', '.')}", unit, kind, source.Title), factor);
    }

    private static (string Unit, double Factor) UnitOf(string unit) => unit switch
    {
        "bytes" => ("By", 1),
        "megabytes" => ("By", Mebibyte),
        "seconds" => ("s", 1),
        "milliseconds" => ("s", 1e-3),
        "microseconds" or "core-microseconds" => ("s", 1e-6),
        _ => ($"{{{unit}}}", 1),
    };

    private static (string, string, string?, string?) Operation(string name) =>
        ("mongodb.operation.count", "Operations that the server counted", "operation", name);

    private static (string, string, string?, string?) Connection(string type) =>
        ("mongodb.connection.count", "Connections of the server", "type", type);

    private static (string, string, string?, string?) Cpu(string mode) =>
        ("system.cpu.time", "CPU time of the client's machine; system includes interrupts", "cpu.mode", mode);
}
