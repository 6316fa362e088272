using System.Text.Json;
using MongoPerf.Driver;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Driver;

/// <summary>
/// Whole runs with <c>--engine driver</c>: series and scenarios, crashes and resuming, comparisons with MongoPerf's own client.
/// </summary>
[Collection(HeavyTests.Name)]
public sealed class DriverRunTests
{
    private static readonly string Version = new DriverEngine().Version;

    /// <summary>The driver waits on the thread pool, which the tests' own process has busy with the tests.</summary>
    private static readonly ProgramOptions Own = new() { NeedsOwnProcess = true };

    /// <summary>What is tested here holds on either.</summary>
    private static readonly string Best = TestServers.Best;

    private static readonly string[] Series =
        [
            "series", "--target", "12k", "--step", "6k", "--shares", "20/60/20", "--batch", "100", "--window", "800ms",
            "--threads", "2", "--engine", "driver",
        ];

    [Theory, EachServer]
    public void A_series_ends_whole_and_names_its_client(string kind)
    {
        using var runs = new RunsFolder();
        ProgramResult result = ProgramRun.Run(Own with { Server = kind, WriteReport = true },
            [.. Series, "--verify", "all", "--format", "json", "--out", runs.Path]).Expect(0);
        JsonElement report = result.Report();
        Assert.Equal($"driver {Version}", report.GetProperty("settings").Text("engine"));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        JsonElement[] operations = [.. report.Items("phases").SelectMany(phase => phase.Items("operations"))];
        Assert.Equal(0, operations.Sum(o => o.Number("wrong")));
        Assert.True(operations.Where(o => !o.GetProperty("isInsert").GetBoolean()).All(o => o.Number("verified") > 0));
        Assert.All(operations.Where(o => o.Text("operation") == "unack").Select(o => o.GetProperty("unacknowledged")),
            o => Assert.Equal((1200, 0), (o.Number("arrived"), o.Number("lost"))));
        Assert.Contains($", through MongoDB.Driver {Version}", result.Errors, StringComparison.Ordinal);
        Assert.Contains(
            $", through MongoDB.Driver {Version}", File.ReadAllText(runs.At(runs.Id, "report", "report.md")), StringComparison.Ordinal);
        using TestServer server = TestServer.OnDataOf(runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 12_000);
    }

    [Theory]
    [InlineData("a")]
    [InlineData("b")]
    [InlineData("c")]
    [InlineData("d")]
    [InlineData("e")]
    [InlineData("f")]
    public void Ycsb_runs_through_both_clients_and_is_compared(string workload)
    {
        using var runs = new RunsFolder();
        ProgramResult result = ProgramRun.Run(
            Own with { Server = Best },
            "run", $"ycsb/{workload}", "--records", "300", "--operations", "2000", "--threads", "4", "--verify", "all",
            "--engine", "wire,driver", "--full", "--out", runs.Path).Expect(0);
        Assert.Contains($"differs    engine: wire → driver {Version}\n", result.Output, StringComparison.Ordinal);
        foreach (string id in runs.Ids)
        {
            JsonElement report = ProgramRun.Run("report", id, "--out", runs.Path, "--format", "json").Expect(0).Report();
            JsonElement[] operations = [.. report.Items("phases")[1].Items("operations")];
            Assert.Equal(2000, operations.Sum(o => o.GetProperty("accounting").Number("succeeded")));
            Assert.Equal((0, 0), (report.GetProperty("accounting").Number("failed"), operations.Sum(o => o.Number("wrong"))));
        }
    }

    [Fact]
    public void A_series_outlives_two_crashes_of_its_server()
    {
        using TestServer server = TestServer.Start(Best);
        using var runs = new RunsFolder();
        using var proxy = new RecordingProxy(server.Address);
        // Of the first step's inserts 1,200 are not acknowledged, then come 36 batches: this one is, and fails however slow everything is.
        proxy.Before = ("insert", CrashWithInsert);
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions(),
            [
                .. Series, "--uri", proxy.Uri, "--rate", "200", "--max-skipped", "100%", "--max-errors", "1000000", "--format", "json",
                "--out", runs.Path,
            ]);
        Assert.True(run.WaitForLine("q4 "), "the series ended too early");
        int finds = proxy.Of("find").Count;
        // Between two phases a few look for documents; the next one to come is an operation.
        Assert.True(run.WaitUntil(() => proxy.Of("find").Count > finds + 20, "q4's finds"), "the series ended too early");
        proxy.Before = ("find", () => CrashFor(server, 300));
        JsonElement report = run.WaitForEnd().Expect(0).Report();
        Assert.Null(proxy.Before);
        Assert.Contains(report.Items("errors"), error => error.Text("name") == "NetworkError" && error.Number("count") > 0);
        Assert.Contains(report.Items("events"), happened => happened.Text("kind") == "reconnect");
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 12_000);

        void CrashWithInsert()
        {
            if (proxy.Of("insert").Count < 1250)
                proxy.Before = ("insert", CrashWithInsert);
            else
                CrashFor(server, 600);
        }
    }

    [Fact]
    public void A_killed_series_is_resumed_with_the_same_client()
    {
        using var runs = new RunsFolder();
        using (ProgramRun run = ProgramRun.Start(new ProgramOptions { Server = Best }, [.. Series, "--out", runs.Path]))
        {
            using var watch = GrowthWatch.Of(runs);
            Assert.True(watch.WaitFor(run, 7000), "the series ended too early");
            run.Kill();
        }

        ProgramResult resumed = ProgramRun.Run(Own with { Server = Best }, "resume", runs.Id, "--out", runs.Path).Expect(0);
        Assert.Contains($", through MongoDB.Driver {Version}", resumed.Errors, StringComparison.Ordinal);
        using TestServer server = TestServer.OnDataOf(runs, Best);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 12_000);
    }

    [Fact]
    public void The_null_deployment_answers_the_driver_too()
    {
        using var runs = new RunsFolder();
        JsonElement report =
            ProgramRun.Run(Own, [.. Series, "--topology", "null", "--format", "json", "--out", runs.Path]).Expect(0).Report();
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
    }

    private static void CrashFor(TestServer server, int milliseconds)
    {
        server.Kill();
        Thread.Sleep(milliseconds);
        server.StartAgain();
    }
}
