using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Tyrant;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>A scenario's operations and its preparation on a Tokyo Tyrant server's table.</summary>
public sealed class TyrantScenarioTests : IDisposable
{
    private static readonly DocumentTemplate News = new(
        DocumentValue.Of(
            ("Title", FillerValue.Text(new LengthRange(5, 40), 1)),
            ("CategoryID", new IntegerValue(NumberKind.Int32, 0, 9, 2)),
            ("CreateTime", new SequenceValue(NumberKind.Date, 1_267_184_280_000, 1000)),
            ("Tags", new ArrayValue(new LengthRange(1, 3), new WordValue(20, 3), 4))),
        42, "news");

    private static readonly PlanCollection Collection = new()
    {
        Name = "news",
        Count = 50,
        Documents = News,
        Indexes = [Index(("CreateTime", -1)), Index(("CategoryID", 1)), Index(("Tags", 1)), Index(("Title", 1))],
    };

    private readonly ScriptedTyrant _server = new();
    private readonly MemoryTable _table = new();
    private int _attempts;
    private readonly TyrantDataStore _data;
    private readonly TyrantExecutor _executor;

    public TyrantScenarioTests()
    {
        _server.Answer = _table.Answer;
        _data = new TyrantDataStore(() => _server.Address, ConnectionSettings.Default, 42, "run-1", SystemClock.Instance,
            TimeSpan.FromSeconds(60), () => _attempts++);
        _executor = new TyrantExecutor(
            () => _server.Address, ConnectionSettings.Default, TyrantDataStore.ColumnsOf(ScenarioOf(Collection)));
        _executor.Connect();
    }

    public void Dispose()
    {
        _executor.Dispose();
        _data.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void A_collection_is_an_empty_table_with_a_marker_and_an_index_for_each_column()
    {
        _table.Records["somebody's"] = "a\0b";
        Assert.Equal(new CollectionState(true, null), _data.Inspect(Collection.Stored[0]));
        Make(_data);
        Assert.Equal(["mongoperf"], _table.Records.Keys);
        Assert.Equal(["CreateTime 1", "CategoryID 1", "Tags 2", "Title 0"], _table.Indexes);
        Assert.Equal(0, _data.Count(Collection));
        _data.Checkpoint(Collection, 50);
        Assert.Equal((42UL, "run-1", 50L), (_data.Inspect(Collection.Stored[0]).Marker!.Seed,
            _data.Inspect(Collection.Stored[0]).Marker!.RunId, _data.Inspect(Collection.Stored[0]).Marker!.Documents));
        Assert.Equal((1_000_000L, 0L), (_data.ReadSizes(Collection, 50)!.StorageBytes, _data.ReadSizes(Collection, 50)!.IndexBytes));
        Assert.Null(_data.ReadAvailableConnections());
    }

    [Fact]
    public void Preparing_begins_again_when_the_connection_breaks()
    {
        int calls = 0;
        _server.Answer = exchange =>
        {
            // Twice, at different places of the preparation.
            if (++calls is 2 or 4)
                exchange.Close();
            else
                _table.Answer(exchange);
        };
        Make(_data);
        Assert.Equal(2, _attempts);
        Assert.Equal(["mongoperf"], _table.Records.Keys);
        Assert.Equal(0, _data.Count(Collection));
    }

    [Fact]
    public void A_server_that_stays_away_is_given_up_and_a_stop_ends_the_waiting()
    {
        _server.Answer = exchange => exchange.Close();
        using var impatient = new TyrantDataStore(() => _server.Address, ConnectionSettings.Default, 42, "run-1",
            SystemClock.Instance, TimeSpan.Zero);
        Assert.Throws<ConnectionFailedException>(() => impatient.Create(Collection, 0));
        using var stop = new CancellationTokenSource();
        _data.Stop = stop.Token;
        _server.Answer = exchange =>
        {
            stop.Cancel();
            exchange.Close();
        };
        Assert.Throws<ConnectionFailedException>(() => _data.Create(Collection, 0));
        Assert.Equal(0, _attempts);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(7, 1)]
    [InlineData(1, 0)]
    public void What_was_loaded_is_there_and_found_again(int batch, int w)
    {
        Load(batch, w);
        Assert.Equal(50, _data.Count(Collection));
        IPreparedOperation find = Find(Filter(("_id", ReferenceValue.Of(News, News.Id))), News);
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal(1, Run(find).Documents);
            Assert.Equal(new VerificationOutcome(1, 0), find.Verify());
        }

        IPreparedOperation count = _executor.Prepare(new CountDocuments("count", "news", DocumentValue.Empty), Context());
        Assert.Equal(50, Run(count).Documents);
    }

    [Fact]
    public void A_record_that_was_changed_or_lost_is_found()
    {
        Load(1, 1);
        IPreparedOperation find = Find(Filter(("_id", ReferenceValue.Of(News, News.Id))), News);
        foreach (string key in _table.Records.Keys.ToArray())
            _table.Records[key] += "x";
        Run(find);
        Assert.Equal(new VerificationOutcome(1, 1), find.Verify());
        _table.Records.Clear();
        Run(find);
        Assert.Equal(new VerificationOutcome(1, 1), find.Verify());
    }

