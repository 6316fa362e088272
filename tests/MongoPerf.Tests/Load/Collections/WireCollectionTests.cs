using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>How the collection's own commands bear a server that is away, refuses or takes its time.</summary>
public sealed class WireCollectionTests : IDisposable
{
    private static readonly BsonDocument Done = BsonDocument.Of(("n", 1), ("ok", 1.0));

    private readonly LyingServer _server = new();
    private readonly ManualClock _clock = new();
    private int _handshakes;

    public WireCollectionTests() => _server.Handshake = exchange =>
    {
        Interlocked.Increment(ref _handshakes);
        exchange.Reply(LyingServer.Hello(17));
    };

    public void Dispose() => _server.Dispose();

    [Theory]
    [InlineData(91, "ShutdownInProgress")]
    [InlineData(189, "PrimarySteppedDown")]
    [InlineData(10107, "NotWritablePrimary")]
    [InlineData(11600, "InterruptedAtShutdown")]
    [InlineData(11602, "InterruptedDueToReplStateChange")]
    [InlineData(13435, "NotPrimaryNoSecondaryOk")]
    [InlineData(133, "FailedToSatisfyReadPreference")]
    [InlineData(6, "HostUnreachable")]
    public void A_server_that_takes_no_writes_just_now_is_a_lost_connection(int code, string name)
    {
        int requests = 0;
        _server.Answer = exchange => exchange.Reply(requests++ < 2 ? Refusal(code, name) : Done);
        using WireCollection collection = Open(_clock);
        collection.Checkpoint(5);
        Assert.Equal((3, 3, 2L), (requests, _handshakes, collection.LostConnections));
        Assert.Equal(0.15, _clock.Seconds, 6);
    }

    [Theory]
    [InlineData(13388, "StaleConfig")]
    [InlineData(43, "CursorNotFound")]
    [InlineData(175, "QueryPlanKilled")]
    public void A_command_that_met_a_migration_is_asked_again_on_the_same_connection(int code, string name)
    {
        int requests = 0;
        _server.Answer = exchange => exchange.Reply(requests++ < 2 ? Refusal(code, name) : Done);
        using WireCollection collection = Open(_clock);
        collection.Checkpoint(5);
        Assert.Equal((3, 1, 0L), (requests, _handshakes, collection.LostConnections));
    }

    [Fact]
    public void A_count_that_is_not_told_is_none()
    {
        using WireCollection collection = Open(_clock);
        Assert.Equal(0, collection.Count());
    }

    /// <summary>The server counts, however many they are, and shows the first.</summary>
    [Fact]
    public void What_a_check_asks_for_is_counted_by_the_server()
    {
        var asked = new List<string>();
        BsonDocument[] found = [BsonDocument.Of(("_id", null), ("count", 7), ("first", BsonDocument.Of(("a", 1))))];
        _server.Answer = exchange =>
        {
            asked.Add(ExtendedJson.Write(new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()).Bytes));
            exchange.Reply(BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", found), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0)));
        };
        using WireCollection collection = Open(_clock);
        var query = (AggregateDocuments)OperationOf("aggregate: c, pipeline: [{$match: {a: 1}}]");
        Assert.Equal((7, """{"a": 1}"""), collection.Aggregate(query));
        Assert.Equal(
            """{"aggregate": "c", "pipeline": [{"$match": {"a": 1}}, {"$group": {"_id": null, "count": {"$sum": 1}, "first": """
            + """{"$first": "$$ROOT"}}}], "cursor": {}, "$db": "d"}""",
            Assert.Single(asked));
        found = [];
        Assert.Equal((0, null), collection.Aggregate(query));
    }

