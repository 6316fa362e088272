using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The page of a run that is under way.</summary>
[Collection(HeavyTests.Name)]
public sealed partial class LiveTests : IDisposable
{
    private readonly RunsFolder _runs = new();
    private readonly ProgramOptions _options = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public async Task Page_and_events_are_served_while_it_runs_and_end_with_it()
    {
        using ProgramRun run = ProgramRun.Start(_options, "run", "ycsb/c", "--topology", "null", "--records", "500", "--duration", "10m",
            "--rate", "500", "--threads", "1", "--live", "--out", _runs.At("runs"));
        string url = AddressOf(run);
        // What a run through our own client does not need takes no memory and no time to start.
        string loaded = File.ReadAllText($"/proc/{run.Id}/maps");
        Assert.Contains("MongoPerf.Wire.dll", loaded, StringComparison.Ordinal);
        Assert.All((string[])["MongoDB.Driver.dll", "MongoPerf.Driver.dll", "ScottPlot.dll", "SkiaSharp.dll"],
            name => Assert.DoesNotContain(name, loaded, StringComparison.Ordinal));
        using var http = new HttpClient();
        Assert.Contains("<section id=\"explore\"", await http.GetStringAsync(url), StringComparison.Ordinal);
        using var events = new StreamReader(await http.GetStreamAsync(url + "events"));
        Assert.True(await ComesTo(events, "event: plot"), "no plot");

        run.SendInterrupt();
        run.WaitForEnd().Expect(130);

        // The child tells the end and goes by itself; the run did not wait for that.
        Assert.True(await ComesTo(events, "\"state\":\"interrupted\""), "the end was not told");
        await events.ReadToEndAsync();

        using ProgramRun watch = ProgramRun.Start(
            _options, "watch", Path.GetFileName(Directory.GetDirectories(_runs.At("runs"))[0]), "--out", _runs.At("runs"));
        Assert.NotEqual(url, AddressOf(watch));
        watch.SendInterrupt();
        watch.WaitForEnd().Expect(0);
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
