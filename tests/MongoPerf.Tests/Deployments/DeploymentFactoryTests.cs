using MongoPerf.Deployments;
using MongoPerf.Engine.Runs;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Deployments;

/// <summary>What a run is put on, and that it goes on on nothing else.</summary>
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

    private DeploymentSettings Settings => new() { DataFolder = _folder.At("data") };

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_new_run_takes_what_the_environment_has()
    {
        Assert.Equal("mongod", KindOf(Settings, _mongod));
        Assert.Equal("embedded", KindOf(Settings, null));
        Assert.Equal("uri", KindOf(Settings with { Hosts = [new ServerAddress("h", 1)] }, _mongod));
        Assert.Equal("null", KindOf(Settings with { Topology = "null" }, _mongod));
        Assert.Equal("uri", KindOf(Settings with { Topology = "sharded", Hosts = [new ServerAddress("h", 1)] }, _mongod));
        Assert.Equal("sharded", KindOf(Settings with { Topology = "sharded", CacheBytes = 256L << 20 }, _mongod));
    }

    [Fact]
    public void A_cluster_that_was_given_is_that_of_its_folder_also_when_the_run_goes_on()
    {
        KindOf(Settings with { Topology = "sharded", Cluster = new ClusterSettings { Shards = 1 } }, _mongod);
        DeploymentSettings given = Settings with { Topology = "sharded", Cluster = new ClusterSettings { Folder = Settings.DataFolder } };
        Assert.Equal("cluster", KindOf(given, null));
        Assert.Equal("cluster", KindOf(given with { RequiredKind = "cluster" }, null));
        Refuses(Settings with { RequiredKind = "cluster" }, "its folder is not known", "with --cluster");
        Refuses(Settings with { Cluster = new ClusterSettings { Folder = _folder.At("gone") } }, "no cluster in", "cluster start");
    }

    [Fact]
    public void A_cluster_of_the_run_s_own_goes_on_with_the_programs_that_its_folder_names()
    {
        DeploymentSettings sharded = Settings with { Topology = "sharded", Cluster = new ClusterSettings { Shards = 2, Members = 1 } };
        KindOf(sharded, _mongod);
        DeploymentSettings resumed = sharded with { RequiredKind = "sharded", ServerProgram = _mongod, Mongod = "./elsewhere" };
        using (IDeployment deployment = DeploymentFactory.Create(resumed, _ => null))
            Assert.Equal(("sharded", _mongod), (deployment.Kind, deployment.Program));
        Refuses(resumed with { ServerProgram = null }, "/elsewhere does not exist", "mongod");
        Refuses(resumed with { DataFolder = _folder.At("other"), ServerProgram = null, Mongod = null }, "no mongod is found", "server install 8.0");
    }

    [Fact]
    public void A_run_that_goes_on_takes_what_it_began_with_whatever_the_environment_has()
    {
        Assert.Equal("embedded", KindOf(Settings with { RequiredKind = "embedded" }, _mongod));
        Assert.Equal("null", KindOf(Settings with { RequiredKind = "null" }, _mongod));
        Assert.Equal("uri", KindOf(Settings with { RequiredKind = "uri", Hosts = [new ServerAddress("h", 1)] }, _mongod));
        Assert.Equal("mongod", KindOf(Settings with { RequiredKind = "mongod", ServerProgram = _mongod }, null));
        // What was typed then may be relative to another folder: the full path that was noted comes first.
        using IDeployment noted = DeploymentFactory.Create(Settings with { RequiredKind = "mongod", ServerProgram = _mongod, Mongod = "./elsewhere" }, _ => null);
        Assert.Equal(_mongod, Assert.IsType<MongodDeployment>(noted).Program);
        // A run of an earlier version noted no program.
        Assert.Equal("mongod", KindOf(Settings with { RequiredKind = "mongod", Mongod = _mongod }, null));
        Assert.Equal("mongod", KindOf(Settings with { RequiredKind = "mongod" }, _mongod));
    }

    [Fact]
    public void What_a_run_began_with_and_is_missing_now_is_named_with_the_way_to_give_it()
    {
        Refuses(Settings with { RequiredKind = "mongod", ServerProgram = _folder.At("gone") }, $"{_folder.At("gone")}, which does not exist any more", "with --mongod");
        Refuses(Settings with { RequiredKind = "mongod" }, "a mongod, and none is found", "with --mongod");
        Refuses(Settings with { RequiredKind = "uri" }, "no --uri names one", "with --uri");
        Refuses(Settings with { RequiredKind = "embedded", Mongod = _mongod }, "is the embedded one", "leave --mongod out");
        Refuses(Settings with { RequiredKind = "tape" }, "of kind 'tape'", "a newer one");
    }

    [Theory]
    [InlineData("CURRENT", "mongod", "holds the embedded server's data")]
    [InlineData("WiredTiger", "embedded", "holds a mongod's data")]
    [InlineData("mongod.lock", "embedded", "holds a mongod's data")]
    public void No_server_is_started_on_the_data_of_another_kind(string file, string kind, string text)
    {
        Directory.CreateDirectory(Settings.DataFolder);
        File.WriteAllText(Path.Combine(Settings.DataFolder, file), "");
        foreach (string? required in (string?[])[kind, null])
        {
            var e = Assert.Throws<DeploymentException>(() => KindOf(Settings with { RequiredKind = required }, kind == "mongod" ? _mongod : null));
            Assert.Equal(6, e.ExitCode);
            Assert.Contains(text, e.Message, StringComparison.Ordinal);
        }

        Assert.Equal(kind == "mongod" ? "embedded" : "mongod", KindOf(Settings, kind == "mongod" ? null : _mongod));
    }

    /// <summary>With this as MONGOPERF_MONGOD, and nothing in PATH.</summary>
    private static string KindOf(DeploymentSettings settings, string? mongod)
    {
        using IDeployment deployment = DeploymentFactory.Create(settings, name => name == MongodProgram.Variable ? mongod : null);
        return deployment.Kind;
    }

    private static void Refuses(DeploymentSettings settings, string text, string hint)
    {
        var e = Assert.Throws<DeploymentException>(() => KindOf(settings, null));
        Assert.Equal(2, e.ExitCode);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.Contains(hint, e.Message[e.Message.IndexOf("\nhint:  ", StringComparison.Ordinal)..], StringComparison.Ordinal);
    }
}
