using System.Text.Json;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Deployments;

/// <summary>Servers that are held within memory and CPUs, and scenarios that compare deployments.</summary>
[Collection(HeavyTests.Name)]
public sealed class LimitedServerTests : IDisposable
{
    private const long GigaByte = 1L << 30;
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void The_system_holds_a_server_to_them_also_when_it_was_killed_and_started_again(string kind)
    {
        string folder = _runs.At(".data");
        var limits = new DeploymentSettings { MemoryLimitBytes = GigaByte, Cpus = 1 };
        using IDeployment deployment = kind == "mongod"
            ? new MongodDeployment(MongodProgram.Find(MongodBinary.Path)!, folder, limits)
            : ChildDeployment.Embedded(folder, limits);
        deployment.EnsureRunning();
        AssertHeld(deployment);
        // The embedded server counts a part of its own for what it writes.
        Assert.InRange(DeploymentInspector.Inspect(deployment, ConnectionSettings.Default, "perf.docs").Info.CacheBytes!.Value,
            128L << 20, 256L << 20);
        ProcessIdentity first = ProcessTable.System.Find(deployment.ProcessId!.Value)!;
        ProcessTable.System.Signal(first, SystemCalls.Kill);
        Assert.True(ProcessTable.System.WaitForEnd(first, TimeSpan.FromMinutes(1)));
        Assert.True(deployment.EnsureRunning());
        Assert.NotEqual(first.ProcessId, deployment.ProcessId);
        AssertHeld(deployment);
        string? group = ProcessState.Read(folder)!.Group;
        deployment.Stop();
        Assert.False(group is not null && Directory.Exists(group), "its group is left");
    }

    [MongodFact]
    public void A_scenario_runs_on_each_of_its_deployments_and_compares_them()
    {
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { Server = "mongod" }, "run", Path.Combine(RepositoryPaths.Root, "scenarios", "examples",
                "deployments.yaml"), "--quiet", "--format", "json", "--out", _runs.Path).Expect(0);
        StoredRun[] runs = [.. _runs.Ids.Select(id => StoredRun.Open(_runs.At(id)))];
        Assert.Equal(["one server", "two shards"], runs.Select(r => r.DeploymentName));
        Assert.Equal([Topology.Standalone, Topology.Sharded], runs.Select(r => r.Deployment!.Topology));
        Assert.Equal([2000L, 4000], runs.Select(r => r.Phases[0].Documents));
        Assert.Equal((GigaByte, 1), (runs[0].Settings.Deployment.MemoryLimitBytes, runs[0].Settings.Deployment.Cpus));
        Assert.Contains(runs[0].Deployment!.Remarks, remark =>
            remark.StartsWith("memory ", StringComparison.Ordinal) && remark.Contains("limited to 1 GiB", StringComparison.Ordinal));
        Assert.Contains(runs[0].Deployment!.Remarks, remark => remark.StartsWith("the server runs on 1 of ", StringComparison.Ordinal));
        // The first one's data made room for the second's.
        Assert.Equal([false, true], _runs.Ids.Select(id => Directory.Exists(_runs.At(id, "data"))));
        JsonElement comparison = JsonDocument.Parse(result.Output).RootElement;
        Assert.Equal("two shards", Assert.Single(comparison.Items("candidates")).GetProperty("run").Text("deploymentName"));
        string[] differences = [.. comparison.Items("differences").Select(d => d.Text("name")!)];
        Assert.All((string[])["deployment name", "set by the deployment", "memory limit", "CPUs", "shards"],
            name => Assert.Contains(name, differences));
        // It stays clean: nothing runs, and 'clean' takes the rest.
        ProgramRun.Run("clean", _runs.Ids[1], "--out", _runs.Path).Expect(0);
        Assert.False(Directory.Exists(_runs.At(_runs.Ids[1], "data")));
    }

    [Fact]
    public void A_list_of_limits_is_compared_and_one_deployment_can_be_picked()
    {
        string file = _runs.At(".limits.yaml");
        File.WriteAllText(file, """
            deployments: {small: {memory: 1GB}, large: {memory: 2GB}}
            data: {users: {count: 100, document: {n: ^number}}}
            phases: [{name: read, count: 200, operations: [{find: users, key: uniform}]}]
            """);
        ProgramRun.Run(
            "run", file, "--deployment", "small", "--memory-limit", "600MB,none", "--cpus", "1", "--quiet", "--out", _runs.Path).Expect(0);
        StoredRun[] runs = [.. _runs.Ids.Select(id => StoredRun.Open(_runs.At(id)))];
        Assert.Equal(["memory 600 MiB", "memory unlimited"], runs.Select(r => r.DeploymentName));
        Assert.Equal([600L << 20, 0], runs.Select(r => r.Settings.Deployment.MemoryLimitBytes!.Value));
        Assert.All(runs, run =>
            Assert.Contains(run.Deployment!.Remarks, remark => remark.StartsWith("the server runs on 1 of ", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("--deployment: no deployment '1 shrd'; ", "--deployment", "1 shrd")]
    [InlineData("did you mean '1 shard'?", "--deployment", "1 shrd")]
    [InlineData("--shards applies to one deployment, but the scenario runs on 2: 1 shard; 2 shards", "--shards", "3")]
    [InlineData("--deployment selects one of the scenario's own deployments and can't be combined with --uri", "--deployment", "1 shard",
        "--uri", "mongodb://127.0.0.1:1")]
    public void What_can_t_go_together_is_refused(string message, params string[] more) =>
        ProgramRun.Run(["run", "ycsb-sharded", "--out", _runs.Path, .. more]).Expect(2).Says(message);

    /// <summary>As the system itself tells it.</summary>
    private static void AssertHeld(IDeployment deployment)
    {
        int processId = deployment.ProcessId!.Value;
        string line = File.ReadAllLines($"/proc/{processId}/status")
            .Single(l => l.StartsWith("Cpus_allowed_list:", StringComparison.Ordinal));
        Assert.Equal($"{CpuAffinity.Own[0]}", line.Split(':')[1].Trim());
        MemoryGroupPlace place = MemoryGroupPlace.Find();
        if (place.Folder is null)
        {
            Assert.Contains(deployment.Remarks, remark => remark == $"memory not limited to 1 GiB: {place.Problem}");
            return;
        }

        string group = ProcessState.Read(deployment.DataFolder!)!.Group!;
        Assert.Equal($"{GigaByte}", File.ReadAllText(Path.Combine(group, place.LimitFile)).Trim());
        Assert.Contains($"{processId}", File.ReadAllLines(Path.Combine(group, "cgroup.procs")));
        Assert.Contains(deployment.Remarks, remark => remark == $"memory limited to 1 GiB (cgroup v{place.Version}), page cache included");
    }
}
