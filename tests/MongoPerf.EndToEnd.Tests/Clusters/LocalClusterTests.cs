using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Sharding;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>A cluster of real mongods: whatever of it is killed comes back with its data.</summary>
[Collection(WaitingTests.Name)]
public sealed class LocalClusterTests : IDisposable
{
    private const int Documents = 100;
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-cluster-").FullName;

    private static ClusterRequest Request => Asking(s => s);

    private static ClusterRequest Asking(Func<DeploymentSettings, DeploymentSettings> change) => new()
    {
        Settings = change(new DeploymentSettings { Shards = 2, CacheBytes = 256L << 20, MongodPath = MongodBinary.Path }),
        Variable = _ => null,
    };

    public void Dispose()
    {
        LeftOver.End(_folder);
        Directory.Delete(_folder, recursive: true);
    }

    [MongodFact(From = "6.0")]
    public void It_routes_and_comes_back_on_its_ports_whatever_of_it_is_killed()
    {
        using LocalCluster cluster = LocalCluster.Prepare(_folder, Request);
        Assert.Null(cluster.Parts);
        Assert.True(cluster.EnsureRunning());
        Assert.False(cluster.EnsureRunning());
        Assert.Equal(["s0", "s1"], cluster.Parts!.Shards.Select(shard => shard.Name));
        Insert(cluster);
        Assert.Equal(Documents, Count(cluster));
        foreach ((string[] names, string[] told) in ((string[], string[])[])[
            (["s0-0"], ["shard s0"]), (["router"], ["router"]), (["config", "s1-0"], ["config server", "shard s1"]),
            (["router", "config", "s0-0", "s1-0"], ["router", "config server", "shard s0", "shard s1"])])
        {
            Kill(cluster, names);
            Assert.False(cluster.IsRunning);
            var before = cluster.Parts;
            Assert.True(cluster.EnsureRunning());
            Assert.True(cluster.IsRunning);
            Assert.Equal(told, cluster.LastStarted);
            Assert.Equal(before.Shards, cluster.Parts.Shards);
            Assert.Equal((before.RouterAddress, before.ConfigAddress), (cluster.Parts.RouterAddress, cluster.Parts.ConfigAddress));
            Assert.Equal(Documents, Count(cluster));
        }
    }

    [MongodFact(From = "6.0")]
    public void One_that_was_left_is_looked_at_used_taken_over_and_ended_from_its_folder_alone()
    {
        ClusterPlan plan;
        using (LocalCluster cluster = LocalCluster.Prepare(_folder, Asking(s => s with { Shards = 1 })))
        {
            plan = cluster.Plan;
            cluster.EnsureRunning();
            Insert(cluster);
            // What a kill -9 of the program leaves.
            cluster.Leave();
        }

        ClusterStatus status = ClusterStatus.Read(_folder);
        Assert.Equal(["routes", "primary", "primary"], status.Members.Select(member => member.State));
        int[] processes = [.. status.Members.Select(member => member.ProcessId!.Value)];
        // The limit is the system's: where it allows none, that is said.
        string? problem = MemoryGroupPlace.Find().Problem;
        Assert.Equal([false, false, problem is null], status.Members.Select(member => member.IsMemoryLimited));
        using (var given = new GivenCluster(_folder))
        {
            Assert.False(given.EnsureRunning());
            Assert.Equal(status.FindParts().Shards, given.Cluster!.Shards);
            Assert.Equal(status.Plan.ConfigMembers, Assert.Single(WatchedSet.OfConfig(given.Cluster)).Members);
        }

        var e = Assert.Throws<DeploymentException>(() =>
            LocalCluster.Prepare(_folder, Asking(s => s with { Shards = 1, CacheBytes = 300L << 20 })));
        Assert.Equal(6, (int)e.Fault);
        Assert.Contains("the cluster is running with other settings", e.Message, StringComparison.Ordinal);

        using (LocalCluster again = LocalCluster.Prepare(_folder, Asking(s => s with { Shards = null, CacheBytes = null })))
        {
            Assert.True(again.EnsureRunning());
            Assert.Equal(Documents, Count(again));
            again.Leave();
        }

        Assert.Equal(processes, ClusterStatus.Read(_folder).Members.Select(member => member.ProcessId!.Value));
        string[] groups =
            [.. plan.Processes.Select(member => ProcessState.Read(Path.Combine(_folder, member.Name))!.Group).OfType<string>()];
        Assert.Equal(problem is null ? 1 : 0, groups.Length);
        LeftOver.End(_folder);
        Assert.All(groups, group => Assert.False(Directory.Exists(group), group));
        Assert.All(processes, process => Assert.Null(ProcessTable.System.Find(process)));
        Assert.All(plan.Processes, member => Assert.Null(ProcessState.Read(Path.Combine(_folder, member.Name))));
    }

