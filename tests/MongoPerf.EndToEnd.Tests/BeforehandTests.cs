using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What a machine can't do is said before anything runs; that figures are not MongoDB's, wherever they are.</summary>
[Collection(LightTests.Name)]
public sealed class BeforehandTests : IDisposable
{
    private const string Small = "customers=30,undelivered=9,names=10,items=100,duration=300ms,terminals=2";

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData("standalone,replicaset")]
    [InlineData("replicaset,standalone")]
    [InlineData("standalone,sharded,replicaset")]
    public void Without_a_mongod_a_list_with_a_replica_set_is_refused_whole(string topologies)
    {
        Run("series", "--target", "1k", "--topology", topologies).Expect(2).Says("a replica set needs a mongod, and none was found")
            .Says("server install 8.0");
        Assert.Empty(_runs.Ids);
    }

    /// <summary>README's own command: the embedded server has no transactions, and its one server is not MongoDB.</summary>
    [Fact]
    public void Without_a_mongod_TPC_C_leaves_out_what_needs_transactions_and_says_so_first()
    {
        ProgramResult result = Run(["run", "tpcc", .. Small.Split(',').SelectMany(one => (string[])["--set", one])]).Expect(0);
        Assert.StartsWith(
            "deployment 'replica set' is left out: a replica set needs a mongod, and none was found", result.Errors.TrimStart(),
            StringComparison.Ordinal);
        Assert.Contains(
            "deployment 'two shards' is left out: new order: a transaction needs a replica set or a real mongos", result.Errors,
            StringComparison.Ordinal);
        Assert.StartsWith("note       embedded server, not MongoDB; ", result.Output, StringComparison.Ordinal);
        using var run = StoredRun.Open(_runs.At(Assert.Single(_runs.Ids)));
        Assert.All(run.Phases, phase => Assert.False(phase.IsInconsistent, phase.Phase));
    }

    /// <summary>The paths of all that such a run and its comparison leave.</summary>
    [Fact]
    public void One_embedded_server_against_another_as_a_mongos_decides_nothing()
    {
        ProgramResult result = Run("series", "--target", "800", "--step", "100", "--tests", "batch,q4", "--window", "100ms",
            "--topology", "standalone,sharded", "--shards", "2").Expect(0);
        Assert.StartsWith("note       embedded server, not MongoDB; do not take these figures for MongoDB's\n", result.Output,
            StringComparison.Ordinal);
        Assert.Contains("2 shards on the embedded server against the embedded server: ", result.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("\ndecided", result.Output, StringComparison.Ordinal);
        string ids = string.Join(' ', _runs.Ids);
        JsonElement json = JsonDocument.Parse(
            Run(["compare", .. _runs.Ids, "--force", "--format", "json"]).Expect(0).Output).RootElement;
        Assert.Equal("embedded server, not MongoDB", json.Text("notMongoDb"));
        Assert.Equal(JsonValueKind.Null, json.Items("candidates").Single().GetProperty("singleOrSharded").ValueKind);
        foreach (string command in (string[])[$"forecast {ids}", $"history {ids} --force", "list runs", $"report {_runs.Ids[0]} --full"])
        {
            ProgramResult shown = Run(command.Split(' ')).Expect(0);
            Assert.Contains(
                "embedded server, not MongoDB", shown.Output.Split('\n')[command == "list runs" ? 1 : 0], StringComparison.Ordinal);
        }
    }

    /// <summary>Counts are scaled, and with them what operations draw among.</summary>
    [Theory]
    [InlineData("linkbench", "mongod", "0.002")]
    [InlineData("linkbench", "mongod", "0.01")]
    [InlineData("linkbench", "mongod", "0.03")]
    [InlineData("examples/checks", "embedded", "0.25")]
    [InlineData("examples/checks", "embedded", "0.5")]
    [InlineData("examples/checks", "embedded", "2")]
    public void Conditions_hold_at_every_scale(string scenario, string server, string scale)
    {
        if (server == "mongod")
            Assert.SkipWhen(MongodBinary.SkipReason is not null, MongodBinary.SkipReason ?? "");
        string[] arguments = ["run", scenario, "--scale", scale];
        _ = (server == "mongod" ? Mongod([.. arguments, "--duration", "500ms", "--rate", "500", "--max-skipped", "100%"]) : Run(arguments))
            .Expect(0);
    }

    [MongodFact]
    public void Documents_that_a_validator_refuses_are_skipped_as_far_as_errors_may_be_and_counted_as_documents()
    {
        string file = _runs.At("validated.yaml");
        Directory.CreateDirectory(_runs.Path);
        File.WriteAllText(file, """
            description: A tenth of the documents is refused
            maxErrors: ALLOWED
            data:
              items:
                count: 1000
                document: {_id: ^number, n: {^number: {cycle: 10}}}
                options: {validator: {n: {$lt: 9}}}
            phases:
              - {load: items, batch: 50}
              - {name: count, count: 1, threads: 1, operations: [{count: items, filter: {}}]}

            """.Replace("ALLOWED", "100", StringComparison.Ordinal));
        string output = Mongod("run", file).Expect(0).Errors;
        Assert.Contains("100 documents of items can't be stored: Document failed validation", output, StringComparison.Ordinal);
        using (StoredRun run = _runs.FindStored()!)
            Assert.Equal("DocumentValidationFailure", Assert.Single(run.Errors).Name);
        File.WriteAllText(file, File.ReadAllText(file).Replace("maxErrors: 100", "maxErrors: 99", StringComparison.Ordinal));
        Mongod("run", file).Expect(4).Says("documents can't be stored: Document failed validation")
            .Says("make documents that pass the collection's validator");
    }

    private ProgramResult Run(params string[] arguments) =>
        ProgramRun.Run(new ProgramOptions { Server = "embedded" }, [.. arguments, "--out", _runs.Path]);

    private ProgramResult Mongod(params string[] arguments) =>
        ProgramRun.Run(new ProgramOptions { Server = "mongod" }, [.. arguments, "--out", _runs.Path]);
}
