using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Load.Growth;
using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>What arrived is found, and what did not is written again, whatever the _ids are.</summary>
public sealed class IdScanTests : ServerTest
{
    /// <summary>The _id, and whether its index is in the order of the numbers.</summary>
    public static TheoryData<string, bool> Ids() => new()
    {
        { "^objectId", true },
        { "^number", true },
        { "{^number: {start: 100, step: 7}}", true },
        { "{^number: {type: int}}", true },
        { "{^numbered: {prefix: user, digits: 19}}", true },
        { "{^number: {step: -1}}", false },
        { "{^number: {type: double}}", false },
        { "{^numbered: {prefix: user, hashed: true}}", false },
        { "^uuid", false },
    };

    [Theory]
    [MemberData(nameof(Ids))]
    public void What_is_missing_is_found(string id, bool isOrdered)
    {
        DocumentTemplate documents = Template(id);
        Assert.Equal(isOrdered, documents.Ids.AreOrdered(1000));
        using WireCollection collection = Open(documents);
        collection.Create(new CollectionMarker(42, documents.Fingerprint, "run", 0, IsGrown: true));
        Assert.Equal([new NumberRange(0, 50)], collection.FindMissing(new NumberRange(0, 50)));
        Assert.Equal(0, collection.FindEnd(0));
        foreach (NumberRange range in (NumberRange[])[new(0, 3), new(5, 6), new(8, 20), new(30, 31)])
            collection.Write(range);
        Assert.Equal([new NumberRange(3, 5), new(6, 8), new(20, 30), new(31, 50)], collection.FindMissing(new NumberRange(0, 50)));
        Assert.Equal([new NumberRange(6, 8)], collection.FindMissing(new NumberRange(5, 19)));
        Assert.Equal([], collection.FindMissing(new NumberRange(8, 20)));
        Assert.Equal([], collection.FindMissing(new NumberRange(9, 9)));
        Assert.Equal(31, collection.FindEnd(3));
    }

    [Theory]
    [MemberData(nameof(Ids))]
    public void Documents_that_are_no_ones_are_not_counted(string id, bool isOrdered)
    {
        _ = isOrdered;
        DocumentTemplate documents = Template(id);
        using WireCollection collection = Open(documents);
        collection.Create(new CollectionMarker(42, documents.Fingerprint, "run", 0, IsGrown: true));
        Client.RunWithSequence(
            "{'insert': 'c'}", "documents", [BsonDocument.Of(("_id", "stranger")), BsonDocument.Of(("_id", new byte[3]))], "d");
        Client.RunWithSequence("{'insert': 'c'}", "documents", [Template("^objectId", seed: 43).Make(7)], "d");
        collection.Write(new NumberRange(0, 4));
        Assert.Equal([new NumberRange(4, 10)], collection.FindMissing(new NumberRange(0, 10)));
        Assert.Equal(4, collection.FindEnd(0));
    }

    [Theory]
    [InlineData("{^numbered: {prefix: user, hashed: true}}")]
    [InlineData("^number")]
    [InlineData("^objectId")]
    public void A_repair_writes_the_documents_themselves(string id)
    {
        DocumentTemplate documents = Template(id);
        var collection = new PlanCollection { Name = "c", Count = 0, Documents = documents, IsGrown = true };
        using var data = new WireDataStore(stored => Open(stored.Documents), 42, "run");
        data.Create(collection, 0);
        data.Write(collection, new NumberRange(0, 2500));
        Client.Run(
            "{'delete': 'c', 'deletes': [{'q': {'n': {'$gte': 1000, '$lt': 1010}}, 'limit': 0}, {'q': {'n': 2499}, 'limit': 0}]}", "d");
        using var folder = new TemporaryFolder();
        using RunStore store = RunStore.Create(folder.At("run"), RunParts.Run(), RunParts.Settings());
        var context = new RunContext(
            SystemClock.Instance, new GroupRunner(SystemClock.Instance, (_, _) => throw new InvalidOperationException()), data, store,
            new GrowthHarness.Listener(), new PlanRunOptions { Seed = 42 });
        var filling = new Filling(context);
        Assert.Equal(2499, filling.FindWholeEnd(collection, 900));
        Assert.Equal(1, filling.Repair(collection, new NumberRange(0, 2500)));
        Assert.Equal(0, filling.Repair(collection, new NumberRange(0, 2500)));
        byte[][] stored = [.. Client.Run("{'find': 'c', 'filter': {'n': {'$gte': 998, '$lt': 1012}}, 'sort': {'n': 1}}", "d")
            .FindDocument("cursor.firstBatch")!.Select(d => d.Value.ToDocument().Bytes.ToArray())];
        Assert.Equal(Enumerable.Range(998, 14).Select(n => documents.Make(n).Bytes.ToArray()), stored);
    }

    [Fact]
    public void What_the_server_refuses_of_a_repair_is_told_by_its_first_and_the_rest_is_written()
    {
        DocumentTemplate documents = Template("^number");
        using WireCollection collection = Open(documents);
        collection.Create(new CollectionMarker(42, documents.Fingerprint, "run", 0, IsGrown: true));
        Assert.Null(collection.Write(new NumberRange(3, 4), new NumberRange(1500, 1501)));
        Assert.Contains("_id: 3", collection.Write(new NumberRange(0, 2000)), StringComparison.Ordinal);
        Assert.Equal([new NumberRange(2000, 2001)], collection.FindMissing(new NumberRange(0, 2001)));
    }

    [Fact]
    public void A_marker_is_read_as_it_was_written()
    {
        DocumentTemplate documents = Template("^number");
        using WireCollection collection = Open(documents);
        var marker = new CollectionMarker(ulong.MaxValue - 7, documents.Fingerprint, "run", 1234, IsGrown: true) { Token = "token" };
        collection.Create(marker);
        Assert.Equal(marker, collection.Inspect().Marker! with { Refused = marker.Refused });
        collection.Checkpoint(4321);
        Assert.Equal(4321, collection.Inspect().Marker!.Documents);
    }

    /// <summary>A block of _ids is asked for at once; numbers beyond many that are missing are found all the same.</summary>
    [Fact]
    public void The_end_is_found_behind_a_long_gap()
    {
        DocumentTemplate documents = Template("{^numbered: {hashed: true}}");
        using WireCollection collection = Open(documents);
        collection.Create(new CollectionMarker(42, documents.Fingerprint, "run", 0, IsGrown: true));
        collection.Write(new NumberRange(0, 3));
        collection.Write(new NumberRange(42_000, 42_001));
        Assert.Equal(42_001, collection.FindEnd(0));
        Assert.Equal([new NumberRange(3, 42_000)], collection.FindMissing(new NumberRange(0, 42_001)));
    }

    private static DocumentTemplate Template(string id, ulong seed = 42) => PlanReader.Read(
        new ScenarioFile("test", "test.yaml",
            $"data: {{c: {{document: {{_id: {id}, n: {{^number: {{type: int}}}}}}}}}}\nphases: [{{grow: c, to: 10}}]\n"),
        new PlanOverrides(), seed).Plan.Rounds[0].Collections.Single().Documents;

    private WireCollection Open(DocumentTemplate? documents) => new(
        new CollectionAccess(() => new ServerAddress("127.0.0.1", Port), ConnectionSettings.Default, "d", SystemClock.Instance,
            TimeSpan.FromSeconds(20)), "c", documents, new CollectionShape([]));
}
