using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>What a scenario is run on, as its file says it.</summary>
public sealed class DeploymentReaderTests
{
    private const string Data = "data:\n  users: {count: $(total), document: {n: ^number}, shardKey: {_id: hashed}}\n";
    private const string Rest = "parameters: {total: 1000, by: {few: {limit: 1}, many: {limit: 100}}}\n"
        + "phases: [{name: p, operations: [{find: users, filter: {}, limit: $(by.limit)}]}]\n";

    [Fact]
    public void Cluster_is_the_short_form_for_one_sharded_deployment()
    {
        Assert.Empty(Read(""));
        Assert.Equal(new ScenarioDeployment(new DeploymentSettings { Topology = Topology.Sharded, Shards = 3, Members = 2 }),
            Assert.Single(Read("cluster: {shards: 3, members: 2}\n")));
        Assert.Equal(new ScenarioDeployment(new DeploymentSettings { Topology = Topology.Sharded, Shards = 2 }),
            Assert.Single(Read("cluster: {shards: 2}\n")));
    }

    [Fact]
    public void Deployments_have_names_and_what_is_not_said_is_as_usual()
    {
        IReadOnlyList<ScenarioDeployment> read = Read("deployments: {one server: {}, half: {memory: 1GB, cpus: 2, cache: 300MB}, free: "
            + "{memory: none}, three: {topology: sharded}, two: {shards: 2, members: 3}}\n");
        Assert.Equal(
            [
                new() { Name = "one server", Topology = Topology.Standalone },
                new() { Name = "half", Topology = Topology.Standalone, MemoryLimitBytes = 1L << 30, Cpus = 2, CacheBytes = 300L << 20 },
                new() { Name = "free", Topology = Topology.Standalone, MemoryLimitBytes = 0 },
                new() { Name = "three", Topology = Topology.Sharded },
                new() { Name = "two", Topology = Topology.Sharded, Shards = 2, Members = 3 },
            ],
            read.Select(deployment => deployment.Settings));
    }

    [Fact]
    public void Members_without_shards_are_a_replica_sets_and_connections_are_said()
    {
        IReadOnlyList<ScenarioDeployment> read =
            Read("deployments: {a: {members: 2}, b: {topology: replicaset}, c: {tls: on, auth: off}, d: {shards: 1, auth: on}}\n");
        Assert.Equal(
            [
                new() { Name = "a", Topology = Topology.ReplicaSet, Members = 2 },
                new() { Name = "b", Topology = Topology.ReplicaSet },
                new() { Name = "c", Topology = Topology.Standalone, Tls = true, Auth = false },
                new() { Name = "d", Topology = Topology.Sharded, Shards = 1, Auth = true },
            ],
            read.Select(deployment => deployment.Settings));
    }

    /// <summary>Or a scaled run would measure data that always fit.</summary>
    [Theory]
    [InlineData(1, 10240L, 2048L)]
    [InlineData(0.5, 5120L, 1024L)]
    [InlineData(0.06, 614L, 122L)]
    [InlineData(0.001, 512L, 64L)]
    [InlineData(2, 20480L, 4096L)]
    public void Scale_multiplies_memory_and_cache_and_leaves_each_server_as_much_as_it_runs_with(double scale, long memory, long cache)
    {
        const string text = "deployments: {a: {memory: 10GB}, b: {memory: 10GB, cache: 2GB}, c: {memory: none}, d: {}}\n" + Data + Rest;
        var overrides = new PlanOverrides { Scale = scale };
        ReadPlan read = ScenarioTexts.Read(text, overrides);
        long?[] limits = [.. read.Deployments.Select(d => d.Settings.MemoryLimitBytes >> 20)];
        Assert.Equal([memory, memory, 0, null], limits);
        Assert.Equal([null, cache, null, null], read.Deployments.Select(d => d.Settings.CacheBytes >> 20));
        if (scale != 1)
            Assert.Equal(MessageCode.CountsAndMemoryScaled, Assert.Single(read.Changes).Code);
    }

    [Fact]
    public void Set_holds_on_its_deployment_only_and_the_command_line_wins_over_it()
    {
        const string text = "deployments: {small: {set: {total: 50}}, large: {set: {total: [200, 300], by: many}}}\n" + Data + Rest;
        IReadOnlyList<ScenarioDeployment> on = ScenarioTexts.Read(text).Deployments;
        Assert.Equal([1000], Counts(null));
        Assert.Equal([50], Counts(on[0]));
        Assert.Equal([200, 300], Counts(on[1]));
        Assert.Equal(["total: [200, 300]", "by: many"], ReadOn(on[1]).Set);
        Assert.Equal((2, 1), (Measured(on[0]), Measured(on[1])));
        Assert.Equal([20, 30], Counts(on[1], new PlanOverrides { Scale = 0.1 }));
        var typed = new PlanOverrides { Parameters = new Dictionary<string, string> { ["total"] = "7" } };
        Assert.Equal([7], Counts(on[1], typed));
        Assert.Equal(["by: many"], ReadOn(on[1], typed).Set);
        // What the file says of its deployments is no change by the command line: their runs can be compared.
        Assert.Empty(ReadOn(on[1]).Changes);

        IEnumerable<long> Counts(ScenarioDeployment? deployment, PlanOverrides? overrides = null) =>
            ReadOn(deployment, overrides).Plan.Rounds.Select(r => r.Collections.Single().Count);

        // A sweep that the deployment sets to one of its values is none there.
        int Measured(ScenarioDeployment deployment) => ReadOn(deployment).Plan.Rounds[0].Phases.Count(p => p.Loads is null);

        ReadPlan ReadOn(ScenarioDeployment? deployment, PlanOverrides? overrides = null) =>
            PlanReader.Read(new ScenarioFile("test", "test.yaml", text), overrides ?? new PlanOverrides(), 42, deployment);
    }

