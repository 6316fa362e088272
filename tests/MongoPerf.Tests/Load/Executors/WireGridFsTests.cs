using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Whole files written and read over the wire, against a server that keeps them, or loses some of them.</summary>
public sealed class WireGridFsTests : IDisposable
{
    private const int FileLength = 2500;
    private static readonly GridFsFileSet Files = new(42, new GridFsBucket("fs", 1000), FileLength);

    private readonly LyingServer _server = new();
    private readonly WireExecutor _executor;
    private readonly List<(string Command, BsonDocument[] Documents)> _inserts = [];

    public WireGridFsTests()
    {
        _server.Answer = Keep;
        _executor = new WireExecutor(_ => _server.Address, ConnectionSettings.Default, "d");
        _executor.Connect();
    }

    public void Dispose()
    {
        _executor.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void Chunks_are_written_before_the_document_that_makes_a_file_of_them()
    {
        IPreparedOperation write = Write(count: 2);
        Assert.Equal(new OperationOutcome(true, 1, FileLength), Run(write));
        Assert.Equal(new OperationOutcome(true, 1, FileLength), Run(write));
        Assert.False(write.Draw());
        Assert.Equal(["fs.chunks", "fs.files", "fs.chunks", "fs.files"], _inserts.Select(i => i.Command));
        GridFsFile file = Files.FileAt(1);
        var document = new BsonWriter();
        file.Write(document);
        Assert.Equal(document.ToArray(), Assert.Single(_inserts[3].Documents).Bytes.ToArray());
        var assembler = new GridFsAssembler();
        assembler.Start(file.Length, file.ChunkSize);
        Assert.All(_inserts[2].Documents, chunk => assembler.Add(chunk.Bytes));
        Assert.True(Files.Matches(1, assembler.Content, new byte[1000]));
        Assert.All(_inserts[2].Documents, chunk => Assert.Equal(file.Id, chunk.Find("files_id")!.Value.ToObjectId()));
    }

    [Fact]
    public void A_file_beyond_one_inserts_size_goes_in_several()
    {
        var files = new GridFsFileSet(42, new GridFsBucket("fs", 8 << 20), 20 << 20);
        IPreparedOperation write = _executor.Prepare(
            new UploadFile("write", "fs", files), new OperationContext(42, 0, new NumberSource(0, 1)));
        Assert.Equal(new OperationOutcome(true, 1, 20 << 20), Run(write));
        Assert.Equal([("fs.chunks", 2), ("fs.chunks", 1), ("fs.files", 1)], _inserts.Select(i => (i.Command, i.Documents.Length)));
    }

    [Fact]
    public void An_empty_file_has_no_chunk()
    {
        var files = new GridFsFileSet(42, new GridFsBucket(), 0);
        Assert.Equal(new OperationOutcome(true, 1, 0),
            Run(_executor.Prepare(new UploadFile("write", "fs", files), new OperationContext(42, 0, new NumberSource(0, 1)))));
        Assert.Equal(["fs.files"], _inserts.Select(i => i.Command));
        IPreparedOperation read = Read(files, 1);
        Assert.Equal(new OperationOutcome(true, 1, 0), Run(read));
        Assert.Equal(new VerificationOutcome(1, 0), read.Verify());
    }

    [Fact]
    public void A_chunk_may_be_as_small_as_a_byte()
    {
        var files = new GridFsFileSet(42, new GridFsBucket("fs", 1), 5);
        Run(_executor.Prepare(new UploadFile("write", "fs", files), new OperationContext(42, 0, new NumberSource(0, 1))));
        IPreparedOperation read = Read(files, 1);
        Assert.Equal(new OperationOutcome(true, 1, 5), Run(read));
        Assert.Equal(new VerificationOutcome(1, 0), read.Verify());
    }

    [Fact]
    public void What_was_written_is_read_back_over_several_replies()
    {
        IPreparedOperation write = Write(count: 5);
        for (int i = 0; i < 5; i++)
            Run(write);
        IPreparedOperation read = Read(count: 5);
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal(new OperationOutcome(true, 1, FileLength), Run(read));
            Assert.Equal(new VerificationOutcome(1, 0), read.Verify());
        }
    }

    [Theory]
    [InlineData("the file", "file not found")]
    [InlineData("a chunk", "chunk 2 found where chunk 1 was expected")]
    [InlineData("the last chunk", "chunk 2 is missing: 2000 of the file's 2500 bytes found")]
    public void A_file_of_which_something_is_lost_is_a_failed_read(string lost, string text)
    {
        Run(Write(count: 1));
        int chunks = _inserts.FindIndex(i => i.Command == "fs.chunks");
        BsonDocument[] stored = _inserts[chunks].Documents;
        if (lost == "the file")
            _inserts.RemoveAll(i => i.Command == "fs.files");
        else
            _inserts[chunks] = ("fs.chunks", lost == "a chunk" ? [stored[0], stored[2]] : stored[..2]);
        IPreparedOperation read = Read(count: 1);
        Assert.Equal(default, Run(read));
        Assert.Equal((0, "GridFsFormatError", text), (read.LastError!.Code, read.LastError.Name, read.LastError.Message));
    }

    [Fact]
    public void Bytes_that_were_changed_are_found_when_they_are_compared()
    {
        Run(Write(count: 1));
        int chunks = _inserts.FindIndex(i => i.Command == "fs.chunks");
        byte[] changed = _inserts[chunks].Documents[1].Bytes.ToArray();
        changed[^10] ^= 1;
        _inserts[chunks].Documents[1] = new BsonDocument(changed);
        IPreparedOperation read = Read(count: 1);
        Assert.True(Run(read).Succeeded);
        Assert.Equal(new VerificationOutcome(1, 1), read.Verify());
    }

