using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments.Clusters;

/// <summary>What a cluster can be, on which programs, and what a cluster that is there may become.</summary>
[SupportedOSPlatform("linux")]
public sealed class ClusterRequestTests : IDisposable
{
    private const long MegaByte = 1L << 20;
    private const long GigaByte = 1L << 30;

    private readonly TemporaryFolder _folder = new();
    private readonly Dictionary<string, string?> _variables = [];

    private string Cluster => _folder.At("cluster");

    private ClusterRequest Request =>
        new() { Settings = new DeploymentSettings { CacheBytes = 256 * MegaByte }, Variable = name => _variables.GetValueOrDefault(name) };

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Without_more_it_is_three_shards_of_one_member_that_share_the_memory_without_a_limit()
    {
        Program("bin", "mongod", "6.0.5");
        ClusterPlan plan = Asking(s => s with { CacheBytes = null }).MakePlan(Cluster);
        Assert.Equal((3, 1, RouterKind.RoutingMongod), (plan.Shards, plan.Members, plan.Router));
        Assert.Equal(ClusterMemory.DefaultCache(3), plan.CacheBytes);
        Assert.Null(plan.MemoryLimitBytes);
        Assert.False(Directory.Exists(Cluster));
    }

    [Fact]
    public void A_mongos_beside_the_mongod_routes_and_else_the_first_of_the_same_series_in_the_path()
    {
        string mongod = Program("bin", "mongod", "6.0.5");
        Assert.Null(Find().Mongos);
        string inPath = Program("other", "mongos", "6.0.9");
        _variables["PATH"] = $"{_folder.At("bin")}:{Path.GetDirectoryName(inPath)}";
        Assert.Equal(inPath, Find().Mongos);
        string beside = Program("bin", "mongos", "6.0.5");
        Assert.Equal((mongod, beside, RouterKind.Mongos), (Find().Mongod.Path, Find().Mongos, Find().Router));
        Program("bin", "mongos", "7.0.1");
        Assert.Equal(inPath, Find().Mongos);
    }

    [Fact]
    public void A_mongos_that_is_named_must_be_one_of_the_same_series()
    {
        Program("bin", "mongod", "6.0.5");
        string named = Program("named", "mongos", "6.0.1");
        _variables[ClusterPrograms.MongosVariable] = named;
        Assert.Equal(named, Find().Mongos);
        _variables[ClusterPrograms.MongosVariable] = Path.GetDirectoryName(named);
        Assert.Equal(named, Find().Mongos);
        Program("named", "mongos", "5.0.1");
        Refuses(2, "is version 5.0.1", "must be of the same series");
        _variables[ClusterPrograms.MongosVariable] = Program("named", "mongod", "6.0.5");
        Refuses(2, "does not report a mongos");
        _variables[ClusterPrograms.MongosVariable] = "/nowhere/mongos";
        Refuses(2, "/nowhere/mongos does not exist");
    }

    [Fact]
    public void Without_programs_the_command_that_brings_them_is_named()
    {
        Refuses(2, "needs a mongod, and none was found", "'mongoperf server install 8.0'");
        Program("bin", "mongod", "5.0.15");
        Refuses(3, "is version 5.0.15 and no mongos", "'mongoperf server install 8.0'");
        Program("bin", "mongos", "5.0.15");
        Assert.Equal(RouterKind.Mongos, Find().Router);
    }

    [Theory]
    [InlineData(0, 1, "--shards is 0; allowed: 1 to 64")]
    [InlineData(65, 1, "--shards is 65")]
    [InlineData(2, 0, "--members is 0; allowed: 1 to 3")]
    [InlineData(2, 4, "--members is 4")]
    public void Too_few_and_too_many_are_refused(int shards, int members, string text)
    {
        Program("bin", "mongod", "6.0.5");
        ClusterPlanTests.Refuses(2, () => Asking(s => s with { Shards = shards, Members = members }).MakePlan(Cluster), text);
    }

    [Fact]
    public void An_arbiter_is_for_two_members_and_config_servers_are_three_at_most()
    {
        Program("bin", "mongod", "6.0.5");
        ClusterPlanTests.Refuses(
            2, () => Asking(s => s with { Shards = 2, Arbiter = true }).MakePlan(Cluster),
            "--arbiter breaks the tie between 2 members, but --members is 1", "--members 2");
        ClusterPlanTests.Refuses(2, () => Asking(s => s with { Shards = 2, ConfigServers = 4 }).MakePlan(Cluster),
            "--config-servers is 4; allowed: 1 to 3");
        ClusterPlan plan = Asking(s => s with { Shards = 2, Members = 2, Arbiter = true, ConfigServers = 3 }).MakePlan(Cluster);
        Assert.Equal((3, true, 10), (plan.ConfigServers, plan.Arbiter, plan.Processes.Count));
    }

