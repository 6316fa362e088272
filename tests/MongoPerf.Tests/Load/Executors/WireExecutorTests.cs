using System.Collections.Concurrent;
using System.Text;
using MongoPerf.Commands;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>
/// Operations against a server that lies: each lie leads to the right failure, never to a hang, never to a wrong success.
/// </summary>
public sealed class WireExecutorTests : IDisposable
{
    private const double ReplySeconds = 2;
    private static readonly DocumentTemplate Documents = SeriesFile.Documents();
    private static readonly BsonDocument Found = FindReply(1);
    private static readonly BsonDocument Inserted = BsonDocument.Of(("n", 1), ("ok", 1.0));

    private readonly LyingServer _server = new();
    private readonly WireExecutor _executor;

    public WireExecutorTests() => _executor = Open(TimeSpan.FromSeconds(20));

    /// <summary>Name, failure, and what its text says.</summary>
    public static TheoryData<string, string, string> Lies() => new()
    {
        { "another request's reply", nameof(WireProtocolException), "reply to request" },
        { "a length of 5", nameof(WireProtocolException), "reply declares 5 bytes" },
        { "a length of 100 MB", nameof(WireProtocolException), "reply declares 104857600 bytes" },
        { "a negative length", nameof(WireProtocolException), "reply declares -1 bytes" },
        { "HTTP", nameof(WireProtocolException), "an HTTP server answers there" },
        { "two replies", nameof(WireProtocolException), "bytes follow a reply of" },
        { "a header alone", nameof(WireProtocolException), "OP_MSG of 16 bytes" },
        { "OP_REPLY", nameof(WireProtocolException), "opcode 1" },
        { "an unknown section", nameof(WireProtocolException), "section of kind 7" },
        { "a body longer than the message", nameof(WireProtocolException), "section declares" },
        { "unknown flags", nameof(WireProtocolException), "unknown required flag" },
        { "garbage in the body", nameof(BsonFormatException), "" },
        { "no final zero", nameof(BsonFormatException), "" },
        { "a close at once", nameof(ConnectionFailedException), "connection closed by the server" },
        { "a close in the middle", nameof(ConnectionFailedException), "connection closed by the server" },
        { "a reset", nameof(ConnectionFailedException), "connection closed by the server" },
    };

    public void Dispose()
    {
        _executor.Dispose();
        _server.Dispose();
    }

    [Theory]
    [MemberData(nameof(Lies))]
    public void A_lie_about_a_find_is_found_out_and_a_new_connection_works(string lie, string failure, string text)
    {
        IPreparedOperation find = Prepare("q4");
        _server.Answer = exchange => Tell(lie, exchange, Found);
        CheckFailure(find, failure, text);
        _server.Answer = exchange => exchange.Reply(Found);
        _executor.Connect();
        Assert.Equal(new OperationOutcome(true, 1, 1024), Run(find));
    }

    [Theory]
    [MemberData(nameof(Lies))]
    public void A_lie_about_an_insert_is_found_out_and_a_new_connection_works(string lie, string failure, string text)
    {
        IPreparedOperation insert = Prepare("safe");
        _server.Answer = exchange => Tell(lie, exchange, Inserted);
        CheckFailure(insert, failure, text);
        _server.Answer = exchange => exchange.Reply(Inserted);
        _executor.Connect();
        Assert.Equal(new OperationOutcome(true, 1, 1024), Run(insert));
    }

    [Theory]
    [InlineData("q4")]
    [InlineData("safe")]
    public void A_reply_may_come_in_any_two_pieces(string test)
    {
        byte[] reply = LyingServer.Message(test == "q4" ? FindReply(1, 40) : Inserted, 0);
        IPreparedOperation operation = Prepare(test);
        int split = 0;
        _server.Answer = exchange =>
        {
            BitConverter.TryWriteBytes(reply.AsSpan(8), exchange.RequestId);
            exchange.Send(reply.AsSpan(0, split));
            Thread.Yield();
            exchange.Send(reply.AsSpan(split));
        };
        for (split = 1; split < reply.Length; split++)
            Assert.Equal(new OperationOutcome(true, 1, test == "q4" ? 40 : 1024), Run(operation));
    }

