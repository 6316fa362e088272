using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>A scenario of one's own in which a collection grows: nested documents, an array, three queries at each size.</summary>
[Collection(HeavyTests.Name)]
public sealed class GrowthScenarioTests : IDisposable
{
    private const long Target = 12_000;
    private const int Killed = 128 + 9;

    private static readonly string Example = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "growth.yaml");

    private static readonly string[] Queries = ["by customer", "newest sent", "by product"];

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void One_that_is_killed_again_and_again_ends_with_exactly_its_documents_and_a_curve_over_size()
    {
        // Where it is killed: in writes and queries, at moments of a fixed seed. Lines are of any step: on a busy machine a kill may come
        // later than meant, and the last ones when all is done.
        var random = new Random(20261122);
        Action<ProgramRun>[] moments =
        [
            run => AtDocument(run, random.Next(1, 3000)),
            // In the second or the third query, of a second each.
            run => AfterLine(run, "k: by customer", random.Next(0, 1400)),
            run => AtDocument(run, random.Next(4001, 7000)),
            run => AfterLine(run, " complete", random.Next(0, 20)),
            run => AfterLine(run, "k: by customer", random.Next(0, 1400)),
        ];
        foreach (Action<ProgramRun> wait in moments.TakeWhile(_ => !IsFinished()))
        {
            using ProgramRun run = StartOrResume();
            wait(run);
            run.Kill();
            Assert.True(run.WaitForEnd().ExitCode is Killed or 0, run.WaitForEnd().All);
        }

        string last = IsFinished() ? "report" : "resume";
        JsonElement report = ProgramRun.Run(new ProgramOptions { Server = "mongod", WriteReport = true }, last, _runs.Id,
            "--out", _runs.Path, "--format", "json").Expect(0).Report();
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal([4000, 8000, Target], report.GrowthSteps().Select(step => step.Documents));
        Assert.Contains(report.Items("events"), happened => happened.Text("kind") == "resumed");
        JsonResults.AssertComplete(report);
        foreach (GrownStep step in report.GrowthSteps())
        {
            Assert.Equal(Queries, step.Names.Where(name => name is not ("batches" or "singles")));
            Assert.Equal(step.Documents, step.Sizes.Number("documents"));
            Assert.All(step.Operations, operation => Assert.Equal((0L, 0L), (operation.Number("failed"), operation.Number("wrong"))));
            Assert.All(Queries, query => Assert.True(step.Operation(query).Number("verified") > 0, query));
            Assert.Equal(["customer_1", "status_1_placed_-1", "items.product_1"],
                Queries.Select(query => step.Operation(query).GetProperty("plan").Text("index")));
        }

        AssertCharts();
        AssertWhole();
    }

    [Fact]
    public void A_new_one_validates_and_runs_to_another_target_in_other_steps()
    {
        string file = _runs.At(".my.yaml");
        Assert.Contains($"run {file}", ProgramRun.Run("new", "--growth", file).Expect(0).Output, StringComparison.Ordinal);
        ProgramRun.Run("new", "--growth", file).Expect(2).Says("file exists");
        Assert.Contains("valid: 1 phase, 100,000 documents", ProgramRun.Run("validate", file).Expect(0).Output, StringComparison.Ordinal);
        ProgramResult plan = ProgramRun.Run("run", file, "--target", "2k", "--step", "500", "--dry-run").Expect(0);
        Assert.Contains("orders grows to 500, 1k, 1.5k, 2k", plan.Output, StringComparison.Ordinal);
        Assert.Empty(_runs.Ids);

        ProgramResult ended = ProgramRun.Run("run", file, "--target", "2k", "--step", "1k", "--operations", "200", "--format", "json",
            "--out", _runs.Path).Expect(0);
        JsonElement report = ended.Report();
        Assert.Equal([1000L, 2000], report.GrowthSteps().Select(step => step.Documents));
        JsonElement settings = report.GetProperty("settings").GetProperty("plan");
        Assert.Equal(2000, settings.Number("targetDocuments"));
        Assert.Contains(
            settings.Items("changes"), change => change.GetString()!.StartsWith("to: 2,000 (--target, ", StringComparison.Ordinal));
        Assert.Contains(
            settings.Items("changes"), change => change.GetString()!.StartsWith("step: 1,000 (--step, ", StringComparison.Ordinal));
    }

    [Fact]
    public void It_goes_on_from_where_an_earlier_run_of_it_ended()
    {
        using TestServer server = TestServer.Start("embedded");
        JsonElement first = On(server, "2k").Expect(0).Report();
        Assert.Equal([1000L, 2000], first.GrowthSteps().Select(step => step.Documents));
        JsonElement second = On(server, "3k").Expect(0).Report();
        GrownStep step = Assert.Single(second.GrowthSteps());
        Assert.Equal((3000L, 1000L),
            (step.Documents, step.Operation("batches").Number("documents") + step.Operation("singles").Number("documents")));
        On(server, "3k").Expect(2).Says("3,000 documents");
        using MongoConnection connection = server.Connect();
        Documents.AssertRight(connection, 3000, "mongoperf", "orders", Documents.CollectionOf(Example).Documents);
    }

    private ProgramResult On(TestServer server, string target) => ProgramRun.Run(
        "run", Example, "--uri", server.Uri, "--target", target, "--step", "1k", "--operations", "200",
        "--format", "json", "--out", _runs.Path);

    private bool IsFinished() => _runs.Ids.Count > 0 && _runs.Find(run => run.Run.State) == RunState.Finished;

    private ProgramRun StartOrResume()
    {
        string[] arguments = _runs.Ids.Count == 0
            ? ["run", Example, "--target", $"{Target}", "--step", "4k", "--duration", "1s", "--rate", "100", "--max-skipped", "100%",
                "--threads", "1", "--verify", "all"]
            : ["resume", _runs.Id];
        return ProgramRun.Start(new ProgramOptions { Server = "mongod" }, [.. arguments, "--out", _runs.Path]);
    }

    private void AtDocument(ProgramRun run, long document)
    {
        using var watch = GrowthWatch.Of(_runs, "orders");
        watch.WaitFor(run, document);
    }

    private static void AfterLine(ProgramRun run, string line, int milliseconds)
    {
        if (run.WaitForLine(line))
            Thread.Sleep(milliseconds);
    }

    private void AssertCharts()
    {
        string charts = _runs.At(_runs.Id, "report", "charts");
        foreach (string chart in (string[])["insert-rate", "query-rate", "latency", "size"])
        {
            Assert.Equal(["4000", "8000", "12000"], File.ReadLines(Path.Combine(charts, $"{chart}.csv"))
                .Where(line => line.Length > 0 && char.IsDigit(line[0])).Select(line => line.Split(',')[0]).Distinct());
        }
    }

    private void AssertWhole()
    {
        PlanCollection orders = Documents.CollectionOf(Example);
        using TestServer server = TestServer.OnDataOf(_runs, "mongod");
        using MongoConnection connection = server.Connect();
        Documents.AssertRight(connection, Target, "mongoperf", "orders", orders.Documents);
        Assert.Equal(["_id_", "customer_1", "items.product_1", "status_1_placed_-1"],
            Documents.IndexNames(connection, "mongoperf", "orders").Order(StringComparer.Ordinal));
        BsonDocument all = BsonDocument.Of(("customer", BsonDocument.Of(("$gte", 0))));
        Assert.Equal(Target, Documents.Find(connection, "mongoperf", "orders", all, ("hint", "customer_1"),
            ("projection", BsonDocument.Of(("_id", 0), ("customer", 1)))).LongCount());
    }
}
