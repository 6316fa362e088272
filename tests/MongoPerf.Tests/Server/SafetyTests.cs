using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using MongoPerf.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>No message ends the server, and none takes more depth, memory or reply than on mongod 6.0.5, whose codes these are (docs/reliability.md).</summary>
public sealed class LimitTests : ServerTest
{
    [Theory]
    [InlineData(180, null)]
    [InlineData(181, 15)]
    [InlineData(199, 15)]
    public void Document_is_stored_with_180_levels_and_not_more(int levels, int? code)
    {
        BsonDocument reply = Client.Run(BsonDocument.Of(("insert", "c"), ("documents", new object?[] { Nested(levels) })));
        Assert.Equal(1, reply.FindDouble("ok"));
        Assert.Equal(code, reply.FindInt64("writeErrors.0.code"));
    }

    [Theory]
    [InlineData(200)]
    [InlineData(5_000)]
    [InlineData(1_000_000)]
    public void Message_of_more_than_200_levels_is_refused(int levels)
    {
        byte[] body = [.. BsonDocument.Of(("find", "c"), ("$db", "test"), ("filter", null)).Bytes[4..^9], .. (byte[])[3, .. "filter\0"u8], .. DeepBytes(levels), 0];
        byte[] message = new byte[16 + 5 + 4 + body.Length];
        new MessageHeader(message.Length, 101, 0, OpCode.Msg).Write(message);
        BitConverter.TryWriteBytes(message.AsSpan(21), body.Length + 4);
        body.CopyTo(message, 25);
        Client.Send(message);
        BsonDocument reply = new(OpMsg.Parse(Client.ReceiveMessage()!).Body.ToArray());
        Assert.Equal((0, 15L), (reply.FindDouble("ok"), reply.FindInt64("code")));
    }

    [Theory]
    [InlineData("$and", 99, true, null)]
    [InlineData("$and", 100, true, 15)]
    [InlineData("$nor", 99, true, null)]
    public void Filters_may_be_nested_as_deeply_as_their_message(string name, int levels, bool inArrays, int? code) =>
        Answers(BsonDocument.Of(("find", "c"), ("filter", Wrapped(name, levels, BsonDocument.Of(("x", 1)), inArrays))), code);

    [Theory]
    [InlineData(100, null)]
    [InlineData(101, 15)]
    [InlineData(190, 15)]
    public void Expressions_have_100_operators_inside_each_other_and_not_more(int levels, int? code) =>
        Answers(BsonDocument.Of(("find", "c"), ("filter", BsonDocument.Of(("$expr", Wrapped("$abs", levels, "$x", false))))), code);

    [Theory]
    [InlineData("{'find': 'c', 'filter': {'PATH': 1}}", 180, null)]
    [InlineData("{'find': 'c', 'filter': {'PATH': 1}}", 181, 5729100)]
    [InlineData("{'find': 'c', 'filter': {'PATH': 1}}", 1_000_000, 15)]
    [InlineData("{'find': 'c', 'sort': {'PATH': 1}}", 200, null)]
    [InlineData("{'find': 'c', 'sort': {'PATH': 1}}", 201, 15)]
    [InlineData("{'find': 'c', 'projection': {'PATH': 1}}", 201, 15)]
    [InlineData("{'distinct': 'c', 'key': 'PATH'}", 1_000_000, 15)]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$unwind': '$PATH'}], 'cursor': {}}", 300, 15)]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'y': '$PATH'}}], 'cursor': {}}", 1_000_000, 15)]
    [InlineData("{'createIndexes': 'c', 'indexes': [{'key': {'PATH': 1}, 'name': 'x'}]}", 1_000_000, 15)]
    public void Paths_have_limits(string json, int steps, int? code)
    {
        InsertNumbers(1);
        Answers(TestClient.Json(json.Replace("PATH", string.Join('.', Enumerable.Repeat("a", steps)), StringComparison.Ordinal)), code);
    }

