using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>A series on a real cluster: spread, and right to the last document whatever happens to the cluster meanwhile.</summary>
[Collection(WaitingTests.Name)]
public sealed class ShardedSeriesTests(TestCluster cluster) : IClassFixture<TestCluster>, IDisposable
{
    private const long Target = 12_000;
    private const int Batch = 100;

    /// <summary>Of 1 MB, generously.</summary>
    private const long DocumentsOfAChunk = 2000;

    private readonly RunsFolder _runs = new();
    private readonly string _database = cluster.NewDatabase();

    public void Dispose() => _runs.Dispose();

    [MongodFact(From = "6.0")]
    public void A_hashed_key_spreads_the_documents_and_clean_takes_all_of_it_back()
    {
        (BsonDocument? balancer, BsonDocument? chunkSize) = (cluster.FindSetting("balancer"), cluster.FindSetting("chunksize"));
        JsonElement report = Finish(
            Start("10/85/5", "--chunk-size", "32MB", "--balancer", "off", "--window", "300ms", "--tests", "unack,batch,safe,q4,q6,size"),
            0);
        Assert.Equal(
            ("sharded", "mongod"), (report.GetProperty("deployment").Text("topology"), report.GetProperty("deployment").Text("router")));
        Assert.Equal("false", report.GetProperty("settings").GetProperty("plan").GetProperty("parameters").Text("ordered"));
        Assert.Equal("hashed", report.GetProperty("settings").GetProperty("data").GetProperty("sharding").Text("shardKey"));
        GrownStep last = report.GrowthSteps()[^1];
        JsonElement[] shards = [.. last.Sizes.Items("shards")];
        Assert.Equal(["s0", "s1"], shards.Select(shard => shard.Text("shard")));
        Assert.All(shards, shard => Assert.InRange(shard.Number("documents"), Target * 0.45, Target * 0.55));
        AssertAddsUp(report);
        Assert.All(shards, shard => Assert.Equal(2, shard.Number("chunks")));
        Assert.Equal(
            ["Date_-1", "Number1_1", "Number_1", "_id_", "_id_hashed"],
            last.Sizes.GetProperty("indexes").EnumerateObject().Select(index => index.Name).Order(StringComparer.Ordinal));
        Assert.All(last.Operations.Where(operation => operation.Text("operation")[0] == 'q'),
            operation => Assert.Equal(0, operation.Number("wrong")));
        // Each shard looks at ten documents, and the client gets ten.
        JsonElement q4 = last.Operation("q4").GetProperty("plan");
        Assert.Equal((10, 20), (q4.Number("returned"), q4.Number("documentsExamined")));
        Assert.Equal(
            (32L, "off"), (cluster.FindSetting("chunksize")!.FindInt64("value"), cluster.FindSetting("balancer")!.FindString("mode")));

        using (MongoConnection connection = cluster.Connect())
        {
            Assert.Equal(Target, connection.RunCommand(_database, BsonDocument.Of(("count", "series"))).FindInt64("n"));
            Assert.Equal(["series"], connection.RunCommand(
                _database, BsonDocument.Of(("distinct", "mongoperf"), ("key", "_id"), ("query", BsonDocument.Of(("program", "mongoperf")))))
                .FindDocument("values")!.Select(value => value.Value.ToString()));
        }

        string run = _runs.Id;
        ProgramRun.Run(
            "series", "--cluster", cluster.Folder, "--db", _database, "--target", "30k", "--shard-key", "_id", "--out", _runs.Path)
            .Expect(2).Says($"{_database}.series is sharded by {{_id: hashed}}, but this run's key is {{_id: 1}}");
        ProgramRun.Run("run", "q7", "--cluster", cluster.Folder, "--db", _database, "--operations", "10", "--balancer", "on",
            "--out", _runs.Path).Expect(0);
        // It wanted that until it ended; the series, whose collections are there, wants it off.
        Assert.Equal("off", cluster.FindSetting("balancer")!.FindString("mode"));
        ProgramRun.Run("clean", run, "--out", _runs.Path).Expect(0);
        Assert.Equal(chunkSize?.FindInt64("value"), cluster.FindSetting("chunksize")?.FindInt64("value"));
        Assert.Equal(balancer?.FindString("mode"), cluster.FindSetting("balancer")?.FindString("mode"));
        using MongoConnection config = cluster.ConnectConfig();
        Assert.Empty(Documents.Find(config, "config", "databases", BsonDocument.Of(("_id", _database))));
    }

