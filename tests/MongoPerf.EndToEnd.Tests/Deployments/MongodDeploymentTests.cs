using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Deployments;

public sealed class MongodDeploymentTests : IDisposable
{
    private const long Cache = 256L << 20;
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-mongod-").FullName;
    private readonly List<IDisposable> _servers = [];

    public void Dispose()
    {
        foreach (IDisposable server in _servers)
            server.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [MongodFact]
    public void A_mongod_is_started_inspected_killed_started_again_and_stopped()
    {
        MongodDeployment deployment = Create();
        Assert.True(deployment.EnsureRunning());
        Assert.False(deployment.EnsureRunning());
        Inspection inspection = DeploymentInspector.Inspect(deployment, ConnectionSettings.Default, "perf.docs");
        Assert.Equal(DeploymentKind.Mongod, inspection.Info.Kind);
        Assert.Equal(Topology.Standalone, inspection.Info.Topology);
        Assert.Equal("wiredTiger", inspection.Info.StorageEngine);
        Assert.Equal(Cache, inspection.Info.CacheBytes);
        Assert.Equal(deployment.ProcessId, inspection.Info.ProcessId);
        Assert.Equal(_folder, inspection.DataFolder);
        Assert.InRange(DataFolderSize.Read(_folder)!.Value.JournalBytes!.Value, 1, DataFolderSize.ReadBytes(_folder)!.Value);

        ServerAddress address = deployment.Address;
        Insert(address);
        int killed = deployment.ProcessId!.Value;
        ProcessTable.System.Signal(ProcessTable.System.Find(killed)!, SystemCalls.Kill);
        Eventually.Is(() => !deployment.IsRunning);
        Assert.True(deployment.EnsureRunning());
        Assert.NotEqual(killed, deployment.ProcessId);
        Assert.Equal(address, deployment.Address);
        Assert.Equal(1, Count(deployment.Address));

        int last = deployment.ProcessId!.Value;
        deployment.Stop();
        Assert.Null(ProcessTable.System.Find(last));
        Assert.Null(ProcessState.Read(_folder));
    }

    [MongodFact]
    public void A_mongod_left_running_is_taken_over_and_a_foreign_one_refused()
    {
        MongodDeployment first = Create();
        first.EnsureRunning();
        // What a kill -9 of MongoPerf leaves: the server, its state file, and nobody who holds on to it.
        MongodDeployment second = Create();
        second.EnsureRunning();
        Assert.True(second.WasTakenOver);
        Assert.Equal(first.ProcessId, second.ProcessId);
        Assert.Equal(first.Address, second.Address);

        // Killed between starting it and noting its number.
        ProcessState state = ProcessState.Read(_folder)!;
        (state with { ProcessId = 0 }).Write(_folder);
        MongodDeployment third = Create();
        third.EnsureRunning();
        Assert.Equal(first.ProcessId, third.ProcessId);
        Assert.Equal(first.ProcessId, ProcessState.Read(_folder)!.ProcessId);

        ProcessState.Delete(_folder);
        var e = Assert.Throws<DeploymentException>(() => Create().EnsureRunning());
        Assert.Equal(6, (int)e.Fault);
        Assert.Contains($"in use by process {first.ProcessId} (mongod)", e.Message, StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_mongod_that_does_not_start_shows_its_last_words()
    {
        ServerProcessOptions options = MongodDeployment.CreateOptions(MongodBinary.Path, _folder, null, "--noSuchOption");
        var e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(options));
        Assert.Contains("unrecognised option '--noSuchOption'", e.Message, StringComparison.Ordinal);
        Directory.CreateDirectory(Path.Combine(_folder, "WiredTiger"));
        options = MongodDeployment.CreateOptions(MongodBinary.Path, _folder, null);
        e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(options));
        Assert.Contains("exited before it answered", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("(the log is empty)", e.Message, StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_mongod_runs_in_a_session_of_its_own()
    {
        MongodDeployment deployment = Create();
        deployment.EnsureRunning();
        string stat = File.ReadAllText($"/proc/{deployment.ProcessId}/stat");
        // Behind the name: state, parent, process group, session.
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        Assert.Equal($"{deployment.ProcessId}", fields[2]);
        Assert.Equal($"{deployment.ProcessId}", fields[3]);
    }

    [MongodFact]
    public void A_sampler_reads_all_figures_and_outlives_a_crash()
    {
        MongodDeployment deployment = Create();
        deployment.EnsureRunning();
        using var sampler = new ServerSampler(() => deployment.Address, ConnectionSettings.Default);
        MetricSample sample = sampler.Sample();
        // Shards are asked by routers only.
        Assert.All(MetricCatalogue.Server.Zip(sample.Values), one => Assert.Equal(one.First.IsOfRouter, double.IsNaN(one.Second)));
        Assert.Equal(deployment.Address.ToString(), sample.Member);
        ProcessTable.System.Signal(ProcessTable.System.Find(deployment.ProcessId!.Value)!, SystemCalls.Kill);
        Eventually.Is(() => !deployment.IsRunning);
        Assert.Contains(double.NaN, sampler.Sample().Values);
        deployment.EnsureRunning();
        Eventually.Is(() => !double.IsNaN(sampler.Sample().Values[0]));
    }

    private MongodDeployment Create()
    {
        var deployment = new MongodDeployment(MongodProgram.Find(MongodBinary.Path)!, _folder,
            new DeploymentSettings { CacheBytes = Cache });
        _servers.Add(deployment);
        return deployment;
    }

    private static void Insert(ServerAddress address)
    {
        using MongoConnection connection = MongoConnection.Open(address, ConnectionSettings.Default);
        connection.RunCommand("perf", BsonDocument.Of(
            ("insert", "docs"),
            ("documents", new object[] { BsonDocument.Of(("_id", 1)) }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
    }

    // By a scan: after a kill -9 the server's own counters are wrong.
    private static int Count(ServerAddress address)
    {
        using MongoConnection connection = MongoConnection.Open(address, ConnectionSettings.Default);
        return connection.RunCursor("perf", BsonDocument.Of(("find", "docs"))).Count();
    }
}
