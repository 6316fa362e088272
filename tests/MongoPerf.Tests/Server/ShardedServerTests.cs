using MongoPerf.Server.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Server;

/// <summary>The embedded server as a mongos of three shards.</summary>
public sealed class ShardedServerTests : ServerTest
{
    private int _shards = 3;

    protected override int Shards => _shards;

    [Fact]
    public void It_says_that_it_is_a_mongos_and_which_shards_it_has()
    {
        BsonDocument hello = Succeed("{'hello': 1}", "admin");
        Assert.Equal(("isdbgrid", true, null), (hello.FindString("msg"), hello.IsTrue("isWritablePrimary"),
            hello.FindInt64("logicalSessionTimeoutMinutes")));
        string[] listed = Names(Succeed("{'listShards': 1}", "admin").FindDocument("shards"));
        Assert.Equal(["shard0", "shard1", "shard2"], listed);
        Assert.Equal(listed, Names(Succeed("{'find': 'shards', 'sort': {'_id': 1}}", "config").FindDocument("cursor.firstBatch")));
        Assert.Equal("mongos", Succeed("{'serverStatus': 1}", "admin").FindString("process"));
    }

    [Theory]
    [InlineData("{'find': 'c'}", "local", 20, "Can't use 'local' database through mongos")]
    [InlineData("{'compact': 'c'}", "test", 115, "compact not allowed through mongos")]
    [InlineData("{'top': 1}", "admin", 59, "no such")]
    [InlineData("{'profile': 2}", "test", 2, "Profiling is not permitted on mongoS")]
    [InlineData("{'shardCollection': 'config.x', 'key': {'a': 1}}", "admin", 20, "can't shard")]
    [InlineData("{'shardCollection': 'x', 'key': {'a': 1}}", "admin", 73, "Invalid namespace")]
    [InlineData("{'shardCollection': 'test.c', 'key': {'a': -1}}", "admin", 2, "Shard key")]
    [InlineData("{'shardCollection': 'test.c', 'key': {'a': 1}}", "test", 13, "admin database")]
    [InlineData("{'split': 'test.c', 'middle': {'a': 1}}", "admin", 118, "is not sharded")]
    [InlineData("{'reshardCollection': 'test.c', 'key': {'a': 1}}", "admin", 238, "reshardCollection")]
    public void It_refuses_what_a_mongos_refuses_and_what_it_can_t(string command, string database, int code, string text) =>
        Fails(command, code, text, database);

    [Fact]
    public void Replica_sets_are_no_matter_of_a_mongos()
    {
        BsonDocument refusal = Run("{'replSetGetStatus': 1}", "admin");
        Assert.Equal((0.0, null, "replSetGetStatus is not supported through mongos"),
            (refusal.FindDouble("ok"), refusal.FindInt64("code"), refusal.FindString("errmsg")));
    }

    [Fact]
    public void A_shard_shows_nothing_but_who_it_is()
    {
        string host = Succeed("{'find': 'shards', 'filter': {'_id': 'shard1'}}", "config").FindString("cursor.firstBatch.0.host")!;
        Assert.StartsWith("shard1/127.0.0.1:", host, StringComparison.Ordinal);
        using var shard = new TestClient(ServerAddress.TryParse(host["shard1/".Length..])!.Port);
        BsonDocument hello = shard.Run("{'hello': 1}", "admin");
        Assert.Equal(("shard1", true, host["shard1/".Length..]),
            (hello.FindString("setName"), hello.IsTrue("isWritablePrimary"), hello.FindString("me")));
        Assert.Equal(13, shard.Run("{'find': 'c'}", "test").FindInt64("code"));
        Assert.Equal(18, shard.Run("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': ''}", "admin").FindInt64("code"));
    }

    [Fact]
    public void A_hashed_key_is_cut_into_two_chunks_for_each_shard()
    {
        Shard("{'_id': 'hashed'}");
        BsonDocument[] chunks = Chunks();
        Assert.Equal(["shard0", "shard0", "shard1", "shard1", "shard2", "shard2"], chunks.Select(chunk => chunk.FindString("shard")));
        Assert.Equal([-6148914691236517204, -3074457345618258602, 0, 3074457345618258602, 6148914691236517204],
            chunks.Skip(1).Select(chunk => chunk.FindInt64("min._id")!.Value));
        Assert.Equal((BsonType.MinKey, BsonType.MaxKey), (chunks[0].Find("min._id")!.Value.Type, chunks[^1].Find("max._id")!.Value.Type));
        InsertNumbers(600);
        Assert.All(CountsByShard().Values, count => Assert.InRange(count, 150, 250));
        Assert.Equal("_id_", Assert.Single(Succeed("{'listIndexes': 'c'}").FindDocument("cursor.firstBatch")!).Value.ToDocument()
            .FindString("name"));
    }

