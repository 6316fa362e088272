using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments.Clusters;

/// <summary>How the processes of a cluster are started, and by what they are known again.</summary>
public sealed class ClusterProcessesTests
{
    private static readonly ClusterPlan Plan = new()
    {
        User = "me",
        Router = RouterKind.RoutingMongod,
        Mongod = "/opt/mongod",
        MongodVersion = new Version(6, 0, 5),
        Shards = 1,
        Members = 1,
        FirstPort = 21_000,
        CacheBytes = 1L << 30,
    };

    [Theory]
    [InlineData(0, "--shardsvr --replSet router", "0.25")]
    [InlineData(1, "--configsvr --replSet cfg", "0.25")]
    [InlineData(2, "--shardsvr --replSet s0", "1")]
    public void A_mongod_is_told_its_part_its_cache_and_to_listen_on_loopback_only(int index, string part, string gigabytes)
    {
        ClusterMember member = Plan.Processes[index];
        ServerProcessOptions options = OptionsOf(Plan, member);
        string folder = $"/data/{member.Name}";
        Assert.Equal(
            ("/opt/mongod", folder, "--dbpath", member.Port), (options.Binary, options.Folder, options.FolderOption, options.Port));
        Assert.Equal(
            $"--dbpath {folder} --bind_ip 127.0.0.1 --port {member.Port} --nounixsocket --logpath {folder}/mongod.log --logappend "
            + $"--wiredTigerCacheSizeGB {gigabytes} "
            + $"{part} --oplogSize 990 --setParameter shutdownTimeoutMillisForSignaledShutdown=100",
            string.Join(' ', options.Arguments(member.Port)));
    }

    /// <summary>Two shards of one CPU each on a machine of two had both been held to the first one.</summary>
    [Theory]
    [InlineData(1, "0 | 1 | 2")]
    [InlineData(2, "0,1 | 2,3 | 0,1")]
    [InlineData(3, "0,1,2 | 0,1,3 | 0,2,3")]
    [InlineData(8, "0,1,2,3 | 0,1,2,3 | 0,1,2,3")]
    public void Members_share_no_cpu_while_there_are_enough(int cpus, string expected)
    {
        ClusterPlan plan = Plan with { Shards = 3, Members = 1, Cpus = cpus };
        IEnumerable<string> each = plan.Processes.Where(member => member.HoldsData)
            .Select(member => string.Join(',', ClusterProcesses.CpusOf(plan, member, [0, 1, 2, 3])));
        Assert.Equal(expected, string.Join(" | ", each));
    }

    [Fact]
    public void A_member_of_a_replica_set_is_no_shard_and_has_the_cache_and_the_limits()
    {
        ClusterPlan set = Plan with { Shards = 0, Members = 3, MemoryLimitBytes = 2L << 30, Cpus = 1 };
        Assert.All(set.Processes, member =>
        {
            ServerProcessOptions options = OptionsOf(set, member);
            string arguments = string.Join(' ', options.Arguments(member.Port));
            Assert.Contains("--wiredTigerCacheSizeGB 1 --replSet rs0 --oplogSize 990", arguments, StringComparison.Ordinal);
            Assert.DoesNotContain("svr", arguments, StringComparison.Ordinal);
            Assert.Equal((2L << 30, 1, $"member {member.Name}"), (options.Memory?.Bytes, options.Cpus?.Count, options.Role));
        });
    }

    [Fact]
    public void Each_process_of_a_cluster_with_logins_and_TLS_gets_the_same_files()
    {
        using var folder = new TemporaryFolder();
        ClusterPlan secured = Plan with { Router = RouterKind.Mongos, Mongos = "/opt/mongos", Auth = true, Tls = true };
        SecurityFiles security = secured.Security(folder.Path)!;
        security.Ensure();
        Assert.All(secured.Processes, member =>
        {
            ServerProcessOptions options = new ClusterProcesses(folder.Path, secured, ProcessTable.System).OptionsOf(member);
            Assert.Contains(string.Join(' ', security.Arguments), string.Join(' ', options.Arguments(1)), StringComparison.Ordinal);
            // It is asked by hello alone.
            Assert.Equal((true, null), (options.Connections.Tls is not null, options.Connections.Credential));
        });
        Assert.Null(Plan.Security(folder.Path));
    }

    [Fact]
    public void A_mongos_is_told_where_the_config_server_is_and_is_known_by_its_log()
    {
        ClusterPlan plan = Plan with { Router = RouterKind.Mongos, Mongos = "/opt/mongos" };
        ServerProcessOptions options = OptionsOf(plan, plan.Processes[0]);
        Assert.Equal(("/opt/mongos", "--logpath", "/data/router/mongos.log"), (options.Binary, options.FolderOption, options.LogFile));
        Assert.Equal(
            "--configdb cfg/127.0.0.1:21001 --bind_ip 127.0.0.1 --port 21000 --nounixsocket --logpath /data/router/mongos.log --logappend",
            string.Join(' ', options.Arguments(21_000)));
    }

    [Fact]
    public void A_mongod_before_5_0_is_not_told_what_it_does_not_know() =>
        Assert.DoesNotContain(
            "--setParameter", OptionsOf(Plan with { MongodVersion = new Version(4, 4, 29) }, Plan.Processes[2]).Arguments(1));

    [Fact]
    public void Only_the_shards_memory_is_limited_and_two_clusters_groups_differ()
    {
        ClusterPlan limited = Plan with { MemoryLimitBytes = 2L << 30 };
        Assert.Equal([null, null, 2L << 30], limited.Processes.Select(member => OptionsOf(limited, member).Memory?.Bytes));
        Assert.All(Plan.Processes, member => Assert.Null(OptionsOf(Plan, member).Memory));
    }

    [Fact]
    public void That_memory_is_not_limited_is_a_problem_only_where_it_was_to_be()
    {
        Assert.Null(new ClusterProcesses("/data", Plan, ProcessTable.System).ExplainMemory(areLimited: false));
        var limited = new ClusterProcesses("/data", Plan with { MemoryLimitBytes = 2L << 30 }, ProcessTable.System);
        Assert.Null(limited.ExplainMemory(areLimited: true));
        Assert.NotNull(limited.ExplainMemory(areLimited: false));
    }

    private static ServerProcessOptions OptionsOf(ClusterPlan plan, ClusterMember member) =>
        new ClusterProcesses("/data", plan, ProcessTable.System).OptionsOf(member);
}
