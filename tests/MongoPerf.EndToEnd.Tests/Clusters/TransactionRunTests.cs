using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>The documentation's transfers on a replica set, through both clients: with and without a transaction.</summary>
[Collection(WaitingTests.Name)]
public sealed class TransactionRunTests
{
    private static readonly string Example = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "transaction.yaml");

    [MongodTheory]
    [InlineData("wire")]
    [InlineData("driver")]
    public void Every_transfer_is_committed_and_each_step_is_timed(string engine)
    {
        using var runs = new RunsFolder();
        JsonElement result = JsonDocument.Parse(ProgramRun.Run(
            new ProgramOptions { Server = "mongod" }, "run", Example, "--topology", "replicaset", "--members", "1", "--cache", "256MB",
            "--scale", "0.1", "--engine", engine, "--format", "json", "--out", runs.Path).Expect(0).Output).RootElement;
        JsonElement[] transfers = [.. result.Items("phases").Where(phase => phase.Text("phase") == "transfer")
            .Select(phase => Assert.Single(phase.Items("operations")))];
        Assert.Equal(2, transfers.Length);
        Assert.All(transfers, transfer => Assert.Equal((200, 0), (transfer.Number("operations"), transfer.Number("failed"))));

        JsonElement plain = transfers[0];
        Assert.Equal(JsonValueKind.Null, plain.GetProperty("transactions").ValueKind);
        Assert.Equal(
            [("debit", 200), ("credit", 200), ("insert", 200)],
            plain.Items("steps").Select(step => (step.Text("step"), (int)step.Number("operations"))));

        JsonElement all = transfers[1].GetProperty("transactions");
        Assert.Equal((200, 0), (all.Number("committed"), all.Number("unknown")));
        Assert.Equal(all.Number("aborted"), all.Number("retried"));
        Assert.Equal(["debit", "credit", "insert", "commit", "abort"], transfers[1].Items("steps").Select(step => step.Text("step")));
        JsonElement commit = transfers[1].Items("steps")[3];
        Assert.Equal(200, commit.Number("operations"));
        Assert.True(commit.GetProperty("latencyMicroseconds").GetProperty("p50").GetDouble() > 0);
    }

    [Fact]
    public void A_server_without_transactions_is_refused_before_anything_is_loaded()
    {
        using var runs = new RunsFolder();
        ProgramResult refused = ProgramRun.Run("run", Example, "--topology", "standalone", "--out", runs.Path);
        Assert.Contains(
            "transfer: a transaction needs a replica set or a real mongos", refused.Errors, StringComparison.Ordinal);
        refused.Expect(2);
    }
}
