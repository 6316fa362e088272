using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Experiments;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The experiments of <c>run</c>, small.</summary>
[Collection(WaitingTests.Name)]
public sealed class ExperimentTests : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void A_restart_is_timed_after_a_clean_stop_and_after_a_kill_and_nothing_is_lost(string kind)
    {
        ProgramResult result = Run(kind, "restart", "--records", "4000", "--duration", "1500ms", "--threads", "2", "--cold").Expect(0);
        using (StoredRun run = _runs.FindStored()!)
        {
            Assert.Equal(["before", "after-stop", "after-kill"], run.Steps[0].Tests.Select(t => t.Test).OrderBy(t => t != "before").ThenByDescending(t => t));
            Assert.All(run.Steps[0].Tests, test => Assert.True(test.Operations > 0, test.Test));
            IReadOnlyList<RestartFigures> restarts = RestartFigures.Of(run);
            Assert.Equal(["clean stop", "kill -9"], restarts.Select(r => r.End));
            Assert.All(restarts, restart => Assert.InRange(restart.AnswerSeconds, 0.01, 60));
            Assert.All(restarts, restart => Assert.NotEmpty(restart.Rates));
            Assert.DoesNotContain(run.Events, happened => happened.Kind == "repair");
            Assert.Empty(run.Errors);
        }

        foreach (string text in (string[])["Restarts: ", "after a clean stop (", "after a kill -9 (", "| clean stop |", "| kill -9    |"])
            Assert.Contains(text, result.Output, StringComparison.Ordinal);
        using TestServer server = TestServer.OnDataOf(_runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 4000 + 200 + 210);
    }

    [Theory, EachServer]
    public void Inserts_are_counted_for_each_number_of_threads(string kind)
    {
        ProgramResult result = Run(kind, "insert-threads", "--records", "500", "--operations", "200", "--threads", "1,4").Expect(0);
        Assert.Contains("By threads", result.Output, StringComparison.Ordinal);
        Assert.Contains("most of all", result.Output, StringComparison.Ordinal);
        using TestServer server = TestServer.OnDataOf(_runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 500 + 200 + 200);
    }

    [MongodFact]
    public void Waiting_for_the_journal_stands_beside_not_waiting()
    {
        ProgramResult result = Run("mongod", "journal", "--records", "500", "--operations", "50", "--threads", "1,2", "--format", "json").Expect(0);
        JsonElement[] tests = [.. JsonShape.Check(JsonShape.Step, result.Output).Items("tests")];
        Assert.Equal(["w1 1", "w1 2", "w1-j 1", "w1-j 2"], tests.Select(t => $"{t.Text("test")} {t.Number("threads")}"));
        // mongod writes its journal every 100 ms, or at once when somebody waits for it: never as fast as not waiting.
        Assert.True(tests[2].GetProperty("operationsPerSecond").GetDouble() < tests[0].GetProperty("operationsPerSecond").GetDouble(), result.All);
    }

    [Theory, EachServer]
    public void A_sort_by_another_field_stands_beside_one_by_id_and_its_order_is_checked(string kind)
    {
        ProgramResult result = Run(kind, "sort", "--records", "1000", "--operations", "100", "--threads", "1,2", "--verify", "all", "--format", "json").Expect(0);
        JsonElement[] tests = [.. JsonShape.Check(JsonShape.Step, result.Output).Items("tests")];
        Assert.Equal(["_id_", "_id_", "Number_1", "Number_1"], tests.Select(t => t.GetProperty("plan").Text("index")));
        Assert.All(tests, test => Assert.Equal((1000, 1000, 0), (test.Number("documents"), test.Number("verified"), test.Number("wrong"))));
        Assert.Contains("By threads", ProgramRun.Run("report", _runs.Id, "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_that_make_no_sense_are_refused_before_anything_is_started()
    {
        Run("embedded", "restart", "--uri", "mongodb://127.0.0.1:1").Expect(2).Says("--uri");
        Run("embedded", "restart", "--topology", "null").Expect(2).Says("--topology null");
        Run("embedded", "restart", "--topology", "sharded").Expect(2).Says("--topology sharded");
        Run("embedded", "restart", "--operations", "5").Expect(2).Says("give --duration");
        Run("embedded", "restart", "--threads", "1,2").Expect(2).Says("--threads: one number");
        Run("embedded", "journal", "--journal").Expect(2).Says("--journal");
        Run("embedded", "sort", "--rate", "5").Expect(2).Says("--rate");
        Run("embedded", "q4", "--cold").Expect(2).Says("--cold is for 'run restart'");
        Run("embedded", "restrat").Expect(2).Says("did you mean 'restart'?");
        Assert.Empty(_runs.Ids);
    }

    private ProgramResult Run(string kind, string name, params string[] more) =>
        ProgramRun.Run(new ProgramOptions { Server = kind }, ["run", name, "--out", _runs.Path, .. more]);
}
