using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>
/// The program behind a mongos: a real one where MONGOPERF_MONGOS names it or it lies beside the mongod, else a relay that plays one of
/// 8.0.
/// </summary>
[Collection(WaitingTests.Name)]
public sealed class MongosTests(MongosTests.Mongos mongos) : IClassFixture<MongosTests.Mongos>, IDisposable
{
    private const string Secret = "secret";

    private readonly RunsFolder _runs = new();
    private readonly string _database = $"mongos{Guid.NewGuid():N}"[..14];

    public void Dispose() => _runs.Dispose();

    [MongodFact(From = "6.0")]
    public void Chunks_are_made_as_asked_for_and_clean_leaves_the_clusters_settings_as_it_found_them()
    {
        string[] before = ReadSettings();
        JsonElement report = Series(mongos.Uri, "--presplit", "6", "--balancer", "off", "--chunk-size", "32MB").Report();
        Assert.Equal(6, CountChunks("series"));
        Assert.Equal(6, report.GrowthSteps()[^1].Sizes.Items("shards").Sum(shard => shard.Number("chunks")));
        Assert.NotEqual(before, ReadSettings());

        ProgramRun.Run("clean", _runs.Id, "--out", _runs.Path).Expect(0);
        Assert.Equal(before, ReadSettings());
        Assert.Equal(0, CountChunks("series"));
    }

