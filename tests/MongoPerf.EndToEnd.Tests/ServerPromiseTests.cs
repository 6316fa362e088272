using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Collections whose server keeps less than others do, and commands that it rejects.</summary>
[Collection(LightTests.Name)]
public sealed class ServerPromiseTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void A_time_series_collection_grows_unacknowledged_too_and_what_it_returns_is_verified()
    {
        JsonElement result = Run("mongod", """
            data:
              m:
                document: {t: {^date: {from: 2026-01-01, to: 2026-01-02}}, meta: {b: {^int: [0, 9]}, a: {^int: [0, 9]}}, z: ^word, a: {^int: [0, 9]}}
                options: {timeseries: {timeField: t, metaField: meta}}
            phases:
              - grow: m
                to: 600
                step: 300
                writes: [{writeConcern: {w: 0}, batch: 50}]
                each: [{name: read, count: 20, operations: [{find: m, filter: {_id: ^key}}, {name: some, find: m, filter: {a: {^int: [0, 9]}}}]}]
            """).Expect(0).Report();
        JsonElement[] operations = [.. result.Items("phases").SelectMany(phase => phase.Items("operations"))];
        Assert.All(operations, operation => Assert.Equal(0, operation.Number("wrong")));
        Assert.True(operations.Sum(operation => operation.Number("verified")) > 40);
    }

    [MongodFact]
    public void A_capped_collection_loses_documents_and_no_run_for_it()
    {
        ProgramResult result = Run("mongod", """
            data:
              c: {count: 2k, document: {n: ^number, t: {^string: 100}}, options: {capped: true, size: 50000}}
            phases:
              - {load: c, writeConcern: {w: 0}}
              - {name: read, count: 50, operations: [{find: c, filter: {_id: ^key}}]}
              - {check: c}
            """, "--format", "text", "--full").Expect(0);
        // The text is wrapped.
        Assert.Contains("how many of 2,000 documents arrived is unknown",
            string.Join(' ', result.Output.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)), StringComparison.Ordinal);
    }

    [MongodTheory]
    [InlineData("document: {u: {^int: [0, 40]}}, indexes: [{key: {u: 1}, unique: true}]", "{w: 1}", "index: u_1 dup key")]
    [InlineData("document: {u: {^int: [0, 40]}}, indexes: [{key: {u: 1}, unique: true}]", "{w: 0}", "index: u_1 dup key")]
    [InlineData("document: {_id: {^int: [0, 40]}}", "{w: 1}", "index: _id_ dup key")]
    public void A_load_that_meets_a_unique_index_names_it_at_once_unless_errors_may_be(string data, string concern, string index)
    {
        string file = $"data:\n  c: {{count: 100, {data}}}\nphases: [{{load: c, batch: 1, writeConcern: {concern}}}]\n";
        ProgramResult refused = Run("mongod", file).Expect(4).Says("can't be stored: E11000 duplicate key error").Says(index);
        Assert.DoesNotContain("to resume", refused.All, StringComparison.Ordinal);
        Assert.DoesNotContain("repairs", refused.All, StringComparison.Ordinal);
        Run("mongod", file, "--max-errors", "100").Expect(0);
    }

    [MongodFact]
    public void A_command_that_the_server_rejects_has_its_own_exit_code_the_servers_reason_and_no_offer_to_resume()
    {
        ProgramResult rejected = Run("mongod", "data:\n  c: {count: 10, indexes: [{key: {u: 1}, weights: 3}]}\nphases: [{load: c}]\n")
            .Expect(7)
            .Says("The field 'weights' must be an object").Says("exit code 7: the server rejected a command, for the reason it gave");
        Assert.DoesNotContain("to resume", rejected.All, StringComparison.Ordinal);
    }

    [Theory, EachServer]
    public void A_cursor_of_runCommand_is_read_to_its_end(string kind)
    {
        using MongoConnection connection = servers[kind].Connect();
        // Tests before this one may have left some.
        long? before = OpenCursors();
        JsonElement result = Run(kind, """
            data:
              c: {count: 250, document: {n: ^number}}
            phases:
              - {load: c}
              - {name: find, count: 3, operations: [{runCommand: {find: c, batchSize: 100}}]}
              - {name: aggregate, count: 3, operations: [{runCommand: {aggregate: c, pipeline: [], cursor: {batchSize: 100}}}]}
            """).Expect(0).Report();
        Assert.Equal([250, 750, 750], result.Items("phases").Select(phase => Assert.Single(phase.Items("operations")).Number("documents")));
        Assert.True(OpenCursors() <= before);

        long? OpenCursors() =>
            connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1))).FindInt64("metrics.cursor.open.total");
    }

    [MongodFact]
    public void An_aggregation_is_explained()
    {
        JsonElement result = Run("mongod", """
            data:
              c: {count: 100, document: {n: ^number}, indexes: [n]}
            phases:
              - {load: c}
              - {name: sum, explain: true, count: 3, operations: [{aggregate: c, pipeline: [{$match: {n: {$lt: 10}}}, {$group: {_id: null, s: {$sum: $n}}}]}]}
            """).Expect(0).Report();
        JsonElement plan = Assert.Single(result.Items("phases")[1].Items("operations")).GetProperty("plan");
        Assert.Equal(("n_1", 10), (plan.Text("index"), plan.Number("keysExamined")));
    }

    private ProgramResult Run(string kind, string text, params string[] more)
    {
        string path = Path.Combine(_runs.Path, ".test.yaml");
        File.WriteAllText(path, text);
        string[] format = more.Contains("--format") ? [] : ["--format", "json"];
        return ProgramRun.Run(["run", path, "--uri", servers[kind].Uri, "--db", servers.NewDatabase(), "--verify", "all",
            "--out", _runs.Path, .. format, .. more]);
    }
}
