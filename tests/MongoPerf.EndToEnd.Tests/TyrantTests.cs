using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Scenarios on Tokyo Tyrant, here on a server in the test's memory that speaks its protocol.</summary>
[Collection(LightTests.Name)]
public sealed class TyrantTests : IDisposable
{
    private const string News = """
        data:
          news:
            count: 300
            document:
              Title: {^string: 20}
              CategoryID: {^int: [0, 9]}
              CreateTime: {^date: {from: 2010-01-01, to: 2010-12-31}}
              Tags: {^array: {length: [1, 3], of: {^word: {first: 20}}}}
            indexes: [CategoryID, CreateTime, Tags]
        phases:
          - name: init
            create: news
          - name: write
            load: news
            threads: 2
            batch: 1
            ranges: true
            lap: 50
          - name: read
            threads: 2
            count: 100
            operations:
              - find: news
                key: uniform
                filter: {CategoryID: {^field: CategoryID}}
                sort: {CreateTime: -1}
                limit: 10
        """;

    private readonly RunsFolder _runs = new();
    private readonly ScriptedTyrant _server = new();
    private readonly MemoryTable _table = new();
    private readonly string _file;

    public TyrantTests()
    {
        _server.Answer = _table.Answer;
        _file = Path.Combine(Directory.CreateTempSubdirectory("mongoperf-news-").FullName, "news.yaml");
        File.WriteAllText(_file, News);
    }

    public void Dispose()
    {
        _server.Dispose();
        _runs.Dispose();
        Directory.Delete(Path.GetDirectoryName(_file)!, recursive: true);
    }

    [Fact]
    public void A_scenario_runs_on_it_as_on_MongoDB()
    {
        ProgramResult result = Run(_file).Expect(0);
        Assert.Contains("Tokyo Tyrant 1.1.41", result.Output, StringComparison.Ordinal);
        Assert.Equal(301, _table.Records.Count);
        Assert.Equal(["CategoryID 1", "CreateTime 1", "Tags 2"], _table.Indexes);
        StoredRun run = StoredRun.Open(_runs.RunPath);
        Assert.Equal((DeploymentKind.Tyrant, Topology.TokyoTyrant, "1.1.41", "table"),
            (run.Deployment!.Kind, run.Deployment.Topology, run.Deployment.ServerVersion, run.Deployment.StorageEngine));
        Assert.Equal(["init", "write", "read"], run.Phases.Select(p => p.Phase));
        Assert.Equal("create", Assert.Single(run.Phases[0].Operations).Operation);
        Assert.Equal([50L, 100, 150, 50, 100, 150], run.Laps.Select(lap => lap.Done));

        // Its own table is cleared and made again.
        string first = _table.Records.Keys.First(key => key != "mongoperf");
        Run(_file, "--seed", "43").Expect(0);
        Assert.DoesNotContain(first, _table.Records.Keys);
        Assert.Equal(301, _table.Records.Count);
    }

    [Fact]
    public void What_can_not_be_is_refused_and_leaves_the_table_as_it_is()
    {
        _table.Records["somebody's"] = "a\0b";
        Run(_file).Expect(6).Says($"the table at {_server.Address} was not created by MongoPerf").Says("start the server on another file");
        ProgramRun.Run("series", "--target", "1k", "--uri", $"tyrant://{_server.Address}", "--out", _runs.Path).Expect(2)
            .Says("series grows, which is not possible with Tokyo Tyrant");
        File.WriteAllText(
            _file, News.Replace("[CategoryID, CreateTime, Tags]", "[{CategoryID: 1, CreateTime: -1}]", StringComparison.Ordinal));
        Run(_file).Expect(2).Says("index CategoryID: 1, CreateTime: -1: Tokyo Tyrant indexes single columns only");
        _server.Status = exchange => exchange.Send(ScriptedTyrant.StatusReply("hash"));
        Run(_file).Expect(2).Says("this Tokyo Tyrant server's database is of type 'hash', a table database is needed");
        Assert.Equal("a\0b", Assert.Single(_table.Records).Value);
        Assert.Empty(_runs.Ids);
    }

    private ProgramResult Run(string file, params string[] more) =>
        ProgramRun.Run(["run", file, "--uri", $"tyrant://{_server.Address}", "--out", _runs.Path, .. more]);
}
