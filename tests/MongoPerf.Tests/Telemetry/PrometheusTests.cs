using System.Globalization;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Commands.Live;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;
using MongoPerf.Telemetry;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Telemetry;

/// <summary>A run's metrics as Prometheus reads them, and the dashboard that shows them.</summary>
public sealed partial class PrometheusTests : IDisposable
{
    private const string Name = "[a-zA-Z_][a-zA-Z0-9_]*";
    private const string Pair = Name + "=\"([^\"\\\\]|\\\\[\"\\\\n])*\"";

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Each_metric_has_its_type_once_and_its_values()
    {
        SampledRun.Write(_runs.At("r"));
        string[] lines = Lines("r");
        Assert.Contains("target_info{service_name=\"mongoperf\",service_version=\"0.1.0\",service_instance_id=\"r\","
            + "db_system_name=\"mongodb\",mongoperf_scenario=\"series\",mongoperf_topology=\"standalone\","
            + "mongoperf_server_version=\"6.0.5\",mongoperf_engine=\"wire\"} 1", lines);
        Assert.Contains("# TYPE mongoperf_operations_total counter", lines);
        Assert.Contains("mongoperf_operations_total{mongoperf_phase=\"q4\",db_operation_name=\"q4\"} 30", lines);
        Assert.Contains("mongoperf_errors_total{mongoperf_phase=\"q4\",db_operation_name=\"q4\"} 2", lines);
        Assert.Contains("mongodb_operation_count_total{server_address=\"127.0.0.1\",server_port=\"27017\",operation=\"query\"} 700", lines);
        Assert.Contains(
            "mongodb_memory_usage_bytes{server_address=\"127.0.0.1\",server_port=\"27017\",type=\"resident\"} 104857600", lines);
        Assert.Contains("system_cpu_time_seconds_total{cpu_mode=\"user\"} 2.5", lines);
        Assert.Contains("mongoperf_run_active 0", lines);
        string[] types = [.. lines.Where(line => line.StartsWith("# TYPE ", StringComparison.Ordinal))];
        Assert.Equal(types.Length, types.Distinct().Count());
        // All lines of a metric stand together, and each line is one that the format allows.
        string[] names = [.. lines.Where(line => !line.StartsWith('#')).Select(NameOf)];
        Assert.Equal(names.Distinct().Count(), names.Where((name, i) => i == 0 || names[i - 1] != name).Count());
        Assert.All(lines, line => Assert.Matches(Format(), line));
    }

