using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What goes over the wire for a scenario's operations, and what it costs.</summary>
public sealed class WireOperationTests
{
    private const int Operations = 5_000;

    private static readonly BsonDocument Found = BsonDocument.Of(
        ("cursor", BsonDocument.Of(("firstBatch", new[] { BsonDocument.Of(("a", 1)) }), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));
    private static readonly BsonDocument Written = BsonDocument.Of(("n", 1), ("nModified", 1), ("ok", 1.0));

    private static readonly DocumentTemplate Fixed = new(
        DocumentValue.Of(("n", new SequenceValue(NumberKind.Int64, 0, 1)), ("b", FillerValue.Binary(new LengthRange(100, 100), 7))),
        42, "c");
    private static readonly DocumentTemplate Varying = new(
        DocumentValue.Of(("_id", new NumberedTextValue("user", 1, true)), ("w", new WordValue(WordList.Count, 8))), 42, "c");

    [Fact]
    public void Find_by_a_key_of_fixed_length_allocates_nothing() => Assert.Equal(0, Allocated(Found, FindById(Fixed)));

    [Fact]
    public void Find_by_a_key_of_varying_length_allocates_nothing() => Assert.Equal(0, Allocated(Found, FindById(Varying)));

    [Fact]
    public void Update_allocates_nothing() => Assert.Equal(0, Allocated(Written, new UpdateDocuments(
        "update", "c", ById(Varying), DocumentValue.Of(("$set", DocumentValue.Of(("w", new WordValue(10, 3))))))
        {
            Chooser = new UniformKeys(new KeySpace(1000)), MustMatch = true, MustModify = true,
        }));

    [Fact]
    public void Insert_of_varying_length_allocates_nothing() =>
        Assert.Equal(0, Allocated(Written, new InsertDocuments("insert", "c", Varying, 1, true) { Keys = new KeySpace(0) }));

    [Fact]
    public void Insert_of_fixed_length_allocates_nothing() =>
        Assert.Equal(0, Allocated(Written, new InsertDocuments("insert", "c", Fixed, 1, true) { Keys = new KeySpace(0) }));

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Find_asks_for_the_document_that_was_drawn_each_time_anew(bool isFixed)
    {
        DocumentTemplate documents = isFixed ? Fixed : Varying;
        using var sent = new Recorder(Found);
        IPreparedOperation operation = sent.Prepare(FindById(documents) with { Chooser = new SequentialKeys(new KeySpace(5)) });
        for (int i = 0; i < 7; i++)
            Assert.True(operation.Draw() && operation.Execute().Succeeded);
        BsonDocument[] commands = [.. sent.Commands];
        Assert.Equal(Enumerable.Range(0, 7).Select(i => documents.Make(i % 5).Find("_id")!.Value.Bytes.ToArray()),
            commands.Select(c => c.Find("filter._id")!.Value.Bytes.ToArray()));
        Assert.All(commands, c => Assert.Equal(["find", "filter", "limit", "singleBatch", "$db"], c.Select(e => e.Key)));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Batch_holds_the_next_documents_and_the_last_one_what_is_left(bool isFixed)
    {
        DocumentTemplate documents = isFixed ? Fixed : Varying;
        using var sent = new Recorder(Written);
        IPreparedOperation operation = sent.Prepare(new InsertDocuments("load", "c", documents, 3, false), new NumberSource(0, 8));
        var counts = new List<int>();
        while (operation.Draw())
            counts.Add(operation.Execute().Documents);
        // The server counts 1 each time, so that a short count is no success.
        Assert.Equal([1, 1, 1], counts);
        Assert.Equal([3, 3, 2], sent.Inserted.Select(batch => batch.Count));
        Assert.Equal(Enumerable.Range(0, 8).Select(i => documents.Make(i).Bytes.ToArray()),
            sent.Inserted.SelectMany(batch => batch).Select(d => d.Bytes.ToArray()));
    }

    [Fact]
    public void Commands_are_named_as_the_router_names_them()
    {
        using var sent = new Recorder(Found, ConnectionSettings.Default with { Dialect = CommandDialect.RoutingMongod });
        IPreparedOperation find = sent.Prepare(FindById(Fixed));
        Assert.True(find.Draw() && find.Execute().Succeeded);
        Assert.Equal("clusterFind", sent.Commands.Single().First().Key);
    }

    /// <summary>Who watches tells by the writer which of two events is out of order.</summary>
    [Fact]
    public void A_tracked_insert_is_known_with_its_writer_and_the_time_of_its_acknowledgement()
    {
        using var sent = new Recorder(Written);
        var keys = new KeySpace(40);
        var writes = new TrackedWrites(keys, null, watchers: 1);
        IPreparedOperation insert = sent.Prepare(
            new InsertDocuments("insert", "c", Fixed, 1, true) { Keys = keys, Tracked = writes }, thread: 3);
        Assert.True(insert.Draw() && insert.Execute().Succeeded);
        insert.Track(1, 500);
        Assert.True(writes.Inserts.TryFind(40, out long ticks, out int worker));
        Assert.Equal((500, 3), (ticks, worker));
    }

    /// <summary>A command that is given as it is has a cursor of whatever collection the server says.</summary>
    [Theory]
    [InlineData("d.other", "other")]
    [InlineData("d.c", "c")]
    [InlineData("d.$cmd.listIndexes.c", "$cmd.listIndexes.c")]
    [InlineData("d.", null)]
    [InlineData("d", null)]
    [InlineData("dd.c", null)]
    [InlineData("e.c", null)]
    [InlineData("", null)]
    [InlineData(null, null)]
    public void A_commands_cursor_is_read_on_where_the_server_says_and_never_in_another_database(string? nameSpace, string? collection)
    {
        using var sent = new Recorder(command => command.First().Key == "getMore" ? Cursor("nextBatch", 0) : Cursor("firstBatch", 77));
        IPreparedOperation operation = sent.Prepare(
            new DatabaseCommand("list", "c", DocumentValue.Of(BsonDocument.Of(("listIndexes", "c")))) { Database = "d" });
        Assert.True(operation.Draw());
        if (collection is null)
        {
            Assert.Contains("outside database 'd'", Assert.Throws<WireProtocolException>(() => operation.Execute()).Message,
                StringComparison.Ordinal);
            return;
        }

        Assert.Equal(2, operation.Execute().Documents);
        Assert.Equal($$"""{"getMore": 77, "collection": "{{collection}}", "$db": "d"}""",
            ExtendedJson.Write(sent.Commands[1].Bytes));

        BsonDocument Cursor(string batch, long id) => BsonDocument.Of(
            ("cursor", BsonDocument.Of([(batch, new[] { BsonDocument.Of(("a", 1)) }), ("id", id),
                .. nameSpace is null ? [] : ((string, object?)[])[("ns", nameSpace)]])), ("ok", 1.0));
    }

    [Fact]
    public void A_cursor_that_the_server_does_not_read_on_fails_with_its_reason()
    {
        using var sent = new Recorder(command => command.First().Key == "getMore"
            ? BsonDocument.Of(("ok", 0.0), ("code", 43), ("codeName", "CursorNotFound"), ("errmsg", "gone"))
            : BsonDocument.Of(
                ("cursor", BsonDocument.Of(("firstBatch", new[] { BsonDocument.Of(("a", 1)) }), ("id", 77L), ("ns", "d.c"))), ("ok", 1.0)));
        IPreparedOperation find = sent.Prepare(new FindDocuments("read", "c", DocumentValue.Empty));
        Assert.True(find.Draw());
        Assert.False(find.Execute().Succeeded);
        Assert.Equal((43, "CursorNotFound"), (find.LastError!.Code, find.LastError.Name));
    }

    /// <summary>The first reply's documents are compared, although the next replies take its place.</summary>
    [Theory]
    [InlineData(1, 0, 0)]
    [InlineData(1, 1, 1)]
    [InlineData(0, 0, 0)]
    [InlineData(0, 1, 1)]
    public void Documents_of_the_first_reply_that_has_any_are_compared(int atOnce, int key, int wrong)
    {
        BsonDocument[] first = [.. Enumerable.Range(0, atOnce).Select(_ => Fixed.Make(key))];
        BsonDocument[] next = [.. Enumerable.Range(atOnce, 2).Select(_ => Fixed.Make(atOnce == 0 ? key : 5))];
        using var sent = new Recorder(command => BsonDocument.Of(("cursor", command.First().Key == "getMore"
            ? BsonDocument.Of(("nextBatch", next[..1]), ("id", 0L), ("ns", "d.c"))
            : BsonDocument.Of(("firstBatch", first), ("id", 77L), ("ns", "d.c"))), ("ok", 1.0)));
        IPreparedOperation find = sent.Prepare(new FindDocuments("read", "c", ById(Fixed))
        {
            Chooser = new SequentialKeys(new KeySpace(1)), Expected = Fixed, IsOfKey = true,
        });
        for (int i = 0; i < 2; i++)
        {
            Assert.True(find.Draw() && find.Execute().Succeeded);
            Assert.Equal(new VerificationOutcome(1, wrong), find.Verify());
        }
    }

    [Fact]
    public void Concerns_are_sent_with_the_command()
    {
        using var sent = new Recorder(Written);
        IPreparedOperation operation = sent.Prepare(new DeleteDocuments("delete", "c", ById(Fixed))
        {
            Chooser = new UniformKeys(new KeySpace(10)),
            Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", "majority")) },
        });
        Assert.True(operation.Draw() && operation.Execute().Succeeded);
        BsonDocument command = sent.Commands.Single();
        Assert.Equal("majority", command.FindString("writeConcern.w"));
        Assert.Equal(1, command.FindInt64("deletes.0.limit"));
    }

    [Fact]
    public void Wrong_document_is_found_out()
    {
        using var sent = new Recorder(Found);
        IPreparedOperation find = sent.Prepare(FindById(Fixed) with { Expected = Fixed });
        Assert.True(find.Draw() && find.Execute().Succeeded);
        Assert.Equal(new VerificationOutcome(1, 1), find.Verify());
    }

    private static DocumentValue ById(DocumentTemplate documents) => DocumentValue.Of(("_id", ReferenceValue.Of(documents, documents.Id)));

    private static FindDocuments FindById(DocumentTemplate documents) => new("read", "c", ById(documents))
    {
        Limit = new LiteralValue(BsonDocument.Of(("v", 1)).First().Value),
        Chooser = new UniformKeys(new KeySpace(1000)),
    };

    private static long Allocated(BsonDocument reply, Operation specification)
    {
        using var server = new CannedServer(reply);
        using var executor = new WireExecutor(_ => server.Address, ConnectionSettings.Default, "d");
        executor.Connect();
        IPreparedOperation operation = executor.Prepare(specification, new OperationContext(42, 0, null));
        bool succeeded = Repeat(operation, 1000);
        long least = Allocation.LeastBytes(() => succeeded &= Repeat(operation, Operations));
        return succeeded ? least : -1;
    }

    private static bool Repeat(IPreparedOperation operation, int times)
    {
        bool succeeded = true;
        for (int i = 0; i < times; i++)
            succeeded &= operation.Draw() && operation.Execute().Succeeded;
        return succeeded;
    }

    /// <summary>A server that answers everything with one reply and remembers what it was sent.</summary>
    private sealed class Recorder : IDisposable
    {
        private readonly LyingServer _server = new();
        private readonly WireExecutor _executor;

        public Recorder(BsonDocument reply, ConnectionSettings? settings = null)
            : this(_ => reply, settings)
        {
        }

        public Recorder(Func<BsonDocument, BsonDocument> reply, ConnectionSettings? settings = null)
        {
            _server.Answer = exchange =>
            {
                OpMsg message = OpMsg.Parse(exchange.Request);
                Commands.Add(new BsonDocument(message.Body.ToArray()));
                foreach (DocumentSequence sequence in message.Sequences)
                    Inserted.Add(Split(sequence.Documents));
                exchange.Reply(reply(Commands[^1]));
            };
            _executor = new WireExecutor(_ => _server.Address, settings ?? ConnectionSettings.Default, "d");
            _executor.Connect();
        }

        public List<BsonDocument> Commands { get; } = [];

        public List<List<BsonDocument>> Inserted { get; } = [];

        public IPreparedOperation Prepare(Operation specification, NumberSource? numbers = null, int thread = 0) =>
            _executor.Prepare(specification, new OperationContext(42, 0, numbers) { Thread = thread });

        public void Dispose()
        {
            _executor.Dispose();
            _server.Dispose();
        }

        private static List<BsonDocument> Split(ReadOnlySpan<byte> documents)
        {
            var list = new List<BsonDocument>();
            while (documents.Length > 0)
            {
                int length = new BsonReader(documents).Document.Length;
                list.Add(new BsonDocument(documents[..length].ToArray()));
                documents = documents[length..];
            }

            return list;
        }
    }
}
