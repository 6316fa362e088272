using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>A series on a cluster of its own: what was killed comes back, and it continues where it was killed itself.</summary>
[Collection(WaitingTests.Name)]
public sealed class ShardedRunTests
{
    private const int Target = 4_000;

    private static readonly ProgramOptions WithMongod = new() { Server = "mongod" };

    private static readonly string[] Series =
    [
        "series", "--topology", "sharded", "--shards", "2", "--cache", "256MB", "--target", $"{Target}", "--step", "2k",
        "--shares", "10/60/30", "--batch", "50",
        "--window", "300ms", "--rate", "100", "--max-skipped", "100%", "--threads", "2", "--tests", "unack,batch,safe,q4,size",
        "--max-errors", "1000000",
    ];

    [MongodFact(From = "6.0")]
    public void It_ends_whole_though_the_client_the_cluster_and_parts_of_it_were_killed()
    {
        using var runs = new RunsFolder();
        using (ProgramRun run = ProgramRun.Start(WithMongod, [.. Series, "--out", runs.Path]))
        {
            Assert.True(run.WaitForLine("step 1 complete"), run.Errors);
            // A shard ends without a connection of the client's breaking.
            Kill(runs, "s1-0");
            Assert.True(run.WaitForLine("restart: shard s1 of the cluster had exited and was restarted"), run.Errors);
            run.Kill();
        }

        // The client is gone, and so are some of the processes that it left.
        Kill(runs, "router");
        Kill(runs, "s0-0");
        ProgramResult resumed = ProgramRun.Run(WithMongod, "resume", runs.Id, "--out", runs.Path).Expect(0);
        Assert.Contains($"finished: {Target:N0} of {Target:N0} documents", resumed.Output, StringComparison.Ordinal);
        Assert.False(ClusterStatus.Read(runs.DataPath).Members.Any(member => member.ProcessId is not null), "processes were left");
        AssertWhole(runs);

        ProgramRun.Run("clean", runs.Id, "--out", runs.Path).Expect(0);
        Assert.False(Directory.Exists(runs.DataPath));
    }

    private static void Kill(RunsFolder runs, string member) =>
        ProcessTable.System.Signal(ProcessState.Read(Path.Combine(runs.DataPath, member))!.Identity, SystemCalls.Kill);

    private static void AssertWhole(RunsFolder runs)
    {
        using LocalCluster cluster = LocalCluster.Open(runs.DataPath);
        cluster.EnsureRunning();
        using (MongoConnection connection = MongoConnection.Open(cluster.Parts!.RouterAddress,
            ConnectionSettings.Default with { Dialect = cluster.Parts.Dialect }))
            Assert.Equal(Target, Documents.Count(connection, "mongoperf"));
        cluster.Stop();
    }
}