    /// <summary>Each of the runs finds what the one before it has set.</summary>
    [MongodFact(From = "6.0")]
    public void Settings_that_a_run_in_another_database_has_changed_are_put_back_by_the_last()
    {
        string[] before = ReadSettings();
        Series(mongos.Uri, "--balancer", "off");
        string first = _runs.Id;
        ProgramRun.Run("series", "--uri", mongos.Uri, "--db", $"{_database}b", "--target", "1k", "--topology", "sharded",
            "--tests", "batch", "--chunk-size", "32MB", "--out", _runs.Path).Expect(0);
        string second = _runs.Ids.Single(id => id != first);
        Assert.Contains($"run {second} in database {_database}b",
            ProgramRun.Run("clean", first, "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
        ProgramRun.Run("clean", second, "--out", _runs.Path).Expect(0);
        Assert.Equal(before, ReadSettings());
    }

    [MongodFact(From = "6.0")]
    public void A_scenarios_own_shard_key_and_balancer_need_no_topology()
    {
        string[] before = ReadSettings();
        ProgramResult result = Run("""
            data:
              c: {count: 200, document: {user: ^number}, shardKey: {user: 1}}
            phases:
            - {load: c}
            - {name: quiet, balancer: off}
            - {name: look, threads: 1, count: 20, operations: [{find: c, filter: {user: {^field: user}}}]}
            """, mongos.Uri, "--presplit", "4");
        Assert.Equal(["load c", "quiet", "look"], result.Report().Items("phases").Select(phase => phase.Text("phase")));
        Assert.Equal(4, CountChunks("c"));
        Assert.Equal("{user: 1}", Assert.Single(result.Report().GetProperty("deployment").Items("collections")).Text("key"));
        Assert.Equal(before, ReadSettings());
    }

    [MongodFact(From = "6.0")]
    public void A_replacement_carries_the_stored_shard_key_and_replaces()
    {
        JsonElement replaced = Run("""
            data:
              c: {count: 100, document: {user: {^int: [0, 99]}, v: 0}, shardKey: {user: 1}}
            phases:
            - {load: c}
            - {name: put, threads: 1, count: 100, operations: [{replace: c, key: sequential, with: {user: {^field: user}, v: 7}}]}
            """, mongos.Uri, "--presplit", "4").Report().Items("phases")[1].Items("operations")[0];
        Assert.Equal((100, 0), (replaced.Number("operations"), replaced.Number("failed")));
        using MongoConnection connection = mongos.Connect();
        Assert.Equal(100, Documents.Find(connection, _database, "c", BsonDocument.Of(("v", 7))).Count());
    }

    [MongodFact(From = "6.0")]
    public void Compact_is_refused_before_the_run_unless_the_file_forces_it()
    {
        Write("""
            data:
              c: {count: 50, document: {user: ^number}, shardKey: {user: 1}}
            phases:
            - {load: c}
            - {name: shrink, count: 1, operations: [{compact: c}]}
            """);
        ProgramRun.Run("run", FilePath, "--uri", mongos.Uri, "--db", _database, "--out", _runs.Path).Expect(2)
            .Says("force: true");
    }

    [MongodFact(From = "6.0")]
    public void An_operation_that_asks_all_shards_is_told()
    {
        JsonElement report = Run("""
            data:
              c: {count: 400, document: {user: {^int: [0, 99]}, v: ^number}, shardKey: {user: hashed}}
            phases:
            - {load: c}
            - {name: keyed, threads: 1, count: 300, rate: 100, operations: [{find: c, name: one, filter: {user: 7}}]}
            - {name: other, threads: 1, count: 300, rate: 100, operations: [{find: c, name: all, filter: {v: 3}}]}
            """, mongos.Uri, "--max-skipped", "100%").Report();
        JsonElement finds = report.GetProperty("sharding").GetProperty("asked").GetProperty("find");
        Assert.True(finds.Number("one") >= 100 && finds.Number("all") >= 100, finds.ToString());
        JsonElement finding = Assert.Single(report.Items("findings"), one => one.Text("id") == "asks-all-shards");
        Assert.Equal("other asks both shards: shards add work to it, not speed", finding.Text("text"));
        Assert.Equal("no condition fixes the shard key {user: hashed}", finding.Text("cause"));
    }

    [MongodFact(From = "6.0")]
    public void What_8_tells_under_other_names_and_by_shard_is_in_the_report()
    {
        JsonElement report = Run("""
            data:
              c: {count: 600, document: {user: {^int: [0, 99]}, v: ^number}, shardKey: {user: hashed}, indexes: [v]}
            phases:
            - {load: c}
            - {name: by v, threads: 1, count: 300, rate: 100, operations: [{find: c, filter: {v: 3}}]}
            """, mongos.Uri, "--max-skipped", "100%").Report();
        JsonElement sharding = report.GetProperty("sharding");
        JsonElement byV = sharding.GetProperty("indexes").GetProperty("v_1");
        Assert.All((string[])["s0", "s1"], shard => Assert.True(byV.Number(shard) >= 100, byV.ToString()));
        Assert.Equal(600, sharding.Items("shards").Sum(shard => shard.Number("documents")));
        Assert.All(sharding.Items("shards"), shard => Assert.True(
            shard.Number("ownedBytes") > 0 && shard.Number("orphanedBytes") == 0 && shard.Number("orphans") == 0, shard.ToString()));

        using Storage.StoredRun stored = _runs.FindStored()!;
        string[] told = ["tickets_read_available", "tickets_write_out", "checkpoint_running", "checkpoints", "checkpoint_milliseconds"];
        var metrics = Storage.MetricCatalogue.Only(Storage.MetricCatalogue.Server, [.. told, "index_builds"]);
        Storage.MetricSample[] samples = [.. stored.ReadServerSamples(metrics).Where(sample => double.IsFinite(sample.Values[0]))];
        Assert.NotEmpty(samples);
        bool tellsBuilds = metrics[^1].IsToldBy(Storage.DeploymentInfo.ReleaseOf(
            report.GetProperty("deployment").Text("serverVersion"))!);
        Assert.All(samples, sample => Assert.Equal([.. told.Select(_ => true), tellsBuilds], sample.Values.Select(double.IsFinite)));
        string text = ProgramRun.Run("report", _runs.Id, "--full", "--out", _runs.Path).Expect(0).Output;
        Assert.Contains("Operations that used an index, by shard", text, StringComparison.Ordinal);
        Assert.Equal(tellsBuilds ? 0 : 1, text.Split("index builds: MongoDB ").Length - 1);
    }

    [MongodFact(From = "6.0")]
    public void Each_shards_part_of_a_sorted_or_skipped_result_is_no_scan()
    {
        JsonElement report = Series(mongos.Uri, "--tests", "batch,q6,q7").Report();
        Assert.DoesNotContain(report.Items("findings"), one => one.Text("id") is "plan-scans" or "plan-examines");
        GrownStep last = report.GrowthSteps()[^1];
        Assert.Equal(100, last.Operation("q7").GetProperty("plan").Number("returned"));
        Assert.Equal(0, last.Operation("q6").Number("wrong"));
    }

    [MongodFact(From = "6.0")]
    public void Migrations_are_in_the_report_and_a_collection_of_one_shard_stays_there()
    {
        JsonElement report = Run("""
            data:
              spread: {count: 8k, document: {_id: ^number, text: {^string: 1000}}, shardKey: {_id: 1}}
              left: {count: 300, document: {name: ^word}, shard: 1}
              right: {count: 300, document: {name: ^word}, shard: 2}
            phases:
            - balancer: off
            - load: spread
            - name: balancing
              groups:
              - {name: clients, threads: 1, rate: 50, operations: [{find: spread, key: zipfian}]}
              - {name: window, balancer: now, within: 60s}
            - name: whole collections
              threads: 1
              count: 200
              operations: [{find: left, name: read, key: uniform}, {find: right, name: read, key: uniform}]
            """, mongos.Uri, "--chunk-size", "1MB", "--max-skipped", "100%").Report();
        JsonElement sharding = report.GetProperty("sharding");
        Assert.Equal("spread", sharding.Text("collection"));
        Assert.True(sharding.GetProperty("migrations").Number("done") > 0, sharding.ToString());
        Assert.All(sharding.Items("shards"), shard => Assert.True(shard.Number("documents") > 0, sharding.ToString()));
        Assert.Equal(["s0"], ShardsOf("left"));
        Assert.Equal(["s1"], ShardsOf("right"));
    }

    [MongodFact(From = "6.0")]
    public void Each_collection_is_presplit_by_its_own_documents()
    {
        Run("""
            data:
              a: {count: 600, document: {_id: ^number}, shardKey: {_id: 1}}
              b: {count: 300, document: {_id: ^number}, shardKey: {_id: 1}}
              whole: {count: 300, document: {_id: ^number}, shard: 2}
            phases: [{load: a}, {load: b}, {load: whole}]
            """, mongos.Uri, "--presplit", "3");
        Assert.Equal([200, 400], BoundsOf("a"));
        Assert.Equal([100, 200], BoundsOf("b"));
        Assert.Equal(["s1"], ShardsOf("whole"));
    }

    [MongodFact(From = "6.0")]
    public void Zones_and_chunks_of_a_file_are_there_before_its_documents_and_clean_takes_the_zones_back()
    {
        ProgramRun.Run("run", Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "zones.yaml"), "--scale", "0.1",
            "--uri", mongos.Uri, "--db", _database, "--out", _runs.Path).Expect(0);
        Assert.Equal(8, CountChunks("events"));
        Assert.Equal(["s0", "s1"], ShardsOf("customers"));
        using MongoConnection connection = mongos.Connect();
        // What each shard has is of its own countries.
        Assert.Equal((2, 2), (ConfigCatalogue.ZoneRanges(connection, $"{_database}.customers").Count, Tags(connection).Length));
        Assert.All(ConfigCatalogue.ReadChunks(connection, ConfigCatalogue.FindCollection(connection, $"{_database}.customers")!),
            chunk => Assert.Equal(chunk.FindString("min.country") is null ? "s0" : "s1", chunk.FindString("shard")));

        ProgramRun.Run("clean", _runs.Id, "--out", _runs.Path).Expect(0);
        Assert.Empty(ConfigCatalogue.ZoneRanges(connection, $"{_database}.customers"));
        Assert.Empty(Tags(connection));
        Assert.All(connection.RunCursor("config", BsonDocument.Of(("find", "shards"))), shard => Assert.Null(shard.Find("tags")));

        string[] Tags(MongoConnection config) => [.. config.RunCursor("config", BsonDocument.Of(("find", "shards")))
            .SelectMany(shard => shard.FindDocument("tags") ?? BsonDocument.Empty).Select(tag => tag.Value.ToString())
            .Where(tag => tag.Contains(_database, StringComparison.Ordinal))];
    }

    [MongodFact(From = "6.0")]
    public void Learned_zones_put_as_many_documents_on_each_shard_and_have_no_value_of_the_key()
    {
        string copy = $"{_database}c";
        string file = Path.Combine(_runs.Path, "my.yaml");
        Run("""
            data:
              customers:
                count: 900
                document: {country: {^choice: {of: [CHE, DEU, FRA], weights: [5, 2, 3]}}, name: ^word}
                shardKey: {country: 1, _id: 1}
                zones: [{shard: 2, to: {country: FRA}}, {shard: 1, from: {country: FRA}}]
            phases: [{load: customers}]
            """, mongos.Uri);
        ProgramRun.Run("learn", "--uri", mongos.Uri, "--db", _database, "-o", file).Expect(0);
        string text = File.ReadAllText(file);
        Assert.Matches(@"shardKey: \{country: 1, _id: 1\}\n    zones:\n      - \{shard: 2, to: [67][0-9](\.[0-9]+)?%\}", text);
        Assert.DoesNotMatch("CHE|DEU|FRA", text);
        ProgramRun.Run("run", file, "--uri", mongos.Uri, "--db", copy, "--out", _runs.Path).Expect(0);
        using MongoConnection connection = mongos.Connect();
        BsonDocument[] tied = [.. ConfigCatalogue.ZoneRanges(connection, $"{copy}.customers")];
        Assert.Equal(["s0", "s1"], tied.Select(range => range.FindString("tag")!.Split(' ')[^1]).Order(StringComparer.Ordinal));
        string bound = tied.Select(range => range.FindString("min.country")).OfType<string>().Single();
        Assert.InRange(Documents.Find(connection, copy, "customers",
            BsonDocument.Of(("country", BsonDocument.Of(("$gte", bound))))).Count(), 225, 315);
        ProgramRun.Run("learn", "--check", file, "--against", mongos.Uri, "--db", _database).Expect(0);
        foreach (string id in _runs.Ids)
            ProgramRun.Run("clean", id, "--out", _runs.Path).Expect(0);
    }

    [MongodFact(From = "6.0")]
    public void A_time_series_is_spread_by_its_metaField_read_back_and_dropped()
    {
        JsonElement report = Run("""
            data:
              readings:
                count: 400
                document: {at: {^date: {start: 2026-01-01, step: 1s}}, sensor: {number: {^number: {cycle: 20}}}, value: {^double: [0, 1]}}
                options: {timeseries: {timeField: at, metaField: sensor}}
                indexes: [{sensor.number: 1, at: -1}]
                shardKey: {sensor.number: hashed}
            phases:
            - {load: readings}
            - {name: look, threads: 1, count: 40, operations: [{find: readings, filter: {sensor.number: {^field: sensor.number}}}]}
            - {name: size, sizes: readings}
            """, mongos.Uri, "--verify", "all").Report();
        Assert.Equal("{sensor.number: hashed}",
            Assert.Single(report.GetProperty("deployment").Items("collections")).Text("key"));
        Assert.Equal(["s0", "s1"], ShardsOf("readings"));
        JsonElement[] phases = [.. report.Items("phases")];
        JsonElement look = phases[1].Items("operations")[0];
        Assert.Equal((40, 800, 0), (look.Number("operations"), look.Number("documents"), look.Number("wrong")));
        Assert.Equal(800, look.Number("verified"));
        JsonElement sizes = phases[2].Items("sizes")[0];
        Assert.Equal(400, sizes.Number("documents"));
        Assert.True(sizes.Number("storageBytes") > 0);

        ProgramRun.Run("clean", _runs.Id, "--out", _runs.Path).Expect(0);
        Assert.Equal(0, CountChunks("readings"));
    }

    [MongodFact(From = "6.0")]
    public void A_cluster_without_shards_is_refused_in_one_sentence()
    {
        using var empty = new MongosRelay(mongos.Cluster) { HidesShards = true };
        foreach (string command in (string[])["series --target 1k --topology sharded", "run q4 --records 100"])
        {
            ProgramRun.Run([.. command.Split(' '), "--uri", $"mongodb://{empty.Address}/", "--db", _database, "--out", _runs.Path])
                .Expect(3).Says($"the cluster of the mongos at {empty.Address} has no shards, so it can store nothing");
        }

        Assert.Empty(_runs.Ids);
    }

    [MongodFact(From = "6.0")]
    public void ReadWrite_on_one_database_fills_and_measures_a_collection()
    {
        ProgramResult result = Series(mongos.UriOf("loader", _database, new Role("readWrite", _database)));
        result.Says("access: ").Says("as 'loader' (readWrite on ").Says("checkpoints read back (appendOplogNote needs role clusterManager)")
            .Says("shards, their state, chunks and migrations no (needs role clusterMonitor)");
        Assert.Equal(Target, result.Report().GrowthSteps()[^1].Sizes.Number("documents"));
        ProgramRun.Run("clean", _runs.Id, "--uri", mongos.UriOf("loader", _database, null), "--out", _runs.Path).Expect(0);
    }

    [MongodFact(From = "6.0")]
    public void A_user_who_may_nothing_is_told_so_in_one_sentence_and_nothing_is_made()
    {
        string[] before = ReadSettings();
        ProgramRun.Run("series", "--uri", mongos.UriOf("powerless", _database, new Role("read", "elsewhere")), "--db", _database,
            "--target", "1k", "--topology", "sharded", "--presplit", "4", "--balancer", "off", "--out", _runs.Path)
            .Expect(3).Says($"error: 'powerless' may not write {_database}.series; nothing was started");
        Assert.Equal(before, ReadSettings());
        using MongoConnection connection = mongos.Connect();
        Assert.Null(ConfigCatalogue.FindDatabase(connection, _database));
        Assert.Empty(_runs.Ids);
    }

    [MongodFact(From = "6.0")]
    public void A_collection_that_an_administrator_has_sharded_is_used_emptied_and_kept()
    {
        string uri = mongos.UriOf("user", _database, new Role("readWrite", _database), new Role("clusterMonitor", "admin"));
        using (MongoConnection connection = mongos.Connect())
        {
            connection.RunCommand("admin", BsonDocument.Of(("enableSharding", _database)));
            connection.RunCommand("admin", BsonDocument.Of(
                ("shardCollection", $"{_database}.series"), ("key", BsonDocument.Of(("_id", "hashed")))));
        }

        int heard = mongos.HeardOfUsers.Count;
        JsonElement report = Series(uri, "--topology", "sharded").Report();
        Assert.Equal(2, report.GrowthSteps()[^1].Sizes.Items("shards").Count(shard => shard.Number("documents") > 0));
        ProgramRun.Run("clean", _runs.Id, "--uri", uri, "--out", _runs.Path).Expect(0);
        Assert.Equal(2, CountChunks("series"));
        using MongoConnection mine = mongos.Connect();
        Assert.Equal(0, Documents.Count(mine, _database));
        Assert.DoesNotContain("drop series", mongos.HeardOfUsers.Skip(heard));
    }

    [MongodFact(From = "6.0")]
    public void A_user_of_the_shards_shows_their_operations_although_they_refuse_all_but_their_state()
    {
        string uri = mongos.UriOf("manager", _database, new Role("readWrite", _database), new Role("clusterManager", "admin"),
            new Role("clusterMonitor", "admin"));
        mongos.AddShardUser("watcher");
        string password = Path.Combine(_runs.Path, ".password");
        File.WriteAllText(password, Secret);
        ProgramResult result = Series(uri, "--shard-user", "watcher", "--shard-password-file", password);
        result.Says("server state by shard yes");
        using var stored = _runs.FindStored();
        int inserted = Storage.MetricCatalogue.IndexOf(Storage.MetricCatalogue.Shard, "opcounters_insert");
        Assert.Contains(stored!.ReadShardSamples(), sample => sample.Values[inserted] > 0);
        Assert.All(stored.ReadShardSamples().GroupBy(sample => sample.Member), shard =>
            Assert.False(double.IsNaN(shard.Last().Values[Storage.MetricCatalogue.IndexOf(Storage.MetricCatalogue.Shard, "documents")])));
    }

    [MongodFact(From = "6.0")]
    public void A_failover_of_a_shard_is_one_event_with_its_length_and_loses_nothing()
    {
        string old = mongos.PrimaryOf("s0");
        using ProgramRun run = ProgramRun.Start(new ProgramOptions(),
            "series", "--uri", mongos.Uri, "--db", _database, "--target", $"{Target}", "--step", "500", "--shares", "0/60/40",
            "--batch", "50", "--window", "3s", "--rate", "50", "--max-skipped", "100%", "--threads", "2", "--tests", "batch,safe,q4,size",
            "--max-errors", "1000000", "--format", "json", "--out", _runs.Path);
        Assert.True(run.WaitForLine("step 1 complete"), run.Errors);
        mongos.Cluster.Kill(mongos.NameOf(old));
        ProgramResult result = run.WaitForEnd();
        mongos.Cluster.StartAgain();
        JsonElement report = result.Expect(0).Report();
        JsonElement outage = Assert.Single(
            report.Items("events"),
            one => one.Text("kind") == "outage" && one.Text("text").StartsWith("shard s0", StringComparison.Ordinal));
        string now = mongos.PrimaryOf("s0");
        Assert.NotEqual(old, now);
        Assert.StartsWith($"shard s0: primary {mongos.Shown(old)} → {mongos.Shown(now)}, no primary for ", outage.Text("text"),
            StringComparison.Ordinal);
        Assert.InRange(outage.GetProperty("seconds").GetDouble(), 0.5, 60);
        using MongoConnection connection = mongos.Connect();
        Assert.Equal(Target, Documents.Count(connection, _database));
    }

    private const int Target = 1_000;

    private string FilePath => Path.Combine(_runs.Path, ".scenario.yaml");

    private ProgramResult Series(string uri, params string[] more) => ProgramRun.Run(
    [
        "series", "--uri", uri, "--db", _database, "--target", $"{Target}", "--step", "500", "--shares", "0/60/40", "--batch", "50",
        "--window", "300ms", "--rate", "100", "--max-skipped", "100%", "--threads", "1", "--tests", "batch,safe,q4,size",
        "--format", "json", "--out", _runs.Path, .. more,
    ]).Expect(0);

    private void Write(string scenario) => File.WriteAllText(FilePath, scenario);

    private ProgramResult Run(string scenario, string uri, params string[] more)
    {
        Write(scenario);
        return ProgramRun.Run(
            ["run", FilePath, "--uri", uri, "--db", _database, "--format", "json", "--out", _runs.Path, .. more]).Expect(0);
    }

    private string[] ReadSettings()
    {
        using MongoConnection connection = mongos.Connect();
        return [.. Documents.Find(connection, "config", "settings", BsonDocument.Empty, ("sort", BsonDocument.Of(("_id", 1))))
            .Select(setting => ExtendedJson.Write(setting.Bytes))];
    }

    private long CountChunks(string collection)
    {
        using MongoConnection connection = mongos.Connect();
        return ConfigCatalogue.FindCollection(connection, $"{_database}.{collection}") is { } sharded
            ? ConfigCatalogue.CountChunks(connection, sharded).Values.Sum() : 0;
    }

    private string[] ShardsOf(string collection)
    {
        using MongoConnection connection = mongos.Connect();
        BsonDocument sharded = ConfigCatalogue.FindCollection(connection, $"{_database}.{collection}")!;
        return [.. ConfigCatalogue.CountChunks(connection, sharded).Keys.Order(StringComparer.Ordinal)];
    }

    /// <summary>Where one chunk ends and the next begins, by _id.</summary>
    private long[] BoundsOf(string collection)
    {
        using MongoConnection connection = mongos.Connect();
        BsonDocument sharded = ConfigCatalogue.FindCollection(connection, $"{_database}.{collection}")!;
        return [.. ConfigCatalogue.ReadChunks(connection, sharded).Select(chunk => chunk.FindInt64("min._id")).OfType<long>().Order()];
    }

    public sealed record Role(string Name, string Database);

    /// <summary>Two shards of three members behind a mongos, or what plays one.</summary>
    public sealed class Mongos : IDisposable
    {
        private readonly ShardsOfThree? _cluster;

        /// <summary>Both null behind a real one.</summary>
        private readonly MongosRelay? _relay;
        private readonly MongosRelay? _secured;

        public Mongos()
        {
            if (MongodBinary.SkipReason is not null)
                return;
            _cluster = new ShardsOfThree();
            if (_cluster.Cluster.Parts!.Router == RouterKind.Mongos)
                return;
            _relay = new MongosRelay(_cluster);
            _secured = new MongosRelay(_cluster) { RequiresLogin = true };
        }

        /// <summary>Where nobody has to log in.</summary>
        public string Uri => $"mongodb://{_relay?.Address ?? Cluster.Cluster.Parts!.RouterAddress}/";

        internal TestCluster Cluster => _cluster!;

        /// <summary>The commands of those who logged in.</summary>
        public IReadOnlyList<string> HeardOfUsers => _secured?.Heard ?? [];

        /// <param name="name">Of the user, who is made first unless there are no roles.</param>
        /// <param name="database">By which names are told apart.</param>
        /// <param name="roles">The user's.</param>
        public string UriOf(string name, string database, params Role?[]? roles)
        {
            new Need("a cluster with logins", "hide the mongos, whose cluster has none").SkipUnless(_secured is not null);
            using MongoConnection config = Cluster.ConnectConfig();
            if (roles is [not null, ..])
            {
                config.RunUnchecked("admin", BsonDocument.Of(("dropUser", name)));
                config.RunCommand("admin", UserOf(name, roles!));
            }

            return $"mongodb://{name}:{Secret}@{_secured!.Address}/?authSource=admin";
        }

        /// <summary>With role clusterMonitor on each shard.</summary>
        public void AddShardUser(string name)
        {
            foreach (ShardAddress shard in Cluster.Cluster.Parts!.Shards)
            {
                using MongoConnection connection = MongoConnection.Open(Cluster.PrimaryOf(shard.Name), ConnectionSettings.Default);
                connection.RunCommand("admin", UserOf(name, new Role("clusterMonitor", "admin")));
            }
        }

        public MongoConnection Connect()
        {
            var parsed = ConnectionString.Parse(Uri);
            return MongoConnection.Open(parsed.Hosts[0], ConnectionSettings.From(parsed));
        }

        public string PrimaryOf(string shard) => Cluster.PrimaryOf(shard).ToString();

        /// <summary>The process of a member, as <see cref="TestCluster.Kill"/> takes it.</summary>
        public string NameOf(string address) =>
            Cluster.Cluster.Plan.Processes.First(one => address.EndsWith($":{one.Port}", StringComparison.Ordinal)).Name;

        /// <summary>Where the program finds a member.</summary>
        public string Shown(string member) => _relay?.Shown(ServerAddress.TryParse(member)!).ToString() ?? member;

        public void Dispose()
        {
            _relay?.Dispose();
            _secured?.Dispose();
            _cluster?.Dispose();
        }

        private static BsonDocument UserOf(string name, params Role?[] roles) => BsonDocument.Of(
            ("createUser", name), ("pwd", Secret),
            ("roles", roles.Select(role => BsonDocument.Of(("role", role!.Name), ("db", role.Database))).ToArray()));
    }
}

/// <summary>Each of which goes on without any one of its members.</summary>
public sealed class ShardsOfThree : TestCluster
{
    protected override int Members => 3;
}