    [Fact]
    public void Caches_that_together_are_larger_than_the_memory_are_refused_with_one_that_fits()
    {
        ClusterMemory.Check(7 * GigaByte, 3, 24 * GigaByte);
        ClusterPlanTests.Refuses(2, () => ClusterMemory.Check(8 * GigaByte, 3, 24 * GigaByte), "8 GiB for each of 3 members",
            "256 MiB for each of 2 config servers, routers and arbiters", "has 24 GiB", "--cache 5290MB");
        ClusterPlanTests.Refuses(2, () => ClusterMemory.Check(256 * MegaByte, 30, 3 * GigaByte), "fewer --shards or --members");
        ClusterPlanTests.Refuses(2, () => ClusterMemory.Check(63 * MegaByte, 1, 24 * GigaByte), "allowed: 64 MiB or more");
        // As a single mongod: half of what is above 1 GB, and never less than it takes.
        Assert.Equal(((GigaByte * 23 / 2) - (512 * MegaByte)) / 3, ClusterMemory.DefaultCache(3, 24 * GigaByte));
        Assert.Equal(256 * MegaByte, ClusterMemory.DefaultCache(9, 2 * GigaByte));
        Program("bin", "mongod", "6.0.5");
        ClusterPlanTests.Refuses(2, () => Asking(s => s with { CacheBytes = 1L << 50 }).MakePlan(Cluster), "of memory");
    }

    [Fact]
    public void A_memory_limit_comes_with_a_cache_and_leaves_room_for_it()
    {
        Program("bin", "mongod", "6.0.5");
        Assert.Equal(256 * MegaByte + GigaByte, Request.MakePlan(Cluster).MemoryLimitBytes);
        Assert.Equal(10 * GigaByte, MemoryLimit.For(8 * GigaByte));
        Assert.Null(Asking(s => s with { MemoryLimitBytes = 0 }).MakePlan(Cluster).MemoryLimitBytes);
        Assert.Equal(GigaByte, Asking(s => s with { MemoryLimitBytes = GigaByte }).MakePlan(Cluster).MemoryLimitBytes);
        ClusterPlanTests.Refuses(2, () => Asking(s => s with { MemoryLimitBytes = 300 * MegaByte }).MakePlan(Cluster),
            "--memory-limit is 300 MiB", "512 MiB or more");
    }

    [Fact]
    public void Ports_in_use_are_named()
    {
        Program("bin", "mongod", "6.0.5");
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int taken = ((IPEndPoint)listener.LocalEndpoint).Port;
        ClusterPlanTests.Refuses(3, () => (Request with { FirstPort = taken - 1 }).MakePlan(Cluster),
            $"--port is {taken - 1}, and the cluster needs 5 ports", $"{taken}");
        ClusterPlanTests.Refuses(2, () => (Request with { FirstPort = 65_533 }).MakePlan(Cluster), "allowed: up to 65531");
        // Below what the system gives to outgoing connections.
        Assert.InRange(Request.MakePlan(Cluster).FirstPort, 20_000, 32_000);
    }

    [Fact]
    public void A_folder_that_holds_something_else_is_left_alone()
    {
        Program("bin", "mongod", "6.0.5");
        Directory.CreateDirectory(Cluster);
        File.WriteAllText(Path.Combine(Cluster, "thesis.tex"), "");
        ClusterPlanTests.Refuses(6, () => Request.MakePlan(Cluster), "contains 'thesis.tex'", "an empty or new folder");
        ClusterPlanTests.Refuses(2, () => Request.MakePlan(Path.Combine(Cluster, "thesis.tex")), "is a file");
        File.Delete(Path.Combine(Cluster, "thesis.tex"));
        // What a start leaves that was killed before there was a cluster is no reason; what only begins like it is.
        foreach (string own in (string[])
            [ClusterLock.FileName, RunDataFolder.MarkFile, ClusterPlan.FileName + ".new", SecurityFiles.FolderName])
            File.WriteAllText(Path.Combine(Cluster, own), "");
        Assert.Equal(3, Request.MakePlan(Cluster).Shards);
        foreach (string other in (string[])[ClusterLock.FileName + "2", RunDataFolder.MarkFile + "2", "x" + ClusterPlan.FileName])
        {
            File.WriteAllText(Path.Combine(Cluster, other), "");
            ClusterPlanTests.Refuses(6, () => Request.MakePlan(Cluster), $"contains '{other}'");
            File.Delete(Path.Combine(Cluster, other));
        }
    }