    [Fact]
    public void A_range_key_has_one_chunk_until_it_is_cut_and_moved()
    {
        Shard("{'n': 1}");
        InsertNumbers(100);
        Assert.Equal(100, Assert.Single(CountsByShard()).Value);
        Admin("{'split': 'test.c', 'middle': {'n': 3}}");
        BsonDocument again = Run("{'split': 'test.c', 'middle': {'n': 3}}", "admin");
        Assert.Equal((0.0, null), (again.FindDouble("ok"), again.FindInt64("code")));
        Admin("{'moveChunk': 'test.c', 'find': {'n': 7}, 'to': 'shard1'}");
        Admin("{'moveRange': 'test.c', 'min': {'n': 8}, 'toShard': 'shard2'}");
        Fails("{'moveRange': 'test.c', 'min': {'n': 8}, 'toShard': 'nowhere'}", 70, "Shard nowhere not found", "admin");
        var expected = new Dictionary<string, long> { ["shard0"] = 30, ["shard1"] = 50, ["shard2"] = 20 };
        Assert.Equal(expected, CountsByShard());
        Restart();
        Assert.Equal(expected, CountsByShard());
        BsonDocument[] moves = [.. Config("{'find': 'changelog', 'filter': {'what': 'moveChunk.commit'}}")];
        Assert.Equal([70, 20], moves.Select(move => (int)move.FindInt64("details.counts.cloned")!));
        Assert.Equal(3, Chunks().Length);
        Succeed("{'drop': 'c'}");
        Assert.Empty(Config("{'find': 'chunks'}"));
        Assert.Empty(Config("{'find': 'collections'}"));
    }

    /// <summary>Whatever is written, what is counted by shard is what a recount finds.</summary>
    [Theory]
    [InlineData("{'n': 1}", 1)]
    [InlineData("{'n': 'hashed'}", 2)]
    [InlineData("{'t': 1, 'n': 1}", 3)]
    public void Counts_by_shard_stay_exact(string key, int seed)
    {
        Shard(key);
        if (!key.Contains("hashed", StringComparison.Ordinal))
        {
            string field = key.Contains('t', StringComparison.Ordinal) ? "{'t': 'text 4', 'n': {'$minKey': 1}}" : "{'n': 4}";
            Admin($"{{'moveRange': 'test.c', 'min': {field}, 'toShard': 'shard1'}}");
        }

        var random = new Random(seed);
        for (int i = 0; i < 200; i++)
        {
            int id = random.Next(40);
            Run(random.Next(5) switch
            {
                0 or 1 => $"{{'insert': 'c', 'ordered': false, 'documents': "
                    + $"[{{'_id': {id}, 'n': {id % 9}, 't': 'text {id % 7}'}}, {{'_id': {id + 50}}}]}}",
                2 => $"{{'update': 'c', 'updates': [{{'q': {{'_id': {id}}}, "
                    + $"'u': {{'$set': {{'x': '{new string('x', random.Next(50))}'}}}}}}]}}",
                3 => $"{{'delete': 'c', 'deletes': [{{'q': {{'n': {id % 9}}}, 'limit': {random.Next(2)}}}]}}",
                _ => $"{{'findAndModify': 'c', 'query': {{'_id': {id}}}, 'update': {{'$inc': {{'k': 1}}}}, 'upsert': true}}",
            });
        }

        BsonDocument before = Succeed("{'collStats': 'c'}");
        Assert.Equal(before.FindInt64("count"), CountsByShard().Values.Sum());
        Assert.Equal(before.FindInt64("size"), before.FindDocument("shards")!.Sum(shard => shard.Value.ToDocument().FindInt64("size")));
        Dictionary<string, long> counted = CountsByShard();
        Recount();
        Assert.Equal(counted, CountsByShard());
        Restart();
        Assert.Equal(counted, CountsByShard());
    }

