using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Installing;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Deployments;

/// <summary>What a run is put on, and that it continues on nothing else.</summary>
public sealed class DeploymentFactoryTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly string _mongod;

    public DeploymentFactoryTests()
    {
        _mongod = _folder.At("mongod");
        File.WriteAllText(_mongod, "#!/bin/sh\necho db version v6.0.5\n");
        File.SetUnixFileMode(_mongod, UnixFileMode.UserRead | UnixFileMode.UserExecute);
    }

    private string DataFolder => _folder.At("data");

    private static ServerAddress[] Hosts => [new("h", 1)];

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_new_run_takes_what_the_environment_has()
    {
        Assert.Equal(DeploymentKind.Mongod, KindOf(Request(), _mongod));
        Assert.Equal(DeploymentKind.Embedded, KindOf(Request(), null));
        Assert.Equal(DeploymentKind.Given, KindOf(Request() with { Hosts = Hosts }, _mongod));
        Assert.Equal(DeploymentKind.Null, KindOf(Request(Topology.Null), _mongod));
        Assert.Equal(DeploymentKind.Given, KindOf(Request(Topology.Sharded) with { Hosts = Hosts }, _mongod));
        Assert.Equal(DeploymentKind.Sharded, KindOf(Request(Topology.Sharded), _mongod));
        DeploymentRequest shards = Request(Topology.Sharded) with { DataFolder = _folder.At("embedded shards") };
        Assert.Equal(DeploymentKind.Embedded, KindOf(shards, null));
        Refuses(shards with { Settings = shards.Settings with { Members = 3 } },
            "--members needs a mongod, and none was found", "server install 8.0");
        Refuses(shards with { Settings = shards.Settings with { Shards = 65 } }, "--shards is 65; allowed: 1 to 64", "choose another");
        DeploymentRequest set = Request(
            Topology.ReplicaSet, cluster: new DeploymentSettings { Members = 1 }) with { DataFolder = _folder.At("set") };
        Assert.Equal(DeploymentKind.ReplicaSet, KindOf(set, _mongod));
        Assert.Equal(DeploymentKind.ReplicaSet, KindOf(set with { RequiredKind = DeploymentKind.ReplicaSet }, _mongod));
        Refuses(set with { DataFolder = _folder.At("none") }, "a replica set needs a mongod, and none was found", "server install 8.0");
        DeploymentRequest secured = Request() with
        {
            Settings = Request().Settings with { Auth = true, Tls = true }, DataFolder = _folder.At("secured"),
        };
        using IDeployment embedded = DeploymentFactory.Create(secured, _ => null);
        Assert.Equal((DeploymentKind.Embedded, "mongoperf", true),
            (embedded.Kind, embedded.Connections?.Credential?.UserName, embedded.Connections?.Tls is not null));
    }

    /// <summary>Nothing is made for it.</summary>
    [Fact]
    public void What_a_run_would_start_is_known_before_it_does()
    {
        foreach (Topology topology in (Topology[])[Topology.Standalone, Topology.Sharded])
        {
            Assert.True(Planned(topology, null)!.IsEmbedded);
            Assert.False(Planned(topology, _mongod)!.IsEmbedded);
        }

        Assert.Null(Planned(Topology.Null, null));
        Assert.Throws<DeploymentException>(() => Planned(Topology.ReplicaSet, null));
        Assert.False(Directory.Exists(DataFolder));

        PlannedServer? Planned(Topology topology, string? mongod) => DeploymentFactory.Check(
            new DeploymentRequest { Settings = new DeploymentSettings { Topology = topology }, DataFolder = DataFolder },
            name => name == MongodProgram.Variable ? mongod : null);
    }

    [Fact]
    public void A_cluster_that_was_given_is_that_of_its_folder_also_when_the_run_goes_on()
    {
        KindOf(Request(Topology.Sharded, cluster: new DeploymentSettings { Shards = 1 }), _mongod);
        DeploymentRequest given = Request(Topology.Sharded, cluster: new DeploymentSettings { ClusterFolder = DataFolder });
        Assert.Equal(DeploymentKind.GivenCluster, KindOf(given, null));
        Assert.Equal(DeploymentKind.GivenCluster, KindOf(given with { RequiredKind = DeploymentKind.GivenCluster }, null));
        Refuses(Request() with { RequiredKind = DeploymentKind.GivenCluster }, "its folder is unknown", "with --cluster");
        Refuses(Request(cluster: new DeploymentSettings { ClusterFolder = _folder.At("gone") }), "no cluster in", "cluster start");
    }

    [Fact]
    public void A_cluster_of_the_run_s_own_goes_on_with_the_programs_that_its_folder_names()
    {
        var cluster = new DeploymentSettings { Shards = 2, Members = 1 };
        KindOf(Request(Topology.Sharded, cluster: cluster), _mongod);
        DeploymentRequest resumed = Request(
            Topology.Sharded, cluster: cluster) with { RequiredKind = DeploymentKind.Sharded, ServerProgram = _mongod };
        using (IDeployment deployment = DeploymentFactory.Create(resumed, Names(_mongod)))
            Assert.Equal((DeploymentKind.Sharded, _mongod), (deployment.Kind, deployment.Program));
        Refuses(
            resumed, $"this run used {_mongod}, which MongoPerf does not start on this machine unless it is named", $"--mongod {_mongod}");
        Refuses(Request(Topology.Sharded, "./elsewhere", cluster) with { RequiredKind = DeploymentKind.Sharded },
            "/elsewhere does not exist", "mongod");
        Refuses(
            Request(Topology.Sharded, cluster: cluster) with { RequiredKind = DeploymentKind.Sharded, DataFolder = _folder.At("other") },
            "needs a mongod, and none was found",
            "server install 8.0");
    }

    [Fact]
    public void A_run_that_goes_on_takes_what_it_began_with_whatever_the_environment_has()
    {
        Assert.Equal(DeploymentKind.Embedded, KindOf(Request() with { RequiredKind = DeploymentKind.Embedded }, _mongod));
        Assert.Equal(DeploymentKind.Null, KindOf(Request() with { RequiredKind = DeploymentKind.Null }, _mongod));
        Assert.Equal(DeploymentKind.Given, KindOf(Request() with { RequiredKind = DeploymentKind.Given, Hosts = Hosts }, _mongod));
        DeploymentRequest mongod = Request() with { RequiredKind = DeploymentKind.Mongod };
        Assert.Equal(DeploymentKind.Mongod, KindOf(mongod with { ServerProgram = _mongod }, _mongod));
        using IDeployment noted = DeploymentFactory.Create(mongod with { ServerProgram = _mongod }, Names(_mongod));
        Assert.Equal(_mongod, Assert.IsType<MongodDeployment>(noted).Program);
        // A run that broke off before its server was started noted no program.
        Assert.Equal(DeploymentKind.Mongod, KindOf(Request(mongod: _mongod) with { RequiredKind = DeploymentKind.Mongod }, null));
        Assert.Equal(DeploymentKind.Mongod, KindOf(mongod, _mongod));
    }

    /// <summary>The run's folder may come from somebody else.</summary>
    [Fact]
    public void A_program_that_only_the_run_s_folder_names_is_not_started_not_even_for_its_version()
    {
        string trace = _folder.At("trace");
        string planted = _folder.At("planted");
        File.WriteAllText(planted, $"#!/bin/sh\ntouch {trace}\necho db version v6.0.5\n");
        File.SetUnixFileMode(planted, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        DeploymentRequest mongod = Request() with { RequiredKind = DeploymentKind.Mongod, ServerProgram = planted };
        foreach (string? own in (string?[])[null, _mongod])
            Refuses(mongod, $"this run used {planted}, which MongoPerf does not start on this machine unless it is named",
                $"--mongod {planted}", own);

        DeploymentRequest cluster = Request(Topology.Sharded, cluster: new DeploymentSettings { Shards = 1 });
        KindOf(cluster, _mongod);
        ClusterPlan plan = ClusterPlan.Read(DataFolder)!;
        (plan with { Mongod = planted }).Write(DataFolder);
        Refuses(cluster with { RequiredKind = DeploymentKind.Sharded, ServerProgram = _mongod }, $"this run used {planted}",
            $"--mongod {planted}", _mongod);
        (plan with { Mongos = planted }).Write(DataFolder);
        Refuses(cluster with { RequiredKind = DeploymentKind.Sharded, ServerProgram = _mongod }, $"this run used {planted}",
            "name the mongod beside it with --mongod", _mongod);
        Assert.False(File.Exists(trace), "it was run");
    }

    [Fact]
    public void An_installed_program_is_one_that_this_machine_starts()
    {
        string installed = _folder.At("servers/6.0.5/bin/mongod");
        Directory.CreateDirectory(Path.GetDirectoryName(installed)!);
        File.Copy(_mongod, installed);
        using IDeployment deployment = DeploymentFactory.Create(
            Request() with { RequiredKind = DeploymentKind.Mongod, ServerProgram = installed },
            name => name == InstalledServers.Variable ? _folder.At("servers") : null);
        Assert.Equal(installed, deployment.Program);
    }

    [Fact]
    public void What_a_run_began_with_and_is_missing_now_is_named_with_the_way_to_give_it()
    {
        DeploymentRequest mongod = Request() with { RequiredKind = DeploymentKind.Mongod };
        Refuses(mongod with { ServerProgram = _folder.At("gone") },
            $"this run used {_folder.At("gone")}, which no longer exists", "with --mongod");
        Refuses(mongod, "a mongod, and none is found", "with --mongod");
        Refuses(Request() with { RequiredKind = DeploymentKind.Given }, "no --uri names one", "with --uri");
        Refuses(Request(mongod: _mongod) with { RequiredKind = DeploymentKind.Embedded }, "used the embedded server", "omit --mongod");
        Refuses(Request() with { RequiredKind = DeploymentKind.Tyrant }, "such runs can't be resumed", "start a new run");
    }

    [Theory]
    [InlineData("CURRENT", DeploymentKind.Mongod, "holds the embedded server's data")]
    [InlineData("WiredTiger", DeploymentKind.Embedded, "holds a mongod's data")]
    [InlineData("mongod.lock", DeploymentKind.Embedded, "holds a mongod's data")]
    public void No_server_is_started_on_the_data_of_another_kind(string file, DeploymentKind kind, string text)
    {
        Directory.CreateDirectory(DataFolder);
        File.WriteAllText(Path.Combine(DataFolder, file), "");
        foreach (DeploymentKind? required in (DeploymentKind?[])[kind, null])
        {
            var e = Assert.Throws<DeploymentException>(() =>
                KindOf(Request() with { RequiredKind = required }, kind == DeploymentKind.Mongod ? _mongod : null));
            Assert.Equal(6, (int)e.Fault);
            Assert.Contains(text, e.Message, StringComparison.Ordinal);
        }

        bool isMongod = kind == DeploymentKind.Mongod;
        Assert.Equal(isMongod ? DeploymentKind.Embedded : DeploymentKind.Mongod, KindOf(Request(), isMongod ? null : _mongod));
    }

    private DeploymentRequest Request(
        Topology topology = Topology.Standalone, string? mongod = null, DeploymentSettings? cluster = null) => new()
        {
            Settings = (cluster ?? new DeploymentSettings()) with
            {
                Topology = topology, MongodPath = mongod, CacheBytes = topology == Topology.Sharded ? 256L << 20 : null,
            },
            DataFolder = DataFolder,
        };

    /// <summary>This as MONGOPERF_MONGOD, and nothing in PATH.</summary>
    private static Func<string, string?> Names(string? mongod) => name => name == MongodProgram.Variable ? mongod : null;

    private static DeploymentKind KindOf(DeploymentRequest request, string? mongod)
    {
        using IDeployment deployment = DeploymentFactory.Create(request, Names(mongod));
        return deployment.Kind;
    }

    private static void Refuses(DeploymentRequest request, string text, string hint, string? mongod = null)
    {
        var e = Assert.Throws<DeploymentException>(() => KindOf(request, mongod));
        Assert.Equal(2, (int)e.Fault);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.Contains(hint, e.Message[e.Message.IndexOf("\nhint:  ", StringComparison.Ordinal)..], StringComparison.Ordinal);
    }
}
