using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Load.Sharding;

/// <summary>
/// What a mongos hears when a series' collection is made, checked and taken back. Its config.* are a real cluster's; a real
/// mongos could not be had.
/// </summary>
public sealed class ShardedCollectionTests : IDisposable
{
    private static readonly CollectionMarker Marker = new(42, "0123456789abcdef", "run", 0, IsGrown: true);
    private static readonly DocumentTemplate Documents = SeriesFile.Documents();
    private static readonly IReadOnlyList<BsonDocument> Indexes = SeriesFile.Plan().Rounds[0].Collections.Single().Indexes;

    private readonly FakeMongos _mongos = new() { KeepsSettings = true };
    private readonly ManualClock _clock = new();
    private readonly List<string> _told = [];

    public ShardedCollectionTests()
    {
        if (RepositoryPaths.Replies is null)
            return;
        foreach (string name in (string[])["shards", "databases", "collections", "chunks"])
            _mongos.Documents[$"config.{name}"] = FakeMongos.Recorded(name);
    }

    public void Dispose() => _mongos.Dispose();

    [VectorFact]
    public void A_new_collection_is_enabled_marked_sharded_and_indexed_in_this_order()
    {
        _mongos.Documents["config.settings"] = [BsonDocument.Of(("_id", "chunksize"), ("value", 64))];
        using WireCollection collection = Open(
            "fresh", "series", new ShardingSettings { ShardKey = "hashed", Presplit = 12, ChunkMegabytes = 8, Balancer = "22:00-06:00" });
        collection.Create(Marker);
        Assert.Equal(
            [
                "enableSharding", "update", "update", "update", "update", "balancerStart", "create", "update", "shardCollection",
                "createIndexes",
            ],
            _mongos.HeardNames);
        IReadOnlyList<string> heard = _mongos.Heard;
        Assert.Equal("""admin {"enableSharding": "fresh"}""", heard[0]);
        Assert.Contains(
            """{"_id": "$cluster"}, "u": {"$setOnInsert": {"madeDatabase": true}}""",
            heard[1], StringComparison.Ordinal);
        Assert.Contains("""{"program": "mongoperf",""", heard[2], StringComparison.Ordinal);
        Assert.Contains("""
            "pending": true
            """, heard[2], StringComparison.Ordinal);
        Assert.Equal(
            """config {"update": "settings", "updates": [{"q": {"_id": "chunksize"}, "u": {"$set": {"value": 8}}, "upsert": true}], "writeConcern": {"w": "majority"}}""",
            heard[3]);
        Assert.Contains("""{"$set": {"activeWindow": {"start": "22:00", "stop": "06:00"}}}""", heard[4], StringComparison.Ordinal);
        Assert.Equal(
            """admin {"shardCollection": "fresh.series", "key": {"_id": "hashed"}, "unique": false, "collation": {"locale": "simple"}, "numInitialChunks": 12}""", heard[8]);
        Assert.Contains("\"Date_-1\"", heard[9], StringComparison.Ordinal);
        // It is known to be ours before it is sharded.
        Assert.Equal("""fresh {"create": "series"}""", heard[6]);
        Assert.Contains("""{"$unset": {"pending": ""}}""", heard[7], StringComparison.Ordinal);
    }

