using MongoPerf.Commands.Results;
using MongoPerf.Deployments;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Running;

/// <summary>What a run makes of a deployment that says itself that it has shards, or replica sets.</summary>
public sealed class ShardsOfADeploymentTests : IDisposable
{
    private const string Keyed =
        "data: {users: {count: 10, shardKey: {n: 1}, document: {n: ^number}}}\nphases: [{name: load, load: users}]\n";
    private const string Plain = "data: {users: {count: 10, document: {n: ^number}}}\nphases: [{name: load, load: users}]\n";
    private const string Compact =
        "data: {users: {count: 10, document: {n: ^number}}}\n"
        + "phases: [{name: load, load: users}, {name: c, count: 1, operations: [{compact: users}]}]\n";

    private readonly FakeMongos _mongos = new();
    private readonly FakeMongos _shard = new(isMongos: false);
    private readonly TemporaryFolder _folder = new();

    public ShardsOfADeploymentTests() => HaveShards("s0");

    public void Dispose()
    {
        _mongos.Dispose();
        _shard.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData(Keyed, true)]
    [InlineData(Plain, false)]
    public void A_scenario_that_names_a_shard_key_is_sharded_on_any_mongos(string text, bool isSharded)
    {
        using RunStore store = Store();
        RunRequest asked = AskedSharding.On(On(Find()), Request(text), store);
        Assert.Equal(isSharded, asked.Settings.Data.Sharding is not null);
    }

    [Fact]
    public void Where_the_user_may_not_shard_it_lies_as_it_is_found()
    {
        _mongos.Replies["connectionStatus"] = _ => BsonDocument.Of(
            ("authInfo", BsonDocument.Of(
                ("authenticatedUsers", new[] { BsonDocument.Of(("user", "loader"), ("db", "admin")) }),
                ("authenticatedUserRoles", Array.Empty<BsonDocument>()),
                ("authenticatedUserPrivileges", new[]
                {
                    BsonDocument.Of(("resource", BsonDocument.Of(("db", "perf"), ("collection", ""))), ("actions", new[] { "insert" })),
                }))),
            ("ok", 1.0));
        using RunStore store = Store();
        Assert.Null(AskedSharding.On(On(Find()), Request(Keyed), store).Settings.Data.Sharding);
    }

    [Fact]
    public void A_shard_that_comes_or_goes_is_told()
    {
        GivenDeployment deployment = Find();
        List<RunEvent> events = [];
        using var watch = new ClusterWatch(
            deployment, new ServerKeeper(deployment), ConnectionSettings.Default, new ManualClock(), events.Add);
        watch.LookAtShards();
        HaveShards("s0", "s1");
        watch.LookAtShards();
        HaveShards("s1");
        watch.LookAtShards();
        Assert.Equal(["shard s1 was added to the cluster", "shard s0 was removed from the cluster"], events.Select(one => one.Text));
    }

