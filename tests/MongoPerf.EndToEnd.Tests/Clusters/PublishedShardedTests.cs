using System.Globalization;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>Scenarios of published series that ask for shards, on real ones.</summary>
[Collection(WaitingTests.Name)]
public sealed class PublishedShardedTests(TestCluster cluster) : IClassFixture<TestCluster>, IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodTheory]
    [InlineData("ycsb-sharded", 0.001, "recordcount=1M")]
    [InlineData("six-nodes", 0.0001, "threadcount=8")]
    public void Phases_do_what_the_file_says(string name, double scale, string set)
    {
        string database = cluster.NewDatabase();
        ProgramResult ended = ProgramRun.Run(
        [
            "run", name, "--cluster", cluster.Folder, "--db", database, "--scale", scale.ToString("R", CultureInfo.InvariantCulture), "--set", set,
            "--quiet", "--out", _runs.Path, "--format", "json",
        ]).Expect(0);
        string[] parameter = set.Split('=');
        var checks = new ScenarioChecks(name, new ScenarioOverrides { Scale = scale, Parameters = new Dictionary<string, string> { [parameter[0]] = parameter[1] } }, ended);
        checks.AssertDone();
        using MongoConnection connection = cluster.Connect();
        checks.AssertStored(connection, database);
    }
}
