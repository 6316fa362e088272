using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>
/// A server that answers a byte at a time, or without end, is left: time-outs are of whole replies, and a stop ends every wait.
/// </summary>
public sealed class ReplyTimeTests : IDisposable
{
    private static readonly TimeSpan Short = TimeSpan.FromSeconds(2);
    private static readonly BsonDocument Ping = BsonDocument.Of(("ping", 1));

    private readonly LyingServer _server = new();

    public void Dispose() => _server.Dispose();

    [Fact]
    public void A_reply_that_comes_byte_by_byte_is_given_up_when_its_time_is_over()
    {
        _server.Answer = Drip;
        using MongoConnection connection = Open(new ConnectionSettings { ReplyTimeout = Short });
        string message = Assert.Throws<ConnectionFailedException>(() => connection.RunCommand("d", Ping)).Message;
        Assert.EndsWith("bytes of a reply came within 2 s", message, StringComparison.Ordinal);
    }

    [Fact]
    public void So_is_one_to_a_command_that_may_take_as_long_as_it_likes_to_answer()
    {
        _server.Answer = Drip;
        using MongoConnection connection = Open(new ConnectionSettings { ReplyTimeout = Short });
        Assert.EndsWith("came within 2 s",
            Assert.Throws<ConnectionFailedException>(() => connection.RunLongCommand("d", Ping)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void So_is_one_that_stops_in_its_middle(bool isLong)
    {
        _server.Answer = exchange => exchange.Send(LyingServer.Message(Long, exchange.RequestId).AsSpan(0, 100));
        using MongoConnection connection = Open(new ConnectionSettings { ReplyTimeout = Short });
        var e = Assert.Throws<ConnectionFailedException>(() => isLong
            ? connection.RunLongCommand("d", Ping)
            : connection.RunCommand("d", Ping));
        Assert.EndsWith("only 100 bytes of a reply came within 2 s", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Over_tls_too()
    {
        using var certificates = new TestCertificates();
        using var server = new TlsServer(certificates.ForLoopback(), Long) { Pause = TimeSpan.FromMilliseconds(5) };
        ConnectionSettings settings =
            ConnectionSettings.From(ConnectionString.Parse($"mongodb://h/?tls=true&tlsCAFile={certificates.AuthorityFile}"));
        using MongoConnection connection = MongoConnection.Open(server.Address, settings with { ReplyTimeout = Short });
        Assert.EndsWith("came within 2 s",
            Assert.Throws<ConnectionFailedException>(() => connection.RunCommand("d", Ping)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_handshake_that_comes_byte_by_byte_ends_with_the_connect_timeout()
    {
        _server.Handshake = Drip;
        Assert.EndsWith(
            "no answer within 2 s",
            Assert.Throws<ConnectionFailedException>(() => Open(new ConnectionSettings { ConnectTimeout = Short })).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_reply_in_many_pieces_that_comes_in_time_is_whole()
    {
        _server.Answer = exchange =>
        {
            byte[] reply = LyingServer.Message(Long, exchange.RequestId);
            foreach (byte[] piece in reply.Chunk(700))
                exchange.Send(piece);
        };
        using MongoConnection connection = Open(new ConnectionSettings { ReplyTimeout = TimeSpan.FromSeconds(30) });
        Assert.Equal(Long.FindString("text"), connection.RunCommand("d", Ping).FindString("text"));
    }

    [Fact]
    public void A_stop_ends_the_wait_for_a_handshake_and_for_a_reply()
    {
        using var stop = new CancellationTokenSource();
        var settings = new ConnectionSettings { Stop = stop.Token };
        _server.Answer = _ => stop.Cancel();
        using MongoConnection connection = Open(settings);
        Assert.Throws<ConnectionFailedException>(() => connection.RunLongCommand("d", Ping));

        using var stopOpening = new CancellationTokenSource();
        _server.Handshake = _ => stopOpening.Cancel();
        var e = Assert.Throws<ConnectionFailedException>(() => Open(new ConnectionSettings { Stop = stopOpening.Token }));
        Assert.EndsWith("connecting was stopped", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_stop_leaves_what_the_system_would_do_for_long_to_itself()
    {
        using var stop = new CancellationTokenSource();
        using var never = new ManualResetEventSlim();
        using var discarded = new ManualResetEventSlim();
        Assert.ThrowsAny<OperationCanceledException>(() => Abandonable.Run(
            () =>
            {
                stop.Cancel();
                never.Wait();
                return 1;
            },
            stop.Token, _ => discarded.Set()));
        never.Set();
        discarded.Wait();
    }

    [Fact]
    public void A_reply_to_another_request_is_none_to_a_command_around_the_load_either()
    {
        _server.Answer = exchange => exchange.Send(LyingServer.Message(BsonDocument.Of(("ok", 1.0)), exchange.RequestId + 1));
        using MongoConnection connection = Open(ConnectionSettings.Default);
        Assert.Contains("reply to request",
            Assert.Throws<WireProtocolException>(() => connection.RunCommand("d", Ping)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_reply_that_announces_more_is_refused()
    {
        _server.Answer = exchange =>
        {
            byte[] reply = LyingServer.Message(BsonDocument.Of(("ok", 1.0)), exchange.RequestId);
            reply[16] |= (byte)OpMsgFlags.MoreToCome;
            exchange.Send(reply);
        };
        using MongoConnection connection = Open(ConnectionSettings.Default);
        Assert.Contains("announces more replies",
            Assert.Throws<WireProtocolException>(() => connection.RunCommand("d", Ping)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0, "empty batches in a row")]
    [InlineData(5000, "its query allows at most 1,000,000")]
    public void A_cursor_that_never_ends_is_left(int documents, string why)
    {
        BsonDocument[] batch = [.. Enumerable.Repeat(BsonDocument.Empty, documents)];
        _server.Answer = exchange => exchange.Reply(BsonDocument.Of(
            ("cursor", BsonDocument.Of(("firstBatch", batch), ("nextBatch", batch), ("id", 7L), ("ns", "d.c"))), ("ok", 1.0)));
        using MongoConnection connection = Open(ConnectionSettings.Default);
        Assert.Contains(
            why, Assert.Throws<WireProtocolException>(() => connection.RunCursor("d", BsonDocument.Of(("find", "c"))).Count()).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("maxBsonObjectSize", 0)]
    [InlineData("maxBsonObjectSize", -1)]
    [InlineData("maxMessageSizeBytes", 1)]
    [InlineData("maxWriteBatchSize", 0)]
    [InlineData("maxWriteBatchSize", 1L << 40)]
    public void Limits_within_which_nothing_can_be_done_are_refused(string name, long limit)
    {
        _server.Handshake = exchange =>
            exchange.Reply(BsonDocument.Of(("ismaster", true), ("maxWireVersion", 17), (name, limit), ("ok", 1.0)));
        Assert.StartsWith($"{_server.Address}: the server says {name} {limit}; allowed:",
            Assert.Throws<WireProtocolException>(() => Open(ConnectionSettings.Default)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1)]
    [InlineData(-(1L << 40))]
    public void A_wire_version_that_no_server_has_is_too_old(long version)
    {
        _server.Handshake = exchange => exchange.Reply(BsonDocument.Of(("ismaster", true), ("maxWireVersion", version), ("ok", 1.0)));
        Assert.Throws<ServerTooOldException>(() => Open(ConnectionSettings.Default));
    }

    /// <summary>It takes far longer than any time-out here, and comes to an end all the same.</summary>
    private static BsonDocument Long { get; } = BsonDocument.Of(("ok", 1.0), ("text", new string('x', 5000)));

    private static void Drip(Exchange exchange)
    {
        byte[] reply = LyingServer.Message(Long, exchange.RequestId);
        for (int i = 0; i < reply.Length; i++)
        {
            exchange.Send(reply.AsSpan(i, 1));
            Thread.Sleep(5);
        }
    }

    private MongoConnection Open(ConnectionSettings settings) => MongoConnection.Open(_server.Address, settings);
}
