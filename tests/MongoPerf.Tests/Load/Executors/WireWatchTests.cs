using MongoPerf.Load.Collections;
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

/// <summary>What goes over the wire for a change stream, and how it goes on after a server that refuses or goes away.</summary>
public sealed class WireWatchTests : IDisposable
{
    private static readonly WatchChanges Watch = new(
        "watch", "users", new DocumentTemplate(DocumentValue.Of(("_id", new SequenceValue(NumberKind.Int64, 0, 1))), 7, "users"));

    private readonly LyingServer _server = new() { Handshake = exchange => exchange.Reply(LyingServer.Hello(17, isMember: true)) };
    private readonly List<BsonDocument> _commands = [];
    private readonly WireExecutor _executor;

    public WireWatchTests() => _executor = new WireExecutor(_ => _server.Address, ConnectionSettings.Default, "d");

    public void Dispose()
    {
        _executor.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void A_stream_is_read_on_and_resumed_behind_its_last_reply_when_the_connection_has_broken()
    {
        Answer(_ => Batch(5, "first"), _ => Batch(5, "second", Event(1), Event(2)), null, _ => Batch(6, "third", Event(3)));
        IPreparedOperation watch = Prepare();
        Assert.True(watch.Execute().Succeeded);
        Assert.Equal((2, 0), (watch.Changes!.Events, watch.Changes.Resumed));
        Assert.ThrowsAny<IOException>(() => watch.Execute());
        _executor.Connect();
        Assert.True(watch.Execute().Succeeded);
        Assert.Equal((1, 1), (watch.Changes.Events, watch.Changes.Resumed));
        Assert.Equal(["aggregate", "getMore", "getMore", "aggregate"], _commands.Select(command => command.First().Key));
        Assert.Null(_commands[0].Find("pipeline.0.$changeStream.resumeAfter"));
        Assert.Equal((5, 200), (_commands[1].FindInt64("getMore"), _commands[1].FindInt64("maxTimeMS")));
        Assert.Equal("second", _commands[3].FindString("pipeline.0.$changeStream.resumeAfter._data"));
    }

    [Fact]
    public void A_refused_reply_fails_and_the_next_opens_the_stream_again()
    {
        Answer(_ => Batch(5, "first"), _ => Error(234, "RetryChangeStream"), _ => Batch(6, "second"));
        IPreparedOperation watch = Prepare();
        Assert.False(watch.Execute().Succeeded);
        Assert.Equal(234, watch.LastError!.Code);
        Assert.True(watch.Execute().Succeeded);
        Assert.Equal("first", _commands[2].FindString("pipeline.0.$changeStream.resumeAfter._data"));
    }

    [Fact]
    public void A_stream_whose_place_the_oplog_has_lost_ends_the_run()
    {
        Answer(_ => Batch(5, "first"), _ => Error(286, "ChangeStreamHistoryLost"));
        IPreparedOperation watch = Prepare();
        Assert.Equal(286, Assert.Throws<ServerCommandException>(() => watch.Execute()).Code);
    }

    [Fact]
    public void A_server_that_refuses_the_stream_is_told_before_the_phase()
    {
        Answer(_ => Error(40573, "Location40573"));
        Assert.Equal(40573, Assert.Throws<ServerCommandException>(Prepare).Code);
    }

    [Fact]
    public void A_delay_ends_when_the_reply_with_the_event_has_come()
    {
        var clock = new ManualClock();
        var keys = new KeySpace(0);
        var writes = new TrackedWrites(keys, null, watchers: 1);
        keys.Take();
        writes.Inserts.Add(0, worker: 0, ticks: 1_000_000);
        Answer(_ => Batch(5, "first"), _ =>
        {
            clock.Advance(1.25);
            return Batch(5, "second", Event(0));
        });
        _executor.Connect();
        IPreparedOperation watch = _executor.Prepare(
            Watch with { Tracked = writes }, new OperationContext(1, 0, null) { Clock = clock });
        Assert.True(watch.Execute().Succeeded);
        Assert.Equal([250_000], watch.Changes!.Delays.ToArray());
    }

    [Fact]
    public void A_standalone_server_is_refused()
    {
        _server.Handshake = exchange => exchange.Reply(LyingServer.Hello(17));
        Assert.StartsWith("watch: a change stream needs a replica set or a real mongos, and this server is neither",
            Assert.Throws<OperationLimitException>(Prepare).Message, StringComparison.Ordinal);
    }

    private static BsonDocument Event(long number) =>
        BsonDocument.Of(("operationType", "insert"), ("documentKey", BsonDocument.Of(("_id", number))));

    private static BsonDocument Batch(long id, string token, params BsonDocument[] events) => BsonDocument.Of(
        ("cursor", BsonDocument.Of(("id", id), ("nextBatch", events), ("postBatchResumeToken", BsonDocument.Of(("_data", token))))),
        ("ok", 1.0));

    private static BsonDocument Error(int code, string name) =>
        BsonDocument.Of(("ok", 0.0), ("code", code), ("codeName", name), ("errmsg", "no"));

    /// <param name="replies">The replies to one request after the other; null breaks the connection.</param>
    private void Answer(params Func<BsonDocument, BsonDocument>?[] replies) => _server.Answer = exchange =>
    {
        var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
        _commands.Add(command);
        if (replies[_commands.Count - 1] is { } reply)
            exchange.Reply(reply(command));
        else
            exchange.Close();
    };

    private IPreparedOperation Prepare()
    {
        _executor.Connect();
        return _executor.Prepare(Watch, new OperationContext(1, 0, null));
    }
}