    [Theory]
    [InlineData("fs.chunks")]
    [InlineData("fs.files")]
    public void A_refused_insert_is_a_failed_write(string refused)
    {
        _server.Answer = exchange =>
        {
            if (new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()).FindString("insert") == refused)
                exchange.Reply(BsonDocument.Of(("n", 0),
                    ("writeErrors", new[] { BsonDocument.Of(("index", 0), ("code", 11000), ("errmsg", "E11000")) }), ("ok", 1.0)));
            else
                Keep(exchange);
        };
        IPreparedOperation write = Write(count: 1);
        Assert.Equal(default, Run(write));
        Assert.Equal(11000, write.LastError!.Code);
    }

    [Fact]
    public void Files_that_were_uploaded_in_a_phase_can_be_asked_for()
    {
        var keys = new KeySpace(0);
        IPreparedOperation write = _executor.Prepare(new UploadFile("write", "fs", Files) { Keys = keys },
            new OperationContext(42, 0, null));
        Assert.True(write.Draw());
        Assert.Equal(0, keys.Count);
        Assert.True(write.Execute().Succeeded);
        Assert.Equal(1, keys.Count);
        // One whose connection broke is given back when the next is drawn.
        Assert.True(write.Draw());
        Assert.True(write.Draw());
        Assert.Equal(2, keys.Count);
    }

    [Fact]
    public void Concerns_go_with_every_command_and_a_router_hears_its_own_names()
    {
        var heard = new List<string>();
        _server.Answer = exchange =>
        {
            BsonDocument command = new(OpMsg.Parse(exchange.Request).Body.ToArray());
            heard.Add($"{command.First().Key} {command.First().Value} {command.Find("writeConcern.w")}{command.Find("readConcern.level")}");
            exchange.Reply(BsonDocument.Of(("n", command.First().Value.ToString() == "fs.chunks" ? 3 : 1), ("ok", 1.0),
                ("cursor", BsonDocument.Of(("firstBatch", new[] { BsonDocument.Of(("length", 0L), ("chunkSize", 1000)) }), ("id", 0L)))));
        };
        using var executor = new WireExecutor(
            _ => _server.Address, ConnectionSettings.Default with { Dialect = CommandDialect.RoutingMongod }, "d");
        executor.Connect();
        var concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", 2)), ReadConcern = "majority" };
        Run(executor.Prepare(
            new UploadFile("write", "fs", Files) { Concerns = concerns }, new OperationContext(42, 0, new NumberSource(0, 1))));
        Run(executor.Prepare(new DownloadFile("read", "fs", Files) { Concerns = concerns, Chooser = new UniformKeys(new KeySpace(1)) },
            new OperationContext(42, 0, null)));
        Assert.Equal(
            ["clusterInsert fs.chunks 2", "clusterInsert fs.files 2", "clusterFind fs.files majority", "clusterFind fs.chunks majority"],
            heard);
    }

    private static OperationOutcome Run(IPreparedOperation operation)
    {
        Assert.True(operation.Draw());
        return operation.Execute();
    }

    private IPreparedOperation Write(int count) =>
        _executor.Prepare(new UploadFile("write", "fs", Files), new OperationContext(42, 0, new NumberSource(0, count)));

    private IPreparedOperation Read(int count) => Read(Files, count);

    private IPreparedOperation Read(GridFsFileSet files, int count) =>
        _executor.Prepare(new DownloadFile("read", "fs", files) { Chooser = new UniformKeys(new KeySpace(count)) },
            new OperationContext(42, 0, null));

    /// <summary>A server that keeps what is inserted and hands chunks out two at a time.</summary>
    private void Keep(Exchange exchange)
    {
        OpMsg message = OpMsg.Parse(exchange.Request);
        var body = new BsonDocument(message.Body.ToArray());
        if (body.FindString("insert") is { } collection)
        {
            BsonDocument[] documents = DocumentsOf(message);
            _inserts.Add((collection, documents));
            exchange.Reply(BsonDocument.Of(("n", documents.Length), ("ok", 1.0)));
            return;
        }

        string found = body.FindString("find") ?? body.FindString("collection")!;
        BsonDocument[] all = [.. _inserts.Where(i => i.Command == found)
            .SelectMany(i => i.Documents).Where(document => IsAskedFor(document, body))];
        exchange.Reply(body.Find("getMore") is { } cursor
            ? Batch("nextBatch", all[2..], 0, cursor.ToInt64())
            : Batch("firstBatch", all.Take(2), all.Length > 2 ? 77 : 0, 77));
    }

    private ObjectId _askedFor;

    private bool IsAskedFor(BsonDocument document, BsonDocument command)
    {
        string field = document.Find("files_id") is null ? "_id" : "files_id";
        if (command.Find("filter." + field) is { } id)
            _askedFor = id.ToObjectId();
        return document.Find(field)!.Value.ToObjectId() == _askedFor;
    }

    private static BsonDocument Batch(string name, IEnumerable<BsonDocument> documents, long id, long cursor)
    {
        Assert.Equal(77, cursor);
        return BsonDocument.Of(("cursor", BsonDocument.Of((name, documents), ("id", id), ("ns", "d.fs"))), ("ok", 1.0));
    }

    private static BsonDocument[] DocumentsOf(OpMsg message)
    {
        var documents = new List<BsonDocument>();
        foreach (DocumentSequence sequence in message.Sequences)
        {
            for (int at = 0; at < sequence.Documents.Length;)
            {
                int length = BitConverter.ToInt32(sequence.Documents[at..]);
                documents.Add(new BsonDocument(sequence.Documents.Slice(at, length).ToArray()));
                at += length;
            }
        }

        return [.. documents];
    }
}
