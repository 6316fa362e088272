using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests;

/// <summary>A system is one implementation: who adds another one registers it, and changes nothing else that exists.</summary>
public sealed class SystemSeamTests
{
    /// <summary>Its protocol, its executors, its implementation with the registration, and the words that stored runs hold.</summary>
    private static readonly string[] Rooms =
    [
        "/Tyrant/", "/MongoPerf.Running/Systems/", "/MongoPerf.Storage/Topology.cs", "/MongoPerf.Storage/RunRecords.cs",
    ];

    [Fact]
    public void Tokyo_Tyrant_is_named_in_its_own_rooms_only()
    {
        string[] wrong = [.. RepositoryPaths.SourcesIn("src")
            .Where(path => !Rooms.Any(room => path.Contains(room, StringComparison.Ordinal))
                && File.ReadAllText(path).Contains("Tyrant", StringComparison.Ordinal))
            .Select(path => Path.GetRelativePath(RepositoryPaths.Root, path))];
        Assert.True(wrong.Length == 0, string.Join('\n', wrong));
    }

    [Theory]
    [InlineData(null, "MongoDB")]
    [InlineData("mongodb://h", "MongoDB")]
    [InlineData("h:27017", "MongoDB")]
    [InlineData("tyrant://h", "Tokyo Tyrant")]
    [InlineData("TYRANT://", "Tokyo Tyrant")]
    public void A_connection_string_says_which_system_it_names(string? uri, string name) =>
        Assert.Equal(name, DatabaseSystems.Of(uri).Name);

    [Fact]
    public void A_stored_run_says_which_system_it_was_on()
    {
        DeploymentInfo mongod = RunParts.Deployment();
        Assert.Equal("MongoDB", DatabaseSystems.Of(mongod).Name);
        Assert.Equal("MongoDB", DatabaseSystems.Of((DeploymentInfo?)null).Name);
        // Runs of earlier versions have its kind only.
        Assert.Equal(
            "Tokyo Tyrant", DatabaseSystems.Of(mongod with { Kind = DeploymentKind.Tyrant, Topology = Topology.TokyoTyrant }).Name);
    }

    [Fact]
    public void Reports_name_a_system_that_they_know_nothing_of()
    {
        DeploymentInfo other = RunParts.Deployment() with
        {
            Kind = DeploymentKind.Given, OtherSystem = "Redis", ServerVersion = "8.2", StorageEngine = "hash",
        };
        Assert.Equal("Redis 8.2, hash database", ChartText.DeploymentText(other));
    }
}