    [Fact]
    public void Latencies_are_cumulative_buckets_in_seconds()
    {
        SampledRun.Write(_runs.At("r"));
        (double Bound, long Count)[] buckets =
        [
            .. Lines("r").Select(line => Bucket().Match(line)).Where(match => match.Success).Select(match => (
                match.Groups[1].Value == "+Inf" ? double.PositiveInfinity
                    : double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture),
                long.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture))),
        ];
        Assert.Equal(37, buckets.Length);
        Assert.Equal(buckets.OrderBy(one => one.Bound).ThenBy(one => one.Count), buckets);
        Assert.Equal((0.00001, 100.0), (buckets[0].Bound, buckets[^2].Bound));
        Assert.All(buckets, one => Assert.Equal(one.Bound < SampledRun.LatencySeconds ? 0 : SampledRun.Operations, one.Count));
        Assert.Contains("db_client_operation_duration_seconds_count{mongoperf_phase=\"q4\",db_operation_name=\"q4\"} 30", Lines("r"));
    }

    [Theory]
    [InlineData("a\"b", "a\\\"b")]
    [InlineData("a\\b", "a\\\\b")]
    [InlineData("a} 1\nevil_metric 2", "a} 1")]
    [InlineData("读取", "读取")]
    [InlineData("", "")]
    public void Names_from_outside_stay_within_their_quotes(string operation, string written)
    {
        SampledRun.Write(_runs.At("r"), operation);
        string[] lines = Lines("r");
        Assert.DoesNotContain(lines, line => line.StartsWith("evil_metric", StringComparison.Ordinal));
        string line = Assert.Single(lines, line => line.StartsWith("mongoperf_operations_total{", StringComparison.Ordinal));
        Assert.Contains($"db_operation_name=\"{written}", line, StringComparison.Ordinal);
        Assert.All(lines, one => Assert.Matches(Format(), one));
    }

    [Fact]
    public async Task The_page_s_server_gives_them_to_those_who_have_the_key()
    {
        SampledRun.Write(_runs.At("r"), state: RunState.Running);
        using var server = new LiveServer(_runs.At("r"), 0, "0123456789abcdef", new LivePage("", "default-src 'none'"));
        _ = server.Start();
        string answer = await Ask(server, "/0123456789abcdef/metrics");
        Assert.StartsWith(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n", answer, StringComparison.Ordinal);
        Assert.Contains("\nmongoperf_operations_total{", answer, StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 404 ", await Ask(server, "/metrics"), StringComparison.Ordinal);
        Assert.EndsWith("\r\n\r\n", await Ask(server, "/0123456789abcdef/metrics", "HEAD"), StringComparison.Ordinal);
    }

    [Fact]
    public void The_dashboard_asks_for_nothing_but_metrics_and_labels_that_there_are()
    {
        using JsonDocument dashboard =
            JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Root, "grafana", "mongoperf.json")));
        string[] queries = [.. Expressions(dashboard.RootElement)];
        Assert.True(queries.Length > 10, $"only {queries.Length} queries");
        HashSet<string> names = [.. TelemetryMetric.All.SelectMany(metric => metric.Kind == TelemetryKind.Histogram
            ? new[] { "", "_bucket", "_sum", "_count" }.Select(end => metric.PrometheusName + end) : [metric.PrometheusName]),
            "target_info"];
        Assert.All(queries, query => Assert.Matches(Names(), query));
        string[] used = [.. queries.SelectMany(query => Names().Matches(query)).Select(match => match.Value).Distinct()];
        Assert.Empty(used.Except(names));
        // Labels are those that some value has.
        SampledRun.Write(_runs.At("r"));
        HashSet<string> labels =
            [.. Lines("r").SelectMany(line => Label().Matches(line)).Select(match => match.Groups[1].Value), "job", "instance"];
        Assert.Empty(queries.SelectMany(query => Label().Matches(query)).Select(match => match.Groups[1].Value).Except(labels));
        Assert.Empty(
            queries.SelectMany(query => By().Matches(query)).SelectMany(match => match.Groups[1].Value.Split(", ")).Except(labels));
    }

    [Fact]
    public void The_documentation_lists_every_metric_of_a_run()
    {
        string docs = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "monitoring.md"));
        Assert.All(TelemetryMetric.OfRun, metric => Assert.Contains(
            $"| `{metric.Name}` | `{metric.PrometheusName}` |", docs, StringComparison.Ordinal));
    }

    private static IEnumerable<string> Expressions(JsonElement element) => element.ValueKind switch
    {
        JsonValueKind.Object => element.EnumerateObject().SelectMany(member =>
            member.Name is "expr" or "definition" && member.Value.ValueKind == JsonValueKind.String
                ? [member.Value.GetString()!] : Expressions(member.Value)),
        JsonValueKind.Array => element.EnumerateArray().SelectMany(Expressions),
        _ => [],
    };

    private string[] Lines(string run) =>
        PrometheusText.Write(new TelemetryReader(_runs.At(run)).Look()).Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private static string NameOf(string line) =>
        Regex.Replace(line.Split('{', ' ')[0], "^(db_client_operation_duration_seconds)_(bucket|sum|count)$", "$1");

    private static async Task<string> Ask(LiveServer server, string path, string method = "GET")
    {
        using var client = new TcpClient();
        await client.ConnectAsync("127.0.0.1", server.Port);
        NetworkStream stream = client.GetStream();
        await stream.WriteAsync(Encoding.ASCII.GetBytes($"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.Port}\r\n\r\n"));
        using var reader = new StreamReader(stream);
        return await reader.ReadToEndAsync();
    }

    /// <summary>https://prometheus.io/docs/instrumenting/exposition_formats, text format.</summary>
    [GeneratedRegex($"^(# (HELP {Name} .*|TYPE {Name} (counter|gauge|histogram))|{Name}(\\{{{Pair}(,{Pair})*\\}})? [-+0-9.eE]+)$")]
    private static partial Regex Format();

    [GeneratedRegex("""^db_client_operation_duration_seconds_bucket\{.*le="([^"]+)"\} ([0-9]+)$""")]
    private static partial Regex Bucket();

    [GeneratedRegex(@"\b(mongoperf|mongodb|system|process|db|target)_[a-z_]+(?=\{)|(?<=label_values\()[a-z_]+")]
    private static partial Regex Names();

    [GeneratedRegex("([a-z_]+)(?:=~?|!=|!~)\"")]
    private static partial Regex Label();

    [GeneratedRegex(@"by \(([a-z_, ]+)\)")]
    private static partial Regex By();
}
