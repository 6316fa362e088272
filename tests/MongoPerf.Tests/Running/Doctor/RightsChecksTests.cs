using MongoPerf.Load.Sharding;
using MongoPerf.Running.Doctor;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Running.Doctor;

/// <summary>Users with fewer and fewer rights, as connectionStatus describes them.</summary>
public sealed class RightsChecksTests
{
    private static readonly string[] Reading = ["collStats", "dbStats", "find", "listCollections", "listIndexes"];
    private static readonly string[] Writing =
        [.. Reading, "createCollection", "createIndex", "dropCollection", "insert", "remove", "update"];
    private static readonly string[] Monitoring = ["getCmdLineOpts", "getLog", "serverStatus"];

    [Fact]
    public void Root_has_all_rights_and_is_told_so()
    {
        IReadOnlyList<Check> checks = RightsChecks.Run(Root(), "mongoperf", isSharded: true);
        Assert.Equal(["user: loader: root on admin", "rights: all that runs on the database mongoperf use"], Texts(checks));
    }

    [Fact]
    public void A_user_with_one_database_loses_what_is_the_servers() => Assert.Equal(
        ["counters after a crash", "sizes of now", "the server's state", "the server's settings"],
        Lost(User("readWrite", "mongoperf", [Resource(("db", "mongoperf"), ("collection", "")), .. Writing]), isSharded: false));

    [Fact]
    public void A_user_with_a_monitoring_role_loses_less() => Assert.Equal(
        ["counters after a crash", "sizes of now"],
        Lost(User("readWrite", "mongoperf", [Resource(("db", "mongoperf"), ("collection", "")), .. Writing],
            [Resource(("cluster", true)), .. Monitoring]), isSharded: false));

    [Fact]
    public void A_user_who_may_only_read_can_measure_what_is_there()
    {
        UserRights reader = User("read", "mongoperf", [Resource(("db", "mongoperf"), ("collection", "")), .. Reading]);
        Check loading = RightsChecks.Run(reader, "mongoperf", isSharded: false)
            .First(check => check.Found.StartsWith("loading", StringComparison.Ordinal));
        Assert.Equal(CheckState.Warning, loading.State);
        Assert.Equal("loading documents needs createCollection, createIndex, insert and update on mongoperf; without it only existing data "
            + "can be measured, with 'run' and operations that read", loading.Found);
        Assert.Equal("grant it: {role: \"readWrite\", db: \"mongoperf\"}", loading.Advice);
    }

    [Fact]
    public void A_user_of_another_database_can_measure_nothing()
    {
        UserRights other = User("readWrite", "shop", [Resource(("db", "shop"), ("collection", "")), .. Writing]);
        Check reading = RightsChecks.Run(other, "mongoperf", isSharded: false)[1];
        Assert.Equal(CheckState.Problem, reading.State);
        Assert.Contains("or choose another database with --db", reading.Advice!, StringComparison.Ordinal);
        Assert.DoesNotContain(RightsChecks.Run(other, "shop", isSharded: false), check => check.State == CheckState.Problem);
    }

    [Fact]
    public void A_user_of_a_cluster_needs_more_for_shards() => Assert.Equal(
        ["counters after a crash", "sizes of now", "the server's state", "the server's settings", "shards", "sharding",
            "balancer and chunk size", "durable checkpoints", "use of indexes by shard", "orphaned bytes by shard"],
        Lost(User("readWrite", "mongoperf", [Resource(("db", "mongoperf"), ("collection", "")), .. Writing]), isSharded: true));

    [Fact]
    public void A_server_without_logins_allows_everything() => Assert.Equal(
        ["user: nobody: the server asks for no login, and everything is allowed"],
        Texts(RightsChecks.Run(UserRights.From(BsonDocument.Of(("authInfo", BsonDocument.Of(
            ("authenticatedUsers", Array.Empty<BsonDocument>()), ("authenticatedUserRoles", Array.Empty<BsonDocument>()))), ("ok", 1.0))),
            "mongoperf", isSharded: false)));

    [Fact]
    public void A_server_that_lists_no_privileges_is_believed_to_allow_them() => Assert.Equal(
        "rights: the server does not list them", Texts(RightsChecks.Run(UserRights.From(BsonDocument.Of(
            ("authInfo", BsonDocument.Of(
                ("authenticatedUsers", new[] { BsonDocument.Of(("user", "loader\u001b[2J"), ("db", "admin")) }))))),
            "mongoperf", isSharded: false))[1]);

    /// <summary>Root on a mongos got "ok: all that runs use", where the run said "server state by shard no".</summary>
    [Theory]
    [InlineData(DirectAccess.Allowed, "rights: all that runs on the database mongoperf use")]
    [InlineData(DirectAccess.NoUser, "shards: server state by shard needs a user on each shard, since a cluster's users do not exist "
        + "there; without it reports have no cache, CPU and disk of the shards")]
    [InlineData(DirectAccess.NotAllowed, "shards: server state by shard needs serverStatus on each shard; "
        + "without it reports have no cache, CPU and disk of the shards")]
    [InlineData(DirectAccess.Unreachable, "shards: server state by shard: no shard can be reached from here; "
        + "without it reports have no cache, CPU and disk of the shards")]
    public void Root_lacks_the_state_of_shards_that_do_not_tell_it(DirectAccess direct, string told) => Assert.Equal(
        told, Texts(RightsChecks.Run(Root(), "mongoperf", isSharded: true, direct))[1]);

    private static UserRights Root() => User("root", "admin", [Resource(("anyResource", true)), .. Writing, .. Monitoring, "validate",
        "fsync", "enableSharding", "moveChunk", "splitChunk", "appendOplogNote", "indexStats", "shardedDataDistribution"]);

    private static IEnumerable<string> Lost(UserRights user, bool isSharded)
    {
        Check[] lost = [.. RightsChecks.Run(user, "mongoperf", isSharded).Skip(1)];
        Assert.All(lost, check => Assert.Equal(CheckState.Warning, check.State));
        return lost.Select(check => check.Found.Split(" needs ")[0]);
    }

    private static string[] Texts(IEnumerable<Check> checks) => [.. checks.Select(check => $"{check.Subject}: {check.Found}")];

    private static BsonDocument Resource(params (string Name, object? Value)[] parts) => BsonDocument.Of(parts);

    /// <summary>Each privilege is a resource and what may be done with it.</summary>
    private static UserRights User(string role, string database, params object[][] privileges) =>
        UserRights.From(BsonDocument.Of(("authInfo", BsonDocument.Of(
            ("authenticatedUsers", new[] { BsonDocument.Of(("user", "loader"), ("db", database)) }),
            ("authenticatedUserRoles", new[] { BsonDocument.Of(("role", role), ("db", database)) }),
            ("authenticatedUserPrivileges", privileges.Select(privilege => BsonDocument.Of(
                ("resource", privilege[0]), ("actions", privilege.Skip(1).Cast<string>().ToArray()))).ToArray())))));
}
