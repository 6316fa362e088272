using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>The commands that are measured make no garbage; a collection in the middle of a window would show as latency.</summary>
public sealed class AllocationTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly ServerContext _context;

    public AllocationTests()
    {
        var options = new EmbeddedServerOptions { DataPath = _folder.Path, CacheBytes = 64 << 20 };
        _context = new ServerContext(DocumentStore.Open(options.DataPath, 64 << 20), options);
    }

    [Theory]
    [InlineData("{'find': 'c', 'filter': {'n': {'$gte': 3}}, 'limit': 10, 'singleBatch': true, '$db': 'test'}")]
    [InlineData("{'find': 'c', 'filter': {'n': {'$gte': 3}, 'm': {'$gte': 5}}, 'projection': {'_id': 0, 'n': 1, 'm': 1}, 'limit': 10, "
        + "'singleBatch': true, '$db': 'test'}")]
    [InlineData(
        "{'find': 'c', 'filter': {'n': {'$gte': 3}}, 'sort': {'d': -1}, 'skip': 100, 'limit': 10, 'singleBatch': true, '$db': 'test'}")]
    [InlineData("{'find': 'c', 'filter': {}, 'limit': 100, 'singleBatch': true, '$db': 'test'}")]
    public void Find_allocates_nothing(string command)
    {
        Fill();
        byte[] body = TestClient.Json(command).Bytes.ToArray();
        Assert.Equal(0, BytesPerRun(_ => body, 500));
    }

    [Fact]
    public void Insert_allocates_nothing()
    {
        Fill();
        byte[] body = TestClient.Json("{'insert': 'c', 'documents': [{'_id': 0, 'n': 7, 'm': 8}], '$db': 'test'}").Bytes.ToArray();
        int at = body.AsSpan().IndexOf("_id\0"u8) + 4;
        Assert.Equal(0, BytesPerRun(number =>
        {
            BitConverter.TryWriteBytes(body.AsSpan(at), 10_000 + number);
            return body;
        }, 500));
    }

    public void Dispose()
    {
        _context.Dispose();
        _folder.Dispose();
    }

    private void Fill()
    {
        using var session = new CommandDispatcher(_context, 1);
        var reply = new ReplyWriter();
        Run(session, reply, TestClient.Json("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n'}, {'key': {'m': 1}, 'name': "
            + "'m'}, {'key': {'d': -1}, 'name': 'd'}], '$db': 'test'}").Bytes);
        object[] documents = [.. Enumerable.Range(0, 500).Select(i => BsonDocument.Of(("_id", i), ("n", i % 10), ("m", i % 11), ("d", i)))];
        Run(session, reply, BsonDocument.Of(("insert", "c"), ("documents", documents), ("$db", "test")).Bytes);
    }

    private long BytesPerRun(Func<int, byte[]> body, int runs)
    {
        using var session = new CommandDispatcher(_context, 1);
        var reply = new ReplyWriter();
        int number = 0;
        for (int i = 0; i < runs; i++)
            Run(session, reply, body(number++));
        // The least of a few tries: the runtime allocates something of its own now and then.
        return Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < runs; i++)
                Run(session, reply, body(number++));
        }) / runs;
    }

    private static void Run(CommandDispatcher session, ReplyWriter reply, ReadOnlySpan<byte> body)
    {
        reply.BeginMessage(1, 1);
        session.Handle(new CommandRequest(body, default, wantsReply: true, isLegacyQuery: false), reply);
        var answer = new BsonReader(reply.Body.Written[reply.BodyStart..]);
        Assert.True(answer.Find("ok"u8) && answer.ToDouble() == 1);
    }
}