    [Fact]
    public void Whether_a_collection_is_empty_is_seen_by_one_document()
    {
        BsonDocument? asked = null;
        _server.Answer = exchange =>
        {
            asked = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
            exchange.Reply(BsonDocument.Of(
                ("cursor", BsonDocument.Of(("firstBatch", Array.Empty<BsonDocument>()), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0)));
        };
        using MongoConnection connection = MongoConnection.Open(_server.Address, ConnectionSettings.Default);
        Assert.True(CollectionCommands.IsEmpty(connection, "d", "c"));
        Assert.Equal("""{"find": "c", "limit": 1, "singleBatch": true, "$db": "d"}""", ExtendedJson.Write(asked!.Bytes));
    }

    [Fact]
    public void Another_refusal_is_told_at_once()
    {
        _server.Answer = exchange => exchange.Reply(Refusal(14031, "OutOfDiskSpace"));
        using WireCollection collection = Open(_clock);
        Assert.Equal(14031, Assert.Throws<ServerCommandException>(() => collection.Checkpoint(5)).Code);
        Assert.Equal((1, 0L), (_handshakes, collection.LostConnections));
    }

    /// <summary>Another program may make and fill a collection of that name between our look for it and our own creation.</summary>
    [Theory]
    [InlineData(false, "listCollections, find, update, create, createIndexes, find c, drop, delete")]
    [InlineData(true, "listCollections, find, update, create, createIndexes, find c, delete")]
    public void A_refused_creation_drops_nothing_that_holds_documents(bool isFilled, string sent)
    {
        var commands = new List<string>();
        _server.Answer = exchange =>
        {
            var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
            string name = command.First().Key;
            bool isOfData = name == "find" && command.First().Value.ToString() == "c";
            commands.Add(isOfData ? "find c" : name);
            exchange.Reply(name switch
            {
                "create" => Refusal(48, "NamespaceExists"),
                "createIndexes" => Refusal(11000, "DuplicateKey"),
                "find" or "listCollections" => BsonDocument.Of(("cursor", BsonDocument.Of(
                    ("firstBatch", isOfData && isFilled ? [BsonDocument.Of(("_id", 1))] : Array.Empty<BsonDocument>()), ("id", 0L),
                    ("ns", "d.c"))), ("ok", 1.0)),
                _ => Done,
            });
        };
        using WireCollection collection = Open(_clock, ConnectionSettings.Default,
            new CollectionShape([BsonDocument.Of(("key", BsonDocument.Of(("n", 1))), ("name", "n"), ("unique", true))],
                BsonDocument.Of(("capped", false))));
        Assert.Equal(11000, Assert.Throws<ServerCommandException>(() =>
            collection.Create(new CollectionMarker(1, "t", "r", 0, false))).Code);
        Assert.Equal(sent, string.Join(", ", commands.Take(sent.Split(", ").Length)));
        Assert.Equal(!isFilled, commands.Contains("drop"));
    }

    [Fact]
    public void A_server_that_stays_away_is_given_up_after_the_time_for_that()
    {
        _server.Answer = exchange => exchange.Reply(Refusal(91, "ShutdownInProgress"));
        using WireCollection collection = Open(_clock);
        Assert.Equal(91, Assert.Throws<ServerCommandException>(() => collection.Checkpoint(5)).Code);
        Assert.InRange(_clock.Seconds, 10, 12.1);
    }

    [Fact]
    public void A_stop_ends_the_tries()
    {
        using var stop = new CancellationTokenSource();
        int requests = 0;
        _server.Answer = exchange =>
        {
            if (++requests == 3)
                stop.Cancel();
            exchange.Reply(Refusal(91, "ShutdownInProgress"));
        };
        using WireCollection collection = Open(_clock);
        collection.Stop = stop.Token;
        Assert.Throws<ServerCommandException>(() => collection.Checkpoint(5));
        Assert.Equal(3, requests);
        Assert.InRange(_clock.Seconds, 0, 0.2);
    }

    [Fact]
    public void Sizes_and_plans_may_take_longer_than_a_reply_otherwise()
    {
        var commands = new List<string>();
        ConnectionSettings impatient = new() { ReplyTimeout = TimeSpan.FromSeconds(0.3) };
        _server.Answer = exchange =>
        {
            string command = CommandOf(exchange);
            if (command == "ping")
                return;
            commands.Add(command);
            // For as long as another waits, until it has waited too long.
            using MongoConnection other = MongoConnection.Open(_server.Address, impatient);
            Assert.Throws<ConnectionFailedException>(() => other.RunCommand("d", BsonDocument.Of(("ping", 1))));
            exchange.Reply(command switch
            {
                "collStats" => BsonDocument.Of(("size", 7L), ("ok", 1.0)),
                "explain" => BsonDocument.Of(
                    ("queryPlanner", BsonDocument.Of(("winningPlan", BsonDocument.Of(("stage", "COLLSCAN"))))), ("ok", 1.0)),
                _ => Done,
            });
        };
        using WireCollection collection = Open(SystemClock.Instance, impatient);
        Assert.Equal(7, collection.ReadSizes(3)!.DataBytes);
        Assert.Equal("COLLSCAN", collection.Explain(SeriesFile.Find("q7"))!.Stages);
        Assert.Equal(["fsync", "collStats", "explain"], commands);
        Assert.Equal(0, collection.LostConnections);
    }

    [Fact]
    public void Sizes_without_fsync_and_no_plan_are_taken_as_they_are()
    {
        _server.Answer = exchange => exchange.Reply(CommandOf(exchange) == "collStats"
            ? BsonDocument.Of(("size", 7L), ("ok", 1.0))
            : Refusal(59, "CommandNotFound"));
        using WireCollection collection = Open(_clock);
        Assert.Equal(7, collection.ReadSizes(3)!.DataBytes);
        Assert.Null(collection.Explain(SeriesFile.Find("q7")));
        Assert.Equal(1, _handshakes);
    }

    [Fact]
    public void A_mongod_that_routes_and_is_stale_is_made_to_look_again_by_a_find()
    {
        var commands = new List<string>();
        _server.Answer = exchange =>
        {
            commands.Add(CommandOf(exchange));
            exchange.Reply(commands[^1] != "explain" ? Done
                : !commands.Contains("clusterFind") ? Refusal(13388, "StaleConfig")
                : BsonDocument.Of(("queryPlanner", BsonDocument.Of(("winningPlan", BsonDocument.Of(("stage", "COLLSCAN"))))), ("ok", 1.0)));
        };
        using WireCollection collection = Open(_clock, new ConnectionSettings { Dialect = CommandDialect.RoutingMongod });
        Assert.Equal("COLLSCAN", collection.Explain(SeriesFile.Find("q7"))!.Stages);
        Assert.Equal(["explain", "clusterFind", "explain"], commands);
        Assert.Equal((1, 0L), (_handshakes, collection.LostConnections));
    }

    /// <summary>
    /// mongod writes nothing when it explains, but who knows of others: a write is planned, and its search carried out as a find.
    /// </summary>
    [Theory]
    [InlineData("update: c, filter: {a: 1}, with: {$inc: {b: 1}}, hint: a_1, collation: {locale: en}, writeConcern: {w: 0}",
        """{"find": "c", "filter": {"a": 1}, "hint": "a_1", "collation": {"locale": "en"}, "limit": 1, "singleBatch": true}""")]
    [InlineData("update: c, filter: {a: 1}, with: {$inc: {b: 1}}, many: true", """{"find": "c", "filter": {"a": 1}}""")]
    [InlineData("delete: c, filter: {a: 1}", """{"find": "c", "filter": {"a": 1}, "limit": 1, "singleBatch": true}""")]
    [InlineData("delete: c, filter: {a: 1}, many: true", """{"find": "c", "filter": {"a": 1}}""")]
    [InlineData("findAndModify: c, filter: {a: 1}, with: {$inc: {b: 1}}, sort: {b: -1}, let: {x: 3}",
        """{"find": "c", "filter": {"a": 1}, "sort": {"b": -1}, "let": {"x": 3}, "limit": 1, "singleBatch": true}""")]
    public void A_write_is_only_planned_and_what_it_reads_is_that_of_a_find(string operation, string find)
    {
        List<BsonDocument> asked = AnswerExplains(
            command => command == "find" ? """{"stage": "FETCH"}""" : """{"stage": "UPDATE", "inputStage": {"stage": "IDHACK"}}""");
        using WireCollection collection = Open(_clock);
        PlanSummary plan = collection.Explain(OperationOf(operation))!;
        Assert.Equal(["queryPlanner", "executionStats"], asked.Select(request => request.FindString("verbosity")));
        Assert.Equal(find, ExtendedJson.Write(asked[1].FindDocument("explain")!.Bytes));
        Assert.Equal(("UPDATE > IDHACK", "_id_", 7L), (plan.Stages, plan.Index, plan.DocumentsExamined));
    }

    [Theory]
    [InlineData("{$out: other}", "$out")]
    [InlineData("{$merge: {into: other}}", "$merge")]
    public void A_pipeline_that_writes_is_explained_without_its_last_stage(string stage, string name)
    {
        List<BsonDocument> asked = AnswerExplains(_ => """{"stage": "COLLSCAN"}""");
        using WireCollection collection = Open(_clock);
        PlanSummary plan = collection.Explain(OperationOf(
            "aggregate: c, pipeline: [{$match: {a: 1}}, " + stage + "], writeConcern: {w: 1}"))!;
        Assert.Equal("""{"aggregate": "c", "pipeline": [{"$match": {"a": 1}}], "cursor": {}}""",
            ExtendedJson.Write(Assert.Single(asked).FindDocument("explain")!.Bytes));
        Assert.Equal(($"{name} > COLLSCAN", 7L), (plan.Stages, plan.DocumentsExamined));
    }

    [Theory]
    [InlineData("find: c, filter: {a: 1}")]
    [InlineData("count: c, filter: {a: 1}")]
    [InlineData("distinct: c, field: b, filter: {a: 1}")]
    [InlineData("update: c, filter: {a: 1}, with: {$inc: {b: 1}}")]
    public void What_is_only_planned_is_not_carried_out(string operation)
    {
        List<BsonDocument> asked = AnswerExplains(_ => """{"stage": "COLLSCAN"}""");
        using WireCollection collection = Open(_clock);
        Assert.NotNull(collection.Explain(OperationOf(operation), isCarriedOut: false));
        Assert.Equal("queryPlanner", Assert.Single(asked).FindString("verbosity"));
    }

    /// <summary>Seen with 6.0.5: a shard that is asked to explain clusterUpdate asks itself, until its memory is full.</summary>
    [Fact]
    public void A_mongod_that_routes_is_never_asked_to_explain_a_write()
    {
        List<BsonDocument> asked = AnswerExplains(_ => """{"stage": "COLLSCAN"}""");
        using WireCollection collection = Open(_clock, new ConnectionSettings { Dialect = CommandDialect.RoutingMongod });
        Assert.Null(collection.Explain(OperationOf("update: c, filter: {a: 1}, with: {$inc: {b: 1}}")));
        Assert.Null(collection.Explain(OperationOf("findAndModify: c, filter: {a: 1}, with: {$inc: {b: 1}}")));
        Assert.Empty(asked);
        Assert.NotNull(collection.Explain(OperationOf("count: c, filter: {a: 1}")));
        Assert.Equal(("clusterAggregate", 0L), (asked[0].FindDocument("explain")!.First().Key, collection.LostConnections));
    }

    /// <summary>Every run explains: a server that never answers that may not hold one up for ever, nor once for each operation.</summary>
    [Fact]
    public void A_server_that_never_answers_explain_is_asked_once()
    {
        int asked = 0;
        _server.Answer = _ => asked++;
        using WireCollection collection = Open(SystemClock.Instance, TimeSpan.FromMilliseconds(50));
        Assert.Null(collection.Explain(OperationOf("find: c, filter: {a: 1}")));
        Assert.Null(collection.Explain(OperationOf("count: c, filter: {a: 1}")));
        Assert.Equal(1, asked);
    }

    [Fact]
    public void A_stop_ends_a_command_that_has_no_time_out()
    {
        using var stop = new CancellationTokenSource();
        _server.Answer = _ => ThreadPool.QueueUserWorkItem(_ => stop.Cancel());
        using WireCollection collection = Open(SystemClock.Instance);
        collection.Stop = stop.Token;
        // Otherwise it would wait for ever.
        Assert.Throws<ConnectionFailedException>(() => collection.ReadSizes(3));
    }

    /// <returns>What is asked, as it comes.</returns>
    private List<BsonDocument> AnswerExplains(Func<string, string> planOf)
    {
        var asked = new List<BsonDocument>();
        _server.Answer = exchange =>
        {
            var request = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
            if (request.First().Key == "explain")
                asked.Add(request);
            exchange.Reply(BsonDocument.Of(
                ("queryPlanner", BsonDocument.Of(("winningPlan",
                    ExtendedJson.Parse(planOf(request.FindDocument("explain")?.First().Key ?? ""))))),
                ("executionStats", BsonDocument.Of(("nReturned", 1L), ("totalKeysExamined", 1L), ("totalDocsExamined", 7L))),
                ("ok", 1.0)));
        };
        return asked;
    }

    private static Operation OperationOf(string operation) => PlanReader.Read(
        new ScenarioFile("test", "test.yaml", "data: {c: {document: {a: ^number, b: 1}, indexes: [a]}, other: {}}\n"
            + "phases: [{name: p, count: 1, operations: [{" + operation + "}]}]\n"),
        new PlanOverrides(), 42).Plan.Operations.Last();

    private static BsonDocument Refusal(int code, string name) =>
        BsonDocument.Of(("ok", 0.0), ("errmsg", "not now"), ("code", code), ("codeName", name));

    private static string CommandOf(Exchange exchange) => new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()).First().Key;

    private WireCollection Open(IClock clock) => Open(clock, new ConnectionSettings { ReplyTimeout = TimeSpan.FromSeconds(20) });

    private WireCollection Open(IClock clock, TimeSpan patience) =>
        new(new CollectionAccess(() => _server.Address, ConnectionSettings.Default, "d", clock, TimeSpan.FromSeconds(10)), "c",
            SeriesFile.Documents(), new CollectionShape([])) { ExplainPatience = patience };

    private WireCollection Open(IClock clock, ConnectionSettings connections, CollectionShape? shape = null) =>
        new(new CollectionAccess(() => _server.Address, connections, "d", clock, TimeSpan.FromSeconds(10)), "c",
            SeriesFile.Documents(), shape ?? new CollectionShape([]));
}