    [VectorFact]
    public void A_collection_with_options_is_created_with_them_before_it_is_sharded()
    {
        ShardsInto("perf.series", Whole("_id", "s0"));
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "_id" },
            only: null, options: BsonDocument.Of(("validator", BsonDocument.Of(("Number", BsonDocument.Of(("$gte", 0)))))));
        collection.Create(Marker);
        Assert.Equal(["create", "shardCollection"], _mongos.HeardNames.Where(name => name is "create" or "shardCollection"));
        Assert.Contains("""perf {"create": "series", "validator": {"Number": {"$gte": 0}}}""", _mongos.Heard);
    }

    [VectorFact]
    public void A_range_key_is_cut_into_chunks_that_are_dealt_out()
    {
        ShardsInto("perf.series", Whole("Number", "s0"));
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "Number", Presplit = 4 });
        collection.Create(Marker);
        Assert.Equal(
            [
                """admin {"shardCollection": "perf.series", "key": {"Number": 1}, "unique": false, "collation": {"locale": "simple"}}""",
                // s0 is the primary shard: what it keeps is cut and stays.
                """admin {"split": "perf.series", "middle": {"Number": 250000}}""",
                """admin {"split": "perf.series", "middle": {"Number": 500000}}""",
                """admin {"moveChunk": "perf.series", "bounds": [{"Number": 250000}, {"Number": 500000}], "to": "s1"}""",
                """admin {"split": "perf.series", "middle": {"Number": 750000}}""",
                """admin {"moveChunk": "perf.series", "bounds": [{"Number": 500000}, {"Number": 750000}], "to": "s2"}""",
            ],
            _mongos.Heard.Where(text => text.StartsWith("admin", StringComparison.Ordinal)));
        // The cluster has still one, as nobody here carries out what it is told.
        Assert.Equal(["perf.series: splitting into 4 chunks over 3 shards", "perf.series: 1 of 4 chunks could be made"], _told);
    }

    /// <summary>Its buckets have the cluster's entry, under names of their own.</summary>
    [VectorFact]
    public void A_time_series_is_created_then_sharded_by_its_own_fields_and_cut_by_nobody_else()
    {
        _mongos.Replies["shardCollection"] = _ =>
        {
            Have("perf.system.buckets.series", Whole("meta.n", "s0"));
            _mongos.Documents["config.collections"] =
            [
                BsonDocument.Of(
                    ("_id", "perf.system.buckets.series"), ("timestamp", 1L), ("uuid", new byte[16]),
                    ("key", BsonDocument.Of(("meta.n", "hashed"))),
                    ("timeseriesFields", BsonDocument.Of(("timeField", "at"), ("metaField", "sensor")))),
            ];
            return BsonDocument.Of(("ok", 1.0));
        };
        using (WireCollection collection = Series("sensor.n:hashed"))
            collection.Create(Marker);
        Assert.Equal(
            [
                """perf {"create": "series", "timeseries": {"timeField": "at", "metaField": "sensor"}}""",
                """admin {"shardCollection": "perf.series", "key": {"sensor.n": "hashed"}, "unique": false, "collation": {"locale": "simple"}, "numInitialChunks": 4}""",
            ],
            _mongos.Heard.Where(text => text.Contains("\"create\"", StringComparison.Ordinal)
                || text.Contains("\"shardCollection\"", StringComparison.Ordinal)
                || text.Contains("\"split\"", StringComparison.Ordinal)));
        Assert.Equal(["perf.series: 1 of 4 chunks could be made: it is a time series"], _told);

        using WireCollection other = Series("at");
        Assert.Equal("perf.series is sharded by {sensor.n: hashed}, but this run's key is {at: 1}",
            Assert.Throws<MongoPerfException>(() => other.Create(Marker)).Message);

        WireCollection Series(string key) => Open("perf", "series", new ShardingSettings { ShardKey = key, Presplit = 4 }, only: null,
            options: BsonDocument.Of(("timeseries", BsonDocument.Of(("timeField", "at"), ("metaField", "sensor")))));
    }

    /// <summary>A cluster of 8.0 makes one chunk for each shard, whatever it is asked for.</summary>
    [VectorFact]
    public void A_hashed_key_has_as_many_chunks_as_asked_for_whatever_the_cluster_makes_of_the_number()
    {
        const long Third = 3_074_457_345_618_258_602;
        ShardsInto(
            "fresh.series", Chunk("_id", MinKey, -Third, "s0"), Chunk("_id", -Third, Third, "s1"), Chunk("_id", Third, MaxKey, "s2"));
        using WireCollection collection = Open("fresh", "series", new ShardingSettings { ShardKey = "hashed", Presplit = 5 });
        collection.Create(Marker);
        Assert.Equal(
            [
                """admin {"split": "fresh.series", "middle": {"_id": -6148914691236517205}}""",
                """admin {"split": "fresh.series", "middle": {"_id": 0}}""",
            ],
            _mongos.Heard.Where(text =>
                text.Contains("\"split\"", StringComparison.Ordinal) || text.Contains("moveChunk", StringComparison.Ordinal)));
    }

    [VectorFact]
    public void Zones_are_cut_and_brought_to_their_shards_then_noted_then_made()
    {
        ShardsInto("perf.series", Whole("Number", "s0"));
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "Number", Presplit = 4 }, zones:
        [
            new ZoneRange(2, BsonDocument.Of(("Number", 10)), BsonDocument.Of(("Number", 20))),
            new ZoneRange(1, BsonDocument.Of(("Number", 20)), null),
        ]);
        collection.Create(Marker);
        Assert.Equal(
            [
                """admin {"split": "perf.series", "middle": {"Number": 10}}""",
                """admin {"split": "perf.series", "middle": {"Number": 20}}""",
                """admin {"moveChunk": "perf.series", "bounds": [{"Number": 10}, {"Number": 20}], "to": "s1"}""",
                """admin {"addShardToZone": "s1", "zone": "mongoperf perf.series s1"}""",
                """admin {"addShardToZone": "s0", "zone": "mongoperf perf.series s0"}""",
                """admin {"updateZoneKeyRange": "perf.series", "min": {"Number": 10}, "max": {"Number": 20}, "zone": "mongoperf perf.series s1"}""",
                """admin {"updateZoneKeyRange": "perf.series", "min": {"Number": 20}, "max": {"Number": {"$maxKey": 1}}, "zone": "mongoperf perf.series s0"}""",
            ],
            _mongos.Heard.Where(text => text.StartsWith("admin", StringComparison.Ordinal)
                && !text.Contains("shardCollection", StringComparison.Ordinal)));
        int noted = _mongos.Heard.ToList().FindIndex(text => text.Contains("""{"$addToSet": {"zones": {"$each": ["s1", "s0"]}, "untagged": {"$each": ["s1", "s0"]}}}""",
            StringComparison.Ordinal));
        Assert.InRange(noted, 1, _mongos.HeardNames.ToList().IndexOf("addShardToZone") - 1);
        Assert.Contains("perf.series is split by its zones: --presplit is ignored for it", _told);
    }

    [VectorFact]
    public void What_drops_a_collection_unties_and_leaves_the_zones_of_its_marker_and_no_others()
    {
        _mongos.Documents["config.tags"] =
        [
            Tag(0, 5, "mongoperf perf.series s1"), Tag(5, 9, "somebody's"),
        ];
        _mongos.Documents["perf.mongoperf"] =
            [BsonDocument.Of(("_id", "series"), ("zones", new[] { "s1" }))];
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "Number" });
        collection.Drop();
        Assert.Equal(
            [
                """admin {"updateZoneKeyRange": "perf.series", "min": {"Number": 0}, "max": {"Number": 5}, "zone": null}""",
                """admin {"removeShardFromZone": "s1", "zone": "mongoperf perf.series s1"}""",
            ],
            _mongos.Heard.Where(text => text.Contains("Zone", StringComparison.Ordinal)));
        Assert.InRange(_mongos.HeardNames.ToList().IndexOf("drop"), _mongos.HeardNames.ToList().IndexOf("updateZoneKeyRange"),
            _mongos.HeardNames.ToList().IndexOf("removeShardFromZone"));

        static BsonDocument Tag(int from, int to, string zone) => BsonDocument.Of(
            ("ns", "perf.series"), ("min", BsonDocument.Of(("Number", from))), ("max", BsonDocument.Of(("Number", to))), ("tag", zone));
    }

    [VectorFact]
    public void A_zone_of_a_shard_that_is_not_there_is_refused_before_anything_is_made()
    {
        using WireCollection collection =
            Open("perf", "series", new ShardingSettings { ShardKey = "Number" }, zones: [new ZoneRange(4, null, null)]);
        Assert.Equal("perf.series: shard 4 is to hold a zone of it, but the cluster has 3 (s0, s1, s2)",
            Assert.Throws<MongoPerfException>(() => collection.Create(Marker)).Message);
        Assert.Empty(_mongos.HeardNames);
    }

    [VectorFact]
    public void A_collection_for_one_shard_is_not_cut()
    {
        ShardsInto("perf.series", Whole("_id", "s0"));
        using WireCollection collection = Open(
            "perf", "series", new ShardingSettings { ShardKey = "_id", Presplit = 6 }, only: 1, options: null);
        collection.Create(Marker);
        Assert.Equal(["moveChunk"], _mongos.HeardNames.Where(name => name is "split" or "moveChunk"));
    }

    [VectorTheory]
    [InlineData(0, new string[0])]
    [InlineData(
        2, new[] { """admin {"moveChunk": "perf.series", "bounds": [{"_id": {"$minKey": 1}}, {"_id": {"$maxKey": 1}}], "to": "s2"}""" })]
    public void A_collection_for_one_shard_goes_there_whole_and_is_left_there(int shard, string[] moves)
    {
        _mongos.Replies["aggregate"] = _ => Cursor([Chunks("s0", 1)]);
        _mongos.Replies["shardCollection"] = _ =>
        {
            _mongos.Documents["config.collections"] = [BsonDocument.Of(("_id", "perf.series"), ("timestamp", 1L), ("uuid", new byte[16]))];
            return BsonDocument.Of(("ok", 1.0));
        };
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "_id" }, only: shard, options: null);
        collection.Create(Marker);
        Assert.Equal(moves, _mongos.Heard
            .Where(text => text.Contains("moveChunk", StringComparison.Ordinal) || text.Contains("\"split\"", StringComparison.Ordinal)));
        string left =
            """config {"update": "collections", "updates": [{"q": {"_id": "perf.series"}, "u": {"$set": {"noBalance": true}}}], "writeConcern": {"w": "majority"}}""";
        // Before it is moved, so that the balancer does not come between.
        Assert.True(_mongos.Heard.ToList().IndexOf(left) is var at and > 0
            && at == _mongos.HeardNames.ToList().IndexOf("shardCollection") + 1);
    }

    [VectorFact]
    public void A_cut_that_meets_a_migration_is_tried_again_and_the_others_are_not()
    {
        int tries = 0;
        ShardsInto("perf.series", Whole("Number", "s0"));
        _mongos.Replies["moveChunk"] = _ => ++tries is 2 or 3
            ? FakeMongos.Refusal(117, "a migration is under way")
            : BsonDocument.Of(("ok", 1.0));
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "Number", Presplit = 4 });
        collection.Create(Marker);
        Assert.Equal(["split", "split", "moveChunk", "split", "moveChunk", "moveChunk", "moveChunk"],
            _mongos.HeardNames.Where(name => name is "split" or "moveChunk"));
        Assert.Equal(1, _mongos.HeardNames.Count(name => name == "shardCollection"));
    }

    [VectorFact]
    public void Cuts_that_a_crash_left_out_are_made_when_the_run_goes_on()
    {
        // Cut once, and moved nowhere.
        Have("perf.docs", Chunk("Number", MinKey, 250_000, "s0"), Chunk("Number", 250_000, MaxKey, "s0"));
        using WireCollection collection = Open("perf", "docs", new ShardingSettings { ShardKey = "Number", Presplit = 4 });
        collection.Create(Marker);
        Assert.Equal(
            ["split", "moveChunk", "split", "moveChunk"],
            _mongos.HeardNames.Where(name => name is "shardCollection" or "split" or "moveChunk"));
    }

    [VectorFact]
    public void A_collection_that_is_sharded_already_is_only_completed()
    {
        Have("perf.docs", Chunk("Number", MinKey, 1, "s0"), Chunk("Number", 1, 2, "s1"), Chunk("Number", 2, MaxKey, "s2"));
        using WireCollection collection = Open("perf", "docs", new ShardingSettings { ShardKey = "Number", Presplit = 4 });
        collection.Create(Marker);
        Assert.Equal(["update", "update", "createIndexes"], _mongos.HeardNames);
    }

    [VectorTheory]
    [InlineData("docs", "hashed", "perf.docs is sharded by {Number: 1}, but this run's key is {_id: hashed}")]
    [InlineData("hashed", "_id", "perf.hashed is sharded by {_id: hashed}, but this run's key is {_id: 1}")]
    public void Another_key_than_its_own_is_refused(string name, string key, string why)
    {
        using WireCollection collection = Open("perf", name, new ShardingSettings { ShardKey = key });
        Assert.Equal(why, Assert.Throws<MongoPerfException>(() => collection.Create(Marker)).Message);
        // The marker is still its own run's.
        Assert.Empty(_mongos.HeardNames);
    }

    [VectorFact]
    public void A_run_that_names_no_key_takes_that_of_the_collection()
    {
        using WireCollection collection = Open("perf", "docs", new ShardingSettings());
        collection.Create(Marker);
        Assert.DoesNotContain("shardCollection", _mongos.HeardNames);
    }

    [VectorFact]
    public void Documents_without_an_index_for_the_key_are_refused()
    {
        _mongos.Documents["perf.plain"] = [BsonDocument.Of(("_id", 1))];
        _mongos.Replies["listIndexes"] = _ => FakeMongos.Exchange("shard s0: listIndexes");
        using WireCollection collection = Open("perf", "plain", new ShardingSettings { ShardKey = "Number1" });
        Assert.Equal(
            "perf.plain can't be sharded by {Number1: 1}: it has documents, but no index that starts with this key (indexes: {_id: "
            + "1}, {Number: 1})",
            Assert.Throws<MongoPerfException>(() => collection.Create(Marker)).Message);
        Assert.Empty(_mongos.HeardNames);
    }

    [VectorFact]
    public void Documents_that_are_there_are_spread_before_anything_is_measured()
    {
        int asked = 0;
        _mongos.Documents["perf.plain"] = [BsonDocument.Of(("_id", 1))];
        _mongos.Replies["listIndexes"] = _ => FakeMongos.Exchange("shard s0: listIndexes");
        _mongos.Replies["balancerCollectionStatus"] = _ => BsonDocument.Of(("balancerCompliant", ++asked > 3), ("ok", 1.0));
        using WireCollection collection = Open("perf", "plain", new ShardingSettings { ShardKey = "Number", Presplit = 4 });
        collection.Create(Marker);
        Assert.Equal(4, asked);
        Assert.Equal(1.5, _clock.Seconds, 6);
        // What holds documents is cut by the balancer, not by hand.
        Assert.DoesNotContain("split", _mongos.HeardNames);
        Assert.Equal(["perf.plain: waiting for the balancer to spread the existing data"], _told);
    }

    [VectorFact]
    public void What_the_cluster_refuses_is_the_users_to_mend()
    {
        _mongos.Replies["shardCollection"] = _ => FakeMongos.Refusal(72, "can't shard that");
        using WireCollection collection = Open("perf", "series", new ShardingSettings { ShardKey = "_id" });
        Assert.Contains("perf.series can't be sharded by {_id: 1}: shardCollection: can't shard that (code 72",
            Assert.Throws<MongoPerfException>(() => collection.Create(Marker)).Message, StringComparison.Ordinal);
    }

    /// <summary>It was "cannot connect", without a hint, or with one about an option that nobody gave.</summary>
    [VectorTheory]
    [InlineData("enableSharding", "fresh", null, "database fresh can't be made at ", "run sh.enableSharding(\"fresh\"), or choose another")]
    [InlineData("shardCollection", "perf", null, "perf.series can't be sharded by {_id: hashed}: ", "empty collection and run again")]
    [InlineData("shardCollection", "perf", "_id", "perf.series can't be sharded by {_id: 1}: ", "and run again without --shard-key")]
    public void What_a_user_may_not_do_is_told_with_what_an_administrator_can(
        string command, string database, string? key, string message, string hint)
    {
        _mongos.Replies[command] = _ => FakeMongos.Refusal(13, "not authorized");
        using WireCollection collection = Open(database, "series", new ShardingSettings { ShardKey = key });
        MongoPerfException e = Assert.Throws<MongoPerfException>(() => collection.Create(Marker));
        Assert.Equal(Fault.RejectedByServer, e.Fault);
        Assert.StartsWith(message, e.Message, StringComparison.Ordinal);
        Assert.True(key is null ? !e.Hint!.Contains("--shard-key", StringComparison.Ordinal) : true);
        Assert.Contains(hint, e.Hint, StringComparison.Ordinal);
    }

    [VectorFact]
    public void A_step_that_meets_a_migration_is_asked_again()
    {
        int tries = 0;
        _mongos.Replies["createIndexes"] = _ => ++tries < 3 ? FakeMongos.Refusal(13388, "stale") : BsonDocument.Of(("ok", 1.0));
        using WireCollection collection = Open("perf", "docs", new ShardingSettings { ShardKey = "Number" });
        collection.Create(Marker);
        Assert.Equal((3, 0L), (tries, collection.LostConnections));
    }

    [VectorFact]
    public void The_last_collection_takes_the_settings_back_with_it()
    {
        BsonDocument note = BsonDocument.Of(
            ("_id", "$cluster"), ("madeDatabase", true),
            ("settings", BsonDocument.Of(("chunksize", null),
                ("balancer", BsonDocument.Of(("_id", "balancer"), ("mode", "off"), ("stopped", true))), ("automerge", null))));
        _mongos.Documents["config.settings"] =
        [
            BsonDocument.Of(("_id", "chunksize"), ("value", 8)), BsonDocument.Of(("_id", "balancer"), ("mode", "full"), ("stopped", false)),
            BsonDocument.Of(("_id", "automerge"), ("enabled", true)),
        ];
        _mongos.Replies["find"] = command => Answer(AsksForMarkers(command, "perf") ? [note]
            : command.FindString("find") == "mongoperf" && command.FindString("$db") == "perf" ? [BsonDocument.Of(("_id", "docs"))]
            : null, command);
        using WireCollection collection = Open("perf", "docs", new ShardingSettings { ShardKey = "Number" });
        collection.Drop();
        Assert.Equal(
            [
                """perf {"drop": "docs"}""",
                """perf {"delete": "mongoperf", "deletes": [{"q": {"_id": "docs"}, "limit": 1}]}""",
                """config {"delete": "settings", "deletes": [{"q": {"_id": "chunksize"}, "limit": 1}], "writeConcern": {"w": "majority"}}""",
                """config {"update": "settings", "updates": [{"q": {"_id": "balancer"}, "u": {"_id": "balancer", "mode": "off", "stopped": true}, "upsert": true}], "writeConcern": {"w": "majority"}}""",
                """config {"delete": "settings", "deletes": [{"q": {"_id": "automerge"}, "limit": 1}], "writeConcern": {"w": "majority"}}""",
                """perf {"dropDatabase": 1}""",
            ],
            _mongos.Heard);
        Assert.Empty(_told);
    }

    /// <summary>
    /// Every command of ours that changes a setting, itself or beside what it is for, on a cluster with no settings, on one that balances
    /// at night, and on one whose balancer is off.
    /// </summary>
    [VectorTheory]
    [InlineData(null, 8)]
    [InlineData("off", null)]
    [InlineData("on", null)]
    [InlineData("22:00-06:00", null)]
    [InlineData("off", 8)]
    public void Each_setting_that_a_run_changes_is_as_it_was_when_its_collection_is_gone(string? balancer, int? megabytes)
    {
        string[][] clusters =
        [
            [],
            ["""{"_id": "balancer", "mode": "full", "stopped": false, "activeWindow": {"start": "01:00", "stop": "05:00"}}""",
                """{"_id": "chunksize", "value": 256}"""],
            ["""{"_id": "balancer", "mode": "off", "stopped": true}""", """{"_id": "automerge", "enabled": false}"""],
        ];
        foreach (string[] cluster in clusters)
        {
            BsonDocument[] before = [.. cluster.Select(ExtendedJson.Parse)];
            BsonDocument? note = null;
            _mongos.Documents["config.settings"] = before;
            _mongos.Replies["update"] = command =>
            {
                if (command.FindDocument("updates.0.u.$setOnInsert") is { } noted)
                    note ??= BsonDocument.Of([("_id", "$cluster"), .. noted.Select(e => (e.Key, (object?)e.Value))]);
                return BsonDocument.Of(("ok", 1.0));
            };
            _mongos.Replies["find"] = command =>
                Answer(AsksForMarkers(command, "fresh") && note is not null ? [note] : null, command);
            using WireCollection collection = Open(
                "fresh", "series", new ShardingSettings { ShardKey = "Number", Balancer = balancer, ChunkMegabytes = megabytes });
            collection.Create(Marker);
            // Off is what the third is already.
            if (cluster != clusters[2] || balancer != "off" || megabytes is not null)
                Assert.NotEqual(Texts(before), Texts(_mongos.Documents["config.settings"]));
            collection.Drop();
            Assert.Equal(Texts(before), Texts(_mongos.Documents["config.settings"]));
        }

        Assert.Empty(_told);

        static IEnumerable<string> Texts(IReadOnlyList<BsonDocument> settings) =>
            settings.Select(one => ExtendedJson.Write(one.Bytes)).Order(StringComparer.Ordinal);
    }

    /// <summary>Time series leave system.views behind; an administrator's view keeps the database.</summary>
    [VectorTheory]
    [InlineData(false, "dropDatabase")]
    [InlineData(true, "drop")]
    public void A_database_of_ours_goes_with_its_last_time_series(bool hasView, string last)
    {
        _mongos.Documents["perf.$cmd"] = [BsonDocument.Of(("name", "mongoperf")), BsonDocument.Of(("name", "system.views"))];
        _mongos.Documents["perf.system.views"] = hasView ? [BsonDocument.Of(("_id", "perf.view"))] : [];
        _mongos.Documents["perf.mongoperf"] = [BsonDocument.Of(("_id", "$cluster"), ("madeDatabase", true))];
        using WireCollection collection = Open("perf", "docs", new ShardingSettings { ShardKey = "Number" });
        collection.Drop();
        Assert.Equal(last, _mongos.HeardNames[^1]);
    }

    private static bool AsksForMarkers(BsonDocument command, string database) =>
        command.FindString("$db") == database && command.FindString("find") == "mongoperf" && command.FindDocument("filter") is null;

    [VectorFact]
    public void A_collection_that_is_not_the_last_leaves_the_settings_alone()
    {
        _mongos.Documents["perf.mongoperf"] =
            [BsonDocument.Of(("_id", "another"), ("program", "mongoperf")), BsonDocument.Of(("_id", "docs"))];
        using WireCollection collection = Open("perf", "docs", new ShardingSettings { ShardKey = "Number" });
        collection.Drop();
        Assert.Equal(["drop", "delete"], _mongos.HeardNames);
    }

    [VectorFact]
    public void Sizes_are_those_of_all_shards_and_of_each()
    {
        _mongos.Replies["aggregate"] = command => Cursor(command.FindString("$db") == "config"
            ? [Chunks("s0", 1), Chunks("s1", 1), Chunks("s2", 3)]
            : [.. ((string[])["s2", "s0", "s1"]).Select(shard => BsonDocument.Of(("ns", "perf.docs"), ("shard", shard),
                ("storageStats", FakeMongos.Exchange($"shard {shard}: collStats"))))]);
        using WireCollection collection = Open("perf", "docs", new ShardingSettings());
        SizeResult sizes = collection.ReadSizes(20_000)!;
        Assert.Equal((20_000, 19_760_000 + 6_610_708 + 6_480_292, 1_531_904 + 516_096 + 507_904),
            (sizes.Documents, sizes.DataBytes, sizes.StorageBytes));
        Assert.Equal(1_019_904 + 364_544 + 360_448, sizes.IndexBytes);
        Assert.Equal([("Number_1", 475_136L + 172_032 + 167_936), ("_id_", 544_768L + 192_512 + 192_512)],
            sizes.Indexes.Select(i => (i.Key, i.Value)));
        // Documents that moved away are still on s0, and are not its any more.
        Assert.Equal(
            [("s0", 6750L, 13_250L, 1L), ("s1", 6691L, 0L, 1L), ("s2", 6559L, 0L, 3L)],
            sizes.Shards.Select(s => (s.Shard, s.Documents, s.Orphans!.Value, s.Chunks)));
        Assert.Equal(167_936, sizes.Shards[2].Indexes["Number_1"]);
        Assert.Equal(["fsync"], _mongos.HeardNames);
    }

    [VectorFact]
    public void Counters_that_a_crash_left_wrong_are_set_right_once()
    {
        using var shard = new FakeMongos(isMongos: false);
        long reported = 70;
        int counted = 0;
        shard.Replies["count"] = _ =>
        {
            counted++;
            return BsonDocument.Of(("n", reported + 30), ("ok", 1.0));
        };
        _mongos.Replies["aggregate"] = command => Cursor(command.FindString("$db") == "config"
            ? [Chunks("s0", 1)]
            : [BsonDocument.Of(("shard", "s0"), ("storageStats", BsonDocument.Of(("count", reported), ("numOrphanDocs", 10))))]);
        using WireCollection collection = Open("perf", "docs", new ShardingSettings(), new ShardAddress("s0", shard.Address));
        Assert.Equal(90, Assert.Single(collection.ReadSizes(90)!.Shards).Documents);
        reported += 5;
        Assert.Equal(95, Assert.Single(collection.ReadSizes(95)!.Shards).Documents);
        Assert.Equal(1, counted);
        reported -= 1;
        Assert.Equal(94, Assert.Single(collection.ReadSizes(95)!.Shards).Documents);
        Assert.Equal(2, counted);
    }

    [VectorFact]
    public void A_checkpoint_is_in_every_shards_journal_before_it_is_noted()
    {
        using WireCollection collection = Open("perf", "docs", new ShardingSettings());
        collection.Checkpoint(5);
        Assert.Equal(
            """admin {"appendOplogNote": 1, "data": {"mongoperf": "checkpoint"}, "writeConcern": {"w": 1, "j": true}}""", _mongos.Heard[0]);
        Assert.Contains("""{"$set": {"documents": 5}}""", _mongos.Heard[1], StringComparison.Ordinal);
    }

    [VectorFact]
    public void A_user_who_may_not_write_notes_reads_back_what_a_majority_has()
    {
        _mongos.Replies["appendOplogNote"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command");
        int lagging = 2;
        List<string?> levels = [];
        _mongos.Replies["find"] = command =>
        {
            if (command.FindString("find") != "docs")
                return Answer(null, command);
            levels.Add(command.FindString("readConcern.level"));
            int there = levels[^1] == "majority" && lagging-- > 0 ? 3 : 5;
            return Cursor([.. Enumerable.Range(0, there).Select(number => BsonDocument.Of(("_id", Documents.Ids.Of(number))))]);
        };
        using WireCollection collection = Open("perf", "docs", new ShardingSettings());
        collection.Checkpoint(5);
        Assert.Equal(["majority", null, "majority", null, "majority", null], levels);
        Assert.Equal(0, collection.LostConnections);
        Assert.Contains("""{"$set": {"documents": 5}}""", _mongos.Heard[^1], StringComparison.Ordinal);
        // What was read back once is not read again.
        collection.Checkpoint(5);
        Assert.Equal(6, levels.Count);
    }

    [VectorFact]
    public void What_no_majority_gets_is_no_checkpoint()
    {
        _mongos.Replies["appendOplogNote"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command");
        _mongos.Replies["find"] = command => command.FindString("find") != "docs" ? Answer(null, command)
            : Cursor(command.Find("readConcern") is null ? [BsonDocument.Of(("_id", Documents.Ids.Of(0)))] : []);
        using WireCollection collection = Open("perf", "docs", new ShardingSettings());
        collection.Checkpoint(1);
        Assert.Equal(1, collection.LostConnections);
        Assert.InRange(_clock.Seconds, 30, 32);
        Assert.DoesNotContain("update", _mongos.HeardNames);
    }

    [VectorFact]
    public void Counters_of_shards_that_show_nothing_are_set_right_through_the_router()
    {
        using var shard = new FakeMongos(isMongos: false);
        shard.Replies["count"] = _ => FakeMongos.Refusal(13, "You are connecting to a sharded cluster improperly");
        _mongos.Replies["aggregate"] = command => Cursor(command.FindString("$db") == "config"
            ? [Chunks("s0", 1)]
            : [BsonDocument.Of(("shard", "s0"), ("storageStats", BsonDocument.Of(("count", 70), ("numOrphanDocs", 0))))]);
        using WireCollection collection = Open("perf", "docs", new ShardingSettings(), new ShardAddress("s0", shard.Address));
        collection.ReadSizes(90);
        collection.ReadSizes(90);
        Assert.Equal(["fsync", "validate", "fsync"], _mongos.HeardNames);
    }

    [VectorFact]
    public void A_mongos_that_knows_no_notes_is_told_to_flush()
    {
        _mongos.Replies["appendOplogNote"] = _ => FakeMongos.Refusal(59, "no such command");
        using WireCollection collection = Open("perf", "docs", new ShardingSettings());
        collection.Checkpoint(5);
        Assert.Equal(["appendOplogNote", "fsync", "update"], _mongos.HeardNames);
    }

    [VectorFact]
    public void A_shard_that_was_started_again_is_no_checkpoint_but_a_lost_connection()
    {
        using var shard = new FakeMongos(isMongos: false);
        using WireCollection collection = Open("perf", "docs", new ShardingSettings(), new ShardAddress("s0", shard.Address));
        collection.Create(Marker);
        collection.Checkpoint(5);
        Assert.Equal(0, collection.LostConnections);
        shard.ProcessId = new(2, 2);
        int notes = _mongos.HeardNames.Count(name => name == "update");
        collection.Checkpoint(6);
        Assert.Equal((1L, notes), (collection.LostConnections, _mongos.HeardNames.Count(name => name == "update")));
        collection.Checkpoint(6);
        Assert.Equal((1L, notes + 1), (collection.LostConnections, _mongos.HeardNames.Count(name => name == "update")));
    }

    private static object MinKey => BsonDocument.Of(("v", Bounds.Least)).First().Value;

    private static object MaxKey => BsonDocument.Of(("v", Bounds.Greatest)).First().Value;

    private static BsonDocument Chunk(string field, object min, object max, string shard) =>
        BsonDocument.Of(("min", BsonDocument.Of((field, min))), ("max", BsonDocument.Of((field, max))), ("shard", shard));

    private static BsonDocument Whole(string field, string shard) => Chunk(field, MinKey, MaxKey, shard);

    /// <summary>The collection is sharded into these.</summary>
    private void Have(string ns, params BsonDocument[] chunks)
    {
        string key = chunks[0].FindDocument("min")!.First().Key;
        _mongos.Documents["config.collections"] =
            [BsonDocument.Of(("_id", ns), ("timestamp", 1L), ("uuid", new byte[16]), ("key", BsonDocument.Of((key, 1))))];
        _mongos.Documents["config.chunks"] = chunks;
        _mongos.Replies["aggregate"] = command => Cursor(command.FindString("$db") == "config"
            ? [.. chunks.GroupBy(chunk => chunk.FindString("shard")!).Select(own => Chunks(own.Key, own.Count()))]
            : []);
    }

    /// <summary>The cluster makes these of a collection that is to be sharded.</summary>
    private void ShardsInto(string ns, params BsonDocument[] chunks) => _mongos.Replies["shardCollection"] = _ =>
    {
        Have(ns, chunks);
        return BsonDocument.Of(("ok", 1.0));
    };

    private static BsonDocument Chunks(string shard, int count) => BsonDocument.Of(("_id", shard), ("chunks", count));

    private BsonDocument Answer(IReadOnlyList<BsonDocument>? documents, BsonDocument command) =>
        Cursor(documents ?? (command.FindString("$db") == "config" ? [.. Config(command)] : []));

    private IEnumerable<BsonDocument> Config(BsonDocument command) =>
        _mongos.Documents.GetValueOrDefault($"config.{command.First().Value}", [])
            .Where(one => FakeMongos.Meets(one, command));

    private static BsonDocument Cursor(IReadOnlyList<BsonDocument> batch) =>
        BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", batch), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));

    private WireCollection Open(string database, string collection, ShardingSettings settings, params ShardAddress[] shards) =>
        Open(database, collection, settings, null, null, shards);

    private WireCollection Open(string database, string collection, ShardingSettings settings, IReadOnlyList<ZoneRange> zones) =>
        Open(database, collection, settings, null, null, zones);

    private WireCollection Open(
        string database, string collection, ShardingSettings settings, int? only, BsonDocument? options, params ShardAddress[] shards) =>
        Open(database, collection, settings, only, options, [], shards);

    private WireCollection Open(
        string database, string collection, ShardingSettings settings, int? only, BsonDocument? options, IReadOnlyList<ZoneRange> zones,
        params ShardAddress[] shards)
    {
        // Nobody listens there: a client of a mongos need not reach the shards.
        ShardAddress[] all = shards.Length > 0 ? shards
            : [.. ((string[])["s0", "s1", "s2"]).Select(name => new ShardAddress(name, new ServerAddress("127.0.0.1", 1)))];
        var cluster = new ShardedCluster(RouterKind.Mongos, _mongos.Address, _mongos.Address, all);
        var sharding = new ShardingPlan(() => cluster, ConnectionSettings.Default, settings,
            1000) { Documents = Documents, Notify = _told.Add, OnlyShard = only, Zones = zones };
        return new WireCollection(
            new CollectionAccess(() => _mongos.Address, ConnectionSettings.Default, database, _clock, TimeSpan.FromSeconds(10)), collection,
            Documents, new CollectionShape(Indexes, options),
            commands => new ShardedAdministration(sharding, database, collection, _clock, commands));
    }
}
