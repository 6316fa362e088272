using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>Runs on shards where there is no mongod: the embedded server plays the mongos.</summary>
public sealed class EmbeddedMongosTests : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_run_tells_what_each_shard_has()
    {
        string file = Path.Combine(_runs.Path, "scenario.yaml");
        File.WriteAllText(file, """
            data:
              c: {count: 600, document: {user: {^int: [0, 99]}, v: ^number}, shardKey: {user: hashed}}
            phases:
            - {load: c}
            - {name: look, threads: 1, count: 150, operations: [{find: c, filter: {user: 7}}]}
            """);
        JsonElement report = ProgramRun.Run(
            "run", file, "--topology", "sharded", "--shards", "3", "--presplit", "6", "--max-skipped", "100%", "--format", "json",
            "--out", _runs.Path).Expect(0).Report();
        JsonElement deployment = report.GetProperty("deployment");
        Assert.Equal(("sharded", "mongos", 3, true), (deployment.Text("topology"), deployment.Text("router"),
            deployment.Number("shardCount"), deployment.GetProperty("isEmbedded").GetBoolean()));
        JsonElement[] shards = [.. report.GetProperty("sharding").Items("shards")];
        Assert.Equal(600, shards.Sum(shard => shard.Number("documents")));
        Assert.Equal(["shard0", "shard1", "shard2"],
            shards.Where(shard => shard.Number("documents") > 0).Select(shard => shard.Text("shard")));
    }
}