    [Fact]
    public void One_word_finds_all_documents_that_have_it_among_theirs()
    {
        Load(1, 1);
        BsonValue word = News.Make(3).Find("Tags.0")!.Value;
        int expected = Enumerable.Range(0, 50)
            .Count(i => News.Make(i).FindDocument("Tags")!.Any(tag => tag.Value.ToString() == word.ToString()));
        Assert.True(expected > 0);
        Assert.Equal(expected, Run(Find(Filter(("Tags", new LiteralValue(word))), null)).Documents);
    }

    [Fact]
    public void Keys_of_inserts_exist_once_they_are_answered_also_when_the_connection_broke()
    {
        var keys = new KeySpace(10);
        IPreparedOperation insert = _executor.Prepare(new InsertDocuments("write", "news", News, 2, true) { Keys = keys },
            new OperationContext(42, 0, null));
        Run(insert);
        Assert.Equal(12, keys.Count);
        _server.Answer = exchange => exchange.Close();
        Assert.Throws<ConnectionFailedException>(() => Run(insert));
        Assert.Equal(12, keys.Count);
        _server.Answer = _table.Answer;
        _executor.Connect();
        Run(insert);
        Assert.Equal(16, keys.Count);
    }

    [Fact]
    public void What_Tokyo_Tyrant_can_not_do_is_refused_before_the_run()
    {
        Refused(() => TyrantDataStore.Check(ScenarioOf(Collection, Collection with { Name = "users" })),
            "the scenario has collections news, users; a Tokyo Tyrant server has one table");
        Refused(() => TyrantDataStore.Check(ScenarioOf(Collection with { Indexes = [Index(("a", 1), ("b", -1))] })),
            "index a: 1, b: -1: Tokyo Tyrant indexes single columns only");
        Refused(() => TyrantDataStore.Check(ScenarioOf(Collection with
        {
            Indexes = [BsonDocument.Of(("key", BsonDocument.Of(("a", "hashed"))))],
        })), "index a: hashed");
        Refused(() => TyrantDataStore.Check(ScenarioOf(Collection with
        {
            Documents = new(DocumentValue.Of(("image", FillerValue.Binary(new LengthRange(9, 9), 1))), 1, "n"),
        })), "field 'image' is Binary");
        Refused(() => Prepare(new DeleteDocuments("remove", "news", DocumentValue.Empty)),
            "remove is not possible with Tokyo Tyrant; allowed: insert, find, count");
        Refused(
            () => Prepare(new CountDocuments(
                "count", "news", Filter(("CategoryID", new LiteralValue(News.Make(0).Find("CategoryID")!.Value))))),
            "Tokyo Tyrant can't count with a filter");
        var one = new LiteralValue(BsonDocument.Of(("v", 1)).First().Value);
        var count = new CountDocuments("count", "news", DocumentValue.Empty);
        Refused(() => Prepare(count with { Limit = one }), "Tokyo Tyrant can't count with a filter, limit or skip");
        Refused(() => Prepare(count with { Skip = one }), "Tokyo Tyrant can't count with a filter, limit or skip");
        Refused(() => Prepare(new FindDocuments("f", "news", DocumentValue.Empty) { Limit = new IntegerValue(NumberKind.Int32, 1, 9, 1) }),
            "a limit drawn for each operation");
        Refused(
            () => Prepare(new InsertDocuments("i", "news", News, 1, true)
            {
                Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("j", true)) },
            }), "j: true is not possible with Tokyo Tyrant, which has no journal");
        TyrantDataStore.Check(ScenarioOf(Collection));
    }

    private static void Refused(Action action, string text) =>
        Assert.StartsWith(text, Assert.Throws<OperationLimitException>(action).Message, StringComparison.Ordinal);

    private static BsonDocument Index(params (string, object?)[] key) => BsonDocument.Of(("key", BsonDocument.Of(key)), ("name", "i"));

    private static Plan ScenarioOf(params PlanCollection[] collections) => new("s", "", [new PlanRound(collections, [])]);

    private static DocumentValue Filter(params (string, TemplateValue)[] fields) => DocumentValue.Of(fields);

    private static OperationContext Context(NumberSource? numbers = null) => new(42, 0, numbers ?? new NumberSource(0, 50));

    private static OperationOutcome Run(IPreparedOperation operation)
    {
        Assert.True(operation.Draw());
        OperationOutcome outcome = operation.Execute();
        Assert.True(outcome.Succeeded);
        return outcome;
    }

    private IPreparedOperation Prepare(Operation operation) => _executor.Prepare(operation, Context());

    private IPreparedOperation Find(DocumentValue filter, DocumentTemplate? expected) => Prepare(
        new FindDocuments(
            "find", "news", filter) { Expected = expected, IsOfKey = expected is not null, Chooser = new UniformKeys(new KeySpace(50)) });

    /// <summary>As a load begins.</summary>
    private static void Make(TyrantDataStore data)
    {
        data.Drop(Collection);
        data.Create(Collection, 0);
    }

    private void Load(int batch, int w)
    {
        Make(_data);
        IPreparedOperation insert = Prepare(new InsertDocuments(
            "load", "news", News, batch, true) { Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", w)) } });
        while (insert.Draw())
            Assert.True(insert.Execute().Succeeded);
        insert.Complete();
    }
}
