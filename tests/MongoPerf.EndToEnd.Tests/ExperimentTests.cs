using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Reports.Restarts;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The experiments that come with the program as scenarios, small.</summary>
[Collection(OtherTests.Name)]
public sealed class ExperimentTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void A_restart_is_timed_after_a_clean_stop_and_after_a_kill_and_nothing_is_lost(string kind)
    {
        ProgramResult result = Run(kind, "restart", "--set", "documents=5k", "--set", "unsettled=500", "--set", "duration=1500ms",
            "--rate", "500", "--max-skipped", "100%", "--threads", "2", "--cold", "--full").Expect(0);
        using (StoredRun run = _runs.FindStored()!)
        {
            Assert.Equal(["load series", "before", "write before stop", "after-stop", "write before kill", "after-kill", "check series"],
                run.Phases.Select(phase => phase.Phase));
            Assert.All(run.Results, operation => Assert.True(operation.Operations > 0, operation.Operation));
            IReadOnlyList<RestartFigures> restarts = RestartFigures.Of(run);
            Assert.Equal(["clean stop", "kill -9"], restarts.Select(restart => restart.End));
            Assert.All(restarts, restart => Assert.InRange(restart.AnswerSeconds, 0.01, 60));
            Assert.All(restarts, restart => Assert.NotEmpty(restart.Rates));
            Assert.Contains(run.Events,
                happened => happened.Kind == "checked" && happened.Text.EndsWith("holds all 6,000 documents", StringComparison.Ordinal));
            Assert.DoesNotContain(run.Events, happened => happened.Kind == "repair");
            Assert.Empty(run.Errors);
        }

        foreach (string text in (string[])["Restarts: ", "after a clean stop (", "after kill -9 (", "| clean stop |", "| kill -9    |"])
            Assert.Contains(text, result.Output, StringComparison.Ordinal);
        AssertWhole(kind, 5000 + 500 + 500);
    }

    [Theory, EachServer]
    public void Inserts_are_counted_for_each_number_of_threads(string kind)
    {
        ProgramResult result =
            Run(kind, "insert-threads", "--records", "500", "--operations", "200", "--threads", "1,4", "--format", "json").Expect(0);
        JsonElement[] inserts = [.. result.Report().Items("phases").Where(phase => phase.Text("phase") == "inserts")];
        Assert.Equal(["1", "4"], inserts.Select(phase => phase.GetProperty("parameters").Text("threads")));
        Assert.All(inserts, phase => Assert.Equal(200, phase.Items("operations").Single().Number("documents")));
        Assert.Equal([700L, 900], inserts.Select(phase => phase.Number("documents")));
        Assert.Contains("threads", ProgramRun.Run("report", _runs.Id, "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
        AssertWhole(kind, 500 + 200 + 200);
    }

    [Theory, EachServer]
    public void Waiting_for_the_journal_stands_beside_not_waiting(string kind)
    {
        using var proxy = new RecordingProxy(servers[kind].Address);
        ProgramResult result = Run(
            "embedded", "journal", "--uri", proxy.Uri, "--db", servers.NewDatabase(), "--set", "documents=500", "--operations", "300",
            "--threads", "1,2", "--format", "json").Expect(0);
        JsonElement[] measured = [.. result.Report()
            .Items("phases").Where(phase => phase.Text("kind") == "measure").SelectMany(phase => phase.Items("operations"))];
        Assert.Equal(["w1 1", "w1 2", "w1-j 1", "w1-j 2"], measured.Select(o => $"{o.Text("operation")} {o.Number("threads")}"));
        RecordedCommand[] single = [.. proxy.Of("insert").Where(command => command.Documents == 1)];
        Assert.Equal(1200, single.Length);
        Assert.All(single[..600], insert => Assert.False(insert.Body.IsTrue("writeConcern.j"), insert.Body.ToString()));
        Assert.All(single[600..], insert => Assert.True(insert.Body.IsTrue("writeConcern.j"), insert.Body.ToString()));
    }

    [Theory, EachServer]
    public void A_sort_by_another_field_stands_beside_one_by_id_and_its_order_is_checked(string kind)
    {
        ProgramResult result = Run(kind, "sort", "--set", "documents=1k", "--operations", "100", "--threads", "1,2", "--verify", "all",
            "--format", "json").Expect(0);
        JsonElement[] measured = [.. result.Report()
            .Items("phases").Where(phase => phase.Text("kind") == "measure").SelectMany(phase => phase.Items("operations"))];
        Assert.Equal(["sort-id 1", "sort-id 2", "sort-number 1", "sort-number 2"],
            measured.Select(o => $"{o.Text("operation")} {o.Number("threads")}"));
        Assert.Equal(["_id_", "_id_", "Number_1", "Number_1"], measured.Select(o => o.GetProperty("plan").Text("index")));
        Assert.All(measured, o => Assert.Equal((1000L, 1000L, 0L), (o.Number("documents"), o.Number("verified"), o.Number("wrong"))));
        Assert.True(File.Exists(_runs.At(_runs.Id, "report", "charts", "figure-1.csv")));
    }

    [Fact]
    public void Options_that_make_no_sense_are_refused_before_anything_is_started()
    {
        Run("embedded", "restart", "--uri", "mongodb://127.0.0.1:1").Expect(2)
            .Says("phase 'after-stop': restart: the server named by --uri");
        Run("embedded", "restart", "--topology", "null").Expect(2).Says("the null deployment stores nothing and has nothing to recover");
        Run("embedded", "restart", "--topology", "sharded").Expect(2).Says("a cluster has several servers");
        Run("embedded", "journal", "--journal").Expect(2).Says("--journal");
        Run("embedded", "sort", "--cold").Expect(2).Says("--cold only applies to 'run restart'");
        Run("embedded", "q4", "--cold").Expect(2).Says("--cold only applies to 'run restart'");
        Run("embedded", "size", "--duration", "1s").Expect(2).Says("--duration");
        Run("embedded", "restrat").Expect(2).Says("did you mean 'restart'?");
        Assert.Empty(_runs.Ids);
    }

    private ProgramResult Run(string kind, string name, params string[] more) =>
        ProgramRun.Run(new ProgramOptions { Server = kind, WriteReport = name == "sort" }, ["run", name, "--out", _runs.Path, .. more]);

    private void AssertWhole(string kind, long documents)
    {
        using TestServer server = TestServer.OnDataOf(_runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, documents);
    }
}
