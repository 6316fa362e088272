using MongoPerf.Deployments.Null;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

public sealed class NullServerTests : IDisposable
{
    private const string Database = "perf";
    private readonly NullServer _server = NullServer.Start();
    private readonly MongoConnection _connection;
    private readonly DocumentGenerator _generator = new(seed: 5);
    private readonly OpMsgWriter _writer = new();

    public NullServerTests() => _connection = MongoConnection.Open(new ServerAddress("127.0.0.1", _server.Port), ConnectionSettings.Default);

    public void Dispose()
    {
        _connection.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void Hello_says_that_it_is_the_null_server() => Assert.True(_connection.Server.Document.IsTrue("mongoperfNull"));

    [Fact]
    public void Inserted_numbers_are_listed_by_a_range_of_ids_over_several_batches()
    {
        Insert(0, 1000);
        Insert(1200, 1000);
        BsonDocument range = BsonDocument.Of(("$gte", _generator.Numbers.IdOf(900)), ("$lt", _generator.Numbers.IdOf(2000)));
        List<long> numbers = [.. _connection.RunCursor(Database, BsonDocument.Of(
            ("find", "docs"), ("filter", BsonDocument.Of(("_id", range))), ("projection", BsonDocument.Of(("_id", 1))), ("batchSize", 130)))
            .Select(document => _generator.Numbers.NumberOf(document.Find("_id")!.Value.ToObjectId()))];
        Assert.Equal([.. Range(900, 1000), .. Range(1200, 2000)], numbers);
    }

    [Fact]
    public void A_range_that_ends_with_its_batch_leaves_no_cursor()
    {
        Insert(0, 100);
        BsonDocument all = BsonDocument.Of(("$gte", _generator.Numbers.IdOf(0)));
        BsonDocument reply = _connection.RunCommand(Database, BsonDocument.Of(
            ("find", "docs"), ("filter", BsonDocument.Of(("_id", all))), ("batchSize", 100)));
        Assert.Equal(0, reply.FindInt64("cursor.id"));
    }

    [Fact]
    public void Unacknowledged_inserts_are_counted_and_fenced_by_a_ping()
    {
        byte[] document = new byte[DocumentGenerator.DocumentLength];
        for (int number = 0; number < 5000; number++)
        {
            _generator.Fill(number, document);
            _writer.Begin(OpMsgFlags.MoreToCome, number);
            _writer.Body.WriteString("insert"u8, "docs");
            _writer.EndBody(Database);
            _writer.BeginSequence("documents"u8);
            _writer.Body.WriteRaw(document);
            _writer.EndSequence();
            _connection.Send(_writer.Finish());
        }

        _connection.RunCommand("admin", BsonDocument.Of(("ping", 1)));
        Assert.Equal(5000, Count());
    }

    [Fact]
    public void A_number_that_is_there_is_a_duplicate_key_and_the_others_of_an_unordered_batch_go_in()
    {
        Insert(10, 5);
        BsonDocument reply = Insert(8, 10, ordered: false);
        Assert.Equal(5, reply.FindInt64("n"));
        Assert.Equal(11000, reply.FindInt64("writeErrors.0.code"));
        Assert.Equal([2, 3, 4, 5, 6], reply.FindDocument("writeErrors")!.Select(error => error.Value.ToDocument().FindInt64("index")!.Value));
        Assert.Equal(10, Count());
    }

    [Fact]
    public void An_ordered_batch_stops_at_the_first_duplicate()
    {
        Insert(12, 1);
        Assert.Equal(2, Insert(10, 10, ordered: true).FindInt64("n"));
        Assert.Equal(3, Count());
    }

    [Fact]
    public void Documents_with_ids_of_another_kind_are_counted()
    {
        for (ulong seed = 0; seed < 3; seed++)
        {
            object[] documents = [.. Enumerable.Range(0, 500).Select(i => BsonDocument.Of(
                ("_id", new ObjectId(7, ((seed * 500) + (ulong)i) << 40)), ("Text", new string('x', 300))))];
            _connection.RunCommand(Database, BsonDocument.Of(("insert", "docs"), ("documents", documents)));
        }

        Assert.Equal(1500, Count());
    }

    [Theory]
    [InlineData("q4", 10)]
    [InlineData("q5", 10)]
    [InlineData("q6", 10)]
    [InlineData("q7", 100)]
    public void A_query_of_the_series_is_answered_with_right_documents(string test, int documents)
    {
        for (int from = 0; from < 20_000; from += 1000)
            Insert(from, 1000);
        FindSpecification find = SeriesTests.Find(test, DocumentGenerator.ValueRange);
        List<BsonDocument> found = [.. _connection.RunCursor(Database, find.ToCommand("docs"))];
        Assert.Equal(documents, found.Count);
        byte[] scratch = new byte[DocumentGenerator.DocumentLength];
        long previous = long.MaxValue;
        foreach (BsonDocument document in found)
        {
            if (test != "q7")
                Assert.InRange(document.FindInt64("Number")!.Value, 900_000, 999_999);
            if (test == "q5")
            {
                Assert.InRange(document.FindInt64("Number1")!.Value, 900_000, 999_999);
                Assert.Equal(["Number", "Number1"], document.Select(field => field.Key));
                continue;
            }

            Assert.True(_generator.Matches(_generator.Numbers.NumberOf(document.Find("_id")!.Value.ToObjectId()), document.Bytes, scratch));
            if (test == "q6")
                Assert.True(document.FindInt64("Date") <= previous);
            previous = document.FindInt64("Date")!.Value;
        }
    }

    [Fact]
    public void A_query_finds_no_more_than_the_collection_holds()
    {
        Insert(0, 7);
        FindSpecification find = SeriesTests.Find("q7", DocumentGenerator.ValueRange);
        Assert.Equal(7, _connection.RunCursor(Database, find.ToCommand("docs")).Count());
        Insert(7, 7);
        Assert.Equal(14, _connection.RunCursor(Database, find.ToCommand("docs")).Count());
    }

    [Fact]
    public void A_marker_is_stored_changed_found_and_deleted()
    {
        _connection.RunCommand(Database, BsonDocument.Of(
            ("insert", "marker"), ("documents", new object[] { BsonDocument.Of(("_id", "mongoperf"), ("seed", 5L)) })));
        _connection.RunCommand(Database, BsonDocument.Of(
            ("update", "marker"),
            ("updates", new object[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("_id", "mongoperf"))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("step", 3)))))),
            })));
        BsonDocument find = BsonDocument.Of(("find", "marker"), ("filter", BsonDocument.Of(("_id", "mongoperf"))));
        BsonDocument marker = Assert.Single(_connection.RunCursor(Database, find));
        Assert.Equal(5, marker.FindInt64("seed"));
        Assert.Equal(3, marker.FindInt64("step"));
        _connection.RunCommand(Database, BsonDocument.Of(
            ("delete", "marker"), ("deletes", new object[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", "mongoperf"))), ("limit", 1)) })));
        Assert.Empty(_connection.RunCursor(Database, find));
    }

    [Fact]
    public void Indexes_are_listed_and_sizes_on_disk_are_nothing()
    {
        _connection.RunCommand(Database, BsonDocument.Of(
            ("createIndexes", "docs"),
            ("indexes", new object[] { BsonDocument.Of(("key", BsonDocument.Of(("Number", 1))), ("name", "Number_1")) })));
        Insert(0, 10);
        List<string?> names = [.. _connection.RunCursor(Database, BsonDocument.Of(("listIndexes", "docs"))).Select(index => index.FindString("name"))];
        Assert.Equal(["_id_", "Number_1"], names);
        BsonDocument sizes = _connection.RunCommand(Database, BsonDocument.Of(("collStats", "docs")));
        Assert.Equal(10 * 1024, sizes.FindInt64("size"));
        Assert.Equal(0, sizes.FindInt64("storageSize"));
        Assert.Equal(0, sizes.FindInt64("indexSizes.Number_1"));
    }

    [Fact]
    public void A_dropped_collection_is_empty_also_for_a_connection_that_used_it()
    {
        Insert(0, 10);
        _connection.RunCommand(Database, BsonDocument.Of(("drop", "docs")));
        Assert.Equal(0, Count());
        Insert(0, 3);
        Assert.Equal(3, Count());
    }

    [Fact]
    public void An_unknown_command_is_refused_with_code_59()
    {
        var e = Assert.Throws<ServerCommandException>(() => _connection.RunCommand("admin", BsonDocument.Of(("mapReduce", 1))));
        Assert.Equal(59, e.Code);
    }

    [Fact]
    public void Memory_does_not_grow_with_the_documents()
    {
        Insert(0, 1000);
        using var session = new NullSession(new NullStore());
        byte[] message = WriteInsert(0, 1000, ordered: true).ToArray();
        int firstDocument = message.Length - (1000 * DocumentGenerator.DocumentLength);
        Fill(message, firstDocument, 0);
        for (int i = 0; i < 30; i++)
            session.Answer(Patched(i));
        int next = 30;
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int end = next + 500; next < end; next++)
                session.Answer(Patched(next));
        }));

        // The numbers alone change: the server looks at nothing else.
        byte[] Patched(int batch)
        {
            for (int i = 0; i < 1000; i++)
                _generator.Numbers.IdOf((batch * 1000) + i).CopyTo(message.AsSpan(firstDocument + (i * DocumentGenerator.DocumentLength) + 9));
            return message;
        }
    }

    [Fact]
    public void A_query_that_was_asked_before_allocates_nothing()
    {
        using var session = new NullSession(new NullStore());
        for (int from = 0; from < 20_000; from += 1000)
            session.Answer(WriteInsert(from, 1000, ordered: true));
        byte[] query = _writer.WriteCommand(Database, SeriesTests.Find("q6", DocumentGenerator.ValueRange).ToCommand("docs"), 9).ToArray();
        session.Answer(query);
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 1000; i++)
                session.Answer(query);
        }));
    }

    [Fact]
    public void Server_status_counts_what_was_done()
    {
        Insert(0, 100);
        BsonDocument status = _connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1)));
        Assert.Equal(100, status.FindInt64("opcounters.insert"));
        Assert.Equal(1, status.FindInt64("connections.current"));
        Assert.Equal(Environment.ProcessId, status.FindInt64("pid"));
    }

    private static IEnumerable<long> Range(long from, long to)
    {
        for (long number = from; number < to; number++)
            yield return number;
    }

    private long Count() => _connection.RunCommand(Database, BsonDocument.Of(("count", "docs"))).FindInt64("n") ?? -1;

    private BsonDocument Insert(long from, int count, bool ordered = true) =>
        new(OpMsg.Parse(_connection.RoundTrip(WriteInsert(from, count, ordered))).Body.ToArray());

    private ReadOnlySpan<byte> WriteInsert(long from, int count, bool ordered)
    {
        _writer.Begin(OpMsgFlags.None, 1);
        _writer.Body.WriteString("insert"u8, "docs");
        _writer.Body.WriteBoolean("ordered"u8, ordered);
        _writer.EndBody(Database);
        _writer.BeginSequence("documents"u8);
        for (long number = from; number < from + count; number++)
            _generator.Fill(number, _writer.Body.Grow(DocumentGenerator.DocumentLength));
        _writer.EndSequence();
        return _writer.Finish();
    }

    private void Fill(byte[] message, int firstDocument, long from)
    {
        for (int at = firstDocument; at < message.Length; at += DocumentGenerator.DocumentLength)
            _generator.Fill(from++, message.AsSpan(at));
    }
}
