using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.Load.Sharding;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments.Clusters;

/// <summary>What a cluster's file says, and what is asked of a cluster.</summary>
public sealed class ClusterPlanTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private string File => _folder.At(ClusterPlan.FileName);

    private static ClusterPlan Plan => new()
    {
        User = Environment.UserName,
        Router = RouterKind.RoutingMongod,
        Mongod = "/opt/mongod",
        MongodVersion = new Version(6, 0, 5),
        Shards = 2,
        Members = 3,
        FirstPort = 21_000,
        CacheBytes = 1L << 30,
        MemoryLimitBytes = 2L << 30,
    };

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_plan_is_read_as_it_was_written_and_names_every_process()
    {
        Plan.Write(_folder.Path);
        Assert.Equal(Plan, ClusterPlan.Read(_folder.Path));
        Assert.Equal(
            [
                "router router 21000", "config cfg 21001", "s0-0 s0 21002", "s0-1 s0 21003", "s0-2 s0 21004", "s1-0 s1 21005",
                "s1-1 s1 21006", "s1-2 s1 21007",
            ],
            Plan.Processes.Select(member => $"{member.Name} {member.ReplicaSet} {member.Port}"));
        Assert.Equal((2 * 3) + Plan.Helpers, Plan.Processes.Count);
        Assert.Null((Plan with { Router = RouterKind.Mongos, Mongos = "/opt/mongos" }).Processes[0].ReplicaSet);
        Assert.Null(ClusterPlan.Read(_folder.At("elsewhere")));
    }

    [Fact]
    public void A_replica_set_is_its_members_and_nothing_else()
    {
        ClusterPlan set = Plan with { Shards = 0, Auth = true, Tls = true };
        set.Write(_folder.Path);
        Assert.Equal(set, ClusterPlan.Read(_folder.Path));
        Assert.Equal(["rs0-0 rs0 21000", "rs0-1 rs0 21001", "rs0-2 rs0 21002"],
            set.Processes.Select(member => $"{member.Name} {member.ReplicaSet} {member.Port}"));
        Assert.Equal(0, set.Helpers);
        Assert.Equal([21_000, 21_001, 21_002], set.MemberAddresses.Select(member => member.Port));
        Assert.Equal(("replica set", "3 members", 1), (set.Noun, set.ShapeText, set.DataSets));
        Assert.Empty(Plan.MemberAddresses);
        Assert.Equal(("cluster", "2 shards of 3 members each", 2), (Plan.Noun, Plan.ShapeText, Plan.DataSets));
    }

    [Fact]
    public void Config_servers_and_arbiters_are_processes_that_hold_no_data()
    {
        ClusterPlan plan = Plan with { Members = 2, ConfigServers = 3, Arbiter = true };
        plan.Write(_folder.Path);
        Assert.Equal(plan, ClusterPlan.Read(_folder.Path));
        Assert.Equal(
            ["router", "config", "config-1", "config-2", "s0-0", "s0-1", "s0-arbiter", "s1-0", "s1-1", "s1-arbiter"],
            plan.Processes.Select(member => member.Name));
        Assert.Equal(["s0-0", "s0-1", "s1-0", "s1-1"], plan.Processes.Where(member => member.HoldsData).Select(member => member.Name));
        Assert.Equal((6, "2 shards of 2 members and an arbiter each, 3 config servers"), (plan.Helpers, plan.ShapeText));
        // 'clean' knows the folders of all of them as servers'.
        Assert.All(plan.Processes,
            member => Assert.True(ServerFiles.IsOne(member.Name) && ServerFiles.IsOne($"{member.Name}/WiredTiger.wt"), member.Name));
        ClusterPlan set = plan with { Shards = 0 };
        Assert.All(set.Processes, member => Assert.True(ServerFiles.IsOne(member.Name), member.Name));
        Assert.Equal([21_000, 21_001], set.MemberAddresses.Select(member => member.Port));
        Assert.Equal((1, "2 members and an arbiter"), (set.Helpers, set.ShapeText));
    }

    [Fact]
    public void Processes_are_described_by_what_they_are_for()
    {
        ClusterPlan plan = Plan with { Members = 2, Arbiter = true };
        Assert.Equal(
            ["router", "config server", "shard s0", "shard s0", "arbiter of s0", "shard s1", "shard s1", "arbiter of s1"],
            plan.Processes.Select(member => member.Description));
        Assert.Equal(
            ["member rs0-0", "member rs0-1", "arbiter of rs0"], (plan with { Shards = 0 }).Processes.Select(member => member.Description));
        Assert.Equal([21_000, 21_001, 21_002], (plan with { Shards = 0 }).Processes.Select(member => member.Port));
        Assert.Equal("mongod 6.0.5 (built-in routing; no mongos found)", Plan.RouterText);
        Assert.Equal("mongos 6.0.5", (Plan with { Router = RouterKind.Mongos }).RouterText);
        Assert.Equal("1 shard of 1 member each", (Plan with { Shards = 1, Members = 1 }).ShapeText);
    }

    /// <summary>The first documents are in the oplog too, until that is full: of many it is no matter.</summary>
    [Fact]
    public void A_document_takes_its_room_on_each_member_and_for_a_while_in_the_oplog()
    {
        Assert.Equal(3 * (1250 + 1100), Plan.BytesPerDocument(1000), 6);
        const long Many = 1_000_000_000;
        Assert.Equal(3 * (1250 + (2.0 * ClusterProcesses.OplogBytes / Many)), Plan.BytesPerDocument(Many), 6);
        ClusterPlan one = Plan with { Shards = 0, Members = 1 };
        Assert.Equal(1250 + ((double)ClusterProcesses.OplogBytes / Many), one.BytesPerDocument(Many), 6);
    }

    /// <summary>A file that is somebody else's may ask for all ports and all memory: each bound is one that a cluster may have.</summary>
    [Theory]
    [InlineData(-1, 1, 1, 21_000, 1, false)]
    [InlineData(0, 1, 1, 21_000, 1, true)]
    [InlineData(64, 3, 3, 21_000, 1, true)]
    [InlineData(65, 1, 1, 21_000, 1, false)]
    [InlineData(1, 0, 1, 21_000, 1, false)]
    [InlineData(1, 4, 1, 21_000, 1, false)]
    [InlineData(1, 1, 0, 21_000, 1, false)]
    [InlineData(1, 1, 4, 21_000, 1, false)]
    [InlineData(1, 1, 1, 0, 1, false)]
    [InlineData(1, 1, 1, 1, 1, true)]
    [InlineData(1, 1, 1, 65_533, 1, true)]
    [InlineData(1, 1, 1, 65_534, 1, false)]
    [InlineData(1, 1, 1, 21_000, 0, false)]
    public void A_file_with_numbers_that_no_cluster_has_is_refused(
        int shards, int members, int configServers, int port, long cache, bool isTaken)
    {
        ClusterPlan plan = Plan with
        {
            Shards = shards, Members = members, ConfigServers = configServers, FirstPort = port, CacheBytes = cache,
        };
        plan.Write(_folder.Path);
        if (isTaken)
            Assert.Equal(plan, ClusterPlan.Read(_folder.Path));
        else
            Refuses(2, () => ClusterPlan.Read(_folder.Path), "its shards, members, port or cache are out of bounds");
    }

    [Fact]
    public void What_shares_one_machine_is_said_of_its_figures()
    {
        ClusterPlan set = Plan with { Shards = 0, MemoryLimitBytes = null };
        Assert.Equal(
            [
                "replica set of 3 members on one machine: every write goes into the oplog too, and each secondary applies it on the "
                    + "same CPUs and disk",
            ],
            ClusterRemarks.Of(set, null, null));
        Assert.Equal(
            ["replica set of 1 member on one machine: every write goes into the oplog too"],
            ClusterRemarks.Of(set with { Members = 1 }, null, null));
        const string Shape = "sharded cluster on one machine: 2 shards of 3 members each, "
            + "router: mongod 6.0.5 (built-in routing; no mongos found)";
        Assert.Equal([Shape, "the members' memory is not limited: why"], ClusterRemarks.Of(Plan, "why", null));
        IReadOnlyList<string> limited = ClusterRemarks.Of(Plan, null, null);
        Assert.Equal(2, limited.Count);
        Assert.StartsWith("each shard member: ", limited[1], StringComparison.Ordinal);
        Assert.StartsWith("each member: ", ClusterRemarks.Of(Plan with { Shards = 0 }, null, null)[1], StringComparison.Ordinal);
        Assert.Equal(
            [
                "TLS, authenticated by SCRAM, also between the servers", "plain text, authenticated by SCRAM, also between the servers",
                "TLS, no authentication, also between the servers",
            ],
            ((bool Auth, bool Tls)[])[(true, true), (true, false), (false, true)] is var all
                ? all.Select(one => ClusterRemarks.Of(set with { Auth = one.Auth, Tls = one.Tls }, null, null)[1]["connections: ".Length..])
                : []);
        Assert.Equal(
            ["the members are not limited to 1 CPU: why", "the members are not limited to 2 CPUs: why"],
            new[] { 1, 2 }.Select(cpus => ClusterRemarks.Of(set with { Cpus = cpus }, null, "why")[1]));
        string each = ClusterRemarks.Of(set with { Cpus = 1 }, null, null)[1];
        Assert.StartsWith($"each member runs on 1 of {CpuAffinity.Own.Count} CPUs (rs0-0 on CPU {CpuAffinity.Own[0]}; ", each,
            StringComparison.Ordinal);
        Assert.StartsWith($"each member runs on {CpuAffinity.Own.Count} of {CpuAffinity.Own.Count} CPUs (",
            ClusterRemarks.Of(set with { Cpus = 100_000 }, null, null)[1], StringComparison.Ordinal);
    }

    [Fact]
    public void A_cluster_of_another_user_is_refused()
    {
        (Plan with { User = "somebody" }).Write(_folder.Path);
        Refuses(6, () => ClusterPlan.Read(_folder.Path), "holds a cluster owned by user 'somebody'", "a folder of your own");
        Refuses(6, () => LocalCluster.Open(_folder.Path), "user 'somebody'");
        Refuses(6, () => ClusterStatus.Read(_folder.Path), "user 'somebody'");
    }

    [Theory]
    [InlineData("{", "is not a valid cluster file")]
    [InlineData("null", "is not a valid cluster file")]
    [InlineData("{\"Shards\": 3}", "is not a valid cluster file")]
    public void A_file_that_is_broken_is_named(string text, string said)
    {
        System.IO.File.WriteAllText(File, text);
        Refuses(2, () => ClusterPlan.Read(_folder.Path), File, said);
    }

    [Fact]
    public void A_file_of_a_later_program_is_refused()
    {
        (Plan with { Format = 4 }).Write(_folder.Path);
        Refuses(2, () => ClusterPlan.Read(_folder.Path), "has format 4; this version reads up to 3");
    }

    [Fact]
    public void A_folder_without_a_cluster_says_what_makes_one()
    {
        Refuses(2, () => ClusterStatus.Read(_folder.Path), "no cluster in", "create one with 'mongoperf cluster start'");
        Refuses(2, () => LocalCluster.Open(_folder.Path), "no cluster in");
        Assert.Empty(Directory.GetFileSystemEntries(_folder.Path));
    }

    [Fact]
    public void A_cluster_is_held_by_one_program_at_a_time()
    {
        Plan.Write(_folder.Path);
        using (LocalCluster.Open(_folder.Path))
            Refuses(6, () => LocalCluster.Open(_folder.Path), "another mongoperf is starting, stopping or running this cluster");
        LocalCluster.Open(_folder.Path).Dispose();
    }

    [Fact]
    public void A_cluster_that_does_not_run_says_so_of_every_process()
    {
        Plan.Write(_folder.Path);
        ClusterStatus status = ClusterStatus.Read(_folder.Path);
        Assert.False(status.IsRunning);
        Assert.All(status.Members, member => Assert.Equal((null, "not running"), (member.ProcessId, member.State)));
        Refuses(3, () => status.FindParts(), "the cluster's router is down", $"'mongoperf cluster start --folder {_folder.Path}'");
    }

    internal static void Refuses(int exitCode, Action action, params string[] texts)
    {
        var e = Assert.Throws<DeploymentException>(action);
        Assert.True(exitCode == (int)e.Fault, $"{(int)e.Fault}: {e.Message}");
        Assert.All(texts, text => Assert.Contains(text, e.Message, StringComparison.Ordinal));
    }

    private static void Refuses<T>(int exitCode, Func<T> action, params string[] texts) =>
        Refuses(exitCode, () => { _ = action(); }, texts);
}
