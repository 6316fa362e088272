using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>A server that the program did not start is killed in the middle and comes back.</summary>
[Collection(KillingTests.Name)]
public sealed class OutageTests
{
    [MongodFact]
    public void A_series_outlives_two_crashes_of_its_mongod_and_ends_with_code_4() => SeriesThroughCrashes("mongod", "0", 4);

    [Fact]
    public void One_of_an_embedded_server_does_too_and_with_code_0_where_the_failed_operations_are_allowed() =>
        SeriesThroughCrashes("embedded", "1000000", 0);

    [MongodFact]
    public void A_mongod_that_stays_away_ends_the_series_which_can_go_on_when_it_is_back()
    {
        using TestServer server = TestServer.Start("mongod");
        using var runs = new RunsFolder();
        // The minute for which a server is waited for, shortened.
        var options = new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_RECONNECT"] = "1s" } };
        using (ProgramRun run = ProgramRun.Start(
            options, "series", "--uri", server.Uri, "--target", "10k", "--step", "5k", "--batch", "50", "--window", "500ms",
            "--rate", "100", "--max-skipped", "100%", "--threads", "2", "--tests", "batch,safe,q4,size",
            "--max-errors", "1000000", "--out", runs.Path))
        {
            using (var watch = GrowthWatch.Of(server))
                Assert.True(watch.WaitFor(run, 3000), "the series ended too early");
            server.Kill();
            ProgramResult lost = run.WaitForEnd().Expect(3);
            Assert.Contains("stopped at ", lost.Errors, StringComparison.Ordinal);
            Assert.Contains($"mongoperf resume {runs.Id} --out {runs.Path}", lost.Errors, StringComparison.Ordinal);
        }

        using (Storage.StoredRun stored = runs.FindStored()!)
            Assert.Equal(Storage.RunState.Interrupted, stored.Run.State);
        server.StartAgain();
        ProgramRun.Run("resume", runs.Id, "--out", runs.Path).Expect(0);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 10_000);
    }

    [Fact]
    public void A_server_that_refuses_connections_when_a_test_begins_is_waited_for()
    {
        using TestServer server = TestServer.Start("embedded");
        using var runs = new RunsFolder();
        // The workers of q4 are the next to connect after its explain.
        using var proxy = new RecordingProxy(server.Address) { RefuseAfter = "explain", Refusals = 3 };
        ProgramResult result = ProgramRun.Run(
            "series", "--uri", proxy.Uri, "--target", "1k", "--step", "1k", "--tests", "batch,q4,size", "--window", "200ms",
            "--threads", "1", "--out", runs.Path);
        result.Expect(0);
        Assert.Equal(0, proxy.Refusals);
    }

    [Fact]
    public void Documents_that_a_crash_between_two_tests_took_are_written_again_though_no_operation_failed()
    {
        using TestServer server = TestServer.Start("embedded");
        using var runs = new RunsFolder();
        using var proxy = new RecordingProxy(server.Address) { Before = ("explain", LoseHalf) };
        ProgramResult result = ProgramRun.Run(
            "series", "--uri", proxy.Uri, "--target", "2k", "--step", "2k", "--tests", "batch,q4,size", "--window", "200ms",
            "--threads", "1", "--out", runs.Path,
            "--format", "json");
        result.Expect(0);
        JsonElement report = result.Report();
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        Assert.Contains(report.Items("events"), happened => happened.Text("kind") == "repair");
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 2000);

        // As when the whole machine goes down before the journal is on disk; a killed process alone mostly loses nothing.
        void LoseHalf()
        {
            CrashFor(server, 0);
            using MongoConnection afterwards = server.Connect();
            BsonDocument half = BsonDocument.Of(("Number", BsonDocument.Of(("$lt", 500_000))));
            afterwards.RunCommand(
                "mongoperf", BsonDocument.Of(("delete", "series"), ("deletes", new[] { BsonDocument.Of(("q", half), ("limit", 0)) })));
            Assert.InRange(Documents.Count(afterwards, "mongoperf"), 500, 1500);
        }
    }

    private static void SeriesThroughCrashes(string kind, string maxErrors, int exitCode)
    {
        using TestServer server = TestServer.Start(kind);
        using var runs = new RunsFolder();
        using var proxy = new RecordingProxy(server.Address);
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions(),
            "series", "--uri", proxy.Uri, "--target", "10k", "--step", "5k", "--shares", "10/60/30", "--batch", "50", "--window", "800ms",
            "--rate", "200", "--max-skipped", "100%", "--threads", "2",
            "--tests", "unack,batch,safe,q4,q5,size", "--max-errors", maxErrors, "--out", runs.Path, "--format", "json");
        using (var watch = GrowthWatch.Of(server))
            Assert.True(watch.WaitFor(run, 3000), "the series ended too early");
        // Both times an operation is under way to the server, so that it fails however slow everything is.
        proxy.Before = ("insert", () => CrashFor(server, 600));
        Assert.True(run.WaitUntil(() => proxy.Before is null, "an insert"), "the series ended too early");
        Assert.True(run.WaitForLine("q4 "), "the series ended too early");
        int finds = proxy.Of("find").Count;
        // Between two phases a few look for documents; the next one to come is an operation.
        Assert.True(run.WaitUntil(() => proxy.Of("find").Count > finds + 20, "q5"), "the series ended too early");
        proxy.Before = ("find", () => CrashFor(server, 300));
        ProgramResult result = run.WaitForEnd().Expect(exitCode);
        Assert.Null(proxy.Before);

        JsonElement report = result.Report();
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal([5000, 10_000], report.GrowthSteps().Select(step => step.Documents));
        Assert.True(report.GetProperty("accounting").Number("failed") > 0, "no failed operation was counted");
        JsonResults.AssertAdds(report.GetProperty("accounting"));
        Assert.Contains(report.Items("errors"), error => error.Text("name") == "NetworkError" && error.Number("count") > 0);
        JsonElement[] outages = [.. report.Items("events").Where(happened => happened.Text("kind") == "reconnect")];
        Assert.True(outages.Length >= 2, $"{outages.Length} outages are stored, there were two");
        Assert.Contains(outages, outage => outage.GetProperty("seconds").GetDouble() > 0.5);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 10_000);
    }

    private static void CrashFor(TestServer server, int milliseconds)
    {
        server.Kill();
        Thread.Sleep(milliseconds);
        server.StartAgain();
    }
}