    [Theory]
    [InlineData(180, null)]
    [InlineData(181, 15)]
    [InlineData(1_000_000, 15)]
    public void Update_makes_no_document_deeper_than_one_may_be_inserted(int steps, int? code)
    {
        InsertNumbers(1);
        BsonDocument set = BsonDocument.Of(("$set", BsonDocument.Of((string.Join('.', Enumerable.Repeat("z", steps)), 1))));
        BsonDocument reply = Client.Run(BsonDocument.Of(("update", "c"), ("updates", new object?[] { BsonDocument.Of(("q", BsonDocument.Empty), ("u", set)) })));
        Assert.Equal(code, reply.FindInt64("writeErrors.0.code") ?? reply.FindInt64("code"));
    }

    [Fact]
    public void Update_by_a_pipeline_makes_no_document_too_deep()
    {
        InsertNumbers(1);
        BsonDocument reply = Succeed("{'update': 'c', 'updates': [{'q': {}, 'u': [{'$set': {'y': {'$reduce': {'input': {'$range': [0, 185]}, 'initialValue': 1, 'in': ['$$value']}}}}]}]}");
        Assert.Equal(15, reply.FindInt64("writeErrors.0.code"));
    }

    [Theory]
    [InlineData("{'$sort': {'y': 1}}")]
    [InlineData("{'$group': {'_id': '$y'}}")]
    [InlineData("{'$match': {'y': [[[1]]]}}")]
    [InlineData("{'$project': {'y.a.b': 1}}")]
    [InlineData("{'$skip': 0}")]
    public void What_expressions_nest_without_bounds_is_overflow_and_not_the_end(string stage)
    {
        InsertNumbers(1);
        BsonDocument reply = Run($"{{'aggregate': 'c', 'pipeline': [{{'$set': {{'y': {{'$reduce': {{'input': {{'$range': [0, 20000]}}, 'initialValue': 1, 'in': ['$$value']}}}}}}}}, {stage}, {{'$project': {{'y': 1}}}}], 'cursor': {{}}}}");
        Assert.True(reply.IsTrue("ok") || reply.FindInt64("code") == 15, ExtendedJson.Write(reply.Bytes));
        Succeed("{'ping': 1}");
    }

    [Theory]
    [InlineData("{'$size': {'$range': [0, 2000000000]}}", 146, "$range would use too much memory (32000000040 bytes)")]
    [InlineData("{'$size': {'$range': [0, {'$add': [20000000, '$_id']}]}}", 146, "$range would use too much memory (320000040 bytes)")]
    [InlineData("{'$strLenCP': {'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': 'xxxxxxxx', 'in': {'$concat': ['$$value', '$$value']}}}}", 16493, "Tried to create string longer than 16MB")]
    [InlineData("{'$size': {'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': [1, 2, 3, 4], 'in': {'$concatArrays': ['$$value', '$$value']}}}}", 146, "memory limit")]
    [InlineData("{'$size': {'$map': {'input': {'$range': [0, 100000]}, 'in': {'$range': [0, 1000]}}}}", 146, "memory limit")]
    [InlineData("{'$map': {'input': {'$range': [0, 4]}, 'in': {'$range': [0, 500000]}}}", 10334, "BSONObj size")]
    public void Expressions_hold_100_MB_and_return_16(string expression, int code, string text)
    {
        InsertNumbers(1);
        Fails($"{{'aggregate': 'c', 'pipeline': [{{'$project': {{'y': {expression}}}}}], 'cursor': {{}}}}", code, text);
    }

    [Fact]
    public void Variables_side_by_side_count_together()
    {
        InsertNumbers(1);
        string vars = string.Join(", ", Enumerable.Range(0, 40).Select(i => $"'v{i}': {{'$range': [0, 1000000]}}"));
        Fails($"{{'aggregate': 'c', 'pipeline': [{{'$project': {{'y': {{'$let': {{'vars': {{{vars}}}, 'in': 1}}}}}}}}], 'cursor': {{}}}}", 146, "memory limit");
    }

