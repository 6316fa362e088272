using System.Globalization;
using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>Scenarios of published series that ask for shards, or may have them, on real ones.</summary>
[Collection(WaitingTests.Name)]
public sealed class PublishedShardedTests(ThreeShards cluster) : IClassFixture<ThreeShards>, IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodTheory(From = "6.0")]
    [InlineData("ycsb-sharded", 0.001, "recordcount=1M", "threadcount=8")]
    [InlineData("report-2.4.8/i6", 0.00002)]
    [InlineData("report-2.4.8/i9", 0.005, "image=1.04MB")]
    public void Phases_do_what_the_file_says(string name, double scale, params string[] set) => Run(name, scale, set);

    [MongodTheory(From = "6.0")]
    [InlineData("report-2.4.8/q13")]
    [InlineData("report-2.4.8/q14")]
    public void Hot_sets_are_read_from_all_shards(string name) =>
        RunIn(cluster.NewDatabase(), name, 0.00002, ["hot=50M"], "--operations", "400", "--threads", "4,20");

    /// <summary>Ordered keys lie on one shard until the window opens; whole collections lie where the file says.</summary>
    [MongodFact(From = "6.0")]
    public void Six_nodes_balance_in_their_window_and_hold_whole_collections()
    {
        BsonDocument? before = cluster.FindSetting("balancer");
        JsonElement result = Run(
            "six-nodes", 0.0003, ["threadcount=2", "operationcount=500k", "distribution=zipfian"], "--chunk-size", "1MB");
        Dictionary<string, JsonElement> sizes = result.Items("phases").Where(phase => phase.Items("sizes").Count > 0)
            .GroupBy(phase => phase.Text("phase")).ToDictionary(phase => phase.Key, phase => phase.Last().Items("sizes").Single());
        Assert.Equal([3000], DocumentsOf(sizes["load ordered"]));
        Assert.Equal(3000, DocumentsOf(sizes["ordered, balanced"]).Sum());
        Assert.True(DocumentsOf(sizes["ordered, balanced"]).Length > 1, "nothing has moved");
        Assert.Equal(3, DocumentsOf(sizes["load hashed"]).Length);
        Assert.Equal(["s0 1000", "s1 1000", "s2 1000"], Enumerable.Range(1, 3)
            .SelectMany(i => sizes[$"load whole{i}"].Items("shards").Select(s => $"{s.Text("shard")} {s.Number("documents")}")));
        Assert.True(result.GetProperty("sharding").GetProperty("migrations").Number("done") > 0);
        Assert.Equal(before?.ToString(), cluster.FindSetting("balancer")?.ToString());
        // All five collections go, and with the last one the chunk size that the run asked for.
        Assert.Equal(1, cluster.FindSetting("chunksize")?.FindInt64("value"));
        Assert.Contains("whole3 dropped",
            ProgramRun.Run("clean", Assert.Single(_runs.Ids), "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
        Assert.Null(cluster.FindSetting("chunksize"));
    }

    [MongodFact(From = "6.0")]
    public void An_index_is_built_on_every_shard_that_owns_documents()
    {
        string database = cluster.NewDatabase();
        RunIn(database, "report-2.4.8/o1-sharded", 0.00002, [], "--operations", "400");
        foreach (var shard in cluster.Cluster.Parts!.Shards)
        {
            using MongoConnection direct = MongoConnection.Open(shard.Primary, ConnectionSettings.Default);
            Assert.Contains("number_1", Documents.IndexNames(direct, database, "items"));
        }
    }

    [MongodFact(From = "6.0")]
    public void A_shard_that_the_cluster_has_not_is_refused_before_anything_is_made()
    {
        string file = Path.Combine(_runs.Path, ".far.yaml");
        File.WriteAllText(file, "data: {far: {count: 1, shard: 4}}\nphases: [{load: far}]\n");
        ProgramRun.Run("run", file, "--cluster", cluster.Folder, "--db", cluster.NewDatabase(), "--quiet", "--out", _runs.Path).Expect(2)
            .Says("collection 'far': shard is 4; allowed: 1 to 3, the cluster's shards");
        Assert.Empty(_runs.Ids);
    }

    private static long[] DocumentsOf(JsonElement sizes) => [.. sizes.Items("shards").Select(s => s.Number("documents")).Where(n => n > 0)];

    private JsonElement Run(string name, double scale, string[] set, params string[] more) =>
        RunIn(cluster.NewDatabase(), name, scale, set, more);

    private JsonElement RunIn(string database, string name, double scale, string[] set, params string[] more)
    {
        string[] arguments =
        [
            "run", name, "--cluster", cluster.Folder, "--db", database, "--scale", scale.ToString("R", CultureInfo.InvariantCulture),
            "--verify", "all",
            "--quiet", "--out", _runs.Path, "--format", "json", .. set.SelectMany(s => (string[])["--set", s]), .. more,
        ];
        ProgramResult ended = ProgramRun.Run(arguments).Expect(0);
        var checks = new ScenarioChecks(arguments, ended);
        checks.AssertDone();
        using MongoConnection connection = cluster.Connect();
        checks.AssertStored(connection, database);
        return ended.Report();
    }
}
