using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The page of a run that is under way.</summary>
[Collection(HeavyTests.Name)]
public sealed partial class LiveTests : IDisposable
{
    private const string Key = "0123456789abcdef";
    private const string QuerySecret = "qUeRy5eCrEt";
    private const string HeaderSecret = "hEaDeR5eCrEt";

    private readonly RunsFolder _runs = new();
    private readonly ProgramOptions _options = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public async Task Page_events_and_metrics_are_served_and_sent_while_it_runs_and_end_with_it()
    {
        using var receiver = new OtlpReceiver { Status = "503 Service Unavailable" };
        var options = new ProgramOptions
        {
            Environment = new Dictionary<string, string?>
            {
                ["OTEL_METRIC_EXPORT_INTERVAL"] = "500", ["MONGOPERF_LIVE_KEY"] = Key,
                ["OTEL_EXPORTER_OTLP_HEADERS"] = $"x-key={HeaderSecret}",
            },
        };
        using ProgramRun run = ProgramRun.Start(options, "run", "ycsb/c", "--topology", "null", "--records", "500", "--duration", "10m",
            "--rate", "500", "--threads", "1", "--live", "--otlp", $"{receiver.Url}?api_key={QuerySecret}", "--out", _runs.At("runs"));
        string url = AddressOf(run);
        // What a run through our own client does not need takes no memory and no time to start.
        string loaded = File.ReadAllText($"/proc/{run.Id}/maps");
        Assert.Contains("MongoPerf.Wire.dll", loaded, StringComparison.Ordinal);
        Assert.All((string[])["MongoDB.Driver.dll", "MongoPerf.Driver.dll", "ScottPlot.dll", "SkiaSharp.dll", "OpenTelemetry.dll",
            "MongoPerf.Telemetry.dll"],
            name => Assert.DoesNotContain(name, loaded, StringComparison.Ordinal));
        using var http = new HttpClient();
        Assert.Contains("<section id=\"explore\"", await http.GetStringAsync(url), StringComparison.Ordinal);
        using var events = new StreamReader(await http.GetStreamAsync(url + "events"));
        Assert.True(await ComesTo(events, "event: plot"), "no plot");

        Assert.EndsWith($"/{Key}/", url, StringComparison.Ordinal);
        Assert.Contains("\nmongoperf_operations_total{", await http.GetStringAsync(url + "metrics"), StringComparison.Ordinal);
        // A receiver that takes nothing is told of, and gets what there is once it does.
        Assert.True(run.WaitUntil(() => run.Errors.Contains("warning: --otlp: ", StringComparison.Ordinal), "the warning"), run.Errors);
        receiver.Status = "200 OK";
        Assert.True(run.WaitUntil(() => Received() > 0, "what the receiver gets"), run.Errors);
        Assert.Contains("mongoperf.scenario=ycsb/c", receiver.Resource);
        // What logs in to the receiver gets there, and is seen nowhere else.
        Assert.All(receiver.Heads, head =>
        {
            Assert.StartsWith($"POST /v1/metrics?api_key={QuerySecret} ", head, StringComparison.Ordinal);
            Assert.Contains($"x-key: {HeaderSecret}", head, StringComparison.OrdinalIgnoreCase);
        });
        string[] processes = [.. Directory.GetDirectories("/proc").Where(process => int.TryParse(Path.GetFileName(process), out _))
            .Select(CommandLineOf).Where(line => line.Contains(_runs.Path, StringComparison.Ordinal))];
        Assert.Equal(2, processes.Count(line => line.Contains(receiver.Url, StringComparison.Ordinal)));
        Assert.All(processes, line => Assert.DoesNotContain(QuerySecret, line, StringComparison.Ordinal));

        run.SendInterrupt();
        ProgramResult ended = run.WaitForEnd().Expect(130);
        Assert.Equal(1, run.Errors.Split("warning: --otlp").Length - 1);
        string[] files = Directory.GetFiles(_runs.At("runs"), "*", SearchOption.AllDirectories);
        Assert.Contains(files, file => file.EndsWith("run.log", StringComparison.Ordinal));
        string[] texts = [ended.Output, ended.Errors, .. files.Select(file => Encoding.Latin1.GetString(File.ReadAllBytes(file)))];
        foreach (string text in texts)
        {
            Assert.DoesNotContain(QuerySecret, text, StringComparison.Ordinal);
            Assert.DoesNotContain(HeaderSecret, text, StringComparison.Ordinal);
        }

        // The child tells the end and goes by itself; the run did not wait for that.
        Assert.True(await ComesTo(events, "\"state\":\"interrupted\""), "the end was not told");
        await events.ReadToEndAsync();

        using ProgramRun watch = ProgramRun.Start(
            _options, "watch", Path.GetFileName(Directory.GetDirectories(_runs.At("runs"))[0]), "--out", _runs.At("runs"));
        Assert.NotEqual(url, AddressOf(watch));
        watch.SendInterrupt();
        watch.WaitForEnd().Expect(0);

        static string CommandLineOf(string process)
        {
            try
            {
                return File.ReadAllText(Path.Combine(process, "cmdline"));
            }
            catch (IOException)
            {
                // It has ended.
                return "";
            }
        }

        double Received() =>
            receiver.Latest.Where(one => one.Name == "mongoperf.operations" && one.Attributes.Contains("=read", StringComparison.Ordinal))
                .Sum(one => one.Value);
    }

    [Fact]
    public void Headers_that_are_none_are_refused_and_not_shown()
    {
        ProgramRun.Run(_options, "run", "ycsb/c", "--topology", "null", "--records", "10", "--operations", "10", "--no-report",
            "--out", _runs.At("runs")).Expect(0);
        var options = new ProgramOptions
        {
            Environment = new Dictionary<string, string?> { ["OTEL_EXPORTER_OTLP_HEADERS"] = HeaderSecret },
        };
        ProgramResult watch = ProgramRun.Run(options, "watch", Path.GetFileName(Directory.GetDirectories(_runs.At("runs"))[0]),
            "--otlp", "http://127.0.0.1:1", "--no-page", "--out", _runs.At("runs")).Expect(2)
            .Says("OTEL_EXPORTER_OTLP_HEADERS is not a list of headers");
        Assert.DoesNotContain(HeaderSecret, watch.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Port_in_use_is_said_before_anything_runs()
    {
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        int port = ((IPEndPoint)other.LocalEndpoint).Port;

        ProgramRun.Run(_options, "run", "ycsb/c", "--topology", "null", "--live", $"{port}", "--out", _runs.At("runs")).Expect(2)
            .Says($"--live: port {port} of 127.0.0.1 is in use");

        Assert.False(Directory.Exists(_runs.At("runs")));
    }

    private static string AddressOf(ProgramRun run)
    {
        Assert.True(run.WaitUntil(() => Address().IsMatch(run.Errors), "its address"), run.Errors);
        return Address().Match(run.Errors).Value;
    }

    private static async Task<bool> ComesTo(StreamReader events, string text)
    {
        while (await events.ReadLineAsync() is { } line)
        {
            if (line.Contains(text, StringComparison.Ordinal))
                return true;
        }

        return false;
    }

    [GeneratedRegex("http://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]{16}/")]
    private static partial Regex Address();
}