    [Fact]
    public void Stages_that_gather_documents_hold_100_MB()
    {
        (string Stage, int Code)[] stages =
        [
            ("{'$group': {'_id': null, 'p': {'$push': '$s'}}}", 146),
            ("{'$group': {'_id': {'i': '$_id', 's': '$s'}}}", 292),
            ("{'$group': {'_id': '$_id', 'f': {'$first': '$s'}}}", 292),
            ("{'$group': {'_id': null, 'p': {'$addToSet': {'$concat': ['$s', {'$toUpper': '$_id'}]}}}}", 146),
            ("{'$sample': {'size': 200}}", 292),
            ("{'$sort': {'s': 1}}", 292),
        ];
        string text = new('x', 1_000_000);
        for (int i = 0; i < 12; i++)
            Client.RunWithSequence("{'insert': 'b'}", "documents", Enumerable.Range(10 * i, 10).Select(id => BsonDocument.Of(("_id", id), ("s", text))));
        foreach ((string stage, int code) in stages)
            Fails($"{{'aggregate': 'b', 'pipeline': [{{'$project': {{'s': 1}}}}, {stage}], 'cursor': {{}}}}", code, "limit");
    }

    [Fact]
    public void Batch_of_documents_that_a_projection_makes_large_ends_at_16_MB()
    {
        InsertNumbers(50);
        BsonDocument reply = Succeed("{'find': 'c', 'projection': {'y': {'$range': [0, 200000]}}}");
        Assert.InRange(reply.Bytes.Length, 1 << 20, 17 << 20);
        Assert.Equal(50, Client.FindAll("{'find': 'c', 'projection': {'y': {'$range': [0, 200000]}}}").Count);
    }

    [Fact]
    public void Stages_behind_a_count_give_a_cursor_like_all_others()
    {
        InsertNumbers(3);
        BsonDocument reply = Succeed("{'aggregate': 'c', 'pipeline': [{'$count': 'n'}, {'$project': {'y': {'$range': [0, 1000]}}}, {'$unwind': '$y'}], 'cursor': {'batchSize': 5}}");
        Assert.Equal(5, TestClient.Batch(reply, "firstBatch").Count);
        Assert.NotEqual(0, reply.FindInt64("cursor.id"));
    }

    [Fact]
    public void Reply_that_fits_no_message_becomes_an_error()
    {
        // Every id of four bytes comes back in eight.
        var ids = new BsonValue(BsonType.Array, Int32Array(1_150_000));
        BsonDocument reply = Client.Run(BsonDocument.Of(("killCursors", "c"), ("cursors", ids)));
        Assert.True(reply.IsTrue("ok"));
        Assert.InRange(reply.Bytes.Length, 17 << 20, MessageHeader.MaximumMessageLength);
        Fails("{'insert': 'x', 'documents': [{'a': 'TEXT'}]}".Replace("TEXT", new string('x', 17_000_000), StringComparison.Ordinal), 10334, "BSONObj size");
    }

    [Fact]
    public void Errors_of_a_batch_take_a_megabyte_of_texts()
    {
        string id = new('k', 20_000);
        BsonDocument reply = Client.RunWithSequence("{'insert': 'c', 'ordered': false}", "documents", Enumerable.Range(0, 400).Select(_ => BsonDocument.Of(("_id", id))));
        Assert.Equal(399, reply.FindDocument("writeErrors")!.Count());
        Assert.InRange(reply.Bytes.Length, 1 << 20, 2 << 20);
        Assert.Contains($"{{ _id: \"{new string('k', 150)}...\" }}", reply.FindString("writeErrors.0.errmsg"), StringComparison.Ordinal);
    }

    [Fact]
    public void Name_of_megabytes_does_not_come_back() =>
        Assert.InRange(Client.Run(BsonDocument.Of(("find", "c"), (new string('x', 10_000_000), 1))).Bytes.Length, 100, 20_000);

    [Theory]
    [InlineData("{'aggregate': 'c', 'pipeline': [STAGES], 'cursor': {}}", 1001, 9, "Pipeline length must be no longer than 1000 stages")]
    [InlineData("{'aggregate': 'c', 'pipeline': [STAGES], 'cursor': {}}", 1000, null, "")]
    public void Pipeline_has_1000_stages(string json, int stages, int? code, string text)
    {
        BsonDocument reply = Run(json.Replace("STAGES", string.Join(", ", Enumerable.Repeat("{'$skip': 1}", stages)), StringComparison.Ordinal));
        Assert.Equal(code, reply.FindInt64("code"));
        Assert.Contains(text, reply.FindString("errmsg") ?? "", StringComparison.Ordinal);
    }