    [Fact]
    public void Compact_on_primaries_of_somebody_else_is_refused_by_name_unless_it_is_forced()
    {
        Plan plan = ScenarioTexts.Plan(Compact);
        Assert.Equal("operation 'compact': the primaries of replica sets refuse compact unless it is forced",
            Assert.Throws<UserException>(() => DeploymentFit.RequireCompact(Find(), plan)).Message);
        DeploymentFit.RequireCompact(Find(), ScenarioTexts.Plan(Compact.Replace(
            "compact: users", "compact: users, force: true", StringComparison.Ordinal)));
        // A single server takes it as it is.
        DeploymentFit.RequireCompact(new GivenDeployment([_shard.Address], ConnectionSettings.Default), plan);
        _shard.Replies["serverStatus"] = _ => FakeMongos.Refusal(13, "not authorized on admin to execute command { serverStatus: 1 }");
        Assert.StartsWith("operation 'compact': a mongos does not pass compact on, and this user may not send it to the shards",
            Assert.Throws<UserException>(() => DeploymentFit.RequireCompact(Find(), plan)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true, """{"compact": "users", "force": true}""")]
    [InlineData(false, """{"compact": "users"}""")]
    public void Compact_is_forced_on_primaries_of_ours(bool isOurs, string sent)
    {
        Operation compact = ScenarioTexts.Plan(Compact).Operations.Single(operation => operation is DatabaseCommand);
        using var executor = new WireExecutor(_ => _shard.Address, ConnectionSettings.Default, "perf") { ForcesCompact = isOurs };
        executor.Connect();
        executor.Prepare(compact, new OperationContext(42, 0, null)).Execute();
        Assert.Contains($"perf {sent}", _shard.Heard);
    }

    private void HaveShards(params string[] names) => _mongos.Documents["config.shards"] =
        [.. names.Select(name => BsonDocument.Of(("_id", name), ("host", $"{name}/{_shard.Address}")))];

    private GivenDeployment Find()
    {
        var deployment = new GivenDeployment([_mongos.Address], ConnectionSettings.Default);
        deployment.EnsureRunning();
        return deployment;
    }

    private static RunDeployment On(GivenDeployment deployment) => new(
        deployment, DeploymentInspector.Inspect(deployment, ConnectionSettings.Default, "perf.users"), ConnectionSettings.Default);

    [Fact]
    public void The_password_of_the_shards_user_is_asked_for_once_for_all_runs_of_a_command()
    {
        List<string> asked = [];
        RunRequest one = Request(Plain) with { Uri = "mongodb://h/", ShardLogin = new ShardLogin("monitor", null) };
        IReadOnlyList<RunRequest> whole = new ConnectionSecrets(null, question =>
        {
            asked.Add(question);
            return "secret";
        }).CompleteAll([one, one with { Uri = "mongodb://other/" }]);
        Assert.Equal(["password of monitor on the shards: "], asked);
        Assert.All(whole, request => Assert.Equal(("monitor", "secret"),
            (request.ShardLogin!.Credential!.UserName, request.ShardLogin.Credential.Password)));
    }

    [Fact]
    public void A_missing_password_file_of_the_shards_user_is_told_by_its_own_option()
    {
        UserException e = Assert.Throws<UserException>(() =>
            new ShardLogin("monitor", _folder.At("missing")).Complete(_ => null));
        Assert.Equal($"--shard-password-file: '{_folder.At("missing")}' can't be read: there is no such file", e.Message);
    }

    [Fact]
    public void An_agent_logs_in_at_shards_as_the_user_that_it_was_given_itself()
    {
        string file = _folder.At("password");
        File.WriteAllText(file, "secret\n");
        RunSettings settings = RunParts.Settings();
        settings = settings with
        {
            Deployment = settings.Deployment with { Uri = "mongodb://h/", CacheBytes = null },
            Plan = settings.Plan with { Text = Plain },
        };
        var agent = new AgentRequest("mongodb://c/", "anna", null, "mongodb://h/", null, [], 1, false, "mongoperf agent",
            Request(Plain).Output)
        {
            ShardLogin = new ShardLogin("monitor", file),
        };
        RunRequest part = agent.ForPart(new AgentClaim("plan", new ClientPart("group", "anna", 1, 2), settings, 42), null!);
        Assert.Equal(("monitor", "secret"), (part.ShardLogin!.Credential!.UserName, part.ShardLogin.Credential.Password));
    }

    private RunStore Store() => RunStore.Create(_folder.At("run"), RunParts.Run("run"), RunParts.Settings());

    private static RunRequest Request(string text)
    {
        ReadPlan Read(ulong seed) => PlanReader.Read(new ScenarioFile("test.yaml", "test.yaml", text), new PlanOverrides(), seed);
        return new RunRequest
        {
            Settings = RunParts.Settings(),
            Plan = Read(42),
            ReadPlan = Read,
            Seed = 42,
            CommandLine = "mongoperf run test.yaml",
            Output = new OutputRequest("runs", "text", true, true, new ResultPrinter()),
        };
    }

    [Fact]
    public void A_time_series_is_refused_where_a_mongod_routes_and_nowhere_else()
    {
        Plan plan = ScenarioTexts.Plan("data: {log: {count: 9, document: {at: {^date: {start: 2026-01-01, step: 1s}}}, "
            + "options: {timeseries: {timeField: at}}, shardKey: {at: 1}}}\nphases: [{load: log}]");
        DeploymentFit.RequireTimeSeries(plan, CommandDialect.Plain);
        Assert.StartsWith("collection 'log' is a time series: this cluster's router is a mongod",
            Assert.Throws<UserException>(() => DeploymentFit.RequireTimeSeries(plan, CommandDialect.RoutingMongod)).Message,
            StringComparison.Ordinal);
    }

    /// <summary>Before anything is made: a zone of a later round would else end a run in its middle.</summary>
    [Theory]
    [InlineData(3, null, "collection 'orders': shard is 3; allowed: 1 to 2, the cluster's shards")]
    [InlineData(null, 3, "collection 'orders': a zone's shard is 3; allowed: 1 to 2, the cluster's shards")]
    [InlineData(2, null, null)]
    [InlineData(null, 2, null)]
    public void A_shard_that_the_cluster_does_not_have_is_refused(int? shard, int? zone, string? message)
    {
        var collection = new StoredCollection("orders", 0, [], null, shard, null, null)
        {
            Zones = zone is { } place ? [new ZoneRange(1, null, null), new ZoneRange(place, null, null)] : [],
        };
        Exception? refused = Record.Exception(() => DeploymentFit.RequireShards([collection], 2));
        Assert.Equal(message, (refused as UserException)?.Message);
    }
}
