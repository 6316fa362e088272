using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Sharding;

/// <summary>The words in which a mongos, and the parts of a cluster whose router is a mongod, are told to shard.</summary>
/// <remarks>Those for mongos are the manual's: no mongos could be had to try them. The others were tried with mongod 6.0.5.</remarks>
public sealed class ShardingCommandsTests
{
    private static readonly BsonDocument Version = ExtendedJson.Parse("""{"uuid": "u", "lastMod": 1}""");
    private static readonly ShardedNamespace Series = new("perf", "docs", Version);
    private static readonly MongosCommands Mongos = new();
    private static readonly RoutingMongodCommands Routing = new();

    [Fact]
    public void A_database_is_enabled()
    {
        Check(Mongos.EnableSharding("perf", "s0"), ShardingTarget.Router, "admin", """{"enableSharding": "perf"}""");
        Check(
            Routing.EnableSharding("perf", "s0"), ShardingTarget.Config, "admin",
            """{"_configsvrCreateDatabase": "perf", "primaryShardId": "s0", "writeConcern": {"w": "majority"}}""");
    }

    [Fact]
    public void A_collection_is_sharded()
    {
        Check(
            Mongos.ShardCollection(Series, ShardKey.Parse("hashed"), 6), ShardingTarget.Router, "admin",
            """{"shardCollection": "perf.docs", "key": {"_id": "hashed"}, "unique": false, "collation": {"locale": "simple"}, "numInitialChunks": 6}""");
        Check(
            Mongos.ShardCollection(Series, ShardKey.Parse("_id"), null), ShardingTarget.Router, "admin",
            """{"shardCollection": "perf.docs", "key": {"_id": 1}, "unique": false, "collation": {"locale": "simple"}}""");
        Check(
            Routing.ShardCollection(Series, ShardKey.Parse("hashed"), 6), ShardingTarget.PrimaryShard, "perf",
            """{"_shardsvrCreateCollection": "docs", "shardKey": {"_id": "hashed"}, "unique": false, "collation": {"locale": "simple"}, "numInitialChunks": 6, "databaseVersion": {"uuid": "u", "lastMod": 1}, "writeConcern": {"w": "majority"}}""");
        Check(
            Routing.ShardCollection(Series, ShardKey.Parse("Number"), null), ShardingTarget.PrimaryShard, "perf",
            """{"_shardsvrCreateCollection": "docs", "shardKey": {"Number": 1}, "unique": false, "collation": {"locale": "simple"}, "databaseVersion": {"uuid": "u", "lastMod": 1}, "writeConcern": {"w": "majority"}}""");
    }

    [Fact]
    public void It_is_dropped()
    {
        Check(Mongos.DropCollection(Series), ShardingTarget.Router, "perf", """{"drop": "docs"}""");
        Check(Mongos.DropDatabase(Series), ShardingTarget.Router, "perf", """{"dropDatabase": 1}""");
        Check(
            Routing.DropCollection(Series), ShardingTarget.PrimaryShard, "perf",
            """{"_shardsvrDropCollection": "docs", "databaseVersion": {"uuid": "u", "lastMod": 1}, "writeConcern": {"w": "majority"}}""");
        Check(
            Routing.DropDatabase(Series), ShardingTarget.PrimaryShard, "perf",
            """{"_shardsvrDropDatabase": 1, "databaseVersion": {"uuid": "u", "lastMod": 1}, "writeConcern": {"w": "majority"}}""");
    }

    [Fact]
    public void Indexes_are_made_where_chunks_are()
    {
        const string build = """{"createIndexes": "docs", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}""";
        Check(Mongos.OnCollection(Series, ExtendedJson.Parse(build)), ShardingTarget.Router, "perf", build);
        Check(Routing.OnCollection(Series, ExtendedJson.Parse(build)), ShardingTarget.OwningShards, "perf", build);
        // A mongos has no compact.
        const string compact = """{"compact": "docs"}""";
        Check(Mongos.OnCollection(Series, ExtendedJson.Parse(compact)), ShardingTarget.OwningShards, "perf", compact);
    }

