using System.Text.Json;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>A series on a replica set of its own: members that are killed come back, and nothing of it is left.</summary>
[Collection(WaitingTests.Name)]
public sealed class ReplicaSetRunTests
{
    private const int Target = 3_000;

    private static readonly ProgramOptions WithMongod = new() { Server = "mongod" };

    private static readonly string[] Series =
    [
        "series", "--topology", "replicaset", "--cache", "256MB", "--target", $"{Target}", "--step", "1k",
        "--shares", "0/60/40", "--batch", "50",
        "--window", "300ms", "--rate", "100", "--max-skipped", "100%", "--threads", "2", "--tests", "batch,safe,q4,size",
        "--max-errors", "1000000", "--await-replication", "--format", "json",
    ];

    [MongodFact]
    public void It_ends_whole_though_its_primary_and_the_client_were_killed()
    {
        using var runs = new RunsFolder();
        using (ProgramRun run = ProgramRun.Start(WithMongod, [.. Series, "--out", runs.Path]))
        {
            // Who is primary is found out beforehand: the steps that are left take a second or two.
            Assert.True(run.WaitForLine("estimated time"), run.Errors);
            string primary = ClusterStatus.Read(runs.DataPath).Members.Single(static member => member.State == "primary").Member.Name;
            ProcessIdentity process = ProcessState.Read(Path.Combine(runs.DataPath, primary))!.Identity;
            Assert.True(run.WaitForLine("step 1 complete"), run.Errors);
            ProcessTable.System.Signal(process, SystemCalls.Kill);
            Assert.True(run.WaitForLine($"restart: member {primary} of the replica set had exited and was restarted"), run.Errors);
            run.Kill();
        }

        JsonElement report = JsonDocument.Parse(
            ProgramRun.Run(WithMongod, "resume", runs.Id, "--format", "json", "--out", runs.Path).Expect(0).Output).RootElement;
        JsonElement deployment = report.GetProperty("deployment");
        Assert.Equal(
            ("replicaSet", "replica set", 3), (deployment.Text("kind"), deployment.Text("topology"), deployment.Number("members")));
        Assert.Equal(Target, report.GrowthSteps()[^1].Sizes.Number("documents"));
        // Each of the three has been a secondary once, or two while the third was primary all the time.
        Assert.InRange(report.Items("replication").Count, 2, 3);
        Assert.All(report.Items("replication"), member => Assert.True(member.GetProperty("mostMillisecondsBehind").GetDouble() >= 0));
        string said = ProgramRun.Run("report", runs.Id, "--full", "--out", runs.Path).Expect(0).Output;
        Assert.Contains("replica set of 3", said, StringComparison.Ordinal);
        Assert.Contains("every write goes into the oplog too", said, StringComparison.Ordinal);
        Assert.Contains("replication: ", said, StringComparison.Ordinal);
        using (var stored = runs.FindStored())
            Assert.Equal(
                3, stored!.ReadServerSamples().Select(sample => sample.Member).Where(member => member.Length > 0).Distinct().Count());
        Assert.All(ClusterStatus.Read(runs.DataPath).Members, member => Assert.Null(member.ProcessId));

        ProgramRun.Run("clean", runs.Id, "--out", runs.Path).Expect(0);
        Assert.False(Directory.Exists(runs.DataPath));
    }
}