    [MongodFact(From = "6.0")]
    public void A_shard_that_is_killed_and_started_again_loses_nothing_that_was_journaled()
    {
        ProgramRun run = Start("0/96/4", "--journal", "--window", "200ms", "--tests", "batch,safe,q4,size", "--max-errors", "1000000");
        long acknowledged;
        using (GrowthWatch watch = cluster.Watch(_database))
        {
            Assert.True(watch.WaitFor(run, 4000), "the series ended too early");
            // The batch on its way may be seen before it is journaled.
            acknowledged = watch.Read() - Batch;
        }

        cluster.Kill("s1-0");
        Thread.Sleep(1000);
        cluster.StartAgain();
        // Before the series has looked for holes itself.
        using (MongoConnection connection = cluster.Connect())
            Assert.True(Documents.Count(connection, _database) >= acknowledged, "documents that were acknowledged with j:true are gone");
        JsonElement report = Finish(run, 0);
        AssertAddsUp(report);
        Assert.Contains(report.Items("events"), e => e.Text("kind") == "outage"
            && e.Text("text").StartsWith("shard s1 did not answer", StringComparison.Ordinal) && e.GetProperty("seconds").GetDouble() > 1);
    }

    [MongodFact(From = "6.0")]
    public void A_router_that_dies_and_returns_is_an_outage_and_no_document_is_missing()
    {
        // Small batches, so that there are many left to fail, however late the router is killed.
        ProgramRun run = Start("10/85/5", "--shard-key", "Number", "--presplit", "4", "--window", "200ms",
            "--tests", "unack,batch,safe,q4,size", "--max-errors", "1000000", "--batch", "10");
        using (GrowthWatch watch = cluster.Watch(_database))
            Assert.True(watch.WaitFor(run, 3000), "the series ended too early");
        cluster.Kill("router");
        Thread.Sleep(500);
        cluster.StartAgain();
        JsonElement report = Finish(run, 0);
        Assert.Contains(report.Items("events"), e => e.Text("kind") == "reconnect" && e.GetProperty("seconds").GetDouble() > 0.4);
        Assert.True(report.GetProperty("accounting").Number("failed") > 0, "no failed operation was counted");
        JsonElement[] shards = [.. report.GrowthSteps()[^1].Sizes.Items("shards")];
        Assert.All(shards, shard => Assert.Equal(2, shard.Number("chunks")));
        Assert.All(shards, shard => Assert.InRange(shard.Number("documents"), Target * 0.45, Target * 0.55));
    }

    [MongodFact(From = "6.0")]
    public void A_balancer_that_starts_in_the_middle_moves_chunks_which_the_report_shows_and_no_document_is_missing()
    {
        ProgramRun run = Start(new ProgramOptions { DrawCharts = true }, "0/96/4", "--shard-key", "_id", "--chunk-size", "1MB",
            "--balancer", "off", "--window", "3s", "--tests", "batch,safe,q4,q6,size", "--max-errors", "1000000");
        using (GrowthWatch watch = cluster.Watch(_database))
            Assert.True(watch.WaitFor(run, 4000), "the series ended too early");
        using (MongoConnection config = cluster.ConnectConfig())
            config.RunCommand("admin", BsonDocument.Of(("_configsvrBalancerStart", 1)));
        JsonElement report = Finish(run, 0);
        JsonElement[] shards = [.. report.GrowthSteps()[^1].Sizes.Items("shards")];
        Assert.True(
            shards.Length == 2 && shards.All(shard => shard.Number("chunks") > 0), $"nothing has moved: {report.GrowthSteps()[^1].Sizes}");
        // Orphans are not counted; only those of a chunk that was on its way are on both shards.
        Assert.InRange(shards.Sum(shard => shard.Number("documents")), Target, Target + DocumentsOfAChunk);
        AssertShardsAreShown(report);
    }

    /// <summary>A kill -9 leaves a shard's own counter wrong.</summary>
    private static void AssertAddsUp(JsonElement report) =>
        Assert.Equal(Target, report.GrowthSteps()[^1].Sizes.Items("shards").Sum(shard => shard.Number("documents")));