    [Fact]
    public void Zones_are_made_and_taken_back()
    {
        BsonDocument from = ExtendedJson.Parse("""{"Number": 5}""");
        BsonDocument to = ShardKey.Parse("Number").At(Bounds.Greatest);
        Check(Mongos.AddToZone("s0", "z"), ShardingTarget.Router, "admin", """{"addShardToZone": "s0", "zone": "z"}""");
        Check(Mongos.RemoveFromZone("s0", "z"), ShardingTarget.Router, "admin", """{"removeShardFromZone": "s0", "zone": "z"}""");
        Check(Mongos.TieRange("perf.docs", from, to, "z"), ShardingTarget.Router, "admin",
            """{"updateZoneKeyRange": "perf.docs", "min": {"Number": 5}, "max": {"Number": {"$maxKey": 1}}, "zone": "z"}""");
        Check(Mongos.TieRange("perf.docs", from, to, null), ShardingTarget.Router, "admin",
            """{"updateZoneKeyRange": "perf.docs", "min": {"Number": 5}, "max": {"Number": {"$maxKey": 1}}, "zone": null}""");
        Check(Routing.AddToZone("s0", "z"), ShardingTarget.Config, "admin",
            """{"_configsvrAddShardToZone": "s0", "zone": "z", "writeConcern": {"w": "majority"}}""");
        Check(Routing.RemoveFromZone("s0", "z"), ShardingTarget.Config, "admin",
            """{"_configsvrRemoveShardFromZone": "s0", "zone": "z", "writeConcern": {"w": "majority"}}""");
        Check(Routing.TieRange("perf.docs", from, to, "z"), ShardingTarget.Config, "admin",
            """{"_configsvrUpdateZoneKeyRange": "perf.docs", "min": {"Number": 5}, "max": {"Number": {"$maxKey": 1}}, "zone": "z", "writeConcern": {"w": "majority"}}""");
    }

    [Fact]
    public void A_range_is_cut_off_and_given_to_a_shard()
    {
        BsonDocument least = ShardKey.Parse("Number").At(Bounds.Least);
        BsonDocument middle = ExtendedJson.Parse("""{"Number": 5}""");
        BsonDocument greatest = ShardKey.Parse("Number").At(Bounds.Greatest);
        IReadOnlyList<ShardingCommand> first = Mongos.PlaceRange(Series, least, middle, "s1", isThere: false, isCut: false);
        Check(first[0], ShardingTarget.Router, "admin", """{"split": "perf.docs", "middle": {"Number": 5}}""");
        Check(first[1], ShardingTarget.Router, "admin",
            """{"moveChunk": "perf.docs", "bounds": [{"Number": {"$minKey": 1}}, {"Number": 5}], "to": "s1"}""");
        Check(
            Assert.Single(Mongos.PlaceRange(Series, middle, greatest, "s1", isThere: false, isCut: true)), ShardingTarget.Router, "admin",
            """{"moveChunk": "perf.docs", "bounds": [{"Number": 5}, {"Number": {"$maxKey": 1}}], "to": "s1"}""");
        Check(Assert.Single(Mongos.PlaceRange(Series, least, middle, "s0", isThere: true, isCut: false)), ShardingTarget.Router, "admin",
            """{"split": "perf.docs", "middle": {"Number": 5}}""");
        Check(
            Assert.Single(Routing.PlaceRange(Series, middle, greatest, "s1", isThere: false, isCut: true)), ShardingTarget.Config, "admin",
            """{"_configsvrMoveRange": "perf.docs", "toShard": "s1", "min": {"Number": 5}, "max": {"Number": {"$maxKey": 1}}, "writeConcern": {"w": "majority"}}""");
        Assert.Empty(Routing.PlaceRange(Series, least, middle, "s0", isThere: true, isCut: false));
    }

    [Fact]
    public void The_balancer_is_switched_and_asked()
    {
        Check(Mongos.SwitchBalancer(on: true), ShardingTarget.Router, "admin", """{"balancerStart": 1}""");
        Check(Mongos.SwitchBalancer(on: false), ShardingTarget.Router, "admin", """{"balancerStop": 1}""");
        Check(Mongos.BalancerStatus(Series), ShardingTarget.Router, "admin", """{"balancerCollectionStatus": "perf.docs"}""");
        Check(Routing.SwitchBalancer(on: true), ShardingTarget.Config, "admin", """{"_configsvrBalancerStart": 1}""");
        Check(Routing.SwitchBalancer(on: false), ShardingTarget.Config, "admin", """{"_configsvrBalancerStop": 1}""");
        Check(Routing.BalancerStatus(Series), ShardingTarget.Config, "admin", """{"_configsvrBalancerCollectionStatus": "perf.docs"}""");
    }

    private static void Check(ShardingCommand command, ShardingTarget target, string database, string json)
    {
        Assert.Equal((target, database), (command.Target, command.Database));
        // Compared as documents: the numbers' types are free.
        Assert.Equal(ExtendedJson.Write(ExtendedJson.Parse(json).Bytes), ExtendedJson.Write(command.Command.Bytes));
    }
}
