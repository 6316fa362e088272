using System.Text.Json;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary><c>cluster start|status|stop</c>, killed in the middle and asked twice.</summary>
[Collection(WaitingTests.Name)]
public sealed class ClusterCommandTests : IDisposable
{
    private static readonly ProgramOptions WithMongod = new() { Server = "mongod" };
    private readonly RunsFolder _runs = new();
    private readonly string _parent = Directory.CreateTempSubdirectory("mongoperf-cluster-").FullName;

    private string Folder => Path.Combine(_parent, "cluster");

    private string[] Start =>
        ["cluster", "start", "--topology", "sharded", "--shards", "1", "--members", "3", "--cache", "256MB", "--folder", Folder];

    public void Dispose()
    {
        LeftOver.End(Folder);
        Directory.Delete(_parent, recursive: true);
        _runs.Dispose();
    }

    [MongodFact(From = "6.0")]
    public void A_cluster_is_started_used_and_stopped_though_its_start_was_killed()
    {
        KillStartAt("config");
        KillStartAt("s0-2");
        InterruptStart();
        Assert.All(States(), state => Assert.Equal("not running", state));
        string said = ProgramRun.Run(WithMongod, Start).Expect(0).Output;
        Assert.Contains("cluster of 1 shard of 3 members each", said, StringComparison.Ordinal);
        Assert.Contains($"--cluster {Folder}", said, StringComparison.Ordinal);
        Assert.Equal(["primary", "primary", "routes", "secondary", "secondary"], States().Order(StringComparer.Ordinal));

        JsonElement primary = Status().GetProperty("processes").EnumerateArray().Last(process => process.Text("state") == "primary");
        Kill(primary.Text("name"));
        ProgramRun.Run("cluster", "status", "--folder", Folder).Expect(3);
        Assert.Contains("not running", States());
        ProgramRun.Run("series", "--target", "1k", "--cluster", Folder, "--out", _runs.Path).Expect(3)
            .Says("is down").Says("'mongoperf cluster start --folder");
        ProgramRun.Run(["cluster", "start", "--folder", Folder]).Expect(0);
        Assert.DoesNotContain("not running", States());

        ProgramRun.Run("run", "safe", "--records", "500", "--operations", "100", "--cluster", Folder, "--out", _runs.Path).Expect(0);
        ProgramRun.Run("clean", _runs.Id, "--out", _runs.Path).Expect(0);
        ProgramRun.Run("cluster", "start", "--members", "2", "--folder", Folder).Expect(2).Says("--members is 2, but the cluster in");

        Assert.StartsWith(
            "5 of 5 processes stopped", ProgramRun.Run("cluster", "stop", "--folder", Folder).Expect(0).Output, StringComparison.Ordinal);
        Assert.True(Directory.Exists(Folder));
        Assert.All(States(), state => Assert.Equal("not running", state));
        // A program that is killed while it notes something leaves this behind; the next mongod moves what one that was killed had begun.
        File.WriteAllText(Path.Combine(Folder, "mongoperf-0123456789abcdef.new"), "{");
        File.WriteAllText(Path.Combine(Folder, "config", "sizeStorer.wt.1"), "");
        string removed = ProgramRun.Run("cluster", "stop", "--folder", Folder, "--remove").Expect(0).Output;
        Assert.False(Directory.Exists(Folder), removed);
        ProgramRun.Run("cluster", "status", "--folder", Folder).Expect(2).Says("no cluster in");
    }

    private void InterruptStart()
    {
        using ProgramRun run = ProgramRun.Start(WithMongod, Start);
        // The one that was killed last is there again.
        Assert.True(run.WaitUntil(
            () => ProcessState.Read(Path.Combine(Folder, "s0-2")) is { ProcessId: > 0 } state
                && ProcessTable.System.IsAlive(state.Identity),
            "s0-2"), run.Errors);
        run.SendInterrupt();
        run.WaitForEnd().Expect(130);
    }

    /// <summary>kill -9 of the program, and of one process, once that process is there.</summary>
    private void KillStartAt(string member)
    {
        using ProgramRun run = ProgramRun.Start(WithMongod, Start);
        string folder = Path.Combine(Folder, member);
        Assert.True(run.WaitUntil(() => ProcessState.Read(folder) is { ProcessId: > 0 }, member), run.Errors);
        run.Kill();
        Kill(member);
    }

    private void Kill(string member)
    {
        ProcessIdentity identity = ProcessState.Read(Path.Combine(Folder, member))!.Identity;
        Assert.NotEqual(0, identity.ProcessId);
        ProcessTable.System.Signal(identity, SystemCalls.Kill);
        Assert.True(ProcessTable.System.WaitForEnd(identity, TimeSpan.FromMinutes(1)));
    }

    private JsonElement Status() =>
        JsonDocument.Parse(ProgramRun.Run("cluster", "status", "--folder", Folder, "--format", "json").Output).RootElement;

    private string[] States() => [.. Status().GetProperty("processes").EnumerateArray().Select(process => process.Text("state"))];
}