    /// <summary>Snapshots, migrations, collStats and charts.</summary>
    private void AssertShardsAreShown(JsonElement report)
    {
        using (StoredRun stored = StoredRun.Open(_runs.RunPath))
        {
            var samples = stored.ReadShardSamples()
                .GroupBy(static sample => sample.Member).ToDictionary(static shard => shard.Key, static shard => shard.ToList());
            Assert.Equal(["s0", "s1"], samples.Keys.Order(StringComparer.Ordinal));
            Assert.All(samples.Values, static shard => Assert.True(shard.Count > 1, "one look alone"));
            Assert.InRange(
                samples.Values.Sum(static shard => shard[^1].Values[MetricCatalogue.IndexOf(MetricCatalogue.Shard, "documents")]),
                Target, Target + DocumentsOfAChunk);
            ChunkEvent[] done = [.. stored.ReadChunkEvents()
                .Where(static one => one is { Kind: ChunkEventKind.Migration, Outcome: ChunkEventOutcome.Done })];
            Assert.NotEmpty(done);
            Assert.All(
                done, static one => Assert.True(one is { Documents: > 0, Bytes: > 0, Seconds: > 0 } && one.From != one.To, one.ToString()));
            Assert.Equal(done.Length, report.GetProperty("sharding").GetProperty("migrations").Number("done"));
        }

        JsonElement collStats = report.GetProperty("collStats");
        Assert.True(collStats.GetProperty("sharded").GetBoolean());
        Assert.Equal((Target, 4L), (collStats.Number("count"), collStats.Number("nindexes")));
        Assert.Equal(
            collStats.GetProperty("indexSizes").Number("Number_1"),
            collStats.GetProperty("shards").EnumerateObject()
                .Sum(static shard => shard.Value.GetProperty("indexSizes").Number("Number_1")));
        foreach (string chart in (string[])["shards.png", "migrations.png", "shards.svg", "migrations.svg"])
        {
            var file = new FileInfo(Path.Combine(_runs.RunPath, "report", "charts", chart));
            Assert.True(
                file is { Exists: true, Length: > 5_000 }, $"{chart} has {(file.Exists ? file.Length : 0)} bytes: missing or blank");
        }
    }

    [MongodFact(From = "6.0")]
    public void Indexes_on_just_the_shard_key_are_made_as_they_are_asked_for()
    {
        string file = Path.Combine(_runs.Path, ".unique.yaml");
        File.WriteAllText(file, """
            data:
              c: {count: 200, document: {user: ^number, v: {^int: [0, 9]}}, shardKey: {user: 1}, indexes: [{key: {user: 1}, name: mine, unique: true}, {key: {user: 1, v: 1}, unique: true}]}
              d: {count: 200, document: {user: ^number}, shardKey: {user: hashed}, indexes: [{key: {user: hashed}, name: own}]}
            phases: [{load: c}, {load: d}]
            """);
        ProgramRun.Run("run", file, "--cluster", cluster.Folder, "--db", _database, "--quiet", "--out", _runs.Path).Expect(0);
        var found = new Dictionary<string, string[]>();
        foreach (ShardAddress shard in cluster.Cluster.Parts!.Shards)
        {
            using MongoConnection connection = MongoConnection.Open(shard.Primary, ConnectionSettings.Default);
            foreach (string collection in Documents.CollectionNames(connection, _database).Intersect(["c", "d"]))
            {
                found[$"{shard.Name} {collection}"] = [.. connection.RunCursor(_database, BsonDocument.Of(("listIndexes", collection)))
                    .Select(index => index.FindString("name") + (index.IsTrue("unique") ? " unique" : "")).Order(StringComparer.Ordinal)];
            }
        }

        // Each shard that has a part has them all; the one chunk of the range is on one of them.
        Assert.All(found.Where(pair => pair.Key.EndsWith('d')), pair => Assert.Equal(["_id_", "own"], pair.Value));
        Assert.Equal(2, found.Keys.Count(key => key.EndsWith('d')));
        Assert.Equal(["_id_", "mine unique", "user_1_v_1 unique"], Assert.Single(found, pair => pair.Key.EndsWith('c')).Value);
    }

    private ProgramRun Start(string shares, params string[] more) => Start(new ProgramOptions(), shares, more);

    private ProgramRun Start(ProgramOptions options, string shares, params string[] more) => ProgramRun.Start(
        options,
        [
            "series", "--cluster", cluster.Folder, "--db", _database, "--target", $"{Target}", "--step", "6k",
            "--shares", shares, .. more.Contains("--batch") ? [] : new[] { "--batch", $"{Batch}" },
            "--rate", "100", "--max-skipped", "100%", "--threads", "2", "--out", _runs.Path, "--format", "json", .. more,
        ]);

    private JsonElement Finish(ProgramRun run, int exitCode)
    {
        using ProgramRun ended = run;
        JsonElement report = run.WaitForEnd().Expect(exitCode).Report();
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal([Target / 2, Target], report.GrowthSteps().Select(step => step.Documents));
        JsonResults.AssertAdds(report.GetProperty("accounting"));
        using MongoConnection connection = cluster.Connect();
        Documents.AssertRight(connection, Target, _database, "series", Documents.TemplateOf());
        return report;
    }
}