    [Theory]
    [InlineData("q4", 0)]
    [InlineData("safe", 0)]
    [InlineData("q4", 30)]
    [InlineData("safe", 30)]
    public void A_reply_that_does_not_come_in_time_is_a_failure_and_never_the_next_ones_reply(string test, int sentAtOnce)
    {
        using WireExecutor executor = Open(TimeSpan.FromSeconds(ReplySeconds));
        IPreparedOperation operation = Prepare(test, executor);
        using var timedOut = new ManualResetEventSlim(false);
        _server.Answer = exchange =>
        {
            byte[] reply = LyingServer.Message(test == "q4" ? Found : Inserted, exchange.RequestId);
            exchange.Send(reply.AsSpan(0, sentAtOnce));
            timedOut.Wait(TimeSpan.FromSeconds(20));
            exchange.Send(reply.AsSpan(sentAtOnce));
        };
        var e = Assert.Throws<ConnectionFailedException>(() => Run(operation));
        Assert.EndsWith(sentAtOnce == 0 ? "no answer within 2 s" : "only 30 bytes of a reply came within 2 s",
            e.Message, StringComparison.Ordinal);
        timedOut.Set();
        // Now the late reply arrives, on the connection that should have been given up.
        Assert.Throws<WireProtocolException>(() => Run(operation));
        executor.Connect();
        Assert.True(Run(operation).Succeeded);
    }

    [Fact]
    public void Abort_wakes_an_operation_that_waits()
    {
        IPreparedOperation find = Prepare("q4");
        _server.Answer = _ => ThreadPool.QueueUserWorkItem(_ => _executor.Abort());
        Assert.Throws<ConnectionFailedException>(() => Run(find));
    }

    [Fact]
    public void A_find_that_the_server_refuses_has_its_error()
    {
        IPreparedOperation find = Prepare("q4");
        _server.Answer = exchange => exchange.Reply(BsonDocument.Of(
            ("ok", 0.0), ("errmsg", "operation exceeded time limit"), ("code", 50), ("codeName", "MaxTimeMSExpired")));
        Assert.Equal(default, Run(find));
        Assert.Equal((50, "MaxTimeMSExpired", "operation exceeded time limit"), Parts(find.LastError));
    }

    [Fact]
    public void Ok_without_a_cursor_is_no_success()
    {
        IPreparedOperation find = Prepare("q4");
        foreach (BsonDocument reply in new[]
        {
            Inserted,
            BsonDocument.Of(("cursor", BsonDocument.Of(("id", 0L))), ("ok", 1.0)),
            BsonDocument.Of(("cursor", BsonDocument.Empty), ("ok", 1)),
        })
        {
            _server.Answer = exchange => exchange.Reply(reply);
            var e = Assert.Throws<WireProtocolException>(() => Run(find));
            Assert.Equal("the reply has no cursor", e.Message);
        }
    }

    [Fact]
    public void An_empty_batch_is_a_success_without_documents()
    {
        IPreparedOperation find = Prepare("q4");
        _server.Answer = exchange => exchange.Reply(FindReply(0));
        Assert.Equal(new OperationOutcome(true, 0, 0), Run(find));
        Assert.Equal(default, find.Verify());
    }

    /// <summary>Name, the reply's number of documents, code, error's name, documents that count.</summary>
    [Theory]
    [InlineData("write error", 7, 11000, "DuplicateKey", 7)]
    [InlineData("write concern error", 10, 64, "WriteConcernFailed", 10)]
    [InlineData("ok 0", 0, 13, "Unauthorized", 0)]
    [InlineData("plain", 9, 0, "ShortCount", 9)]
    [InlineData("plain", 0, 0, "ShortCount", 0)]
    [InlineData("plain", 11, 0, "ShortCount", 10)]
    [InlineData("plain", -3, 0, "ShortCount", 0)]
    public void A_batch_that_did_not_get_in_whole_is_no_success(string kind, int counted, int code, string name, int documents)
    {
        IPreparedOperation insert = Prepare("batch");
        _server.Answer = exchange => exchange.Reply(kind switch
        {
            "write error" => BsonDocument.Of(("n", counted),
                ("writeErrors", new[] { BsonDocument.Of(("index", 7), ("code", 11000), ("errmsg", "E11000")) }), ("ok", 1.0)),
            "write concern error" => BsonDocument.Of(
                ("n", counted),
                ("writeConcernError", BsonDocument.Of(("code", 64), ("codeName", "WriteConcernFailed"), ("errmsg", "timed out"))),
                ("ok", 1.0)),
            "ok 0" => BsonDocument.Of(("ok", 0.0), ("errmsg", "not authorized"), ("code", 13), ("codeName", "Unauthorized")),
            _ => BsonDocument.Of(("n", counted), ("ok", 1.0)),
        });
        Assert.Equal(new OperationOutcome(false, documents, documents * 1024), Run(insert));
        Assert.Equal((code, name), (insert.LastError!.Code, insert.LastError.Name));
    }