    [Fact]
    public void Explain_shows_each_shard_s_own_work()
    {
        Shard("{'n': 1}");
        InsertNumbers(300);
        Admin("{'moveRange': 'test.c', 'min': {'n': 3}, 'toShard': 'shard1'}");
        Admin("{'moveRange': 'test.c', 'min': {'n': 7}, 'toShard': 'shard2'}");

        BsonDocument one = Explain("{'find': 'c', 'filter': {'n': 4}}");
        Assert.Equal(("SINGLE_SHARD", "shard1", "FETCH"), (one.FindString("queryPlanner.winningPlan.stage"),
            one.FindString("queryPlanner.winningPlan.shards.0.shardName"),
            one.FindString("queryPlanner.winningPlan.shards.0.winningPlan.stage")));
        Assert.Equal((30, 30), Examined(one, "executionStats"));

        BsonDocument two = Explain("{'find': 'c', 'filter': {'n': {'$gte': 5}}}");
        Assert.Equal(["shard1", "shard2"], ShardsOf(two));
        Assert.Equal((60, 60), Examined(two, "executionStats.executionStages.shards.0"));
        Assert.Equal((90, 90), Examined(two, "executionStats.executionStages.shards.1"));

        BsonDocument all = Explain("{'find': 'c', 'filter': {'_id': {'$lt': 100}}, 'sort': {'t': 1}, 'skip': 5, 'limit': 10}");
        Assert.Equal("SHARD_MERGE_SORT", all.FindString("queryPlanner.winningPlan.stage"));
        Assert.Equal(["shard0", "shard1", "shard2"], ShardsOf(all));
        Assert.Equal([30, 40, 30], all.FindDocument("executionStats.executionStages.shards")!
            .Select(shard => (int)shard.Value.ToDocument().FindInt64("totalDocsExamined")!));

        BsonDocument scan = Explain("{'find': 'c', 'limit': 20}");
        Assert.Equal(("SHARD_MERGE", 60), (
            scan.FindString("queryPlanner.winningPlan.stage"), (int)scan.FindInt64("executionStats.nReturned")!));
        Assert.Equal("SHARDING_FILTER", scan.FindString("queryPlanner.winningPlan.shards.0.winningPlan.inputStage.stage"));
        Assert.Equal(20, Client.FindAll("{'find': 'c', 'limit': 20}").Count);
    }

    [Fact]
    public void What_operations_ask_is_counted()
    {
        Shard("{'n': 1}");
        Admin("{'moveRange': 'test.c', 'min': {'n': 3}, 'toShard': 'shard1'}");
        Admin("{'moveRange': 'test.c', 'min': {'n': 7}, 'toShard': 'shard2'}");
        InsertNumbers(10);
        Succeed("{'insert': 'c', 'documents': [{'_id': 'a', 'n': 1}]}");
        Succeed("{'insert': 'other', 'documents': [{'_id': 'a', 'n': 1}]}");
        Succeed("{'find': 'c', 'filter': {'n': 1}}");
        Succeed("{'find': 'c', 'filter': {'n': {'$in': [1, 8]}}}");
        Succeed("{'find': 'c', 'filter': {'$and': [{'n': {'$gt': 4}}, {'n': {'$lt': 6}}]}}");
        Succeed("{'find': 'c', 'filter': {'t': 1}}");
        Succeed("{'find': 'c', 'filter': {'n': 1}, 'collation': {'locale': 'en'}}");
        Succeed("{'update': 'c', 'updates': [{'q': {'n': 1}, 'u': {'$set': {'x': 1}}, 'multi': true}]}");
        Succeed("{'delete': 'c', 'deletes': [{'q': {'_id': 5}, 'limit': 1}]}");
        Succeed("{'aggregate': 'c', 'pipeline': [{'$match': {'n': 1}}], 'cursor': {}}");
        BsonDocument asked = Succeed("{'serverStatus': 1}", "admin").FindDocument("shardingStatistics.numHostsTargeted")!;
        Assert.Equal((1, 1, 1), Kinds(asked, "insert", "allShards", "oneShard", "unsharded"));
        Assert.Equal((1, 1, 3), Kinds(asked, "find", "allShards", "manyShards", "oneShard"));
        Assert.Equal((1, 1, 1),
            (Kind(asked, "update", "oneShard"), Kind(asked, "delete", "allShards"), Kind(asked, "aggregate", "oneShard")));
        BsonDocument work = Client.FindAll("{'aggregate': 'c', 'pipeline': [{'$collStats': {'latencyStats': {}}}], 'cursor': {}}")[0];
        Assert.Equal(("shard0", 6, 4), (work.FindString("shard"),
            (int)work.FindInt64("latencyStats.reads.ops")!, (int)work.FindInt64("latencyStats.writes.ops")!));
    }