    [MongodFact(From = "6.0")]
    public void A_port_that_another_program_has_taken_meanwhile_is_named()
    {
        using LocalCluster cluster = LocalCluster.Prepare(_folder, Asking(s => s with { Shards = 1 }));
        ClusterMember shard = cluster.Plan.Processes[^1];
        using var listener = new System.Net.Sockets.TcpListener(System.Net.IPAddress.Loopback, shard.Port);
        listener.Start();
        var e = Assert.Throws<DeploymentException>(() => cluster.EnsureRunning());
        Assert.Contains($"shard s0: port {shard.Port} of 127.0.0.1 is in use", e.Message, StringComparison.Ordinal);
    }

    [MongodFact(From = "6.0")]
    public void A_shard_that_ends_while_the_cluster_comes_up_is_told_at_once_with_its_last_words()
    {
        // It answers, can never become its set's primary, and is killed.
        string mongod = Path.Combine(_folder, "mongod");
        File.WriteAllText(mongod, $$"""
            #!/bin/sh
            case "$*" in
            *"--replSet s0"*)
              (until grep -q 'Waiting for connections' {{_folder}}/cluster/s0-0/mongod.log; do sleep 0.1; done; sleep 1; kill -9 $$) 2>/dev/null &
              set -- $(echo "$@" | sed 's/--replSet s0/--replSet other/') ;;
            esac
            exec {{MongodBinary.Path}} "$@"
            """);
        File.SetUnixFileMode(mongod, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        using LocalCluster cluster = LocalCluster.Prepare(Path.Combine(_folder, "cluster"),
            Asking(s => s with { Shards = 1, MongodPath = mongod }));
        long start = Environment.TickCount64;
        var e = Assert.Throws<DeploymentException>(() => cluster.EnsureRunning());
        Assert.Equal(3, (int)e.Fault);
        Assert.StartsWith($"shard s0: {mongod} has exited; its last log lines:", e.Message, StringComparison.Ordinal);
        Assert.True(Environment.TickCount64 - start < 60_000, "it was waited for");
    }

    private static void Kill(LocalCluster cluster, IEnumerable<string> names)
    {
        foreach (ProcessIdentity identity in names
            .Select(name => ProcessState.Read(Path.Combine(cluster.Folder, name))!.Identity).ToArray())
        {
            ProcessTable.System.Signal(identity, SystemCalls.Kill);
            Assert.True(ProcessTable.System.WaitForEnd(identity, TimeSpan.FromMinutes(1)));
        }
    }

    private static MongoConnection Connect(LocalCluster cluster) =>
        MongoConnection.Open(cluster.Parts!.RouterAddress, ConnectionSettings.Default with { Dialect = cluster.Parts.Dialect });

    private static void Insert(LocalCluster cluster)
    {
        using MongoConnection connection = Connect(cluster);
        connection.RunCommand("perf", BsonDocument.Of(
            ("insert", "docs"),
            ("documents", Enumerable.Range(0, Documents).Select(number => BsonDocument.Of(("_id", number)))),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
    }

    private static int Count(LocalCluster cluster)
    {
        using MongoConnection connection = Connect(cluster);
        return connection.RunCursor("perf", BsonDocument.Of(("find", "docs"))).Count();
    }
}
