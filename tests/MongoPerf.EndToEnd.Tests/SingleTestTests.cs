using System.Globalization;
using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary><c>run TEST</c> on data that is there.</summary>
[Collection(LightTests.Name)]
public sealed class SingleTestTests(TestServers servers) : IClassFixture<TestServers>, IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Each_query_test_runs_alone_for_exactly_its_operations(string kind)
    {
        string database = Load(kind, 2000);
        foreach (string test in (string[])["q4", "q5", "q6", "q7"])
        {
            JsonElement step = RunStep(kind, database, test, "--operations", "500", "--threads", "3", "--verify", "all");
            Assert.Equal(2000, step.Number("documents"));
            JsonElement result = Assert.Single(step.Items("tests"));
            Assert.Equal(test, result.Text("test"));
            Assert.Equal(500, result.Number("operations"));
            Assert.Equal(3, result.Number("threads"));
            Assert.Equal(500, result.GetProperty("accounting").Number("scheduled"));
            Assert.Equal(500, result.GetProperty("accounting").Number("succeeded"));
            Assert.Equal(0, result.Number("wrong"));
            Assert.True(result.Number("verified") >= 500, $"{test}: {result.Number("verified")} documents were compared");
            // A tenth of the documents lie above every drawn value, a hundredth above both of q5.
            Assert.InRange(result.Number("documents"), test == "q5" ? 4900 : test == "q7" ? 50_000 : 5000, test == "q7" ? 50_000 : 5000);
        }
    }

    [Theory, EachServer]
    public void Each_insert_test_adds_exactly_the_documents_that_it_reports(string kind)
    {
        string database = Load(kind, 1000);
        long there = 1000;
        foreach ((string test, int operations, int added) in ((string, int, int)[])[("unack", 300, 300), ("batch", 4, 400), ("safe", 200, 200)])
        {
            JsonElement result = RunStep(kind, database, test, "--operations", $"{operations}", "--batch", "100").Test(test);
            Assert.Equal(operations, result.Number("operations"));
            Assert.Equal(added, result.Number("documents"));
            if (test == "unack")
            {
                JsonElement arrival = result.GetProperty("unacknowledged");
                Assert.Equal((300, 300, 0), (arrival.Number("sent"), arrival.Number("arrived"), arrival.Number("lost")));
                Assert.True(arrival.GetProperty("drainSeconds").GetDouble() >= 0);
            }

            there += added;
        }

        JsonElement sizes = RunStep(kind, database, "size").GetProperty("sizes");
        Assert.Equal(there, sizes.Number("documents"));
        Assert.Equal(there * 1024, sizes.Number("dataBytes"));
        using MongoConnection connection = servers[kind].Connect();
        Documents.AssertWhole(connection, there, database);
    }

    [Fact]
    public void A_list_of_threads_gives_a_result_for_each()
    {
        JsonElement step = RunStep("embedded", Load("embedded", 500), "q4", "--operations", "100", "--threads", "1,2,5");
        Assert.Equal([1, 2, 5], step.Items("tests").Select(test => test.Number("threads")));
        Assert.All(step.Items("tests"), test => Assert.Equal(100, test.Number("operations")));
    }

    [Fact]
    public void An_insert_test_on_several_threads_writes_each_document_once()
    {
        string database = Load("embedded", 100);
        JsonElement result = RunStep("embedded", database, "safe", "--operations", "400", "--threads", "4").Test("safe");
        Assert.Equal(4, result.Number("threads"));
        using MongoConnection connection = servers.Embedded.Connect();
        Documents.AssertWhole(connection, 500, database);
    }

    [Fact]
    public void A_missing_or_empty_collection_ends_with_code_2_and_leaves_no_run()
    {
        string database = servers.NewDatabase();
        Run("q4", database, "--operations", "10").Expect(2).Says($"{database}.series does not exist");
        Assert.Empty(_runs.Ids);
        Load("embedded", 10, database);
        using (MongoConnection connection = servers.Embedded.Connect())
            connection.RunCommand(database, BsonDocument.Of(("delete", "series"), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })));
        int runs = _runs.Ids.Count;
        Run("q4", database, "--operations", "10").Expect(2).Says($"{database}.series is empty");
        Assert.Equal(runs, _runs.Ids.Count);
    }

    [Fact]
    public void Records_fill_a_collection_up_and_never_beyond()
    {
        string database = Load("embedded", 300);
        Assert.Equal(700, RunStep("embedded", database, "size", "--records", "700").Number("documents"));
        Assert.Equal(700, RunStep("embedded", database, "size", "--records", "500").Number("documents"));
        using MongoConnection connection = servers.Embedded.Connect();
        Documents.AssertWhole(connection, 700, database);
    }

    [Fact]
    public void A_rate_is_held_and_response_times_are_given_beside_service_times()
    {
        string database = Load("embedded", 500);
        JsonElement result = RunStep("embedded", database, "q4", "--rate", "200", "--duration", "3s", "--warmup", "500ms", "--threads", "4").Test("q4");
        Assert.InRange(result.GetProperty("operationsPerSecond").GetDouble(), 160, 240);
        JsonElement response = result.GetProperty("responseMicroseconds");
        Assert.True(response.GetProperty("p50").GetDouble() >= result.GetProperty("latencyMicroseconds").GetProperty("p50").GetDouble());
        Assert.Equal(2.5, result.GetProperty("seconds").GetDouble(), 0.5);
        Assert.Equal(0.5, result.GetProperty("warmupSeconds").GetDouble(), 0.01);
        Run("safe", database, "--rate", "200").Expect(2).Says("--rate is for the query tests");
    }

    [Fact]
    public void Without_a_rate_there_are_no_response_times()
    {
        JsonElement result = RunStep("embedded", Load("embedded", 100), "q7", "--operations", "10").Test("q7");
        Assert.Equal(JsonValueKind.Null, result.GetProperty("responseMicroseconds").ValueKind);
    }

    [Fact]
    public void A_damaged_document_is_found_when_all_are_verified()
    {
        const string kind = "embedded";
        string database = Load(kind, 200);
        using (MongoConnection connection = servers[kind].Connect())
        {
            BsonDocument first = Documents.Find(connection, database, "series", BsonDocument.Empty, ("limit", 1), ("singleBatch", true)).First();
            string text = first.FindString("Text")!;
            BsonDocument change = BsonDocument.Of(("$set", BsonDocument.Of(("Text", "#" + text[1..]))));
            BsonDocument reply = connection.RunCommand(database, BsonDocument.Of(
                ("update", "series"), ("updates", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", first.Find("_id")))), ("u", change)) })));
            Assert.Equal(1, reply.FindInt64("nModified"));
        }

        ProgramResult result = RunOn(kind, "q7", database, "--operations", "20", "--verify", "all", "--format", "json").Expect(5);
        Assert.True(JsonShape.Check(JsonShape.Step, result.Output).Test("q7").Number("wrong") >= 20, result.All);
        RunOn(kind, "q7", database, "--operations", "20", "--verify", "none", "--format", "json").Expect(0);
    }

    [Fact]
    public void Json_on_stdout_is_nothing_but_json_and_text_is_the_default()
    {
        string database = Load("embedded", 100);
        ProgramResult json = Run("q4", database, "--operations", "10", "--format", "json").Expect(0);
        Assert.Equal("{", json.Output[..1]);
        Assert.Equal("}\n", json.Output[^2..]);
        JsonShape.Check(JsonShape.Step, json.Output);
        ProgramResult text = Run("q4", database, "--operations", "10").Expect(0);
        Assert.Contains("10 operations", text.Output, StringComparison.Ordinal);
        Assert.DoesNotContain('{', text.Output);
    }

    [Fact]
    public void A_time_limits_a_test_too()
    {
        JsonElement result = RunStep("embedded", Load("embedded", 100), "q4", "--duration", "800ms").Test("q4");
        Assert.Equal(0.2, result.GetProperty("warmupSeconds").GetDouble(), 0.01);
        Assert.InRange(result.GetProperty("seconds").GetDouble(), 0.55, 3);
        Assert.True(result.Number("operations") > 0);
    }

    [Fact]
    public void A_single_test_can_be_reported_but_not_resumed()
    {
        string database = Load("embedded", 100);
        string id = _runs.Id;
        ProgramRun.Run("resume", id, "--out", _runs.Path).Expect(2).Says("is no series");
        ProgramResult report = ProgramRun.Run("report", id, "--format", "json", "--out", _runs.Path).Expect(0);
        Assert.Equal("run", JsonShape.Check(JsonShape.Run, report.Output).GetProperty("run").Text("kind"));
        Assert.Contains(database, report.Output, StringComparison.Ordinal);
    }

    /// <returns>The name of the new database that holds the documents.</returns>
    private string Load(string kind, int documents, string? database = null)
    {
        database ??= servers.NewDatabase();
        RunOn(kind, "size", database, "--records", documents.ToString(CultureInfo.InvariantCulture), "--format", "json").Expect(0);
        return database;
    }

    private ProgramResult Run(string test, string database, params string[] more) => RunOn("embedded", test, database, more);

    private ProgramResult RunOn(string kind, string test, string database, params string[] more) =>
        ProgramRun.Run(["run", test, "--uri", servers[kind].Uri, "--db", database, "--out", _runs.Path, .. more]);

    private JsonElement RunStep(string kind, string database, string test, params string[] more) =>
        JsonShape.Check(JsonShape.Step, RunOn(kind, test, database, ["--format", "json", .. more]).Expect(0).Output);
}
