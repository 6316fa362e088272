using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

/// <summary>What a server words is shown to people: it must not reach their terminal as it is.</summary>
public sealed class ServerErrorTests
{
    [Fact]
    public void An_error_is_one_line_without_control_characters()
    {
        var error = ServerError.From(BsonDocument.Of(("code", 2), ("codeName", "Bad\aValue"), ("errmsg", "no\n\u001b[2Jway\u0085")));
        Assert.Equal((2, "Bad?Value", "no??[2Jway?"), (error.Code, error.Name, error.Message));
    }

    [Theory]
    [InlineData(11000, "E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: \"eva@example.org\" }",
        "E11000 duplicate key error collection: shop.users index: email_1")]
    [InlineData(14, "Cannot increment with non-numeric argument: {n: \"eva\"}", "its text may hold values and is left out")]
    [InlineData(10107, "not primary", "not primary")]
    public void A_text_can_do_without_values(int code, string message, string expected) => Assert.Equal(expected,
        ServerError.From(BsonDocument.Of(("code", code), ("errmsg", message))).WithoutValues().Message);

    [Theory]
    [InlineData("ns not found", 26, "NamespaceNotFound")]
    [InlineData("ns does not exist", 26, "NamespaceNotFound")]
    [InlineData("not master", 10107, "NotWritablePrimary")]
    [InlineData("not master or secondary; cannot currently read", 13436, "NotPrimaryOrSecondary")]
    [InlineData("node is recovering", 13436, "NotPrimaryOrSecondary")]
    [InlineData("no such thing", 0, "")]
    public void What_some_servers_say_without_a_code_has_its_code_all_the_same(string message, int code, string name)
    {
        var error = ServerError.From(BsonDocument.Of(("ok", 0.0), ("errmsg", message)));
        Assert.Equal((code, name), (error.Code, error.Name));
    }

    [Theory]
    [InlineData("not authorized on shop to execute command { insert: \"docs\", ordered: true, $db: \"shop\" }",
        "grant this user role readWrite on database shop, or use a database where it has that role")]
    [InlineData("not authorized on shop to execute command { aggregate: \"docs\", pipeline: [] }",
        "grant this user role read on database shop, or use a database where it has that role")]
    [InlineData("not authorized on admin to execute command { serverStatus: 1 }", "grant this user role clusterMonitor on database admin")]
    [InlineData("not authorized on admin to execute command { shardCollection: \"perf.y\" }",
        "grant this user role clusterManager on database admin")]
    [InlineData("not authorized on config to execute command { find: \"shards\" }",
        "grant this user role clusterMonitor on database admin")]
    [InlineData("not authorized on config to execute command { update: \"settings\" }",
        "grant this user role clusterManager on database admin")]
    [InlineData("not authorized on local to execute command { insert: \"x\" }", "grant this user role clusterManager on database admin")]
    [InlineData("not authorized on admin to execute command { create: \"x\" }", "grant this user role clusterManager on database admin")]
    [InlineData("not authorized on local to execute command { find: \"oplog.rs\" }",
        "grant this user role clusterMonitor on database admin")]
    [InlineData("not authorized on admin to execute command { count: \"x\" }", "grant this user role clusterMonitor on database admin")]
    [InlineData("not authorized on config to execute command { validate: \"x\" }", "grant this user role dbAdmin on database config")]
    [InlineData("not authorized on perf to execute command { validate: \"docs\" }", "grant this user role dbAdmin on database perf")]
    [InlineData("not authorized on admin to execute command { startRecordingTraffic: 1, filename: \"a\" }",
        "grant this user role hostManager on database admin")]
    [InlineData("not authorized on x to execute command { brandNew: 1 }", "this user lacks a role that allows brandNew on database x")]
    [InlineData("user is not allowed to do action [insert] on [mongoperf.series]",
        "grant this user role readWrite on database mongoperf, or use a database where it has that role")]
    [InlineData("command listCollections requires authentication",
        "this server requires a login: --uri mongodb://USER@HOST/?authSource=admin asks for the password")]
    public void What_a_user_may_not_do_names_the_role_and_the_database(string message, string hint) =>
        Assert.Equal(hint, ServerError.From(BsonDocument.Of(("code", 13), ("errmsg", message))).Hint);

    [Fact]
    public void A_refusal_is_told_without_the_tokens_of_its_command()
    {
        var error = ServerError.From(BsonDocument.Of(("code", 13), ("errmsg",
            "not authorized on shop to execute command { insert: \"docs\", lsid: { id: UUID(\"1\") }, $clusterTime: { signature: 1 } }")));
        Assert.Equal("not authorized on shop to execute command { insert: \"docs\", … }", error.Message);
    }

    [Theory]
    [InlineData("NotWritablePrimary NotPrimaryNoSecondaryOk NotPrimaryOrSecondary InterruptedAtShutdown InterruptedDueToReplStateChange "
        + "PrimarySteppedDown ShutdownInProgress LegacyNotPrimary", nameof(ServerError.MeansNoPrimary))]
    [InlineData("ShutdownInProgress PrimarySteppedDown InterruptedAtShutdown InterruptedDueToReplStateChange",
        nameof(ServerError.MeansInterrupted))]
    [InlineData("HostUnreachable HostNotFound NetworkTimeout FailedToSatisfyReadPreference SocketException",
        nameof(ServerError.MeansShardAway))]
    [InlineData("ChangeStreamFatalError ChangeStreamHistoryLost", nameof(ServerError.MeansStreamLost))]
    [InlineData("Unauthorized AuthenticationFailed", nameof(ServerError.MeansForbidden))]
    [InlineData("OutOfDiskSpace", nameof(ServerError.MeansDiskFull))]
    public void What_an_error_means_follows_from_its_name_in_the_servers_list(string names, string meaning) => Assert.Equal(
        names.Split(' ').Order(StringComparer.Ordinal),
        ErrorNames.All.Where(one => (bool)typeof(ServerError).GetProperty(meaning)!.GetValue(new ServerError(one.Key, one.Value, "", []))!)
            .Select(one => one.Value).Order(StringComparer.Ordinal));

    [Fact]
    public void An_error_of_the_old_form_or_without_a_message_is_told_all_the_same()
    {
        Assert.Equal("old", ServerError.From(BsonDocument.Of(("$err", "old"), ("code", 1))).Message);
        Assert.Equal("new", ServerError.From(BsonDocument.Of(("$err", "old"), ("errmsg", "new"))).Message);
        Assert.Equal(("no message", 0), (ServerError.From(BsonDocument.Empty).Message, ServerError.From(BsonDocument.Empty).Code));
        Assert.Equal(["a", "b"], ServerError.From(BsonDocument.Of(("errorLabels", new[] { "a", "b" }))).Labels);
        Assert.Equal([true, true, false],
            ((int[])[ServerError.DuplicateKey, ServerError.InvalidDocument, 1]).Select(ServerError.IsOfDocument));
    }

    [Fact]
    public void A_code_that_was_given_counts() =>
        Assert.Equal(59, ServerError.From(BsonDocument.Of(("code", 59), ("errmsg", "ns not found"))).Code);

    [Fact]
    public void A_message_that_would_fill_the_screen_is_cut()
    {
        var error = ServerError.From(BsonDocument.Of(("code", 2), ("errmsg", new string('x', 1_000_000))));
        Assert.Equal(new string('x', 4000) + "…", error.Message);
    }
}
