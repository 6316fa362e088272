using System.Globalization;
using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary><c>run PHASE</c>, of the series, on data that is there.</summary>
[Collection(LightTests.Name)]
public sealed class SinglePhaseTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Each_query_runs_alone_for_exactly_its_operations(string kind)
    {
        string database = Load(kind, 2000);
        foreach (string query in SeriesNames.Queries)
        {
            JsonElement phase =
                Assert.Single(Report(kind, database, query, "--operations", "500", "--threads", "3", "--verify", "all").Items("phases"));
            Assert.Equal((query, "measure", 2000L, JsonValueKind.Null),
                (phase.Text("phase"), phase.Text("kind"), phase.Number("documents"), phase.GetProperty("growth").ValueKind));
            JsonElement result = Assert.Single(phase.Items("operations"));
            Assert.Equal(query, result.Text("operation"));
            Assert.Equal(500, result.Number("operations"));
            Assert.Equal(3, result.Number("threads"));
            Assert.Equal(500, result.GetProperty("accounting").Number("scheduled"));
            Assert.Equal(500, result.GetProperty("accounting").Number("succeeded"));
            Assert.Equal(0, result.Number("wrong"));
            Assert.True(result.Number("verified") >= 500, $"{query}: {result.Number("verified")} documents were compared");
            // A tenth of the documents lie above every drawn value, a hundredth above both of q5.
            Assert.InRange(result.Number("documents"), query == "q5" ? 4900 : query == "q7" ? 50_000 : 5000, query == "q7" ? 50_000 : 5000);
        }
    }

    [Theory, EachServer]
    public void Each_way_of_writing_adds_exactly_the_documents_that_it_reports(string kind)
    {
        string database = Load(kind, 1000);
        long there = 1000;
        foreach ((string write, int operations, int added) in ((string, int, int)[])[("unack", 300, 300),
            ("batch", 4, 400), ("safe", 200, 200)])
        {
            JsonElement result = ResultOf(kind, database, write, "--operations", $"{operations}", "--batch", "100");
            Assert.Equal(operations, result.Number("operations"));
            Assert.Equal(added, result.Number("documents"));
            if (write == "unack")
            {
                JsonElement arrival = result.GetProperty("unacknowledged");
                Assert.Equal((300, 300, 0), (arrival.Number("sent"), arrival.Number("arrived"), arrival.Number("lost")));
                Assert.True(arrival.GetProperty("drainSeconds").GetDouble() >= 0);
            }

            there += added;
        }

        JsonElement sizes = Assert.Single(Report(kind, database, "size").Phase("size").Items("sizes"));
        Assert.Equal(there, sizes.Number("documents"));
        Assert.Equal(there * 1024, sizes.Number("dataBytes"));
        using MongoConnection connection = servers[kind].Connect();
        Documents.AssertWhole(connection, there, database);
    }

    [Fact]
    public void A_list_of_threads_gives_a_result_for_each()
    {
        IReadOnlyList<JsonElement> phases =
            Report("embedded", Load("embedded", 500), "q4", "--operations", "100", "--threads", "1,2,5").Items("phases");
        Assert.Equal(
            ["q4 1", "q4 2", "q4 5"], phases.Select(phase => $"{phase.Text("phase")} {phase.GetProperty("parameters").Text("threads")}"));
        Assert.Equal([(1L, 100L), (2, 100), (5, 100)],
            phases.Select(phase => (phase.Operation("q4").Number("threads"), phase.Operation("q4").Number("operations"))));
    }

    [Fact]
    public void Inserts_on_several_threads_write_each_document_once()
    {
        string database = Load("embedded", 100);
        JsonElement result = ResultOf("embedded", database, "safe", "--operations", "400", "--threads", "4");
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
            connection.RunCommand(database,
                BsonDocument.Of(("delete", "series"), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })));
        int runs = _runs.Ids.Count;
        Run("q4", database, "--operations", "10").Expect(2).Says($"{database}.series is empty");
        Assert.Equal(runs, _runs.Ids.Count);
    }

    [Fact]
    public void Records_fill_a_collection_up_and_never_beyond()
    {
        string database = Load("embedded", 300);
        Assert.Equal(700, Report("embedded", database, "size", "--records", "700").Phase("size").Number("documents"));
        Assert.Equal(700, Report("embedded", database, "size", "--records", "500").Phase("size").Number("documents"));
        using MongoConnection connection = servers.Embedded.Connect();
        Documents.AssertWhole(connection, 700, database);
    }

    [Fact]
    public void A_rate_is_held_and_response_times_are_given_beside_service_times()
    {
        string database = Load("embedded", 500);
        JsonElement result = ResultOf("embedded", database, "q4", "--rate", "200", "--duration", "3s", "--warmup", "500ms",
            "--threads", "4", "--max-skipped", "100%");
        // 200 a second are due for three seconds, whatever a busy machine makes of them: it skips some, or does those of the warm-up late.
        Assert.InRange(result.GetProperty("accounting").Number("scheduled"), 599, 601);
        Assert.InRange(result.Number("operations"), 1, 601);
        JsonElement response = result.GetProperty("responseMicroseconds");
        Assert.True(response.GetProperty("p50").GetDouble() >= result.GetProperty("latencyMicroseconds").GetProperty("p50").GetDouble());
        Assert.True(result.GetProperty("seconds").GetDouble() > 2, $"{result}");
        Assert.Equal(0.5, result.GetProperty("warmupSeconds").GetDouble(), 0.01);
    }

    [Fact]
    public void Arrivals_that_were_skipped_end_the_run_with_an_exit_code_of_their_own_unless_they_are_allowed()
    {
        // No machine keeps that rate.
        string[] call =
        [
            "run", "q4", "--topology", "null", "--records", "1k", "--rate", "100M", "--duration", "100ms", "--warmup", "0",
            "--quiet", "--out", _runs.Path,
        ];
        ProgramRun.Run(call).Expect(4).Says("arrivals were skipped, more than allowed");
        ProgramRun.Run([.. call, "--max-skipped", "100%"]).Expect(0);
    }

    [Fact]
    public void Without_a_rate_there_are_no_response_times()
    {
        JsonElement result = ResultOf("embedded", Load("embedded", 100), "q7", "--operations", "10");
        Assert.Equal(JsonValueKind.Null, result.GetProperty("responseMicroseconds").ValueKind);
    }

    [Fact]
    public void A_damaged_document_is_found_when_all_are_verified()
    {
        const string kind = "embedded";
        string database = Load(kind, 200);
        using (MongoConnection connection = servers[kind].Connect())
        {
            BsonDocument first =
                Documents.Find(connection, database, "series", BsonDocument.Empty, ("limit", 1), ("singleBatch", true)).First();
            string text = first.FindString("Text")!;
            BsonDocument change = BsonDocument.Of(("$set", BsonDocument.Of(("Text", "#" + text[1..]))));
            BsonDocument reply = connection.RunCommand(database, BsonDocument.Of(
                ("update", "series"),
                ("updates", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", first.Find("_id")))), ("u", change)) })));
            Assert.Equal(1, reply.FindInt64("nModified"));
        }

        ProgramResult result = RunOn(kind, "q7", database, "--operations", "20", "--verify", "all", "--format", "json").Expect(5);
        Assert.True(result.Report().Phase("q7").Operation("q7").Number("wrong") >= 20, result.All);
        RunOn(kind, "q7", database, "--operations", "20", "--verify", "none", "--format", "json").Expect(0);
    }

    [Fact]
    public void Json_on_stdout_is_nothing_but_json_and_text_is_the_default()
    {
        string database = Load("embedded", 100);
        ProgramResult json = Run("q4", database, "--operations", "10", "--format", "json").Expect(0);
        Assert.Equal("{", json.Output[..1]);
        Assert.Equal("}\n", json.Output[^2..]);
        json.Report();
        ProgramResult text = Run("q4", database, "--operations", "10").Expect(0);
        Assert.Contains("10 operations", text.Output, StringComparison.Ordinal);
        Assert.DoesNotContain('{', text.Output);
    }

    [Fact]
    public void A_time_limits_a_phase_too()
    {
        JsonElement result = ResultOf("embedded", Load("embedded", 100), "q4", "--duration", "2s", "--threads", "1");
        Assert.Equal(0.5, result.GetProperty("warmupSeconds").GetDouble(), 0.01);
        Assert.InRange(result.GetProperty("seconds").GetDouble(), 1.4, 60);
        Assert.True(result.Number("operations") > 0);
    }

    [Fact]
    public void A_finished_phase_can_be_reported_but_not_resumed()
    {
        string database = Load("embedded", 100);
        string id = _runs.Id;
        ProgramRun.Run("resume", id, "--out", _runs.Path).Expect(2).Says($"run {id} is finished");
        JsonElement report = ProgramRun.Run("report", id, "--format", "json", "--out", _runs.Path).Expect(0).Report();
        Assert.Equal((database, "series"), (report.GetProperty("settings").GetProperty("data").Text("database"),
            report.GetProperty("settings").GetProperty("plan").Text("name")));
    }

    /// <summary>Without --records a phase is for data that is there, also data that something else has grown.</summary>
    [Theory, EachServer]
    public void A_query_on_a_collection_that_a_series_grew_leaves_it_as_it_is(string kind)
    {
        string database = servers.NewDatabase();
        JsonElement series = ProgramRun.Run(
            "series", "--target", "2k", "--step", "1k", "--tests", "batch,q4,size", "--window", "200ms", "--threads", "1",
            "--uri", servers[kind].Uri, "--db", database,
            "--out", _runs.Path, "--format", "json").Expect(0).Report();
        Assert.Equal([1000L, 2000], series.GrowthSteps().Select(step => step.Documents));
        JsonElement report = Report(kind, database, "q4", "--operations", "100", "--verify", "all");
        Assert.True(report.GetProperty("settings").GetProperty("data").GetProperty("isExisting").GetBoolean());
        Assert.Equal(
            (100L, 0L), (report.Phase("q4").Operation("q4").Number("operations"), report.Phase("q4").Operation("q4").Number("wrong")));
        Assert.Equal("Number_1", report.Phase("q4").Operation("q4").GetProperty("plan").Text("index"));
        using MongoConnection connection = servers[kind].Connect();
        Documents.AssertWhole(connection, 2000, database);
    }

    [Theory, EachServer]
    public void Records_are_loaded_before_the_phase_that_needs_them(string kind)
    {
        string database = servers.NewDatabase();
        JsonElement report = Report(kind, database, "q4", "--records", "10k", "--operations", "300", "--verify", "all");
        Assert.Equal(["load series", "q4"], report.Items("phases").Select(phase => phase.Text("phase")));
        Assert.Equal(
            ("load", 10_000L), (report.Items("phases")[0].Text("kind"), report.Items("phases")[0].Operation("load").Number("documents")));
        Assert.Equal((10_000L, 300L, 0L), (report.Phase("q4").Number("documents"), report.Phase("q4").Operation("q4").Number("operations"),
            report.Phase("q4").Operation("q4").Number("wrong")));
        using MongoConnection connection = servers[kind].Connect();
        Documents.AssertWhole(connection, 10_000, database);
    }

    [Theory, EachServer]
    public void Unacknowledged_inserts_alone_prove_what_arrived(string kind)
    {
        string database = Load(kind, 1000);
        JsonElement unack = ResultOf(kind, database, "unack", "--operations", "5k");
        JsonElement arrival = unack.GetProperty("unacknowledged");
        Assert.Equal((5000L, 5000L, 0L), (arrival.Number("sent"), arrival.Number("arrived"), arrival.Number("lost")));
        Assert.Equal((5000L, 5000L), (unack.Number("operations"), unack.Number("documents")));
        using MongoConnection connection = servers[kind].Connect();
        Documents.AssertWhole(connection, 6000, database);
    }

    /// <returns>The name of the new database that holds the documents.</returns>
    private string Load(string kind, int documents, string? database = null)
    {
        database ??= servers.NewDatabase();
        RunOn(kind, "size", database, "--records", documents.ToString(CultureInfo.InvariantCulture), "--format", "json").Expect(0);
        return database;
    }

    private ProgramResult Run(string phase, string database, params string[] more) => RunOn("embedded", phase, database, more);

    private ProgramResult RunOn(string kind, string phase, string database, params string[] more) =>
        ProgramRun.Run(["run", phase, "--uri", servers[kind].Uri, "--db", database, "--out", _runs.Path, .. more]);

    private JsonElement Report(string kind, string database, string phase, params string[] more) =>
        RunOn(kind, phase, database, ["--format", "json", .. more]).Expect(0).Report();

    /// <summary>The phase's only result.</summary>
    private JsonElement ResultOf(string kind, string database, string phase, params string[] more) =>
        Report(kind, database, phase, more).Phase(phase).Operation(phase);
}
