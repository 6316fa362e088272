using System.Diagnostics;
using MongoPerf.Load.Collections;
using MongoPerf.Measurement;
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
    public void Another_refusal_is_told_at_once()
    {
        _server.Answer = exchange => exchange.Reply(Refusal(14031, "OutOfDiskSpace"));
        using WireCollection collection = Open(_clock);
        Assert.Equal(14031, Assert.Throws<ServerCommandException>(() => collection.Checkpoint(5)).Code);
        Assert.Equal((1, 0L), (_handshakes, collection.LostConnections));
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
        _server.Answer = exchange =>
        {
            string command = CommandOf(exchange);
            commands.Add(command);
            Thread.Sleep(400);
            exchange.Reply(command switch
            {
                "collStats" => BsonDocument.Of(("size", 7L), ("ok", 1.0)),
                "explain" => BsonDocument.Of(
                    ("queryPlanner", BsonDocument.Of(("winningPlan", BsonDocument.Of(("stage", "COLLSCAN"))))), ("ok", 1.0)),
                _ => Done,
            });
        };
        using WireCollection collection = Open(SystemClock.Instance, replySeconds: 0.1);
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

    [Fact]
    public void A_stop_ends_a_command_that_has_no_time_out()
    {
        using var stop = new CancellationTokenSource();
        _server.Answer = _ => ThreadPool.QueueUserWorkItem(_ => stop.Cancel());
        using WireCollection collection = Open(SystemClock.Instance);
        collection.Stop = stop.Token;
        long begun = Stopwatch.GetTimestamp();
        Assert.Throws<ConnectionFailedException>(() => collection.ReadSizes(3));
        Assert.InRange(Stopwatch.GetElapsedTime(begun).TotalSeconds, 0, 15);
    }

    private static BsonDocument Refusal(int code, string name) =>
        BsonDocument.Of(("ok", 0.0), ("errmsg", "not now"), ("code", code), ("codeName", name));

    private static string CommandOf(Exchange exchange) => new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()).First().Key;

    private WireCollection Open(IClock clock, double replySeconds = 20) =>
        Open(clock, new ConnectionSettings { ReplyTimeout = TimeSpan.FromSeconds(replySeconds) });

    private WireCollection Open(IClock clock, ConnectionSettings connections) =>
        new(new CollectionAccess(() => _server.Address, connections, "d", clock, TimeSpan.FromSeconds(10)), "c",
            SeriesFile.Documents(), new CollectionShape([]));
}