    [Fact]
    public void A_cluster_that_is_there_goes_on_as_it_is_and_takes_another_cache()
    {
        Program("bin", "mongod", "6.0.5");
        ClusterPlan there;
        using (LocalCluster made = LocalCluster.Prepare(Cluster, Asking(s => s with { Shards = 2 })))
            there = made.Plan;
        // Neither what is chosen by itself nor the environment of now counts.
        Program("bin", "mongos", "6.0.5");
        using (LocalCluster again = LocalCluster.Prepare(Cluster, Asking(s => s with { CacheBytes = null })))
            Assert.Equal(there, again.Plan);
        using (LocalCluster larger = LocalCluster.Prepare(Cluster, Asking(s => s with { CacheBytes = 300 * MegaByte, Shards = 2 })))
            Assert.Equal(there with { CacheBytes = 300 * MegaByte, MemoryLimitBytes = 300 * MegaByte + GigaByte }, larger.Plan);
        Assert.Equal(300 * MegaByte, ClusterPlan.Read(Cluster)!.CacheBytes);
    }

    [Fact]
    public void What_can_not_change_in_a_cluster_that_is_there_is_refused()
    {
        string mongod = Program("bin", "mongod", "6.0.5");
        LocalCluster.Prepare(Cluster, Asking(s => s with { Shards = 2 })).Dispose();
        PreparesNot(Asking(s => s with { Shards = 3 }), "--shards is 3, but the cluster in", "was created with 2", "--remove");
        PreparesNot(Asking(s => s with { Members = 2 }), "--members is 2");
        PreparesNot(Request with { FirstPort = 1 }, "--port is 1");
        PreparesNot(Asking(s => s with { Topology = Topology.ReplicaSet }), "--topology is replica set, but", "was created with sharded");
        PreparesNot(Asking(s => s with { ConfigServers = 3 }), "--config-servers is 3", "was created with 1");
        PreparesNot(Asking(s => s with { Arbiter = true }), "--arbiter is on", "was created with off");
        PreparesNot(Asking(s => s with { Auth = true }), "--auth is on", "was created with off");
        PreparesNot(Asking(s => s with { Tls = true }), "--tls is on", "was created with off");
        // What is said again is as it was.
        LocalCluster.Prepare(Cluster, Asking(s => s with
        {
            Topology = Topology.Sharded, Shards = 2, Members = 1, ConfigServers = 1, Arbiter = false, Auth = false, Tls = false,
        })).Dispose();
        Program("bin", "mongos", "6.0.5");
        PreparesNot(Asking(s => s with { MongodPath = mongod }), "is a mongod; with", "it would be a mongos");
        File.Delete(mongod);
        PreparesNot(Request, $"uses {mongod}, which no longer exists", "--mongod");
    }

    [Fact]
    public void Programs_that_do_not_start_show_their_last_words_and_nothing_is_left_running()
    {
        string mongod = Program("bin", "mongod", "6.0.5");
        File.WriteAllText(
            mongod, "#!/bin/sh\ncase $1 in --version) echo db version v6.0.5;; *) echo 'Error: the disk is on fire'; exit 1;; esac\n");
        using LocalCluster cluster = LocalCluster.Prepare(Cluster, Asking(s => s with { Shards = 1 }));
        ClusterPlanTests.Refuses(3, () => cluster.EnsureRunning(), $"{mongod} exited before it answered",
            "  Error: the disk is on fire", "see the full log in");
        Assert.False(cluster.IsRunning);
        Assert.All(cluster.Plan.Processes, member => Assert.Null(ProcessState.Read(Path.Combine(Cluster, member.Name))));
    }

    private ClusterRequest Asking(Func<DeploymentSettings, DeploymentSettings> change) =>
        Request with { Settings = change(Request.Settings) };

    private void PreparesNot(ClusterRequest request, params string[] texts) =>
        ClusterPlanTests.Refuses(2, () => LocalCluster.Prepare(Cluster, request), texts);

    private ClusterPrograms Find() => ClusterPrograms.Find(null, name => _variables.GetValueOrDefault(name));

    private void Refuses(int exitCode, params string[] texts) => ClusterPlanTests.Refuses(exitCode, () => Find(), texts);

    /// <summary>A script that says that it is this program; a mongod is put into PATH.</summary>
    private string Program(string folder, string name, string version)
    {
        string path = Path.Combine(Directory.CreateDirectory(_folder.At(folder)).FullName, name);
        File.WriteAllText(path, $"#!/bin/sh\necho {(name == "mongod" ? "db" : name)} version v{version}\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        if (folder == "bin" && name == "mongod")
            _variables["PATH"] = _folder.At(folder);
        return path;
    }
}
