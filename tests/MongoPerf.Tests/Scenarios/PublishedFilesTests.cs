using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>The scenarios of published series against what was published: sizes, threads and mixes are the defaults.</summary>
public sealed class PublishedFilesTests
{
    private static string Folder => Path.Combine(RepositoryPaths.Root, "scenarios");

    [Theory]
    [MemberData(nameof(Files))]
    public void Each_can_be_scaled_down(string name)
    {
        Scenario full = Read(name, 1).Scenario;
        Scenario small = Read(name, 0.001).Scenario;
        Assert.Equal(Threads(full), Threads(small));
        Assert.Equal(Documents(full).Select(count => count / 1000), Documents(small));
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void Each_shows_figures_or_tables_of_the_publications_form(string name)
    {
        ReadScenario read = Read(name, 1);
        Assert.NotEmpty(read.Figures.Select(f => f.Title).Concat(read.Tables.Select(t => t.Title)));
    }

    [Fact]
    public void Every_test_of_the_report_is_there()
    {
        string[] expected = [.. Enumerable.Range(1, 9).Select(i => $"i{i}"), .. Enumerable.Range(1, 15).Select(i => $"q{i}"), "o1", "o2"];
        Assert.Equal(expected.Order(), Report().Select(name => Path.GetFileName(name)).Order());
    }

    [Fact]
    public void The_reports_documents_are_the_same_in_all_its_tests()
    {
        byte[][] documents = [.. Report().Select(name => Read(name, 1).Scenario.Rounds[0].Collections.FirstOrDefault(c => c.Name == "items")).OfType<ScenarioCollection>().Select(c => c.Documents.Make(7).Bytes.ToArray())];
        // i9 has images.
        Assert.Equal(25, documents.Length);
        Assert.All(documents, d => Assert.Equal(documents[0], d));
        BsonDocument document = new(documents[0]);
        Assert.Equal(["_id", "number", "name", "describe", "time", "flag", "price", "parameter", "category"], document.Select(e => e.Key));
        Assert.Equal((7, 128), (document.FindInt64("number"), document.FindString("describe")!.Length));
        Assert.InRange(document.FindInt64("price")!.Value, 20, 1020);
        Assert.InRange(document.FindDocument("parameter.color")!.Count(), 2, 10);
    }

    [Fact]
    public void Mixes_on_shards_are_the_publications()
    {
        ReadScenario read = Read("ycsb-sharded", 1);
        Assert.Equal(new ScenarioCluster(2, 1), read.Cluster);
        Assert.Equal([1_000_000, 10_000_000, 60_000_000, 100_000_000], read.Scenario.Rounds.Select(r => r.Collections.Single().Count));
        Dictionary<string, string> mixes = read.Scenario.Rounds[0].Phases.Where(p => p.Loads is null).ToDictionary(
            p => p.Name, p => string.Join(", ", p.Groups.Single().Operations.Select(o => $"{o.Operation.Test} {o.Weight}").Order()));
        Assert.Equal(("insert 90, read 5, update 5", "read 95, update 5", "read 1"), (mixes["a"], mixes["b"], mixes["c"]));
        Assert.Equal(("insert 5, read 95", "read 50, readModifyWrite 50", "insert 20, read 60, update 20"), (mixes["d"], mixes["f"], mixes["g"]));
        Assert.All(read.Scenario.Rounds.SelectMany(r => r.Phases), p => Assert.Equal(100, p.Groups.Single().Threads));
        Assert.All(read.Scenario.Rounds, r => Assert.True(r.Phases[0].Groups.Single().Operations.Single().Operation.Concerns.IsUnacknowledged));
    }

    [Fact]
    public void News_are_written_by_as_many_tasks_as_were_published()
    {
        Scenario news = Read("news", 1).Scenario;
        Assert.Equal(
            [(5, 1_100_000L), (10, 2_200_000), (20, 2_200_000), (50, 5_500_000), (100, 5_500_000)],
            news.Rounds.Select(r => (r.Phases.Single(p => p.Loads == "news").Groups.Single().Threads, r.Collections.Single().Count)));
        Assert.Equal([0L, 0, 1, 1, 2], ((long[])[0, 54, 55, 109, 110]).Select(n => news.Rounds[0].Collections.Single().Documents.Make(n).FindInt64("CategoryID")!.Value));
    }

    [Fact]
    public void Six_nodes_are_three_shards_of_two_members() => Assert.Equal(new ScenarioCluster(3, 2), Read("six-nodes", 1).Cluster);

    /// <summary>By the GridFS specification: chunks of one length, numbered from 0 for each file, the file's length the sum of theirs.</summary>
    [Fact]
    public void Images_are_cut_into_chunks_as_GridFS_says()
    {
        foreach (ScenarioRound round in Read("report-2.4.8/i9", 0.01).Scenario.Rounds)
        {
            ScenarioCollection chunks = round.Collections.Single(c => c.Name == "fs.chunks");
            ScenarioCollection files = round.Collections.Single(c => c.Name == "fs.files");
            long perFile = chunks.Count / files.Count;
            Assert.Equal(10, files.Count);
            for (long file = 0; file < files.Count; file++)
            {
                BsonDocument[] own = [.. Enumerable.Range(0, (int)perFile).Select(i => chunks.Documents.Make((file * perFile) + i))];
                Assert.Equal(Enumerable.Range(0, (int)perFile).Select(i => (file, (long)i)), own.Select(c => (c.FindInt64("files_id")!.Value, c.FindInt64("n")!.Value)));
                BsonDocument description = files.Documents.Make(file);
                Assert.Equal(file, description.FindInt64("_id"));
                // A binary's value begins with four bytes of length and one of subtype.
                Assert.All(own, c => Assert.Equal(description.FindInt64("chunkSize"), c.Find("data")!.Value.Bytes.Length - 5));
                Assert.Equal(description.FindInt64("length"), perFile * description.FindInt64("chunkSize"));
            }
        }
    }

    public static TheoryData<string> Files() => [.. Report(), "ycsb-sharded", "news", "six-nodes"];

    private static IEnumerable<string> Report() =>
        Directory.GetFiles(Path.Combine(Folder, "report-2.4.8"), "*.yaml").Select(path => "report-2.4.8/" + Path.GetFileNameWithoutExtension(path)).Order();

    private static IEnumerable<long> Documents(Scenario scenario) => scenario.Rounds.SelectMany(r => r.Collections).Select(c => c.Count);

    private static IEnumerable<int> Threads(Scenario scenario) => scenario.Rounds.SelectMany(r => r.Phases).SelectMany(p => p.Groups).Select(g => g.Threads);

    private static ReadScenario Read(string name, double scale)
    {
        string path = Path.Combine(Folder, name + ".yaml");
        return ScenarioReader.Read(new ScenarioFile(name, path, File.ReadAllText(path)), new ScenarioOverrides { Scale = scale }, 42);
    }
}
