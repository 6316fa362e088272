using MongoPerf.Deployments.Null;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Deployments;

/// <summary>The null server asked by the program's own client, and by commands as any driver sends them.</summary>
public sealed class NullServerTests : IDisposable
{
    private const string Database = "perf";
    private const ulong Seed = 5;

    private static readonly PlanCollection Docs = Collection("docs", ("Number", new IntegerValue(NumberKind.Int32, 0, 999_999, 3)),
        ("Text", FillerValue.Text(new LengthRange(300, 300), 4)));
    private static readonly PlanCollection Falling = Collection("falling", ("_id", new SequenceValue(NumberKind.Int64, 1_000_000, -2)),
        ("Text", FillerValue.Text(new LengthRange(10, 90), 4)));
    private static readonly PlanCollection Users = Collection("users", ("_id", new NumberedTextValue("user", 1, isHashed: true)),
        ("name", new WordValue(1000, 9)), ("age", new IntegerValue(NumberKind.Int32, 1, 99, 8)));
    private static readonly GridFsFileSet FileSet = new(Seed, new GridFsBucket("files", 1000), 2500);
    private static readonly PlanCollection Files = Docs with { Name = "files", Files = FileSet };

    private readonly EmbeddedServer _server = NullServer.Start(0, [Docs, Falling, Users, Files]);
    private readonly MongoConnection _connection;

    public NullServerTests() => _connection = MongoConnection.Open(Address, ConnectionSettings.Default);

    public static TheoryData<string> Collections => ["docs", "falling", "users"];

    private ServerAddress Address => new("127.0.0.1", _server.Port);

    public void Dispose()
    {
        _connection.Dispose();
        _server.Dispose();
    }

    /// <summary>What the null server answers itself must not reach the embedded one.</summary>
    private sealed class NoSession : ICommandSession
    {
        public void Handle(in CommandRequest request, ReplyWriter reply) => throw new Xunit.Sdk.XunitException(request.NameText);

        public void Dispose()
        {
        }
    }

