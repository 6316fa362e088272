using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>What commands leave behind inside the server.</summary>
public sealed class SessionTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly ServerContext _context;
    private readonly CommandDispatcher _session;
    private readonly ReplyWriter _reply = new();

    public SessionTests()
    {
        var options = new EmbeddedServerOptions { DataPath = _folder.Path, CacheBytes = 64 << 20 };
        _context = new ServerContext(DocumentStore.Open(options.DataPath, 64 << 20), options);
        _session = new CommandDispatcher(_context, 1);
        Run("{'insert': 'c', 'documents': [{'_id': 1}, {'_id': 2}, {'_id': 3}]}");
    }

    [Theory]
    [InlineData("{'find': 'c'}")]
    [InlineData("{'count': 'c', 'query': {'_id': 1}}")]
    [InlineData("{'distinct': 'c', 'key': '_id'}")]
    [InlineData("{'aggregate': 'c', 'pipeline': [], 'cursor': {}}")]
    [InlineData("{'explain': {'find': 'c'}}")]
    [InlineData("{'getMore': {'$numberLong': 'CURSOR'}, 'collection': 'c'}")]
    [InlineData("{'insert': 'c', 'documents': [{'_id': 9}]}")]
    [InlineData("{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'a': 1}}}]}")]
    [InlineData("{'delete': 'c', 'deletes': [{'q': {}, 'limit': 0}]}")]
    [InlineData("{'findAndModify': 'c', 'remove': true}")]
    [InlineData("{'validate': 'c'}")]
    [InlineData("{'compact': 'c'}")]
    public void Command_that_gives_up_waiting_for_a_collection_is_not_counted_and_holds_nothing(string command)
    {
        // A getMore takes its time limit from its find.
        bool isGetMore = command.Contains("CURSOR", StringComparison.Ordinal);
        if (isGetMore)
            command = command.Replace(
                "CURSOR", $"{Run("{'find': 'c', 'batchSize': 1, 'maxTimeMS': 40}").FindInt64("cursor.id")}", StringComparison.Ordinal);
        Assert.True(_context.Store.TryFind("test.c", out Collection? collection));
        using (collection.Lock.EnterWrite())
            Assert.Equal(50, Run(isGetMore ? command : $"{command[..^1]}, 'maxTimeMS': 20}}").FindInt64("code"));
        Assert.Equal((0, 0), (_context.Counters.ActiveReaders, _context.Counters.ActiveWriters));
        // Who had kept the lock would keep this one waiting for good.
        using (collection.Lock.EnterWrite())
            Assert.Equal(3, collection.DocumentCount);
    }

    [Fact]
    public void Constants_that_a_command_worked_out_do_not_outlive_it()
    {
        FindQuery usual = _session.Session.Query;
        Assert.Equal(3, Run("{'count': 'c', 'query': {'$expr': {'$ne': ['$_id', {'$range': [0, 10]}]}}}").FindInt64("n"));
        Assert.Same(usual, _session.Session.Query);
        Run("{'update': 'c', 'updates': [{'q': {'$expr': {'$eq': ['$_id', {'$range': [0, 100000]}]}}, 'u': {'$set': {'x': 1}}}]}");
        Assert.NotSame(usual, _session.Session.Query);
    }

    [Theory]
    [InlineData("{'find': 'c', 'sort': {'x': 1}, 'batchSize': 1}")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'_id': 1}}, {'$sort': {'_id': -1}}], 'cursor': {'batchSize': 1}}")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$group': {'_id': '$_id'}}], 'cursor': {'batchSize': 1}}")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$sample': {'size': 3}}], 'cursor': {'batchSize': 1}}")]
    [InlineData("{'find': 'c', 'filter': {'$expr': {'$ne': ['$_id', {'$range': [0, 100]}]}}, 'batchSize': 1}")]
    public void What_a_cursor_keeps_is_counted_until_it_ends(string command)
    {
        long? id = Run(command).FindInt64("cursor.id");
        Assert.InRange(_context.Cursors.HeldBytes, 3 * 20, 3000);
        Run($"{{'getMore': {{'$numberLong': '{id}'}}, 'collection': 'c'}}");
        Assert.Equal((0, 0), (_context.Cursors.HeldBytes, _context.Cursors.Count));
    }

    public void Dispose()
    {
        _session.Dispose();
        _context.Dispose();
        _folder.Dispose();
    }

    private BsonDocument Run(string json)
    {
        _reply.BeginMessage(1, 1);
        byte[] body = TestClient.Json($"{json[..^1]}, '$db': 'test'}}").Bytes.ToArray();
        _session.Handle(new CommandRequest(body, default, wantsReply: true, isLegacyQuery: false), _reply);
        return new BsonDocument(_reply.Body.Written[_reply.BodyStart..].ToArray());
    }
}