    [Fact]
    public void Documents_of_a_batch_that_met_the_same_error_are_counted()
    {
        IPreparedOperation insert = Prepare("batch");
        BsonDocument[] errors =
        [
            BsonDocument.Of(("index", 1), ("code", 11000), ("errmsg", "E11000")),
            BsonDocument.Of(("index", 4), ("code", 2), ("errmsg", "too large")),
            BsonDocument.Of(("index", 7), ("code", 11000), ("errmsg", "E11000")),
        ];
        _server.Answer = exchange => exchange.Reply(BsonDocument.Of(("n", 7), ("writeErrors", errors), ("ok", 1.0)));
        Run(insert);
        Assert.Equal((11000, 2), (insert.LastError!.Code, insert.LastError.Documents));
    }

    [Fact]
    public void A_batch_sends_the_templates_documents_and_the_last_one_is_shorter()
    {
        IPreparedOperation insert = Prepare("batch", documents: 13);
        var sent = new List<byte[]>();
        _server.Answer = exchange =>
        {
            sent.Add(exchange.Request);
            exchange.Reply(BsonDocument.Of(("n", sent.Count == 1 ? 10 : 3), ("ok", 1.0)));
        };
        Assert.Equal(10, Run(insert).Documents);
        Assert.Equal(3, Run(insert).Documents);
        Assert.False(insert.Draw());
        long number = 0;
        foreach (byte[] message in sent)
        {
            foreach (DocumentSequence sequence in OpMsg.Parse(message).Sequences)
            {
                for (int at = 0; at < sequence.Documents.Length; at += 1024)
                    Assert.Equal(Documents.Make(number++).Bytes, sequence.Documents.Slice(at, 1024));
            }
        }

        Assert.Equal(13, number);
    }

    [Fact]
    public void An_unacknowledged_insert_waits_for_nothing_but_its_fence()
    {
        IPreparedOperation insert = Prepare("unack");
        var commands = new List<(string Command, OpMsgFlags Flags, long? W)>();
        _server.Answer = exchange =>
        {
            OpMsg message = OpMsg.Parse(exchange.Request);
            var body = new BsonDocument(message.Body.ToArray());
            commands.Add((body.First().Key, message.Flags, body.FindInt64("writeConcern.w")));
            if (commands.Count == 4)
                exchange.Reply(BsonDocument.Of(("ok", 1.0)));
        };
        for (int i = 0; i < 3; i++)
            Assert.Equal(new OperationOutcome(true, 1, 1024), Run(insert));
        insert.Complete();
        Assert.Equal(
            [
                ("insert", OpMsgFlags.MoreToCome, 0), ("insert", OpMsgFlags.MoreToCome, 0), ("insert", OpMsgFlags.MoreToCome, 0),
                ("ping", OpMsgFlags.None, null),
            ],
            commands);
    }

    /// <summary>
    /// An acknowledged insert takes the connection string's concern; what is unacknowledged, or journaled by --journal, says so itself.
    /// </summary>
    [Theory]
    [InlineData("safe", false, "", "1", false)]
    [InlineData("safe", false, "w=majority", "majority", false)]
    [InlineData("batch", false, "w=2&journal=true", "2", true)]
    [InlineData("safe", true, "w=majority", "1", true)]
    [InlineData("unack", false, "w=majority", "0", false)]
    public void The_connection_strings_write_concern_is_for_inserts_without_one_of_their_own(
        string test, bool journal, string options, string nodes, bool isJournaled)
    {
        var sent = new BlockingCollection<BsonDocument>();
        _server.Answer = exchange =>
        {
            sent.Add(new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray()));
            exchange.Reply(Inserted);
        };
        using var executor = new WireExecutor(
            _ => _server.Address, ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?" + options)), "d");
        executor.Connect();
        string uri = "mongodb://h/?" + options;
        var typed = new PlanOverrides { Parameters = journal ? new Dictionary<string, string> { ["journal"] = "true" } : [] };
        InsertDocuments insert = SeriesFile.Insert(test, 1, [.. typed.Parameters, .. SeriesScenario.Parameters(typed,
            new DeploymentChoice(new DeploymentSettings { Topology = Topology.Standalone }) { Uri = options.Length > 0 ? uri : null },
            isPreset: false)]);
        Run(executor.Prepare(insert, new OperationContext(42, 0, new NumberSource(0, 10))));
        BsonDocument concern = sent.Take().FindDocument("writeConcern")!;
        Assert.Equal((nodes, isJournaled), (concern.Find("w").ToString(), concern.IsTrue("j")));
    }