    [Theory]
    [InlineData("deployments: {}\n", "test.yaml:1: deployments is a mapping; expected deployments by name", "{1 shard:")]
    [InlineData("deployments: [1]\n", "test.yaml:1: deployments is a list", "")]
    [InlineData("cluster: {shards: 2}\ndeployments: {a: {shards: 2}}\n", "test.yaml:1: cluster and deployments are both given", "")]
    [InlineData("deployments:\n  a: {shard: 2}\n",
        "test.yaml:2: deployment 'a': unknown key 'shard'; allowed: topology, shards,", "did you mean 'shards'?")]
    [InlineData("deployments:\n  a: {topology: ring}\n",
        "test.yaml:2: deployment 'a': topology is 'ring'; allowed: standalone, replicaset, sharded", "")]
    [InlineData("deployments:\n  a: {topology: standalone, shards: 2}\n",
        "test.yaml:2: deployment 'a': shards is not allowed with topology: standalone", "")]
    [InlineData("deployments:\n  a: {topology: replicaset, shards: 2}\n",
        "test.yaml:2: deployment 'a': shards is not allowed with topology: replicaset", "topology: sharded")]
    [InlineData("deployments:\n  a: {topology: standalone, members: 2}\n",
        "test.yaml:2: deployment 'a': members is not allowed with topology: standalone", "topology: replicaset")]
    [InlineData("deployments:\n  a: {tls: true}\n", "test.yaml:2: deployment 'a': tls is 'true'; allowed: on, off", "")]
    [InlineData("deployments:\n  a: {shards: 65}\n", "deployment 'a': shards is 65; allowed: 1 to 64", "")]
    [InlineData("deployments:\n  a: {shards: 2, members: 4}\n", "deployment 'a': members is 4; allowed: 1 to 3", "")]
    [InlineData("deployments:\n  a: {memory: 100MB}\n",
        "test.yaml:2: deployment 'a': memory is 100 MiB; allowed with a cache of 64 MiB: 224 MiB or more", "")]
    [InlineData("deployments:\n  a: {memory: 1GB, cache: 1GB}\n",
        "deployment 'a': memory is 1 GiB; allowed with a cache of 1 GiB: 1.25 GiB or more", "")]
    [InlineData("deployments:\n  a: {cache: 63MB}\n", "test.yaml:2: deployment 'a': cache is 63 MiB; allowed: 64 MiB or more", "")]
    [InlineData("deployments:\n  a: {cpus: 0}\n", "deployment 'a': cpus is 0; allowed: 1 to ", "")]
    [InlineData("deployments:\n  a: {set: {totl: 5}}\n",
        "test.yaml:2: deployment 'a': set: no parameter 'totl'; allowed: total, by", "did you mean 'total'?")]
    [InlineData("deployments:\n  a: {set: 5}\n", "deployment 'a': set is '5'; expected parameters with values", "")]
    public void What_can_t_be_is_refused_with_its_line(string text, string message, string hint)
    {
        (string said, string hinted) = ScenarioTexts.Refusal(text + Data + Rest);
        Assert.Contains(message, said, StringComparison.Ordinal);
        Assert.Contains(hint, hinted, StringComparison.Ordinal);
    }

    [Fact]
    public void Shards_need_a_collection_that_is_spread_over_them()
    {
        string plain = Data.Replace(", shardKey: {_id: hashed}", "", StringComparison.Ordinal) + Rest;
        Assert.StartsWith("test.yaml:2: deployment 'a' is sharded, but no collection has a shardKey",
            ScenarioTexts.Refusal("deployments:\n  a: {shards: 2}\n" + plain).Message, StringComparison.Ordinal);
        Assert.Equal(1, Assert.Single(ScenarioTexts.Read("deployments: {a: {shards: 1}}\n" + plain).Deployments).Settings.Shards);
    }

    [Fact]
    public void Scale_that_leaves_nothing_names_the_smallest_that_leaves_something_of_all()
    {
        const string text = "data:\n  users: {count: 1M, document: {n: ^number}}\n  few: {count: 50}\n"
            + "phases: [{name: p, operations: [{find: users, key: {first: 2k}}]}]\n";
        (string message, string hint) = ScenarioTexts.Refusal(text, new PlanOverrides { Scale = 0.0000001 });
        Assert.StartsWith("test.yaml:2: count is 1,000,000, which rounds to 0 with --scale 0.0000001", message, StringComparison.Ordinal);
        Assert.Equal("--scale 0.02 leaves at least one of each", hint);
        Assert.StartsWith(
            "test.yaml:3: count is 50", ScenarioTexts.Refusal(text, new PlanOverrides { Scale = 0.001 }).Message, StringComparison.Ordinal);
        Assert.Equal([20_000L, 1], ScenarioTexts.Plan(text, new PlanOverrides { Scale = 0.02 }).Rounds[0].Collections.Select(c => c.Count));
    }

    private static IReadOnlyList<ScenarioDeployment> Read(string text) => ScenarioTexts.Read(text + Data + Rest).Deployments;
}
