using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>scenarios/ycsb against the property files of YCSB's workloads.</summary>
public sealed class YcsbFilesTests
{
    [Theory]
    [InlineData("a", "read 50, update 50", "zipfian")]
    [InlineData("b", "read 95, update 5", "zipfian")]
    [InlineData("c", "read 100", "zipfian")]
    [InlineData("d", "read 95, insert 5", "latest")]
    [InlineData("e", "scan 95, insert 5", "zipfian")]
    [InlineData("f", "read 50, readmodifywrite 50", "zipfian")]
    public void Mix_and_distribution_are_ycsbs(string workload, string mix, string distribution)
    {
        Phase phase = Read(workload).Phases[1];
        WeightedOperation[] operations = [.. phase.Groups.Single().Operations];
        Assert.Equal(mix, string.Join(", ", operations.Select(o => $"{o.Operation.Name} {o.Weight}")));
        KeyChoice expected = distribution == "latest" ? new LatestChoice(0.99) : new ZipfianChoice(0.99, IsScrambled: true);
        Assert.All(operations.Select(o => o.Operation.Choice).OfType<KeyChoice>(), choice => Assert.Equal(expected, choice));
        Assert.Equal((1000, 1), (phase.Groups.Single().Count, phase.Groups.Single().Threads));
    }

    [Fact]
    public void Document_is_ten_fields_of_a_hundred_bytes_under_a_hashed_key()
    {
        PlanCollection table = Read("c").Collections.Single();
        Assert.Equal(1000, table.Count);
        BsonDocument document = table.Documents.Make(0);
        // YCSB's key of record 0.
        Assert.Equal("user6284781860667377211", document.FindString("_id"));
        Assert.Equal(["_id", .. Enumerable.Range(0, 10).Select(i => $"field{i}")], document.Select(e => e.Key));
        Assert.All(document.Skip(1), e => Assert.Equal((BsonType.Binary, 105), (e.Value.Type, e.Value.Bytes.Length)));
    }

    [Fact]
    public void Reads_may_be_of_one_field_and_updates_always_are()
    {
        FindDocuments all = Find(Read("a"));
        FindDocuments one = Find(Read("a", ("readallfields", "false")));
        Assert.Null(all.Projection);
        Assert.Equal(10, Fields(context => one.ToCommand().ToDocument(context).FindDocument("projection")!).Count);
        UpdateDocuments update = Read("a").Phases[1].Groups.Single().Operations.Select(o => o.Operation).OfType<UpdateDocuments>().Single();
        Assert.Equal(10, Fields(context => update.ToCommand().ToDocument(context).FindDocument("updates.0.u.$set")!).Count);
    }

    [Fact]
    public void Scans_start_at_a_key_and_take_1_to_100_documents()
    {
        FindDocuments scan = Find(Read("e"));
        BsonDocument[] commands = [.. Enumerable.Range(0, 5000)
            .Select(i => scan.ToCommand().ToDocument(new ValueContext(0, (ulong)i * 7919)))];
        Assert.Equal((1, 100), (commands.Min(c => c.FindInt64("limit")), commands.Max(c => c.FindInt64("limit"))));
        Assert.All(commands, c => Assert.Equal("user6284781860667377211", c.FindString("filter._id.$gte")));
        Assert.Equal(1, commands[0].FindInt64("sort._id"));
    }

    [Fact]
    public void Load_may_wait_for_nothing() =>
        Assert.True(Read("a", ("loadw", "0")).Phases[0].Groups.Single().Operations.Single().Operation.Concerns.IsUnacknowledged);

    /// <summary>The names of the fields that come up over many draws; each time exactly one.</summary>
    private static HashSet<string> Fields(Func<ValueContext, BsonDocument> draw) =>
        [.. Enumerable.Range(0, 1000).Select(i => Assert.Single(draw(new ValueContext(0, (ulong)i * 104_729))).Key)];

    private static FindDocuments Find(PlanRound round) =>
        round.Phases[1].Groups.Single().Operations.Select(o => o.Operation).OfType<FindDocuments>().First();

    private static PlanRound Read(string workload, params (string Name, string Value)[] set)
    {
        string path = Path.Combine(RepositoryPaths.Root, "scenarios", "ycsb", workload + ".yaml");
        var overrides = new PlanOverrides { Parameters = set.ToDictionary(s => s.Name, s => s.Value) };
        return PlanReader.Read(new ScenarioFile($"ycsb/{workload}", path, File.ReadAllText(path)), overrides, 42).Plan.Rounds.Single();
    }
}
