using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>The documentation's pool, churn and storm on a mongod with TLS and logins; the pool through the driver, too.</summary>
[Collection(WaitingTests.Name)]
public sealed class ConnectionRunTests
{
    private static readonly string Example = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "connections.yaml");

    [MongodFact]
    public void Connections_are_shared_opened_for_each_operation_and_opened_at_once()
    {
        using var runs = new RunsFolder();
        JsonElement result = Run(runs, Example, "--auth", "--tls", "--max-skipped", "100%");
        (JsonElement find, JsonElement wait) = (Operation(result, "pool", "find"), Operation(result, "pool", "wait"));
        Assert.Equal(JsonValueKind.Null, find.GetProperty("connections").ValueKind);
        Assert.Equal(("Pool", 2), (wait.GetProperty("connections").Text("kind"), wait.GetProperty("connections").Number("count")));
        Assert.InRange(wait.Number("operations"), 1, find.Number("operations"));
        Assert.True(Longest(find) >= Longest(wait));

        JsonElement connect = Operation(result, "churn", "connect");
        Assert.Equal(
            Operation(result, "churn", "find").GetProperty("accounting").Number("succeeded"),
            connect.GetProperty("accounting").Number("succeeded"));
        Assert.Equal(0, connect.Number("failed"));

        JsonElement storm = Operation(result, "storm", "connect").GetProperty("connections").Items("storms").Single();
        Assert.Equal((100, 100), (storm.Number("connections"), storm.Number("usable")));
        Assert.True(storm.GetProperty("seconds").GetDouble() > 0);
        Assert.Equal(100, Operation(result, "storm", "connect").Number("operations"));
    }

    /// <summary>A resumed session would leave the server's certificate out.</summary>
    [MongodFact]
    public void Each_connection_shakes_hands_over_tls_from_the_beginning()
    {
        using var server = TestServer.StartSecured("mongod");
        long[] received = [.. Enumerable.Range(0, 4).Select(_ =>
        {
            using MongoConnection connection = server.Connect();
            return connection.Traffic.WireBytesReceived;
        })];
        Assert.InRange(received.Min(), received.Max() - 200, received.Max());
    }

    [MongodFact]
    public void The_drivers_pool_tells_its_waits()
    {
        using var runs = new RunsFolder();
        string file = Path.Combine(runs.Path, "pool.yaml");
        Directory.CreateDirectory(runs.Path);
        string text = File.ReadAllText(Example);
        File.WriteAllText(file, text[..text.IndexOf("  - name: churn", StringComparison.Ordinal)]);
        JsonElement result = Run(runs, file, "--engine", "driver");
        JsonElement wait = Operation(result, "pool", "wait");
        Assert.InRange(wait.Number("operations"), 1, Operation(result, "pool", "find").Number("operations"));
        Assert.Equal(4000, Operation(result, "pool", "find").Number("operations"));
    }

    [Fact]
    public void The_driver_opens_no_connections_for_operations()
    {
        using var runs = new RunsFolder();
        ProgramResult refused = ProgramRun.Run("run", Example, "--engine", "driver", "--out", runs.Path);
        Assert.Contains("phase 'churn': connections: {churn: …} is not possible with MongoDB.Driver", refused.Errors,
            StringComparison.Ordinal);
        refused.Expect(2);
    }

    private static double Longest(JsonElement operation) => operation.GetProperty("latencyMicroseconds").GetProperty("max").GetDouble();

    private static JsonElement Run(RunsFolder runs, string file, params string[] options) => JsonDocument.Parse(ProgramRun.Run(
        new ProgramOptions { Server = "mongod" },
        ["run", file, "--topology", "standalone", "--cache", "256MB", .. options, "--format", "json", "--out", runs.Path])
        .Expect(0).Output).RootElement;

    private static JsonElement Operation(JsonElement result, string phase, string name) =>
        result.Items("phases").Single(one => one.Text("phase") == phase).Items("operations").Single(one => one.Text("operation") == name);
}