    [Fact]
    public void A_shard_key_does_not_change_and_a_replacement_goes_where_its_own_says()
    {
        Shard("{'n': 1}");
        InsertNumbers(10);
        Admin("{'moveRange': 'test.c', 'min': {'n': 5}, 'toShard': 'shard1'}");
        Refused("{'q': {'_id': 1}, 'u': {'$set': {'n': 2}}}", 31025);
        Refused("{'q': {'_id': 1, 'n': 1}, 'u': {'$set': {'n': 2}}}", 20);
        Refused("{'q': {'n': 1}, 'u': {'$set': {'n': 2}}, 'multi': true}", 72);
        Refused("{'q': {'_id': 1}, 'u': {'x': 1}}", 31025);
        BsonDocument elsewhere = Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'_id': 1, 'n': 7}}]}");
        Assert.Equal((0, 0, null), ((int)elsewhere.FindInt64("n")!, (int)elsewhere.FindInt64("nModified")!, elsewhere.Find("writeErrors")));
        Assert.Equal(1, Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'_id': 1, 'n': 1, 'x': 1}}]}").FindInt64("nModified"));
        Assert.Equal(61, Run("{'insert': 'c', 'documents': [{'_id': 'z', 'n': [1]}]}").FindInt64("writeErrors.0.code"));
        Fails("{'createIndexes': 'c', 'indexes': [{'key': {'t': 1}, 'name': 't', 'unique': true}]}", 67, "with shard key pattern { n: 1 }");
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1, 't': 1}, 'name': 'nt', 'unique': true}]}");
        Fails("{'renameCollection': 'test.c', 'to': 'test.d'}", 238, "renameCollection of a sharded collection", "admin");
        Fails("{'aggregate': 'c', 'pipeline': [{'$out': 'c'}], 'cursor': {}}", 28769, "cannot be sharded");
    }

    [Fact]
    public void An_existing_collection_is_sharded_by_an_index_and_lies_on_its_database_s_shard()
    {
        InsertNumbers(20);
        Fails("{'shardCollection': 'test.c', 'key': {'n': 1}}", 72, "create an index that starts with the proposed shard key", "admin");
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n'}]}");
        Shard("{'n': 1}");
        Shard("{'n': 1}");
        Fails("{'shardCollection': 'test.c', 'key': {'t': 1}}", 23, "already exists with a different shard key", "admin");
        string home = Config("{'find': 'databases', 'filter': {'_id': 'test'}}").Single().FindString("primary")!;
        Assert.Equal(home, Assert.Single(CountsByShard()).Key);
        Assert.Equal(20, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    /// <summary>Numbers of all types are one bound, or two chunks would begin at the same key.</summary>
    [Fact]
    public void Bounds_are_compared_by_value()
    {
        Shard("{'n': 1}");
        Admin("{'split': 'test.c', 'middle': {'n': 3}}");
        foreach (string bound in (string[])["3.0", "{'$numberLong': '3'}", "{'$minKey': 1}", "{'$maxKey': 1}"])
            Assert.Contains("is a boundary key", Run($"{{'split': 'test.c', 'middle': {{'n': {bound}}}}}", "admin").FindString("errmsg"));
        Admin("{'moveRange': 'test.c', 'min': {'n': 3.0}, 'max': {'n': {'$maxKey': 1}}, 'toShard': 'shard1'}");
        Admin("{'moveChunk': 'test.c', 'bounds': [{'n': 3.0}, {'n': {'$maxKey': 1}}], 'to': 'shard2'}");
        Assert.Equal(["shard0", "shard2"], Chunks().Select(chunk => chunk.FindString("shard")));
        Fails("{'moveChunk': 'test.c', 'find': {'n': [1]}, 'to': 'shard1'}", 61, "array", "admin");
    }

    [Fact]
    public void A_document_in_a_sequence_is_looked_at_before_it_is_hashed()
    {
        Shard("{'_id': 'hashed'}");
        Assert.Equal(15, Client.RunWithSequence("{'insert': 'c'}", "documents", [Nested(200_000)]).FindInt64("code"));
        Assert.Equal(0, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public void A_collection_with_an_array_in_the_key_stays_unsharded()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'n': [1]}]}");
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n'}]}");
        Fails("{'shardCollection': 'test.c', 'key': {'n': 1}}", 61, "array", "admin");
        Assert.Empty(Chunks());
        Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'n': 1}}}]}");
        Shard("{'n': 1}");
        Assert.Equal(1, Assert.Single(CountsByShard()).Value);
    }

    [Fact]
    public void What_was_written_without_shards_is_counted_at_the_next_start_with_them()
    {
        Shard("{'n': 1}");
        InsertNumbers(100);
        Admin("{'moveRange': 'test.c', 'min': {'n': 5}, 'toShard': 'shard1'}");
        StartWith(shards: 0);
        Succeed("{'insert': 'c', 'documents': [{'_id': 'a', 'n': 7}, {'_id': 'b', 'n': [7]}]}");
        Succeed("{'delete': 'c', 'deletes': [{'q': {'n': 1}, 'limit': 0}]}");
        Assert.Contains("test.c has a document with an array", Assert.Throws<StorageException>(() => StartWith(shards: 3)).Message);
        StartWith(shards: 0);
        Succeed("{'delete': 'c', 'deletes': [{'q': {'_id': 'b'}, 'limit': 1}]}");
        StartWith(shards: 3);
        Assert.Equal(new Dictionary<string, long> { ["shard0"] = 40, ["shard1"] = 51 }, CountsByShard());
        Assert.Contains("3 shards, not 2", Assert.Throws<StorageException>(() => StartWith(shards: 2)).Message);
    }

    [Theory]
    [InlineData("{'delete': 'chunks', 'deletes': [{'q': {}, 'limit': 0}]}")]
    [InlineData("{'update': 'chunks', 'updates': [{'q': {}, 'u': {'$set': {'min': 1}}}]}")]
    [InlineData("{'update': 'collections', 'updates': [{'q': {}, 'u': {'$set': {'key': 1}}}]}")]
    public void A_table_that_a_client_has_spoilt_is_named_at_the_next_start(string command)
    {
        Shard("{'n': 1}");
        Succeed(command, "config");
        Assert.Contains("how test.c is sharded", Assert.Throws<StorageException>(Restart).Message);
        StartWith(shards: 0);
        Succeed("{'delete': 'collections', 'deletes': [{'q': {'_id': 'test.c'}, 'limit': 1}]}", "config");
        StartWith(shards: 3);
        Assert.Empty(Chunks());
    }

    private void StartWith(int shards)
    {
        _shards = shards;
        Restart();
    }

    /// <summary>{_id: {a: {a: …}}}</summary>
    private static BsonDocument Nested(int levels)
    {
        var bytes = new List<byte>();
        for (int level = levels; level >= 0; level--)
        {
            bytes.AddRange(BitConverter.GetBytes(5 + (8 * level) + (level == levels ? 2 : 0)));
            if (level > 0)
                bytes.AddRange(level == levels ? [3, .. "_id\0"u8] : [3, .. "a\0"u8]);
        }

        bytes.AddRange(new byte[levels + 1]);
        return new BsonDocument(bytes.ToArray());
    }

    private void Shard(string key) => Admin($"{{'shardCollection': 'test.c', 'key': {key}}}");

    private void Admin(string command) => Succeed(command, "admin");

    private void Refused(string statement, int code) =>
        Assert.Equal(code, Run($"{{'update': 'c', 'updates': [{statement}]}}").FindInt64("writeErrors.0.code"));

    private BsonDocument Explain(string find) => Succeed($"{{'explain': {find}, 'verbosity': 'executionStats'}}");

    private List<BsonDocument> Config(string find) => TestClient.Batch(Succeed(find, "config"), "firstBatch");

    private BsonDocument[] Chunks() => [.. Config("{'find': 'chunks', 'sort': {'min': 1}}")];

    /// <summary>Moving a range and back counts all anew.</summary>
    private void Recount()
    {
        BsonDocument last = Chunks()[^1];
        string from = ExtendedJson.Write(last.FindDocument("min")!.Bytes).Replace('"', '\'');
        string home = last.FindString("shard")!;
        Admin($"{{'moveRange': 'test.c', 'min': {from}, 'toShard': '{(home == "shard0" ? "shard1" : "shard0")}'}}");
        Admin($"{{'moveRange': 'test.c', 'min': {from}, 'toShard': '{home}'}}");
    }

    private Dictionary<string, long> CountsByShard() => Client
        .FindAll("{'aggregate': 'c', 'pipeline': [{'$collStats': {'storageStats': {}}}], 'cursor': {}}")
        .ToDictionary(part => part.FindString("shard")!, part => part.FindInt64("storageStats.count")!.Value);

    private static string[] Names(BsonDocument? list) => [.. list!.Select(one => one.Value.ToDocument().FindString("_id")!)];

    private static IEnumerable<string> ShardsOf(BsonDocument explain) =>
        explain.FindDocument("queryPlanner.winningPlan.shards")!.Select(shard => shard.Value.ToDocument().FindString("shardName")!);

    private static (int Keys, int Documents) Examined(BsonDocument explain, string path) => (
        (int)explain.FindInt64(path + ".totalKeysExamined")!, (int)explain.FindInt64(path + ".totalDocsExamined")!);

    private static (int, int, int) Kinds(BsonDocument asked, string command, string one, string two, string three) =>
        (Kind(asked, command, one), Kind(asked, command, two), Kind(asked, command, three));

    private static int Kind(BsonDocument asked, string command, string kind) => (int)asked.FindInt64($"{command}.{kind}")!;
}