    [Fact]
    public void A_command_that_is_refused_has_removed_nothing()
    {
        Write(Docs, 0, 100);
        BsonDocument all = BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0));
        BsonDocument[] refused =
        [
            BsonDocument.Of(("drop", "docs"), ("extra", 1)), BsonDocument.Of(("dropDatabase", 1), ("extra", 1)),
            BsonDocument.Of(("delete", "docs"), ("deletes", new[] { all, BsonDocument.Of(("q", BsonDocument.Empty), ("limit", "x")) })),
        ];
        foreach (BsonDocument command in refused)
        {
            Assert.False(_connection.RunUnchecked(Database, command).IsTrue("ok"));
            Assert.Equal(100, Run(("count", "docs")).FindInt64("n"));
        }

        _connection.RunUnchecked(Database, BsonDocument.Of(("drop", "docs")));
        Assert.Equal(0, Run(("count", "docs")).FindInt64("n"));
    }

    [Fact]
    public void Hello_says_that_it_is_the_null_server() => Assert.True(_connection.Server.Document.IsTrue("mongoperfNull"));

    [Theory]
    [MemberData(nameof(Collections))]
    public void Documents_that_did_not_arrive_are_found_and_written_again(string name)
    {
        PlanCollection collection = PlanOf(name);
        using WireDataStore data = OpenData();
        if (name == "users")
        {
            // Their _ids do not tell numbers: the first ones count as those that came.
            Write(collection, 0, 25_000);
            Assert.Equal([new NumberRange(25_000, 30_000)], data.FindMissing(collection, new NumberRange(5000, 30_000)));
            Assert.Equal(25_000, data.FindEnd(collection, 12_345));
            Assert.Equal(25_000, data.FindEnd(collection, 25_000));
            return;
        }

        Write(collection, 0, 10_000);
        Write(collection, 12_000, 25_000);
        Assert.Equal([new NumberRange(10_000, 12_000), new NumberRange(25_000, 30_000)],
            data.FindMissing(collection, new NumberRange(5000, 30_000)));
        Assert.Equal(25_000, data.FindEnd(collection, 5000));
        data.Write(collection, new NumberRange(9000, 12_000));
        Assert.Empty(data.FindMissing(collection, new NumberRange(0, 25_000)));
        // Those that were there already do not count twice.
        Assert.Equal(25_000, data.Count(collection));
    }

    [Theory]
    [MemberData(nameof(Collections))]
    public void An_empty_collection_misses_everything(string name)
    {
        using WireDataStore data = OpenData();
        Assert.Equal([new NumberRange(0, 100)], data.FindMissing(PlanOf(name), new NumberRange(0, 100)));
        Assert.Equal(0, data.FindEnd(PlanOf(name), 0));
    }

    [Theory]
    [InlineData("docs")]
    [InlineData("falling")]
    public void A_document_that_is_asked_for_by_its_id_comes_byte_by_byte(string name)
    {
        PlanCollection collection = PlanOf(name);
        Write(collection, 0, 100);
        var find = new FindDocuments("read", name, DocumentValue.Of(("_id", collection.Documents.Id)))
        {
            Expected = collection.Documents, IsOfKey = true, Limit = One, Chooser = new SequentialKeys(new KeySpace(100)).ForWorker(),
        };
        using WireExecutor executor = OpenExecutor();
        IPreparedOperation read = executor.Prepare(find, new OperationContext(Seed, 0, null));
        for (int i = 0; i < 100; i++)
        {
            Assert.True(read.Draw());
            Assert.Equal(1, read.Execute().Documents);
            Assert.Equal(new VerificationOutcome(1, 0), read.Verify());
        }
    }

    [Fact]
    public void A_document_that_never_came_is_not_found()
    {
        Write(Docs, 0, 100);
        Assert.Empty(Find("docs", BsonDocument.Of(("_id", Docs.Documents.Ids.Of(100))), limit: 1));
        Assert.Empty(Find("docs", BsonDocument.Of(("_id", "of another kind")), limit: 1));
    }

    [Fact]
    public void A_range_of_ids_brings_its_documents_in_order_over_several_batches()
    {
        Write(Docs, 0, 300);
        BsonDocument range = BsonDocument.Of(("$gt", Docs.Documents.Ids.Of(9)), ("$lte", Docs.Documents.Ids.Of(260)));
        BsonDocument[] found = [.. _connection.RunCursor(
            Database, BsonDocument.Of(("find", "docs"), ("filter", BsonDocument.Of(("_id", range))), ("batchSize", 70)))];
        Assert.Equal(251, found.Length);
        for (int i = 0; i < found.Length; i++)
            Assert.Equal(Docs.Documents.Make(10 + i).Bytes.ToArray(), found[i].Bytes.ToArray());
    }

    [Fact]
    public void A_range_that_ends_with_its_batch_leaves_no_cursor()
    {
        Write(Docs, 0, 100);
        BsonDocument all = BsonDocument.Of(("$gte", Docs.Documents.Ids.Of(0)));
        BsonDocument reply = _connection.RunCommand(
            Database, BsonDocument.Of(("find", "docs"), ("filter", BsonDocument.Of(("_id", all))), ("batchSize", 100)));
        Assert.Equal(0, reply.FindInt64("cursor.id"));
        Assert.NotEqual(0, _connection.RunCommand(Database,
            BsonDocument.Of(("find", "docs"), ("filter", BsonDocument.Of(("_id", all))), ("batchSize", 99))).FindInt64("cursor.id"));
    }

    [Fact]
    public void Any_other_find_brings_as_many_of_the_templates_documents_as_its_limit_says()
    {
        Write(Docs, 0, 5000);
        BsonDocument condition = BsonDocument.Of(("Number", BsonDocument.Of(("$gte", 17))));
        foreach (int limit in (int[])[1, 10, 10, 10, 100, 10, 2500])
        {
            IReadOnlyList<BsonDocument> found = Find("docs", condition, limit);
            Assert.Equal(limit, found.Count);
            Assert.All(found, document =>
            {
                BsonValue id = document.Find("_id")!.Value;
                Assert.Equal(
                    Docs.Documents.Make(Docs.Documents.Ids.NumberOf(id.Type, id.Bytes.Span)).Bytes.ToArray(), document.Bytes.ToArray());
            });
        }

        Assert.Equal(101, Find("docs", condition, limit: null).Count);
    }

    [Fact]
    public void A_find_brings_no_more_than_the_collection_holds()
    {
        Assert.Empty(Find("docs", BsonDocument.Empty, limit: 10));
        Write(Docs, 0, 7);
        Assert.Equal(7, Find("docs", BsonDocument.Empty, limit: 10).Count);
        Write(Docs, 7, 9);
        Assert.Equal(9, Find("docs", BsonDocument.Empty, limit: 10).Count);
    }

    [Fact]
    public void A_projection_lets_the_named_fields_through()
    {
        Write(Docs, 0, 50);
        Assert.All(Find("docs", BsonDocument.Empty, 5, ("Number", 1)),
            document => Assert.Equal(["_id", "Number"], document.Select(field => field.Key)));
        Assert.All(Find("docs", BsonDocument.Empty, 5, ("_id", 0), ("Text.x", 1)),
            document => Assert.Equal(["Text"], document.Select(field => field.Key)));
        Assert.All(Find("docs", BsonDocument.Of(("_id", Docs.Documents.Ids.Of(3))), 5, ("Text", 1)),
            document => Assert.Equal(["_id", "Text"], document.Select(field => field.Key)));
        // What is not understood lets everything through.
        Assert.All(Find("docs", BsonDocument.Empty, 5, ("Number", 0)), document => Assert.Equal(3, document.Count()));
    }

    [Fact]
    public void A_file_that_was_uploaded_is_downloaded_whole()
    {
        using WireExecutor executor = OpenExecutor();
        IPreparedOperation upload = executor.Prepare(new UploadFile("up", "files", FileSet),
            new OperationContext(Seed, 0, new NumberSource(0, 3)));
        while (upload.Draw())
            Assert.True(upload.Execute().Succeeded, upload.LastError?.Message);
        IPreparedOperation download = executor.Prepare(
            new DownloadFile("down", "files", FileSet) { Chooser = new SequentialKeys(new KeySpace(3)) },
            new OperationContext(Seed, 0, null));
        for (int i = 0; i < 3; i++)
        {
            download.Draw();
            Assert.Equal(new OperationOutcome(true, 1, 2500), download.Execute());
            Assert.Equal(new VerificationOutcome(1, 0), download.Verify());
        }

        using WireDataStore data = OpenData();
        Assert.Equal(3, data.Count(Files));
    }

    [Fact]
    public void Unacknowledged_inserts_are_counted_and_fenced_by_a_ping()
    {
        using WireExecutor executor = OpenExecutor();
        var insert = new InsertDocuments("unack", "docs", Docs.Documents, 1, Ordered: true)
        {
            Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", 0)) },
        };
        IPreparedOperation unacknowledged = executor.Prepare(insert, new OperationContext(Seed, 0, new NumberSource(0, 5000)));
        while (unacknowledged.Draw())
            unacknowledged.Execute();
        unacknowledged.Complete();
        using WireDataStore data = OpenData();
        Assert.Equal(5000, data.Count(Docs));
        Assert.Empty(data.FindMissing(Docs, new NumberRange(0, 5000)));
    }

    [Fact]
    public void Documents_that_are_no_templates_are_counted()
    {
        object[] documents = [.. Enumerable.Range(0, 500).Select(i => BsonDocument.Of(("_id", i), ("Text", "x")))];
        Assert.Equal(500, Run(("insert", "docs"), ("documents", documents)).FindInt64("n"));
        Assert.Equal(500, Run(("insert", "others"), ("documents", documents)).FindInt64("n"));
        Assert.Equal(500, Run(("count", "docs")).FindInt64("n"));
        Assert.Equal(500, Run(("count", "others")).FindInt64("n"));
    }

    [Fact]
    public void A_collection_without_a_template_is_the_embedded_servers()
    {
        Run(("insert", "others"),
            ("documents", Enumerable.Range(0, 500).Select(number => BsonDocument.Of(("_id", number), ("Text", "x")))));
        Assert.Equal([7], Find("others", BsonDocument.Of(("_id", 7)), 10).Select(document => (int)document.FindInt64("_id")!.Value));
        Run(("update", "others"), ("updates",
            new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", 7))), ("u", BsonDocument.Of(("$inc", BsonDocument.Of(("_x", 2)))))) }));
        Assert.Equal(1, Run(("count", "others"), ("query", BsonDocument.Of(("_x", 2)))).FindInt64("n"));
    }

    [Fact]
    public void Markers_are_kept_and_changed_and_go_with_their_collection()
    {
        using WireDataStore data = OpenData();
        data.Create(Docs, documents: 0);
        data.Create(Users, documents: 7);
        data.Checkpoint(Docs, 1234);
        CollectionState state = data.Inspect(Docs.Stored[0]);
        Assert.True(state.Exists);
        Assert.Equal((Seed, 1234, "run-1"), (state.Marker!.Seed, state.Marker.Documents, state.Marker.RunId));
        Assert.Equal(7, data.Inspect(Users.Stored[0]).Marker!.Documents);
        using WireCollection markers = OpenCollection(Docs.Stored[0]);
        Assert.Equal(["docs", "users"], markers.FindMarked("run-1", null));
        data.Drop(Docs);
        Assert.Equal(new CollectionState(false, null), data.Inspect(Docs.Stored[0]));
        Assert.NotNull(data.Inspect(Users.Stored[0]).Marker);
    }

    [Fact]
    public void Writes_by_filter_find_one_document_each()
    {
        BsonDocument change = BsonDocument.Of(
            ("q", BsonDocument.Of(("Number", 3))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("Number", 4))))));
        BsonDocument removal = BsonDocument.Of(("q", BsonDocument.Of(("Number", 3))), ("limit", 1));
        Assert.Equal(0, Run(("update", "docs"), ("updates", new[] { change })).FindInt64("n"));
        Assert.Equal(0, Run(("delete", "docs"), ("deletes", new[] { removal })).FindInt64("n"));
        BsonDocument upsert = BsonDocument.Of(
            ("q", BsonDocument.Of(("Number", 3))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("Number", 4))))), ("upsert", true));
        BsonDocument upserted = Run(("update", "docs"), ("updates", new[] { upsert }));
        Assert.Equal((1, 0, 1), (upserted.FindInt64("n"), upserted.FindInt64("nModified"), upserted.FindDocument("upserted")!.Count()));
        Write(Docs, 0, 10);
        BsonDocument updated = Run(("update", "docs"), ("updates", new[] { change, change }));
        Assert.Equal((2, 2), (updated.FindInt64("n"), updated.FindInt64("nModified")));
        Assert.Equal(1, Run(("delete", "docs"), ("deletes", new[] { removal })).FindInt64("n"));
        Assert.Equal(9, Run(("count", "docs")).FindInt64("n"));
        BsonDocument modified = Run(("findAndModify", "docs"), ("query", BsonDocument.Of(("_id", Docs.Documents.Ids.Of(3)))),
            ("update", BsonDocument.Empty));
        Assert.Equal(Docs.Documents.Make(3).Bytes.ToArray(), modified.FindDocument("value")!.Bytes.ToArray());
        Run(("findAndModify", "docs"), ("query", BsonDocument.Empty), ("remove", true));
        Assert.Equal(8, Run(("count", "docs")).FindInt64("n"));
        Assert.Equal(
            8, Run(("delete", "docs"), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })).FindInt64("n"));
        Assert.Equal(0, Run(("count", "docs")).FindInt64("n"));
        Assert.Empty(Find("docs", BsonDocument.Of(("_id", Docs.Documents.Ids.Of(3))), limit: 1));
    }

    [Fact]
    public void Questions_are_answered_by_the_number_of_documents()
    {
        Run(("create", "docs"));
        Write(Docs, 0, 40);
        BsonDocument group = BsonDocument.Of(("$group", BsonDocument.Of(("_id", null), ("n", BsonDocument.Of(("$sum", 1))))));
        Assert.Equal(40, Assert.Single(_connection.RunCursor(Database, Aggregate(group))).FindInt64("n"));
        BsonDocument statistics = Assert.Single(_connection.RunCursor(
            Database, Aggregate(BsonDocument.Of(("$collStats", BsonDocument.Of(("storageStats", BsonDocument.Empty)))))));
        Assert.Equal(40, statistics.FindInt64("storageStats.count"));
        Assert.Equal(40, Run(("count", "docs"), ("query", BsonDocument.Of(("Number", 3)))).FindInt64("n"));
        Assert.Equal(1, Run(("count", "docs"), ("limit", 1)).FindInt64("n"));
        Assert.NotNull(Run(("distinct", "docs"), ("key", "Number")).FindInt64("values.0"));
    }

    [Fact]
    public void Explain_names_the_index_that_begins_with_the_first_field()
    {
        Run(("createIndexes", "docs"),
            ("indexes", new[] { BsonDocument.Of(("key", BsonDocument.Of(("Number", 1), ("Text", 1))), ("name", "Number_1_Text_1")) }));
        Write(Docs, 0, 40);
        using WireDataStore data = OpenData();
        data.Inspect(Docs.Stored[0]);
        Assert.Equal(("Number_1_Text_1", "LIMIT > FETCH > IXSCAN"), PlanFor(data, "Number"));
        Assert.Equal((null, "LIMIT > COLLSCAN"), PlanFor(data, "Text"));
        Assert.Equal("_id_", PlanFor(data, "_id").Index);
    }

    [Fact]
    public void Indexes_are_listed_and_the_size_of_documents_is_that_of_those_that_came()
    {
        Run(("createIndexes", "docs"),
            ("indexes", new[] { BsonDocument.Of(("key", BsonDocument.Of(("Number", 1))), ("name", "Number_1")) }));
        Write(Docs, 0, 10);
        Assert.Equal(["_id_", "Number_1"],
            _connection.RunCursor(Database, BsonDocument.Of(("listIndexes", "docs"))).Select(index => index.FindString("name")));
        BsonDocument sizes = Run(("collStats", "docs"));
        Assert.Equal(10 * Docs.BytesPerDocument, sizes.FindInt64("size"));
        Assert.True(sizes.FindInt64("storageSize") < 10 * Docs.BytesPerDocument, "sizes on disk are those of an empty collection");
        Assert.NotNull(sizes.FindInt64("indexSizes.Number_1"));
        Run(("dropIndexes", "docs"), ("index", "Number_1"));
        Assert.Single(_connection.RunCursor(Database, BsonDocument.Of(("listIndexes", "docs"))));
    }

    [Fact]
    public void A_dropped_collection_is_empty_also_for_a_connection_that_used_it()
    {
        Run(("create", "docs"));
        Write(Docs, 0, 10);
        Run(("count", "docs"));
        using (MongoConnection other = MongoConnection.Open(Address, ConnectionSettings.Default))
            other.RunCommand(Database, BsonDocument.Of(("drop", "docs")));
        Assert.Equal(0, Run(("count", "docs")).FindInt64("n"));
        Assert.Equal(26, Assert.Throws<ServerCommandException>(() => Run(("drop", "docs"))).Code);
        Run(("create", "docs"));
        Write(Docs, 0, 3);
        Assert.Equal(3, Run(("count", "docs")).FindInt64("n"));
        Assert.Equal(48, Assert.Throws<ServerCommandException>(() => Run(("create", "docs"))).Code);
    }

    [Fact]
    public void Two_connections_that_insert_in_turn_leave_one_range()
    {
        using WireExecutor first = OpenExecutor();
        using WireExecutor second = OpenExecutor();
        var numbers = new NumberSource(0, 4000);
        var insert = new InsertDocuments("insert", "docs", Docs.Documents, 10, Ordered: true);
        Parallel.Invoke(() => InsertAll(first, insert, numbers), () => InsertAll(second, insert, numbers));
        using WireDataStore data = OpenData();
        Assert.Equal(4000, data.Count(Docs));
        Assert.Empty(data.FindMissing(Docs, new NumberRange(0, 4000)));
    }

    [Fact]
    public void An_unknown_command_is_refused_with_code_59() =>
        Assert.Equal(
            59, Assert.Throws<ServerCommandException>(() => _connection.RunCommand("admin", BsonDocument.Of(("mapReduce", 1)))).Code);

    [Fact]
    public void What_is_no_document_is_refused_and_the_connection_goes_on()
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, 1);
        writer.Body.WriteString("insert"u8, "docs");
        writer.EndBody(Database);
        writer.BeginSequence("documents"u8);
        writer.Body.WriteRaw([9, 0, 0, 0, 0]);
        writer.EndSequence();
        Assert.Equal(9, new BsonDocument(OpMsg.Parse(_connection.RoundTrip(writer.Finish())).Body.ToArray()).FindInt64("code"));
        Assert.Equal(0, Run(("count", "docs")).FindInt64("n"));
    }

    [Fact]
    public void Inserts_and_finds_allocate_nothing()
    {
        using var session = new NullSession(new NoSession(), new NullStore([Docs]), new ServerCounters());
        var reply = new ReplyWriter();
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, 1);
        writer.Body.WriteString("insert"u8, "docs");
        writer.EndBody(Database);
        writer.BeginSequence("documents"u8);
        for (long number = 0; number < 100; number++)
            Docs.Documents.Write(writer.Body, number);
        writer.EndSequence();
        byte[] insert = writer.Finish().ToArray();
        byte[] query = writer.WriteCommand(
            Database, BsonDocument.Of(("find", "docs"), ("filter", BsonDocument.Of(("Number", 7))), ("limit", 10)), 9).ToArray();
        byte[] read = writer.WriteCommand(Database,
            BsonDocument.Of(("find", "docs"), ("filter", BsonDocument.Of(("_id", Docs.Documents.Ids.Of(7)))), ("limit", 1)), 9).ToArray();
        Handle(insert);
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                Handle(insert);
                Handle(read);
                Handle(query);
            }
        }));

        void Handle(byte[] message)
        {
            OpMsg parsed = OpMsg.Parse(message);
            reply.BeginMessage(1, 1);
            session.Handle(new CommandRequest(parsed.Body, parsed.Sequences, wantsReply: true, isLegacyQuery: false), reply);
            Assert.True(reply.Finish().Length > 40);
        }
    }

    [Fact]
    public void Server_status_counts_what_was_done()
    {
        Write(Docs, 0, 100);
        Find("docs", BsonDocument.Empty, 10);
        BsonDocument status = Status();
        Assert.Equal((100, 1, 10),
            (status.FindInt64("opcounters.insert"), status.FindInt64("opcounters.query"), status.FindInt64("metrics.document.returned")));
        Assert.Equal(Environment.ProcessId, status.FindInt64("pid"));
        Assert.True(status.FindInt64("network.bytesIn") > 100 * Docs.BytesPerDocument);
        // The server may notice a little later that the one that wrote is closed.
        Eventually.Is(() => Status().FindInt64("connections.current") == 1);

        BsonDocument Status() => _connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1)));
    }

    private static LiteralValue One => new(BsonDocument.Of(("v", 1)).First().Value);

    private static PlanCollection Collection(string name, params ReadOnlySpan<(string, TemplateValue)> fields) =>
        new() { Name = name, Count = 100, Documents = new DocumentTemplate(DocumentValue.Of(fields), Seed, name) };

    private static PlanCollection PlanOf(string name) => new[] { Docs, Falling, Users }.Single(collection => collection.Name == name);

    private static BsonDocument Aggregate(BsonDocument stage) =>
        BsonDocument.Of(("aggregate", "docs"), ("pipeline", new[] { stage }), ("cursor", BsonDocument.Empty));

    private static (string? Index, string Stages) PlanFor(WireDataStore data, string field)
    {
        PlanSummary plan = data.Explain(new FindDocuments("q", "docs", DocumentValue.Of((field, One)))
        {
            Limit = new LiteralValue(BsonDocument.Of(("v", 10)).First().Value),
        })!;
        return (plan.Index, plan.Stages);
    }

    private static void InsertAll(WireExecutor executor, InsertDocuments insert, NumberSource numbers)
    {
        IPreparedOperation prepared = executor.Prepare(insert, new OperationContext(Seed, 0, numbers));
        while (prepared.Draw())
            Assert.True(prepared.Execute().Succeeded, prepared.LastError?.Message);
    }

    private void Write(PlanCollection collection, long first, long end)
    {
        using WireExecutor executor = OpenExecutor();
        InsertAll(executor, new InsertDocuments("insert", collection.Name, collection.Documents, 1000, Ordered: true),
            new NumberSource(first, end));
    }

    private BsonDocument Run(params ReadOnlySpan<(string, object?)> command) => _connection.RunCommand(Database, BsonDocument.Of(command));

    private IReadOnlyList<BsonDocument> Find(
        string collection, BsonDocument filter, int? limit, params ReadOnlySpan<(string, object?)> projection)
    {
        (string, object?)[] options = limit is null ? [] : [("limit", limit)];
        return [.. _connection.RunCursor(Database,
            BsonDocument.Of([("find", collection), ("filter", filter), ("projection", BsonDocument.Of(projection)), .. options]))];
    }

    private WireExecutor OpenExecutor()
    {
        var executor = new WireExecutor(_ => Address, ConnectionSettings.Default, Database);
        executor.Connect();
        return executor;
    }

    private WireCollection OpenCollection(StoredCollection stored) => new(
        new CollectionAccess(() => Address, ConnectionSettings.Default, Database, SystemClock.Instance, TimeSpan.FromSeconds(1)),
        stored.Name, stored.Documents, new CollectionShape(stored.Indexes, stored.Options));

    private WireDataStore OpenData() => new(OpenCollection, Seed, "run-1");
}
