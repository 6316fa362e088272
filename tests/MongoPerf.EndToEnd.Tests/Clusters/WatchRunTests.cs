using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>The documentation's watcher on a replica set, through both clients.</summary>
[Collection(WaitingTests.Name)]
public sealed class WatchRunTests
{
    private static readonly string Example = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "watch.yaml");

    [MongodTheory]
    [InlineData("wire")]
    [InlineData("driver")]
    public void Every_write_comes_as_an_event_once_and_in_its_order(string engine)
    {
        using var runs = new RunsFolder();
        JsonElement result = JsonDocument.Parse(ProgramRun.Run(
            new ProgramOptions { Server = "mongod" }, "run", Example, "--topology", "replicaset", "--members", "1", "--cache", "256MB",
            "--scale", "0.1", "--max-skipped", "100%", "--engine", engine, "--format", "json", "--out", runs.Path)
            .Expect(0).Output).RootElement;
        IReadOnlyList<JsonElement> operations = result.Items("phases").Single(phase => phase.Text("phase") == "shop").Items("operations");
        JsonElement watch = operations.Single(operation => operation.Text("operation") == "watch");
        long written = operations.Where(operation => operation.Text("operation") is "insert" or "update")
            .Sum(operation => (long)operation.Number("operations"));
        Assert.True(written > 0);
        Assert.Equal(written, watch.Number("operations"));
        JsonElement changes = watch.GetProperty("changes");
        Assert.Equal(written, changes.Number("followed"));
        Assert.Equal((0, 0, 0, 0), (changes.Number("missing"), changes.Number("duplicated"), changes.Number("misordered"),
            changes.Number("unsettled")));
    }

    [Fact]
    public void A_server_without_change_streams_is_refused_before_anything_is_loaded()
    {
        using var runs = new RunsFolder();
        ProgramResult refused = ProgramRun.Run("run", Example, "--topology", "standalone", "--out", runs.Path);
        Assert.Contains(
            "watch: a change stream needs a replica set or a real mongos", refused.Errors, StringComparison.Ordinal);
        refused.Expect(2);
    }
}