    [Fact]
    public void Sort_has_32_fields()
    {
        Answers(BsonDocument.Of(("find", "c"), ("sort", Fields(32))), null);
        Answers(BsonDocument.Of(("find", "c"), ("sort", Fields(33))), 13103);
    }

    [Fact]
    public void Array_beside_a_long_text_makes_no_terabyte_of_index_keys()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1, 's': 1}, 'name': 'as'}]}");
        var array = new BsonValue(BsonType.Array, Int32Array(100_000));
        BsonDocument reply = Client.Run(BsonDocument.Of(("insert", "c"), ("documents", new object?[] { BsonDocument.Of(("_id", 1), ("a", array), ("s", new string('s', 1_000_000))) })));
        Assert.Equal(146, reply.FindInt64("code"));
        Assert.Equal(0, Succeed("{'count': 'c', 'query': {'_id': 1}}").FindInt64("n"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Theory]
    [InlineData("{'update': 'c', 'updates': [{'q': {}, 'u': {'$rename': {'t': 'a\\u0000b'}}}]}", 2)]
    [InlineData("{'update': 'c', 'updates': [{'q': {}, 'u': [{'$replaceWith': {'$setField': {'field': 'a\\u0000b', 'input': '$$ROOT', 'value': 1}}}]}]}", 16411)]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$unwind': {'path': '$t', 'includeArrayIndex': 'a\\u0000b'}}], 'cursor': {}}", 16411)]
    [InlineData("{'createIndexes': 'c', 'indexes': [{'key': {'q': 1}, 'name': 'a\\u0000b'}]}", 67)]
    public void Zero_byte_gets_into_no_name(string json, int code)
    {
        InsertNumbers(1);
        BsonDocument reply = Run(json);
        Assert.Equal(code, reply.FindInt64("writeErrors.0.code") ?? reply.FindInt64("code"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Theory]
    [InlineData(249, null)]
    [InlineData(250, 51091)]
    [InlineData(15_000, 51091)]
    public void Regular_expressions_are_nested_as_in_pcre(int groups, int? code)
    {
        InsertNumbers(1);
        Answers(BsonDocument.Of(("find", "c"), ("filter", BsonDocument.Of(("t", BsonDocument.Of(("$regex", new string('(', groups) + "a" + new string(')', groups))))))), code);
    }

    [Fact]
    public void Pattern_that_takes_exponential_time_is_matched_in_linear_time()
    {
        Succeed($"{{'insert': 'c', 'documents': [{{'_id': 1, 't': '{new string('a', 5000)}!'}}, {{'_id': 2, 't': '{new string('a', 5000)}'}}, {{'_id': 3, 't': '{new string('a', 40_000)}'}}]}}");
        Assert.Equal([2, 3], Ids(Client.FindAll("{'find': 'c', 'filter': {'t': {'$regex': '^(a+)+$'}}}")));
    }

    [Fact]
    public void Limit_of_count_may_be_the_least_number_there_is()
    {
        InsertNumbers(3);
        Assert.Equal(3, Succeed("{'count': 'c', 'query': {'n': {'$gte': 0}}, 'limit': {'$numberLong': '-9223372036854775808'}}").FindInt64("n"));
    }

    [Fact]
    public void Parameter_that_is_given_twice_counts_as_it_stands_last()
    {
        InsertNumbers(1);
        BsonDocument twice = BsonDocument.Of(("$cond", BsonDocument.Of(("if", true), ("then", 1), ("then", 2), ("else", 3))));
        BsonDocument reply = Client.Run(BsonDocument.Of(
            ("aggregate", "c"), ("pipeline", new object?[] { BsonDocument.Of(("$project", BsonDocument.Of(("y", twice)))) }), ("cursor", BsonDocument.Empty)));
        Assert.Equal(2, reply.FindInt64("cursor.firstBatch.0.y"));
    }

    private void Answers(BsonDocument command, int? code)
    {
        BsonDocument reply = Client.Run(command);
        Assert.Equal(code, (int?)reply.FindInt64("code"));
        Assert.Equal(code == null, reply.IsTrue("ok"));
        Assert.Equal(0, Server.Defects);
    }

    private static BsonDocument Nested(int levels)
    {
        BsonDocument document = BsonDocument.Of(("a", 1));
        for (int i = 1; i < levels; i++)
            document = BsonDocument.Of(("a", document));
        return document;
    }

    private static object Wrapped(string name, int levels, object value, bool inArrays)
    {
        for (int i = 0; i < levels; i++)
            value = BsonDocument.Of((name, inArrays ? new object?[] { value } : value));
        return value;
    }

    /// <summary>{a: {a: … {}}} written at once: made level by level a million would take forever.</summary>
    private static byte[] DeepBytes(int levels)
    {
        byte[] bytes = new byte[(levels * 8) + 5];
        for (int i = 0; i <= levels; i++)
        {
            int at = i * 7;
            BitConverter.TryWriteBytes(bytes.AsSpan(at), ((levels - i) * 8) + 5);
            if (i < levels)
                "\u0003a\0"u8.CopyTo(bytes.AsSpan(at + 4));
        }

        return bytes;
    }

    private static byte[] Int32Array(int count)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        for (int i = 0; i < count; i++)
            writer.WriteInt32(Encoding.ASCII.GetBytes(i.ToString(System.Globalization.CultureInfo.InvariantCulture)), i);
        writer.End();
        return writer.ToArray();
    }

    private static BsonDocument Fields(int count) => BsonDocument.Of([.. Enumerable.Range(0, count).Select(i => ($"f{i}", (object?)1))]);
}

/// <summary>Work ends when its time is up, when somebody kills it, when its client leaves and when the server stops.</summary>
public sealed class InterruptionTests : ServerTest
{
    // Hours, for a thousand documents.
    private const string Slow = "{'$expr': {'$gt': [{'$size': {'$map': {'input': {'$range': [0, 4000000]}, 'in': {'$add': ['$$this', '$_id']}}}}, 5000000]}}";

    // A million million comparisons in one update of one document.
    private const string SlowUpdate = "{'$addToSet': {'z': {'$each': [ITEMS]}}}";

    private static readonly string[] SlowOnes =
    [
        $"{{'find': 'c', 'filter': {Slow}}}",
        $"{{'count': 'c', 'query': {Slow}}}",
        $"{{'distinct': 'c', 'key': 'n', 'query': {Slow}}}",
        $"{{'aggregate': 'c', 'pipeline': [{{'$match': {Slow}}}], 'cursor': {{}}}}",
        $"{{'aggregate': 'c', 'pipeline': [{{'$group': {{'_id': {Slow[10..^1]}}}}}], 'cursor': {{}}}}",
        $"{{'update': 'c', 'updates': [{{'q': {Slow}, 'u': {{'$set': {{'k': 1}}}}, 'multi': true}}]}}",
        $"{{'delete': 'c', 'deletes': [{{'q': {Slow}, 'limit': 0}}]}}",
        $"{{'findAndModify': 'c', 'query': {Slow}, 'remove': true}}",
        $"{{'find': 'long', 'filter': {{'$or': [{string.Join(", ", Enumerable.Range(0, 500).Select(i => $"{{'t': {{'$regex': '(x+x+x+)+q{i}$'}}}}"))}]}}}}",
    ];

    public static TheoryData<string> SlowCommands => [.. SlowOnes];

    [Theory]
    [MemberData(nameof(SlowCommands))]
    public void Time_limit_ends_any_work(string command)
    {
        Fill(command.Contains("'long'", StringComparison.Ordinal));
        BsonDocument timed = BsonDocument.Of([.. TestClient.Json(command).Select(pair => (pair.Key, (object?)pair.Value)), ("maxTimeMS", 100)]);
        BsonDocument reply = Client.Run(timed);
        Assert.Equal((0, 50L, "MaxTimeMSExpired"), (reply.FindDouble("ok"), reply.FindInt64("code"), reply.FindString("codeName")));
        Assert.Equal(1000, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Theory]
    [MemberData(nameof(SlowCommands))]
    public async Task Kill_ends_any_work(string command)
    {
        Fill(command.Contains("'long'", StringComparison.Ordinal));
        using var other = new TestClient(Port);
        Task<BsonDocument> running = Task.Run(() => other.Run(command));
        Succeed($"{{'killOp': 1, 'op': {await OperationOn(command.Contains("'long'", StringComparison.Ordinal) ? "test.long" : "test.c")}}}", "admin");
        BsonDocument reply = await running;
        Assert.Equal((0, 11601L, "Interrupted"), (reply.FindDouble("ok"), reply.FindInt64("code"), reply.FindString("codeName")));
    }

    [Fact]
    public async Task Kill_reaches_one_who_waits_for_a_lock()
    {
        Fill();
        using var writer = new TestClient(Port);
        using var waiter = new TestClient(Port);
        Task<BsonDocument> running = Task.Run(() => writer.Run($"{{'update': 'c', 'updates': [{{'q': {Slow}, 'u': {{'$set': {{'k': 1}}}}}}]}}"));
        long id = await OperationOn("test.c");
        BsonDocument reply = waiter.Run("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'k': 1}}}], 'maxTimeMS': 50}");
        Assert.Equal(50, reply.FindInt64("code"));
        Succeed($"{{'killOp': 1, 'op': {id}}}", "admin");
        Assert.Equal(11601, (await running).FindInt64("code"));
    }

    [Theory]
    [MemberData(nameof(SlowCommands))]
    public async Task Work_stops_when_its_client_leaves(string command)
    {
        Fill(command.Contains("'long'", StringComparison.Ordinal));
        string nameSpace = command.Contains("'long'", StringComparison.Ordinal) ? "test.long" : "test.c";
        using (var other = new TestClient(Port))
        {
            other.Send(new OpMsgWriter().WriteCommand("test", TestClient.Json(command), 1));
            await OperationOn(nameSpace);
        }

        await Eventually(() => !Operations().Any(operation => operation.FindString("ns") == nameSpace));
        Assert.Equal(1000, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public async Task What_nobody_wants_a_reply_to_is_done_when_its_client_has_left()
    {
        Fill();
        using (var other = new TestClient(Port))
        {
            other.SendWithoutReply("{'update': 'c', 'writeConcern': {'w': 0}}", "updates",
                [TestClient.Json("{'q': {'$expr': {'$gt': [{'$size': {'$range': [0, 2000]}}, 1]}}, 'u': {'$set': {'k': 1}}, 'multi': true}")]);
        }

        await Eventually(() => Succeed("{'count': 'c', 'query': {'k': 1}}").FindInt64("n") == 1000);
    }

    [Fact]
    public async Task Stop_cancels_what_runs_and_loses_nothing()
    {
        Fill(withLongTexts: true);
        TestClient[] others = [.. SlowOnes.Select(_ => new TestClient(Port))];
        foreach ((TestClient other, string command) in others.Zip(SlowOnes))
            other.Send(new OpMsgWriter().WriteCommand("test", TestClient.Json(command), 1));
        await OperationOn("test.c");
        await OperationOn("test.long");
        Restart();
        Array.ForEach(others, other => other.Dispose());
        Assert.Equal(1000, Succeed("{'count': 'c'}").FindInt64("n"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Theory]
    [InlineData("-1", "-1 value for maxTimeMS is out of range")]
    [InlineData("1.5", "maxTimeMS has non-integral value")]
    [InlineData("'x'", "maxTimeMS must be a number")]
    [InlineData("2147483648", "2147483648 value for maxTimeMS is out of range")]
    public void Time_limit_is_checked(string value, string text) => Fails($"{{'ping': 1, 'maxTimeMS': {value}}}", 2, text);

    [Fact]
    public void Cursor_has_what_its_find_left_of_the_time()
    {
        Fill();
        BsonDocument first = Succeed("{'find': 'c', 'filter': {'$expr': {'$gt': [{'$size': {'$range': [0, {'$cond': [{'$lt': ['$_id', 2]}, 1, 4000000]}]}}, 0]}}, 'batchSize': 2, 'maxTimeMS': 400}");
        string getMore = $"'getMore': {{'$numberLong': '{first.FindInt64("cursor.id")}'}}, 'collection': 'c'";
        Fails($"{{{getMore}, 'maxTimeMS': 5}}", 2, "cannot set maxTimeMS on getMore command for a non-awaitData cursor");
        Fails($"{{{getMore}}}", 50, "operation exceeded time limit");
        Fails($"{{{getMore}}}", 43, "not found");
    }

    [Fact]
    public void Operations_are_the_administrators()
    {
        Fails("{'currentOp': 1}", 13, "may only be run against the admin database.");
        Fails("{'killOp': 1, 'op': 1}", 13, "may only be run against the admin database.");
        Fails("{'killOp': 1}", 4, "Missing expected field \"op\"", "admin");
        Fails("{'killOp': 1, 'op': 'x'}", 14, "to have numeric type, but found string", "admin");
        Succeed("{'killOp': 1, 'op': 123456789}", "admin");
    }

    [Fact]
    public void Quadratic_update_ends_too()
    {
        Fill();
        string items = string.Join(",", Enumerable.Range(0, 200_000));
        BsonDocument update = TestClient.Json($"{{'q': {{'_id': 1}}, 'u': {SlowUpdate.Replace("ITEMS", items, StringComparison.Ordinal)}}}");
        BsonDocument reply = Client.RunWithSequence("{'update': 'c', 'maxTimeMS': 200}", "updates", [update]);
        Assert.Equal(50, reply.FindInt64("code"));
    }

    private void Fill(bool withLongTexts = false)
    {
        InsertNumbers(1000);
        if (!withLongTexts)
            return;
        // Far longer than what the usual engine of regular expressions is let loose on.
        string text = new string('x', 8_000_000) + "y";
        Client.RunWithSequence("{'insert': 'long'}", "documents", Enumerable.Range(0, 4).Select(i => BsonDocument.Of(("_id", i), ("t", text))));
    }

    private IEnumerable<BsonDocument> Operations() => Succeed("{'currentOp': 1}", "admin").FindDocument("inprog")!.Select(pair => pair.Value.ToDocument());

    /// <summary>The number of the command that works on a collection.</summary>
    private async Task<long> OperationOn(string nameSpace)
    {
        long? found = null;
        await Eventually(() => (found = Operations().FirstOrDefault(operation => operation.FindString("ns") == nameSpace)?.FindInt64("opid")) != null);
        return found!.Value;
    }

    private static async Task Eventually(Func<bool> isSo)
    {
        var time = Stopwatch.StartNew();
        while (!isSo())
        {
            Assert.True(time.Elapsed < TimeSpan.FromSeconds(60), "it has not come about in a minute");
            await Task.Delay(5);
        }
    }
}

/// <summary>Tests that measure the process's memory: no other test runs beside them.</summary>
[CollectionDefinition(nameof(MeasuredAlone), DisableParallelization = true)]
public sealed class MeasuredAlone;

/// <summary>Many clients and large messages at once.</summary>
[Collection(nameof(MeasuredAlone))]
public sealed class CrowdTests : ServerTest
{
    [Fact]
    public void Connections_beyond_the_limit_are_refused_and_those_there_go_on()
    {
        using var folder = new TemporaryFolder();
        using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions { DataPath = folder.At("data"), CacheBytes = 64 << 20, MaximumConnections = 8 });
        var clients = Enumerable.Range(0, 8).Select(_ => new TestClient(server.Port)).ToList();
        Assert.All(clients, client => Assert.True(client.Run("{'ping': 1}").IsTrue("ok")));
        for (int i = 0; i < 50; i++)
        {
            using var refused = new TestClient(server.Port);
            Assert.True(IsClosed(refused));
        }

        Assert.Equal(50, server.RefusedConnections);
        Assert.All(clients, client => Assert.True(client.Run("{'ping': 1}").IsTrue("ok")));
        clients.ForEach(client => client.Dispose());
    }

    [Fact]
    public async Task Memory_of_large_messages_is_returned()
    {
        const int Clients = 60;
        const int MessageBytes = 47_000_000;
        long before = Environment.WorkingSet;
        byte[] message = LargePing(MessageBytes);
        // Ten at a time, or the system's own socket buffers would be measured.
        await Parallel.ForEachAsync(Enumerable.Range(0, Clients), new ParallelOptions { MaxDegreeOfParallelism = 10 }, (_, _) =>
        {
            using var client = new TestClient(Port);
            client.Send(message);
            Assert.NotNull(client.ReceiveMessage());
            return ValueTask.CompletedTask;
        });
        for (int i = 0; i < 600 && Server.MessageBytes > 0; i++)
            await Task.Delay(20);
        Assert.Equal(0, Server.MessageBytes);
        Assert.InRange(Environment.WorkingSet - before, long.MinValue, 512L << 20);
    }

    [Fact]
    public void Header_alone_takes_no_memory_that_others_miss()
    {
        byte[] header = new byte[16];
        new MessageHeader(48_000_000, 1, 0, OpCode.Msg).Write(header);
        TestClient[] idle = [.. Enumerable.Range(0, 5).Select(_ => new TestClient(Port))];
        foreach (TestClient client in idle)
            client.Send(header);
        byte[] message = LargePing(20_000_000);
        Client.Send(message);
        Assert.NotNull(Client.ReceiveMessage());
        foreach (TestClient client in idle)
            client.Dispose();
    }

    [Fact]
    public async Task Collections_come_and_go_under_those_who_read_write_and_measure_them()
    {
        string[] commands =
        [
            "{'insert': 'x', 'documents': [{'a': [1, 2], 'b': 1}]}", "{'drop': 'x'}", "{'createIndexes': 'x', 'indexes': [{'key': {'a': 1}, 'name': 'a'}]}", "{'dropIndexes': 'x', 'index': 'a'}",
            "{'find': 'x', 'filter': {'a': 1}, 'batchSize': 0}", "{'serverStatus': 1}", "{'listDatabases': 1, '$db': 'admin'}", "{'collStats': 'x'}", "{'dbStats': 1}", "{'dropDatabase': 1}", "{'validate': 'x'}", "{'compact': 'x'}",
            "{'aggregate': 'x', 'pipeline': [{'$indexStats': {}}], 'cursor': {}}", "{'update': 'x', 'updates': [{'q': {}, 'u': {'$set': {'b': 2}}, 'multi': true}]}",
        ];
        await Task.WhenAll(Enumerable.Range(0, 6).Select(seed => Task.Run(() =>
        {
            var random = new Random(seed);
            using var client = new TestClient(Port);
            for (int i = 0; i < 250; i++)
                Assert.NotNull(client.Run(commands[random.Next(commands.Length)].Replace(", '$db': 'admin'", "", StringComparison.Ordinal), "crowd").FindDouble("ok"));
        })));
        Assert.Equal(0, Server.Defects);
        Restart();
        foreach (BsonDocument collection in TestClient.Batch(Succeed("{'listCollections': 1}", "crowd"), "firstBatch"))
            Assert.True(Client.Run(BsonDocument.Of(("validate", collection.FindString("name"))), "crowd").IsTrue("valid"));
    }

    private static bool IsClosed(TestClient client)
    {
        try
        {
            client.Send(new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("ping", 1)), 1));
            return client.ReceiveMessage() == null;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    /// <summary>A ping with documents beside it that no one wants: answered, and nothing of it kept.</summary>
    private static byte[] LargePing(int bytes)
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, 1);
        writer.Body.WriteInt32("ping"u8, 1);
        writer.EndBody("admin");
        writer.BeginSequence("documents"u8);
        byte[] text = new byte[1_000_000];
        Array.Fill(text, (byte)'x');
        var document = new BsonWriter();
        document.StartDocument();
        document.WriteString("t"u8, text);
        document.End();
        for (int at = 0; at + document.Length < bytes; at += document.Length)
            writer.Body.WriteRaw(document.Written);
        writer.EndSequence();
        return writer.Finish().ToArray();
    }
}
