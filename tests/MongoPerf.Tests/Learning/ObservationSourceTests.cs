using System.IO.Compression;
using System.Text;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Testing;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Learning;

/// <summary>Each source tells the same of what a deployment did, and what it can't tell; none believes what stands there.</summary>
public sealed class ObservationSourceTests : IDisposable
{
    private static readonly string[] Log =
    [
        """{"t":{"$date":"2026-01-01T00:00:00.000+00:00"},"s":"I",  "c":"CONTROL",  "id":20698,   "ctx":"-","msg":"restarted"}""",
        Slow("conn1", "shop.orders", """{"find":"orders","filter":{"n":5},"limit":3,"$db":"shop"}""", 2,
            "\"planSummary\":\"IXSCAN { n: 1 }\","),
        // Two batches of one cursor.
        Slow("conn1", "shop.orders", """{"find":"orders","filter":{"n":6},"$db":"shop"}""", 1,
            "\"cursorid\":77,\"keysExamined\":101,\"docsExamined\":101,\"nreturned\":101,"),
        Slow("conn1", "shop.orders", """{"getMore":77,"collection":"orders","$db":"shop"}""", 4,
            "\"cursorid\":77,\"cursorExhausted\":true,\"keysExamined\":40,\"docsExamined\":30,\"nreturned\":20,"),
        // What an earlier 'learn' read.
        Slow("conn9", "shop.orders", """{"find":"orders","filter":{},"batchSize":1000,"$db":"shop"}""", 9,
            "\"appName\":\"mongoperf learn\","),
        // A statement, and the command around it.
        Slow("conn2", "shop.orders", """{"q":{"_id":3},"u":{"$set":{"a":1}},"multi":false,"upsert":false}""", 3, "", "update"),
        Slow("conn2", "shop.$cmd", """{"update":"orders","ordered":true,"$db":"shop"}""", 3),
        Slow("conn2", "shop.orders", """{"insert":"orders","ordered":true,"$db":"shop"}""", 3, "\"ninserted\":7,"),
        Slow("conn3", "other.orders", """{"find":"orders","filter":{},"$db":"other"}""", 1),
        Slow("conn3", "shop.orders", """{"find":"orders","filter":{},"$db":"shop"}""", 1)
            .Replace("\"attr\"", "\"truncated\":{\"command\":{\"type\":\"object\",\"size\":99999}},\"attr\"", StringComparison.Ordinal),
        """{"t":1,"id":51803,"attr":[]}""",
        """{"id":51803, broken""",
    ];

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_log_tells_of_each_operation_once(bool isPacked)
    {
        string path = Path.Combine(_folder.Path, "mongod.log");
        byte[] text = Encoding.UTF8.GetBytes(string.Join('\n', Log));
        using (Stream file = isPacked ? new GZipStream(File.Create(path), CompressionLevel.Fastest) : File.Create(path))
            file.Write(text);
        var source = new LogSource(path, "shop");
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => null);
        Assert.Equal(["find 2", "insertMany 1", "update 1"],
            mix.Operations.GroupBy(one => one.Kind).Select(kind => $"{kind.Key} {kind.Sum(one => one.Count)}").Order());
        Assert.Equal(7, mix.Operations.Single(one => one.Kind == "insertMany").DocumentsPerOperation);
        Assert.Equal("IXSCAN { n: 1 }", mix.Operations.Single(one => one.Limit == 3).Plan);
        PhaseOperation found = mix.Phases.Single().Operations.Single(one => one.Operation is { Kind: "find", Limit: null });
        Assert.InRange(found.Latency!.P50, 4_990, 5_010);
        Assert.Equal(new ObservedExamined(1, 141, 0, 131, 0), found.Operation.Replies!.Examined);
        Assert.Equal(121, found.Operation.Replies.Documents);
        Assert.Contains(mix.NotLearned, note => note.StartsWith("operations of less than 1 ms", StringComparison.Ordinal));
        Assert.Contains("1 commands that the server cut off in its log (parameter maxLogSizeKB)", mix.NotLearned);
        Assert.Contains("2 lines of the log that could not be read", mix.NotLearned);
    }

    [Theory]
    [InlineData("")]
    [InlineData("no log at all\n")]
    [InlineData("\0\0\0\0\n\u001f")]
    public void A_file_without_operations_is_refused_with_what_to_do(string content)
    {
        string path = Path.Combine(_folder.Path, "mongod.log");
        File.WriteAllText(path, content);
        MongoPerfException refused = Assert.Throws<MongoPerfException>(() => new LogSource(path, null).Read().Count());
        Assert.Equal(Fault.WrongUsage, refused.Fault);
        Assert.Contains("slowms", refused.Hint, StringComparison.Ordinal);
    }

    [Fact]
    public void Neither_a_line_without_an_end_nor_a_broken_archive_takes_memory_or_throws_anything_else()
    {
        string path = Path.Combine(_folder.Path, "mongod.log");
        File.WriteAllText(path, new string('x', 3 << 20) + "\n" + Log[1] + "\n");
        Assert.Single(new LogSource(path, null).Read());
        File.WriteAllBytes(path, [0x1F, 0x8B, 1, 2, 3, 4]);
        Assert.Throws<MongoPerfException>(() => new LogSource(path, null).Read().Count());
        string none = Path.Combine(_folder.Path, "none");
        Assert.Equal($"{none} does not exist", Assert.Throws<MongoPerfException>(() => new LogSource(none, null).Read().Count()).Message);
    }

    [Theory]
    [InlineData("6.0.5.bin", false)]
    [InlineData("8.0-alpha.bin", false)]
    public void A_server_s_recording_tells_shapes_and_times(string name, bool isPrecise)
    {
        using Recording recording = Recording.Open(Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Traffic", "Files",
            name));
        var source = new RecordingSource(recording);
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => null);
        Assert.Equal(isPrecise, source.HasPreciseTimes);
        Assert.NotEmpty(mix.Operations);
        Assert.All(mix.Phases.SelectMany(phase => phase.Operations), one => Assert.True(one.Latency is not null || one.Count > 0));
        Assert.DoesNotContain(mix.Operations, operation => operation.Kind is "hello" or "saslStart" or "ping" or "getMore");
    }

    /// <summary>As drivers send bulks: the statements behind the command, in a section of their own.</summary>
    [Fact]
    public void Bulks_of_a_recording_are_learned_with_all_their_statements()
    {
        var file = new TrafficFile();
        BsonDocument ok = BsonDocument.Of(("n", 3), ("ok", 1.0));
        // As their handshakes do: OP_QUERY to admin.$cmd, answered by OP_REPLY.
        byte[] hello =
            [.. new byte[20], .. "admin.$cmd\0"u8, .. new byte[4], 255, 255, 255, 255, .. BsonDocument.Of(("isMaster", 1)).Bytes];
        new MessageHeader(hello.Length, 1, 0, OpCode.Query).Write(hello);
        byte[] answer = [.. new byte[36], .. ok.Bytes];
        new MessageHeader(answer.Length, 2, 1, (OpCode)1).Write(answer);
        file.Message(7, 0, hello).Message(7, 0, answer);
        for (int i = 0; i < 60; i += 2)
        {
            file.Message(7, 0, TrafficFile.MessageOf(i, 0, BsonDocument.Of(("insert", "orders"), ("$db", "shop")), OpMsgFlags.None,
                ("documents", Join(BsonDocument.Of(("_id", i)), BsonDocument.Of(("_id", i + 1000)), BsonDocument.Of(("name", "x"))))));
            file.Reply(7, i, ok);
            file.Message(7, 0, TrafficFile.MessageOf(i + 1, 0, BsonDocument.Of(("update", "orders"), ("$db", "shop")), OpMsgFlags.None,
                ("updates", Join(Update(i, "$set"), Update(i + 1, "$set"), Update(i + 2, "$inc")))));
            file.Reply(7, i + 1, ok);
        }

        using Recording recording = Recording.Open(file.Write(Path.Combine(_folder.Path, "bulks.bin")));
        var source = new RecordingSource(recording);
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => null);
        Assert.Equal(["bulkWrite 30", "insertMany 30"], mix.Operations.Select(one => $"{one.Kind} {one.Count}").Order());
        Assert.Equal(3, mix.Operations.Single(one => one.Kind == "insertMany").DocumentsPerOperation);
        Assert.Equal([2, 1], mix.Operations.Single(one => one.Kind == "bulkWrite").Parts.Select(part => part.DocumentsPerOperation));
        Assert.DoesNotContain(mix.NotLearned, note => note.Contains("messages of the recording", StringComparison.Ordinal));

        static byte[] Join(params BsonDocument[] documents) => [.. documents.SelectMany(one => one.Bytes.ToArray())];
        static BsonDocument Update(int id, string operation) =>
            BsonDocument.Of(("q", BsonDocument.Of(("_id", id))), ("u", BsonDocument.Of((operation, BsonDocument.Of(("n", 5))))));
    }

    [Fact]
    public void Query_stats_tell_shapes_and_counts_but_no_values()
    {
        using var server = new LyingServer
        {
            Answer = exchange => exchange.Reply(ExtendedJson.Parse("""
                {"cursor": {"id": 0, "ns": "admin.$cmd.aggregate", "firstBatch": [
                  {"key": {"queryShape": {"cmdNs": {"db": "shop", "coll": "orders"}, "command": "find",
                    "filter": {"$and": [{"n": {"$eq": "?number"}}, {"name": {"$in": "?array<?string>"}}]}, "sort": {"n": 1},
                        "limit": "?number"}},
                   "metrics": {"execCount": 30, "totalExecMicros": {"sum": 6000}, "docsReturned": {"sum": 90},
                    "firstSeenTimestamp": {"$date": "2026-01-01T00:00:00Z"}},
                   "asOf": {"$date": "2026-01-01T00:01:00Z"}},
                  {"key": {"queryShape": {"cmdNs": {"db": "shop", "coll": "orders"}, "command": "aggregate",
                    "pipeline": [{"$match": {"n": {"$gt": "?number"}}}, {"$group": {"_id": "$n", "c": {"$sum": "?number"}}}, {"$limit":
                        "?number"}]}},
                   "metrics": {"execCount": 10, "docsReturned": {"sum": 70}, "firstSeenTimestamp": {"$date": "2026-01-01T00:00:30Z"}},
                   "asOf": {"$date": "2026-01-01T00:01:00Z"}},
                  {"key": {"queryShape": {"cmdNs": {"db": "shop", "coll": "orders"}, "command": "count",
                    "query": {"n": {"$eq": "?number"}}, "limit": "?number"}},
                   "metrics": {"execCount": 5, "docsReturned": {"sum": 5}, "firstSeenTimestamp": {"$date": "2026-01-01T00:00:30Z"}},
                   "asOf": {"$date": "2026-01-01T00:01:00Z"}},
                  {"key": {"queryShape": {"cmdNs": {"db": "shop", "coll": "orders"}, "command": "update",
                    "q": {"n": {"$eq": "?number"}}, "u": "?object"}}, "metrics": {"execCount": 4}},
                  {"key": {"queryShape": {"cmdNs": {"db": "other", "coll": "x"}, "command": "find"}}, "metrics": {"execCount": 5}},
                  {"key": 5}]}, "ok": 1}
                """)),
        };
        using MongoConnection connection = MongoConnection.Open(server.Address, new ConnectionSettings());
        var source = new QueryStatsSource(connection, "shop");
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => null);
        LearnedOperation found = mix.Operations[0];
        string grouped = string.Join('\n', new OperationWriter(new OrdersData()).Write(mix.Operations[1]));
        Assert.Contains("{$group: {_id: \"$n\", c: {$sum: 1}}}, {$limit: 7}]", grouped, StringComparison.Ordinal);
        Assert.Equal(("count", 5, null), (mix.Operations[2].Kind, mix.Operations[2].Count, mix.Operations[2].Limit));
        Assert.Contains("4 update commands: only reads are learned from $queryStats", mix.NotLearned);
        Assert.Contains(mix.NotLearned, note => note.StartsWith("commands that $queryStats does not list", StringComparison.Ordinal));
        Assert.Equal(("find", 30, 3, 60), (found.Kind, found.Count, found.Limit, mix.Seconds));
        var and = (DocumentShape)found.Filter!.Fields.Single().Value;
        var values = (ValueShape)((DocumentShape)((DocumentShape)and.Fields[0].Value).Fields.Single().Value).Fields.Single().Value;
        Assert.Equal(("n", ValueRole.Equal), (values.Field, values.Role));
        Assert.Equal(BsonType.Int32, Assert.Single(values.Seen.Types).Key);
        Assert.Equal(KeyDistributionKind.Unknown, values.Seen.Keys.Kind);
    }

    [Fact]
    public void A_server_without_query_stats_is_told_by_name()
    {
        using var server = new LyingServer
        {
            Answer = exchange => exchange.Reply(BsonDocument.Of(("ok", 0.0), ("code", 40324), ("errmsg",
                "Unrecognized pipeline stage name"))),
        };
        using MongoConnection connection = MongoConnection.Open(server.Address, new ConnectionSettings());
        MongoPerfException refused = Assert.Throws<MongoPerfException>(() => new QueryStatsSource(connection, "shop").Read().Count());
        Assert.EndsWith("has no $queryStats, which 6.0.7, 7.0.12, 7.1 and later have", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_profiler_that_is_off_is_left_off_and_the_message_says_how_to_turn_it_on()
    {
        var commands = new List<string>();
        using var server = new LyingServer
        {
            Answer = exchange =>
            {
                BsonDocument command = new(MongoPerf.Wire.Messages.OpMsg.Parse(exchange.Request).Body.ToArray());
                commands.Add(ExtendedJson.Write(command.Bytes));
                exchange.Reply(command.First().Key == "find"
                    ? BsonDocument.Of(("cursor", BsonDocument.Of(("id", 0L), ("ns", "shop.x"), ("firstBatch", Array.Empty<object>()))),
                        ("ok", 1))
                    : BsonDocument.Of(("was", 0), ("slowms", 100), ("sampleRate", 1.0), ("ok", 1)));
            },
        };
        using MongoConnection connection = MongoConnection.Open(server.Address, new ConnectionSettings());
        MongoPerfException refused = Assert.Throws<MongoPerfException>(() => new ProfilerSource(connection, "shop", 1000).Read().Count());
        Assert.Equal("the profiler of shop is off, and has kept nothing", refused.Message);
        Assert.Contains("db.setProfilingLevel(2)", refused.Hint, StringComparison.Ordinal);
        Assert.All(commands.Where(command => command.Contains("profile", StringComparison.Ordinal)), command =>
            Assert.True(command.Contains("\"profile\": -1", StringComparison.Ordinal) || command.Contains("\"profile\":-1",
                StringComparison.Ordinal)
                || command.Contains("system.profile", StringComparison.Ordinal), command));
    }

    private static string Slow(string connection, string ns, string command, int took, string more = "", string type = "command") =>
        "{\"t\":{\"$date\":\"2026-01-01T00:00:01.000+00:00\"},\"s\":\"I\",  \"c\":\"COMMAND\",  \"id\":51803,   \"ctx\":\"" + connection
        + "\",\"msg\":\"Slow query\",\"attr\":{\"type\":\"" + type + "\",\"ns\":\"" + ns + "\",\"command\":" + command + "," + more
        + "\"durationMillis\":" + took + "}}";
}