    [Fact]
    public void Each_find_draws_its_values_within_the_range_and_says_them_to_the_server()
    {
        IPreparedOperation find = Prepare("q5");
        var drawn = new List<(long, long)>();
        _server.Answer = exchange =>
        {
            var body = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
            drawn.Add((body.FindInt64("filter.Number.$gte")!.Value, body.FindInt64("filter.Number1.$gte")!.Value));
            exchange.Reply(FindReply(0));
        };
        for (int i = 0; i < 200; i++)
            Run(find);
        Assert.Equal(200, drawn.Distinct().Count());
        Assert.All(drawn, d => Assert.True(d.Item1 is >= 0 and < 900_000 && d.Item2 is >= 0 and < 900_000));
    }

    [Theory]
    [InlineData("HTTP", nameof(WireProtocolException), "an HTTP server answers there")]
    [InlineData("old", nameof(ServerTooOldException), "wire version is 5, at least 6")]
    [InlineData("refuses", nameof(ServerCommandException), "not today")]
    [InlineData("silence", nameof(ConnectionFailedException), "no answer within 2 s")]
    [InlineData("close", nameof(ConnectionFailedException), "connection closed by the server")]
    public void A_handshake_that_fails_says_why(string kind, string failure, string text)
    {
        _server.Handshake = exchange =>
        {
            switch (kind)
            {
                case "HTTP": exchange.Send("HTTP/1.1 400 Bad Request\r\n\r\n"u8); break;
                case "old": exchange.Reply(LyingServer.Hello(5)); break;
                case "refuses": exchange.Reply(BsonDocument.Of(("ok", 0.0), ("errmsg", "not today"), ("code", 1))); break;
                case "close": exchange.Close(); break;
            }
        };
        using var executor = new WireExecutor(
            _ => _server.Address,
            new ConnectionSettings { ConnectTimeout = TimeSpan.FromSeconds(kind == "silence" ? ReplySeconds : 60) }, "d");
        Exception e = Assert.ThrowsAny<Exception>(executor.Connect);
        Assert.Equal(failure, e.GetType().Name);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.Throws<ConnectionFailedException>(() => executor.RouteOf(ReadPreference.Primary).Connection);
    }

    [Fact]
    public void Where_the_server_is_is_asked_at_each_attempt_and_the_hook_comes_before_all_but_the_first()
    {
        using var another = new LyingServer();
        var calls = new List<string>();
        using var executor = new WireExecutor(_ => Address(), ConnectionSettings.Default, "d", () => calls.Add("hook"));
        executor.Connect();
        Assert.Equal(_server.Address, executor.RouteOf(ReadPreference.Primary).Connection.Address);
        executor.Connect();
        Assert.Equal(another.Address, executor.RouteOf(ReadPreference.Primary).Connection.Address);
        executor.Connect();
        Assert.Equal(["address", "hook", "address", "hook", "address"], calls);

        ServerAddress Address()
        {
            calls.Add("address");
            return calls.Count == 1 ? _server.Address : another.Address;
        }
    }

    [Fact]
    public void A_hook_that_finds_no_server_makes_the_attempt_fail_and_the_next_one_may_do_better()
    {
        int hooks = 0;
        using var executor = new WireExecutor(_ => _server.Address, ConnectionSettings.Default, "d", () =>
        {
            if (hooks++ == 0)
                throw new ConnectionFailedException(_server.Address, "does not start");
        });
        executor.Connect();
        Assert.Contains("does not start", Assert.Throws<ConnectionFailedException>(executor.Connect).Message, StringComparison.Ordinal);
        Assert.Throws<ConnectionFailedException>(() => executor.RouteOf(ReadPreference.Primary).Connection);
        executor.Connect();
        Assert.Equal(2, hooks);
    }

