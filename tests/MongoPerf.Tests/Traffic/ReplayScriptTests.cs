using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>What a recording comes to before anything is sent: shapes, times, connections, what must come first, what is written.</summary>
public sealed class ReplayScriptTests : IDisposable
{
    private static readonly string Files = Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Traffic", "Files");
    private static readonly BsonDocument Ok = ServerRecordingTests.Ok();

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("6.0.5.bin")]
    [InlineData("8.0-alpha.bin")]
    public void A_server_s_own_file_becomes_shapes_without_logins(string file)
    {
        using Recording recording = Recording.Open(Path.Combine(Files, file));
        ReplayScript script = ReplayScriptReader.Read(recording, new ReplaySettings());
        Assert.Superset(
            new HashSet<string> { "find shop.orders {_id}", "getMore shop.orders", "delete shop.orders {_id}" },
            new HashSet<string>(script.Shapes.Select(shape => shape.Name)));
        Assert.DoesNotContain(script.Shapes, shape => shape.Name.Contains("sasl", StringComparison.Ordinal));
        Assert.Contains(script.LeftOut, left => left.Why == "logins");
        Assert.Equal("shop", script.Database);
        Assert.Contains(script.Writes, target => target.Name == "shop.orders");
        Assert.Equal(script.Count, script.Workers.Sum(worker => worker.Length));
        // The zlib client's requests are read like the others; it came when the first one had gone.
        Assert.Equal((2, 1), (script.RecordedConnections, script.Connections));
    }

    [Fact]
    public void A_shape_has_fields_and_no_values()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("find", "orders"), ("filter", BsonDocument.Of(("sku", "s-1"), ("status", "new"))),
                ("sort", BsonDocument.Of(("date", -1))), ("$db", "shop")), Ok)
            .Exchange(1, 2, BsonDocument.Of(("aggregate", "orders"), ("pipeline", new object[]
            {
                BsonDocument.Of(("$match", BsonDocument.Of(("sku", "s-2")))), BsonDocument.Of(("$group", BsonDocument.Of(("_id", "$x")))),
            }), ("cursor", BsonDocument.Empty), ("$db", "shop")), Ok)
            .Exchange(1, 3, BsonDocument.Of(("update", "orders"), ("updates", new object[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("_id", 1))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("a", 1)))))),
            }), ("$db", "shop")), Ok)
            .Exchange(1, 4, BsonDocument.Of(("find", "or\u001b[31mders"), ("filter", BsonDocument.Empty), ("$db", "shop")), Ok)
            .Exchange(1, 5, BsonDocument.Of(("findAndModify", "orders"), ("query", BsonDocument.Of(("sku", 1))),
                ("update", BsonDocument.Of(("$inc", BsonDocument.Of(("n", 1))))), ("sort", BsonDocument.Of(("date", 1))),
                ("$db", "shop")), Ok)
            .Exchange(1, 6, BsonDocument.Of(("distinct", "orders"), ("key", "sku"), ("query", BsonDocument.Of(("a", 1))),
                ("$db", "shop")), Ok)
            .Exchange(1, 7, BsonDocument.Of(("find", new string('o', 120)), ("$db", "shop")), Ok));
        Assert.Equal(
            ["find shop.orders {sku, status} sort date", "aggregate shop.orders $match {sku} $group", "update shop.orders {_id} $set",
                "find shop.or?[31mders {}", "findAndModify shop.orders {sku} $inc sort date", "distinct shop.orders sku {a}",
                $"find shop.{new string('o', 89)}…"],
            script.Shapes.Select(shape => shape.Name));
        Assert.Equal([false, false, true, false, true, false, false], script.Shapes.Select(shape => shape.MayWrite));
    }

    [Theory]
    [InlineData("""{"find": "c", "filter": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1}}""",
        "find d.c {a, b, c, d, e, f, g, h}")]
    [InlineData("""{"find": "c", "filter": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1}}""",
        "find d.c {a, b, c, d, e, f, g, h, …}")]
    [InlineData("""{"find": "c", "filter": {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd": 1}}""",
        "find d.c {aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd}")]
    [InlineData("""{"find": "c", "filter": {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde": 1}}""",
        "find d.c {aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd…}")]
    [InlineData("""{"find": "c\u2028\u2029\ud83e\udd8a\u0007"}""", "find d.c????? {}")]
    [InlineData("""{"find": "c", "filter": 1}""", "find d.c {}")]
    [InlineData("""{"find": "c", "sort": {}}""", "find d.c {}")]
    [InlineData("""{"update": "c", "updates": [{"q": {"a": 1}, "u": {"b": 1}}]}""", "update d.c {a} replacement")]
    [InlineData("""{"update": "c", "updates": [{"q": {"a": 1}, "u": [{"$set": {"b": 1}}]}]}""", "update d.c {a} pipeline")]
    [InlineData("""{"update": "c", "updates": []}""", "update d.c {}")]
    [InlineData("""{"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1}, {"q": {"b": 1}, "limit": 1}]}""", "delete d.c {a}")]
    [InlineData("""{"count": "c", "query": {"a": 1}}""", "count d.c {a}")]
    [InlineData("""{"aggregate": "c", "pipeline": [7, {}, {"$match": {"a": 1}}, {"$match": 7}, {"$count": "n"}], "cursor": {}}""",
        "aggregate d.c $match {a} $match $count")]
    [InlineData("""{"aggregate": "c", "pipeline": [{"$a": 1}, {"$b": 1}, {"$c": 1}, {"$d": 1}, {"$e": 1}, {"$f": 1}, {"$g": 1}, {"$h": 1}, {}]}""",
        "aggregate d.c $a $b $c $d $e $f $g $h")]
    public void A_shape_is_cut_where_it_gets_long_and_says_what_is_no_field(string command, string shape)
    {
        BsonDocument request = BsonDocument.Of(
            [.. ExtendedJson.Parse(command).Select(one => (one.Key, (object?)one.Value)), ("$db", "d")]);
        Assert.Equal(shape, Assert.Single(Read(new TrafficFile().Exchange(1, 1, request, Ok)).Shapes).Name);
    }

    /// <summary>A name of a hundred characters is whole; a longer one is a hundred with its mark.</summary>
    [Theory]
    [InlineData(93)]
    [InlineData(94)]
    [InlineData(95)]
    public void A_shape_has_a_hundred_characters_at_most(int collection)
    {
        string whole = $"ping d{new string('c', collection)}";
        string name = Assert.Single(Read(new TrafficFile().Exchange(
            1, 1, BsonDocument.Of(("ping", 1), ("$db", whole[5..])), Ok)).Shapes).Name;
        Assert.Equal(whole.Length <= 100 ? whole : whole[..99] + "…", name);
    }

    [Theory]
    [InlineData(100, 100, false)]
    [InlineData(101, 100, true)]
    [InlineData(130, 100, true)]
    public void Of_very_many_shapes_the_rarest_count_together(int shapes, int named, bool hasOthers)
    {
        var file = new TrafficFile();
        for (int i = 0; i < shapes; i++)
        {
            // The more frequent the earlier, and the last one writes.
            string name = i == shapes - 1 ? "insert" : "find";
            for (int times = i < 5 ? 3 : 1; times > 0; times--)
                file.Exchange(1, (i * 10) + times, BsonDocument.Of((name, $"c{i}"), ("filter", BsonDocument.Empty), ("$db", "d")), Ok);
        }

        ReplayScript script = Read(file);
        Assert.Equal(named, script.Shapes.Count);
        Assert.Equal(hasOthers ? "other requests" : $"insert d.c{shapes - 1}", script.Shapes[^1].Name);
        Assert.True(script.Shapes[^1].MayWrite);
        Assert.All(script.Shapes.SkipLast(1), shape => Assert.False(shape.MayWrite));
        Assert.Equal(
            hasOthers ? shapes - 99 : 1, script.Requests.Count(request => request.Shape == script.Shapes.Count - 1));
    }

    [Fact]
    public void The_database_of_a_replay_is_the_one_that_most_requests_are_for()
    {
        var file = new TrafficFile();
        foreach ((int i, string database) in ((string[])["admin", "rare", "admin", "often", "local", "often", "admin"]).Index())
            file.Exchange(1, i + 1, BsonDocument.Of(("find", "a"), ("$db", database)), Ok);
        Assert.Equal("often", Read(file).Database);
        Assert.Equal("copy", Read(file, new ReplaySettings { Databases = new Dictionary<string, string> { ["often"] = "copy" } }).Database);
    }

    /// <summary>Longer ones no server has: they would only fill memory.</summary>
    [Theory]
    [InlineData(512, 2)]
    [InlineData(513, 1)]
    public void Names_are_read_up_to_a_length(int length, int requests) =>
        Assert.Equal(requests, Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("find", new string('x', length)), ("$db", "d")), Ok)
            .Exchange(1, 2, BsonDocument.Of(("find", "a"), ("$db", "d")), Ok)).Count);

    /// <summary>Each request says that it answers message 0, and some drivers begin to count there.</summary>
    [Theory]
    [InlineData('A')]
    [InlineData('C')]
    public void A_request_with_the_number_0_is_answered_by_its_reply_not_by_the_next_request(char layout)
    {
        var file = new TrafficFile(layout);
        file.Request(1, 0, ServerRecordingTests.Ping()).Request(1, 7, ServerRecordingTests.Ping());
        file.At += 5;
        ReplayScript script = Read(file.Reply(1, 0, Ok).Reply(1, 7, Ok));
        Assert.Equal([(true, 5000L), (true, 5000L)], script.Requests.Select(request => (request.HasReply, request.ReplyMicroseconds)));
    }

    [Fact]
    public void Connections_that_were_not_open_at_once_share_a_worker()
    {
        var file = new TrafficFile();
        for (int i = 1; i <= 20; i++)
        {
            file.At = i * 100;
            file.Exchange(i, i, ServerRecordingTests.Ping(), Ok, milliseconds: 10);
        }

        // Two at the same time.
        file.At += 100;
        file.Request(30, 1, ServerRecordingTests.Ping()).Request(31, 1, ServerRecordingTests.Ping());
        ReplayScript script = Read(file);
        Assert.Equal((22, 22, 2), (script.Count, script.RecordedConnections, script.Connections));
        Assert.All(script.Workers, worker => Assert.Equal(worker.Order(), worker));
        Assert.Equal(2.01, script.Seconds, 2);
    }

    [Fact]
    public void What_reads_on_waits_for_what_opened_the_cursor_on_any_connection()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("find", "a"), ("$db", "d")), Cursor(77))
            .Exchange(2, 1, BsonDocument.Of(("getMore", 77L), ("collection", "a"), ("$db", "d")), Cursor(77))
            .Exchange(1, 2, BsonDocument.Of(("getMore", 77L), ("collection", "a"), ("$db", "d")), Cursor(0))
            .Exchange(1, 3, BsonDocument.Of(("getMore", 99L), ("collection", "a"), ("$db", "d")), Cursor(0)));
        Assert.Equal([-1, 0, 1], script.Requests.Select(request => request.After));
        Assert.Equal([0, -1, -1], script.Requests.Select(request => request.Opens));
        Assert.Equal([-1, 0, 0], script.Requests.Select(request => request.Uses));
        Assert.Equal(1, Assert.Single(script.LeftOut).Count);
    }

    /// <summary>Each of them may be slow on the target, on a connection of its own.</summary>
    [Fact]
    public void What_uses_several_cursors_or_is_in_a_transaction_too_waits_for_all_that_came_before()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("find", "a"), ("$db", "d")), Cursor(77))
            .Exchange(2, 1, BsonDocument.Of(("find", "a"), ("lsid", Session(1)), ("startTransaction", true), ("autocommit", false),
                ("$db", "d")), Cursor(78))
            .Exchange(3, 1, BsonDocument.Of(("getMore", 77L), ("collection", "a"), ("lsid", Session(1)), ("autocommit", false),
                ("$db", "d")), Cursor(77))
            .Exchange(4, 1, BsonDocument.Of(("killCursors", "a"), ("cursors", new object[] { 77L, 78L, 77L }), ("$db", "d")), Ok));
        Assert.Equal([[], [], [0, 1], [1, 2]], script.Requests.Select((request, number) =>
        {
            (int first, int end) = script.PriorsOf(number);
            return (int[])[.. script.Priors.Take(end).Skip(first).Select(prior => prior.Count).Append(request.After)
                .Where(other => other >= 0).Order()];
        }));
    }

    [Fact]
    public void More_connections_than_a_client_can_have_are_refused_before_they_are_made()
    {
        var file = new TrafficFile();
        for (int connection = 1; connection <= 101; connection++)
            file.Request(connection, 1, ServerRecordingTests.Ping());
        var copies = new ReplaySettings { Copies = 1000 };
        MongoPerfException refused = Assert.Throws<MongoPerfException>(() => Read(file, copies));
        Assert.Equal(Fault.WrongUsage, refused.Fault);
        Assert.EndsWith(": 101 connections in 1,000 copies are 101,000; allowed: 100,000", refused.Message,
            StringComparison.Ordinal);
        Assert.Equal("use fewer --copies, or let connections share N (--threads N)", refused.Hint);
        Assert.Equal(100_000, Read(file, copies with { Threads = 100 }).Connections);
    }

    [Fact]
    public void Statements_of_a_transaction_keep_their_order()
    {
        BsonDocument session = Session(1);
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("insert", "a"), ("lsid", session), ("startTransaction", true), ("autocommit", false),
                ("$db", "d")), Ok)
            .Exchange(2, 1, BsonDocument.Of(("find", "a"), ("$db", "d")), Ok)
            .Exchange(3, 1, BsonDocument.Of(("commitTransaction", 1), ("lsid", session), ("autocommit", false), ("$db", "admin")), Ok));
        Assert.Equal([-1, -1, 0], script.Requests.Select(request => request.After));
    }

    /// <summary>A server knows no transaction without its first statement, and keeps one open whose end never comes.</summary>
    [Fact]
    public void Of_a_transaction_nothing_is_left_without_its_beginning_and_no_end_without_need()
    {
        var file = new TrafficFile();
        Add(1, 1, "insert", isFirst: true);
        Add(1, 2, "find");
        Add(1, 3, "commitTransaction");
        Add(2, 1, "find", isFirst: true);
        Add(2, 2, "insert");
        Add(2, 3, "commitTransaction");
        // It began before the recording.
        Add(3, 1, "find");
        // The session of the first one again.
        Add(1, 4, "find", isFirst: true);
        Add(1, 5, "abortTransaction");
        foreach (ReplayedRequests only in (ReplayedRequests[])[ReplayedRequests.Reads, ReplayedRequests.Finds])
        {
            ReplayScript script = Read(file, new ReplaySettings { Only = only });
            Assert.Equal([2, 1, 1], new[] { "find d.a {}", "commitTransaction admin", "abortTransaction admin" }
                .Select(name => script.Requests.Count(request => script.Shapes[request.Shape].Name == name)));
            Assert.Equal((4, 3), (script.Count, script.LeftOut.Single(left => left.Why.Contains("transactions")).Count));
        }

        ReplayScript all = Read(file);
        Assert.Equal((8, 1), (all.Count, Assert.Single(all.LeftOut).Count));

        void Add(int connection, int request, string command, bool isFirst = false)
        {
            bool isEnd = command.EndsWith("Transaction", StringComparison.Ordinal);
            (string, object?)[] fields =
            [
                (command, isEnd ? 1 : "a"), ("lsid", Session((byte)connection)), ("autocommit", false), ("$db", isEnd ? "admin" : "d"),
            ];
            file.Exchange(connection, request, BsonDocument.Of(isFirst ? [.. fields, ("startTransaction", true)] : fields), Ok);
        }
    }

    /// <summary>Otherwise two workers would wait for one another.</summary>
    [Fact]
    public void A_worker_s_requests_keep_the_file_s_order_when_a_clock_was_set_back()
    {
        var file = new TrafficFile();
        BsonDocument more = BsonDocument.Of(("getMore", 77L), ("collection", "a"), ("$db", "d"));
        file.Exchange(9, 1, ServerRecordingTests.Ping(), Ok);
        file.At = 20_000;
        file.Exchange(2, 1, BsonDocument.Of(("find", "a"), ("$db", "d")), Cursor(77));
        file.At = 15_000;
        file.Exchange(3, 1, more, Cursor(77));
        file.At = 1000;
        file.Exchange(1, 1, more, Cursor(0));
        ReplayScript script = Read(file);
        Assert.Equal([-1, -1, 1, 2], script.Requests.Select(request => request.After));
        Assert.All(script.Workers, worker => Assert.Equal(worker.Order(), worker));
        Assert.Equal(20, script.Seconds, 3);
    }

    [Fact]
    public void What_names_its_targets_twice_or_elsewhere_is_left_out()
    {
        BsonDocument names = BsonDocument.Of(("ns", "shop.c"));
        BsonDocument bulk = BsonDocument.Of(("bulkWrite", 1), ("$db", "admin"));
        var file = new TrafficFile();
        foreach (byte[] message in (byte[][])
        [
            TrafficFile.MessageOf(1, 0, bulk, OpMsgFlags.None, ("nsInfo", names.Bytes.ToArray())),
            TrafficFile.MessageOf(2, 0, BsonDocument.Of(("bulkWrite", 1), ("nsInfo", new object[] { names }), ("$db", "admin")),
                OpMsgFlags.None, ("nsInfo", BsonDocument.Of(("ns", "theirs.c")).Bytes.ToArray())),
            TrafficFile.MessageOf(3, 0, bulk, OpMsgFlags.None, ("nsInfo", names.Bytes.ToArray()),
                ("nsInfo", BsonDocument.Of(("ns", "theirs.c")).Bytes.ToArray())),
            TrafficFile.MessageOf(4, 0, bulk, OpMsgFlags.None, ("nsInfo", [1, 2, 3])),
            TrafficFile.MessageOf(5, 0, BsonDocument.Of(("aggregate", "a"), ("$db", "shop")), OpMsgFlags.None,
                ("pipeline", BsonDocument.Of(("$out", "d")).Bytes.ToArray())),
            TrafficFile.MessageOf(6, 0, BsonDocument.Of(("find", new string('a', 5000)), ("$db", "shop"))),
        ])
            file.Message(1, 0, message);
        ReplayScript script = Read(file);
        Assert.Equal((1, 5), (script.Count, Assert.Single(script.LeftOut).Count));
        Assert.Equal("shop.c", Assert.Single(script.Writes).Name);
    }

    [Fact]
    public void Writes_are_found_under_their_names_on_the_target()
    {
        TrafficFile file = new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("insert", "a"), ("$db", "shop")), Ok)
            .Exchange(1, 2, BsonDocument.Of(("renameCollection", "shop.a"), ("to", "shop.b"), ("$db", "admin")), Ok)
            .Exchange(1, 3, BsonDocument.Of(("bulkWrite", 1), ("nsInfo", new object[] { BsonDocument.Of(("ns", "shop.c")) }),
                ("$db", "admin")), Ok)
            .Exchange(1, 4, BsonDocument.Of(("aggregate", "a"), ("pipeline", new object[] { BsonDocument.Of(("$out", "d")) }),
                ("$db", "shop")), Ok)
            .Exchange(1, 5, BsonDocument.Of(("inventedCommand", 1), ("$db", "shop")), Ok)
            .Exchange(1, 6, BsonDocument.Of(("find", "a"), ("$db", "shop")), Ok);
        var renamed = new ReplaySettings { Databases = new Dictionary<string, string> { ["shop"] = "copy" } };
        Assert.Equal(["copy.a", "copy.b", "copy.c", "copy.d", "server"],
            Read(file, renamed).Writes.Select(target => target.Name).Distinct().Order());
        ReplayScript reads = Read(file, renamed with { Only = ReplayedRequests.Reads });
        Assert.Equal((1, 0), (reads.Count, reads.Writes.Count));
    }

    [Fact]
    public void A_request_that_names_two_databases_is_left_out()
    {
        MongoPerfException refused = Assert.Throws<MongoPerfException>(() => Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("drop", "a"), ("$db", "mine"), ("$db", "theirs")), Ok)));
        Assert.Contains("no request to replay", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_message_is_written_with_the_target_s_own_session_cursor_and_database()
    {
        byte[] id = [.. Enumerable.Repeat((byte)0x11, 16)];
        BsonDocument command = BsonDocument.Of(("getMore", 5L), ("collection", "a"),
            ("lsid", BsonDocument.Of(("id", new BsonValue(BsonType.Binary, new byte[] { 16, 0, 0, 0, 4 }.Concat(id).ToArray())))),
            ("txnNumber", 3L), ("$clusterTime", BsonDocument.Empty), ("$db", "shop"),
            ("readConcern", BsonDocument.Of(("level", "majority"), ("afterClusterTime", 1L))));
        byte[] recorded = new TrafficFile().Request(1, 1, command, OpMsgFlags.ExhaustAllowed).Bytes;
        ReadOnlySpan<byte> message = recorded.AsSpan(^(MessageHeader.Size + 5 + command.Bytes.Length)..);
        var writer = new RequestWriter(new Dictionary<string, string> { ["shop"] = "copy" })
        {
            SessionSalt = Enumerable.Repeat((byte)0x22, 16).ToArray(), HasTransactions = false,
        };
        ReadOnlySpan<byte> written = writer.Write(OpMsg.Parse(message), 42, [123_456_789_012]);
        Assert.Equal(new MessageHeader(written.Length, 42, 0, OpCode.Msg), MessageHeader.Read(written));
        Assert.Equal(OpMsgFlags.None, OpMsg.Parse(written).Flags);
        var body = new BsonDocument(OpMsg.Parse(written).Body.ToArray());
        Assert.Equal(["getMore", "collection", "lsid", "$db", "readConcern"], body.Select(element => element.Key));
        Assert.Equal(123_456_789_012, body.FindInt64("getMore"));
        Assert.Equal("copy", body.FindString("$db"));
        Assert.All(body.Find("lsid.id")!.Value.ToBinary().ToArray(), value => Assert.Equal(0x33, value));
        Assert.Equal(["level"], body.FindDocument("readConcern")!.Select(element => element.Key));
    }

    /// <summary>Only names of databases are renamed, however much other texts look like them.</summary>
    [Fact]
    public void Nothing_else_is_renamed_or_replaced()
    {
        var writer = new RequestWriter(new Dictionary<string, string> { ["shop"] = "copy" }) { SessionSalt = new byte[16] };
        Assert.Equal(
            """{"killCursors": "shop", "to": "shop.a", "list": [9, 10], "cursors": [5, 6], "comment": "shop", "$db": "copy"}""",
            Written("""{"killCursors": "shop", "to": "shop.a", "list": [9, 10], "cursors": [1, 2, 3], "comment": "shop", "$db": "shop"}""",
                5, 6));
        Assert.Equal(
            """{"renameCollection": "copy.a", "to": "copy.b", "dropTarget": true, "$db": "admin"}""",
            Written("""{"renameCollection": "shop.a", "to": "shop.b", "dropTarget": true, "$db": "admin"}"""));
        byte[] namespaces = [.. Json("""{"ns": "shop.a"}"""), .. Json("""{"ns": "other.a", "collectionUUID": "shop.a"}""")];
        byte[] ops = Json("""{"insert": 0, "document": {"ns": "shop.a"}}""");
        OpMsg written = OpMsg.Parse(writer.Write(OpMsg.Parse(TrafficFile.MessageOf(
            1, 0, BsonDocument.Of(("bulkWrite", 1), ("$db", "admin")), OpMsgFlags.None, ("ops", ops), ("nsInfo", namespaces))), 7, []));
        var sections = new Dictionary<string, string>();
        foreach (DocumentSequence sequence in written.Sequences)
            sections[sequence.NameText] = Convert.ToHexString(sequence.Documents);
        Assert.Equal(Convert.ToHexString(ops), sections["ops"]);
        Assert.Equal(
            Convert.ToHexString([.. Json("""{"ns": "copy.a"}"""), .. Json("""{"ns": "other.a", "collectionUUID": "shop.a"}""")]),
            sections["nsInfo"]);

        static byte[] Json(string json) => ExtendedJson.Parse(json).Bytes.ToArray();

        string Written(string json, params long[] cursors) => ExtendedJson.Write(
            OpMsg.Parse(writer.Write(OpMsg.Parse(TrafficFile.MessageOf(1, 0, ExtendedJson.Parse(json))), 7, cursors)).Body);
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(1000, true)]
    [InlineData(2000, false)]
    [InlineData(2001, true)]
    [InlineData(2004, true)]
    [InlineData(2011, true)]
    [InlineData(2012, false)]
    [InlineData(2013, false)]
    public void Messages_of_before_OP_MSG_are_known_by_their_codes(int code, bool isLegacy) =>
        Assert.Equal(isLegacy, LeftOutCommands.IsLegacy((OpCode)code));

    [Fact]
    public void What_looks_after_a_server_s_recording_is_left_out()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("serverStatus", 1), ("trafficRecording", 1), ("$db", "admin")), Ok)
            .Exchange(1, 2, BsonDocument.Of(("serverStatus", 1), ("$db", "admin")), Ok));
        Assert.Equal(1, script.Count);
        Assert.Equal(("of the recording itself", 1L), Assert.Single(script.LeftOut));
    }

    [Fact]
    public void A_stream_of_replies_that_a_server_recorded_is_asked_for_reply_by_reply()
    {
        BsonDocument more = BsonDocument.Of(("getMore", 5L), ("collection", "a"), ("$db", "d"));
        TrafficFile file = new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("find", "a"), ("$db", "d")), Cursor(5))
            .Request(1, 2, more, OpMsgFlags.ExhaustAllowed);
        Replies(2, 100, 101, 102);
        // Who asks for no stream gets none, whatever the reply says.
        file.Request(1, 3, more);
        Replies(3, 200, 201);
        ReplayScript script = Read(file);
        Assert.Equal(["find d.a {}", "getMore d.a", "getMore d.a", "getMore d.a", "getMore d.a"],
            script.Requests.Select(request => script.Shapes[request.Shape].Name));
        Assert.All(script.Requests, request => Assert.True(request.HasReply));
        Assert.Equal([-1, 0, 1, 2, 3], script.Requests.Select(request => request.After));
        Assert.Equal([0, 1, 2, 3, 4], script.Requests.Select(request => request.Due / 1000));

        void Replies(int request, params int[] numbers)
        {
            foreach (int number in numbers)
            {
                file.At++;
                file.Message(1, 1, TrafficFile.MessageOf(
                    number, request, Cursor(5), number == numbers[^1] ? OpMsgFlags.None : OpMsgFlags.MoreToCome));
                // What it asks itself for; its numbers may be those of a later one (6.0.5).
                file.Message(1, 0, TrafficFile.MessageOf(number + 1, number, more, OpMsgFlags.ExhaustAllowed));
                request = number;
            }
        }
    }

    private static BsonDocument Session(byte number) => BsonDocument.Of(
        ("id", new BsonValue(BsonType.Binary, (byte[])[16, 0, 0, 0, 4, .. Enumerable.Repeat(number, 16)])));

    private static BsonDocument Cursor(long id) => BsonDocument.Of(
        ("cursor", BsonDocument.Of(("id", id), ("ns", "d.a"), ("firstBatch", new object[] { BsonDocument.Of(("_id", 1)) }))), ("ok", 1.0));

    private ReplayScript Read(TrafficFile file, ReplaySettings? options = null)
    {
        using Recording recording = Recording.Open(file.Write(_folder.At("a.bin")));
        return ReplayScriptReader.Read(recording, options ?? new ReplaySettings());
    }
}
