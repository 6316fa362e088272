using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
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
        Plan full = Read(name, 1).Plan;
        Plan small = Read(name, 0.001).Plan;
        Assert.Equal(Threads(full), Threads(small));
        Assert.Equal(Documents(full).Select(count => count / 1000), Documents(small));
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void Each_shows_figures_or_tables_of_the_publications_form(string name)
    {
        ReadPlan read = Read(name, 1);
        Assert.NotEmpty(read.Figures.Select(f => f.Title).Concat(read.Tables.Select(t => t.Title)));
    }

    [Fact]
    public void Every_test_of_the_report_is_there()
    {
        string[] expected =
        [
            .. Enumerable.Range(1, 9).Select(i => $"i{i}"), .. Enumerable.Range(1, 15).Select(i => $"q{i}"), "o1", "o1-sharded", "o2",
        ];
        Assert.Equal(expected.Order(), Report().Select(name => Path.GetFileName(name)).Order());
    }

    [Fact]
    public void The_reports_documents_are_the_same_in_all_its_tests()
    {
        byte[][] documents = [.. Report()
            .Select(name => Read(name, 1).Plan.Rounds[0].Collections.FirstOrDefault(c => c.Name == "items")).OfType<PlanCollection>()
            .Select(c => c.Documents.Make(7).Bytes.ToArray())];
        // i9 has images.
        Assert.Equal(26, documents.Length);
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
        ReadPlan read = Read("ycsb-sharded", 1);
        Assert.Equal([("1 shard", 1), ("2 shards", 2)], read.Deployments.Select(d => (d.Settings.Name!, d.Settings.Shards!.Value)));
        Assert.Equal([1_000_000, 10_000_000, 60_000_000, 100_000_000], read.Plan.Rounds.Select(r => r.Collections.Single().Count));
        Dictionary<string, string> mixes = read.Plan.Rounds[0].Phases.Where(p => p.Loads is null).ToDictionary(
            p => p.Name, p => string.Join(", ", p.Groups.Single().Operations.Select(o => $"{o.Operation.Name} {o.Weight}").Order()));
        Assert.Equal(("insert 90, read 5, update 5", "read 95, update 5", "read 1"), (mixes["a"], mixes["b"], mixes["c"]));
        Assert.Equal(("insert 5, read 95", "read 50, readModifyWrite 50", "insert 20, read 60, update 20"),
            (mixes["d"], mixes["f"], mixes["g"]));
        Assert.All(read.Plan.Rounds.SelectMany(r => r.Phases), p => Assert.Equal(100, p.Groups.Single().Threads));
        // Loads and workloads alike.
        Operation[] writes = [.. read.Plan.Rounds.SelectMany(r => r.Phases)
            .SelectMany(p => p.Groups.Single().Operations).Select(o => o.Operation).Where(o => o.Name != "read")];
        Assert.All(writes, write => Assert.True(write.Concerns.IsUnacknowledged, write.Name));
        Assert.Equal(4 * 8, writes.Length);
    }

    [Fact]
    public void News_are_written_by_as_many_tasks_as_were_published()
    {
        Plan news = Read("news", 1).Plan;
        Assert.Equal(
            [(5, 1_100_000L), (10, 2_200_000), (20, 2_200_000), (50, 5_500_000), (100, 5_500_000)],
            news.Rounds.Select(r => (r.Phases.Single(p => p.Loads == "news").Groups.Single().Threads, r.Collections.Single().Count)));
        Assert.All(news.Rounds, r => Assert.Equal(["init", "write", "mixed"], r.Phases.Select(p => p.Name)));
        Assert.All(news.Rounds, r => Assert.Equal((true, 10_000L), (r.Phases[1].HasRanges, r.Phases[1].Lap)));
    }

    /// <summary>A task begins where a category does: its range is a whole number of pairs of them.</summary>
    [Fact]
    public void Tasks_write_the_news_of_their_own_categories()
    {
        foreach (PlanRound round in Read("news", 1).Plan.Rounds)
        {
            PlanCollection news = round.Collections.Single();
            long categories = news.Count / 55;
            int tasks = round.Phases[1].Groups.Single().Threads;
            for (int task = 0; task < tasks; task++)
            {
                NumberSource own = new NumberSource(0, news.Count).Range(task, tasks);
                Assert.Equal(categories * task / tasks, Category(own.First));
                Assert.Equal((categories * (task + 1) / tasks) - 1, Category(own.End - 1));
            }

            long Category(long number) => news.Documents.Make(number).FindInt64("CategoryID")!.Value;
        }
    }

    [Fact]
    public void Six_nodes_are_three_shards_of_two_members_and_an_arbiter_with_three_config_servers()
    {
        DeploymentSettings six = Assert.Single(Read("six-nodes", 1).Deployments).Settings;
        Assert.Equal((Topology.Sharded, 3, 2, 3, true), (six.Topology, six.Shards, six.Members, six.ConfigServers, six.Arbiter));
    }

    [Fact]
    public void The_reports_memory_and_CPUs_are_those_of_its_servers_and_memory_shrinks_with_the_data()
    {
        foreach ((string tests, long gigabytes) in (ReadOnlySpan<(string, long)>)[("i2 i3 q7 q8 o1-sharded", 4),
            ("i4 i5 q5 q6 q9 q10 q11 q12 o1", 10)])
        {
            foreach (string test in tests.Split(' '))
            {
                Assert.Equal(gigabytes << 30, Assert.Single(Read($"report-2.4.8/{test}", 1).Deployments).Settings.MemoryLimitBytes);
                Assert.Equal(gigabytes << 29, Assert.Single(Read($"report-2.4.8/{test}", 0.5).Deployments).Settings.MemoryLimitBytes);
            }
        }

        // i1 has a server for each type of index; i7 compares shards with one server, each limited alike.
        foreach (string test in (ReadOnlySpan<string>)["i1", "i7"])
            Assert.All(Read($"report-2.4.8/{test}", 1).Deployments, d => Assert.Equal(4L << 30, d.Settings.MemoryLimitBytes));
        Assert.Equal([1, 2, 4, 8], Read("report-2.4.8/q15", 1).Deployments.Select(d => d.Settings.Cpus!.Value));
    }

    [Theory]
    [InlineData(0, "i2 i6 o2")]
    [InlineData(1, "q9 q10 q12 q13 q14 q15")]
    [InlineData(2, "i4 i5 i8 q5 q6 q11")]
    [InlineData(9, "i3 q1 q2 q3 q4 q7 q8")]
    public void Indexes_beside_that_of_the_id_are_as_many_as_were_published(int expected, string tests) =>
        Assert.All(tests.Split(' '), test => Assert.All(Read($"report-2.4.8/{test}", 1).Plan.Rounds,
            round => Assert.Equal(expected, round.Collections[0].Indexes.Count + round.Phases.Sum(Built))));

    /// <summary>By a phase of its own, once the data are there.</summary>
    private static int Built(Phase phase) =>
        phase.Groups.SelectMany(group => group.Operations).Select(one => one.Operation).OfType<DatabaseCommand>()
            .Sum(command => command.Arguments.ToDocument(new ValueContext(0, 1)).FindDocument("indexes")?.Count() ?? 0);

    /// <summary>The leftmost of the publication's bars is the one on shards.</summary>
    [Fact]
    public void Large_inserts_side_by_side_begin_with_the_one_on_two_shards()
    {
        IReadOnlyList<ScenarioDeployment> on = Read("report-2.4.8/i7", 1).Deployments;
        Assert.Equal([(2, 1), ((int?)null, 4)], on.Select(d => (d.Settings.Shards, Read("report-2.4.8/i7", 1, d).Plan.Rounds.Count)));
    }

    [Fact]
    public void Only_the_number_is_asked_for_among_the_first_million()
    {
        KeyChoice?[] keys = [.. Read("report-2.4.8/q1", 1).Plan.Phases
            .Where(p => p.Name == "find").Select(p => p.Groups[0].Operations[0].Operation.Choice)];
        Assert.Equal(9, keys.Length);
        Assert.Equal(new FirstChoice(1_000_000), keys[0]);
        Assert.All(keys[1..], key => Assert.Equal(KeyChoice.Uniform, key));
    }

    [Fact]
    public void A_server_with_half_of_the_documents_stands_against_two_shards()
    {
        ReadPlan read = Read("report-2.4.8/q14", 0.01);
        Assert.Equal([(false, 500_000L), (true, 1_000_000)], read.Deployments.Select(d =>
            (d.Settings.Topology == Topology.Sharded, Read("report-2.4.8/q14", 0.01, d).Plan.Rounds[0].Collections.Single().Count)));
    }

    /// <summary>Images of the same sizes, of which the published one is among.</summary>
    [Fact]
    public void Images_are_written_and_read_as_files_and_as_fields_of_the_same_length()
    {
        PlanRound[] rounds = [.. Read("report-2.4.8/i9", 1).Plan.Rounds];
        Assert.Contains(1_090_519, rounds.Select(r => r.Collections[1].Files!.Length));
        foreach (PlanRound round in rounds)
        {
            // A binary's value begins with four bytes of length and one of subtype.
            Assert.Equal(round.Collections[1].Files!.Length, round.Collections[0].Documents.Make(3).Find("image")!.Value.Bytes.Length - 5);
            Assert.Equal(GridFsBucket.DefaultChunkSize, round.Collections[1].Files!.Bucket.ChunkSize);
            Assert.Equal([("insert", 1000L), ("upload", 1000), ("find", 1000), ("download", 1000)],
                round.Phases.Select(p => (p.Groups[0].Operations[0].Operation.Name, p.Groups[0].Count!.Value)));
        }
    }

    [Fact]
    public void Whole_collections_hold_as_much_as_one_that_is_spread_and_lie_each_on_a_shard_of_its_own()
    {
        PlanCollection[] collections = [.. Read("six-nodes", 1).Plan.Rounds.Single().Collections];
        Assert.Equal([null, null, 1, 2, 3], collections.Select(c => c.Shard));
        Assert.InRange(collections.Skip(2).Sum(c => c.Count), collections[0].Count - 1, collections[0].Count);
        Assert.Equal(collections[0].Count, collections[1].Count);
    }

    public static TheoryData<string> Files() => [.. Report(), "ycsb-sharded", "news", "six-nodes"];

    private static IEnumerable<string> Report() =>
        Directory.GetFiles(Path.Combine(Folder, "report-2.4.8"), "*.yaml")
            .Select(path => "report-2.4.8/" + Path.GetFileNameWithoutExtension(path)).Order();

    private static IEnumerable<long> Documents(Plan scenario) => scenario.Rounds.SelectMany(r => r.Collections).Select(c => c.Count);

    private static IEnumerable<int> Threads(Plan scenario) =>
        scenario.Rounds.SelectMany(r => r.Phases).SelectMany(p => p.Groups).Select(g => g.Threads);

    private static ReadPlan Read(string name, double scale, ScenarioDeployment? on = null)
    {
        string path = Path.Combine(Folder, name + ".yaml");
        return PlanReader.Read(new ScenarioFile(name, path, File.ReadAllText(path)), new PlanOverrides { Scale = scale }, 42, on);
    }
}