    [Fact]
    public void A_collection_that_loses_its_server_finds_it_where_it_is_then()
    {
        using var another = new LyingServer();
        int hooks = 0;
        _server.Answer = exchange => exchange.Close();
        another.Answer = exchange => exchange.Reply(FindReply(0));
        using var collection = new WireCollection(
            new CollectionAccess(() => hooks == 0 ? _server.Address : another.Address, ConnectionSettings.Default, "d",
                SystemClock.Instance, TimeSpan.FromSeconds(20), () => hooks++),
            "c", Documents, new CollectionShape([]));
        Assert.Equal(0, collection.FindEnd(0));
        Assert.Equal((1, 1L), (hooks, collection.LostConnections));
        another.Answer = exchange =>
        {
            another.Answer = again => again.Reply(FindReply(0));
            exchange.Reply(BsonDocument.Of(("ok", 0.0), ("errmsg", "not primary"), ("code", 10107), ("codeName", "NotWritablePrimary")));
        };
        Assert.Equal(0, collection.FindEnd(0));
        Assert.Equal((2, 2L), (hooks, collection.LostConnections));
    }

    [Fact]
    public void A_batch_beyond_the_servers_limits_is_refused_with_what_fits()
    {
        _server.Handshake = exchange =>
            exchange.Reply(BsonDocument.Of(("ismaster", true), ("maxWriteBatchSize", 1000), ("maxWireVersion", 17), ("ok", 1.0)));
        _executor.Connect();
        var e = Assert.Throws<OperationLimitException>(() =>
            _executor.Prepare(SeriesFile.Insert("batch", 1001), new OperationContext(1, 0, new NumberSource(0, 1))));
        Assert.StartsWith("batch is 1001 documents; this server allows 1 to 1000", e.Message, StringComparison.Ordinal);
    }

    private static void Tell(string lie, Exchange exchange, BsonDocument truth)
    {
        byte[] reply = LyingServer.Message(truth, exchange.RequestId);
        switch (lie)
        {
            case "another request's reply": reply[8] ^= 1; break;
            case "a length of 5": BitConverter.TryWriteBytes(reply, 5); break;
            case "a length of 100 MB": BitConverter.TryWriteBytes(reply, 100 << 20); break;
            case "a negative length": BitConverter.TryWriteBytes(reply, -1); break;
            case "HTTP": reply = Encoding.ASCII.GetBytes("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"); break;
            case "two replies": reply = [.. reply, .. reply]; break;
            case "a header alone":
                reply = reply[..16];
                reply[0] = 16;
                reply[1] = 0;
                break;
            case "OP_REPLY": BitConverter.TryWriteBytes(reply.AsSpan(12), 1); break;
            case "an unknown section": reply[20] = 7; break;
            case "a body longer than the message": BitConverter.TryWriteBytes(reply.AsSpan(21), reply.Length); break;
            case "unknown flags": reply[16] |= 0x40; break;
            case "garbage in the body": reply.AsSpan(25, 12).Fill(0x77); break;
            case "no final zero": reply[^1] = 9; break;
            case "a close at once": exchange.Close(); return;
            case "a close in the middle":
                exchange.Send(reply.AsSpan(0, reply.Length / 2));
                exchange.Close();
                return;
            case "a reset": exchange.Reset(); return;
            default: throw new ArgumentException(lie, nameof(lie));
        }

        exchange.Send(reply);
    }

    private static void CheckFailure(IPreparedOperation operation, string failure, string text)
    {
        Exception e = Assert.ThrowsAny<Exception>(() => Run(operation));
        Assert.Equal(failure, e.GetType().Name);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.True(ErrorTally.BreaksConnection(e));
    }

    private static (int, string, string) Parts(ServerError? error) => (error!.Code, error.Name, error.Message);

    private static OperationOutcome Run(IPreparedOperation operation)
    {
        Assert.True(operation.Draw());
        return operation.Execute();
    }

    private WireExecutor Open(TimeSpan replyTimeout)
    {
        var executor = new WireExecutor(_ => _server.Address, new ConnectionSettings { ReplyTimeout = replyTimeout }, "d");
        executor.Connect();
        return executor;
    }

    private IPreparedOperation Prepare(string test, WireExecutor? executor = null, long documents = 1_000_000)
    {
        return (executor ?? _executor).Prepare(SeriesFile.Operation(test), new OperationContext(42, 0, new NumberSource(0, documents)));
    }

    /// <summary>A reply with documents that are the template's, or, shorter, some others.</summary>
    private static BsonDocument FindReply(int documents, int length = 1024)
    {
        var batch = new List<BsonDocument>();
        for (int i = 0; i < documents; i++)
        {
            // int32 length, type, "t" and zero, int32 length, text and zero, zero.
            batch.Add(length == SeriesFile.DocumentLength ? Documents.Make(i) : BsonDocument.Of(("t", new string('x', length - 13))));
        }

        return BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", batch), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));
    }
}
