using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>
/// No message ends the server, and none takes more depth, memory or reply than on mongod 6.0.5, whose codes these are
/// (docs/reliability.md).
/// </summary>
public sealed class LimitTests : ServerTest
{
    /// <summary>An expression whose value is a text of 8 MB.</summary>
    private const string EightMegabytes =
        "{'$reduce': {'input': {'$range': [0, 20]}, 'initialValue': 'xxxxxxxx', 'in': {'$concat': ['$$value', '$$value']}}}";

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
        byte[] body = [.. BsonDocument.Of(("find", "c"), ("$db", "test"), ("filter", null)).Bytes[4..^9],
            .. (byte[])[3, .. "filter\0"u8], .. DeepBytes(levels), 0];
        byte[] message = new byte[16 + 5 + 4 + body.Length];
        new MessageHeader(message.Length, 101, 0, OpCode.Msg).Write(message);
        BitConverter.TryWriteBytes(message.AsSpan(21), body.Length + 4);
        body.CopyTo(message, 25);
        Client.Send(message);
        BsonDocument reply = new(OpMsg.Parse(Client.ReceiveMessage()!).Body.ToArray());
        Assert.Equal((0, 15L), (reply.FindDouble("ok"), reply.FindInt64("code")));
    }

    /// <summary>Around what it repeats explain puts levels of its own.</summary>
    [Theory]
    [InlineData(180, null)]
    [InlineData(194, 15)]
    public void Explain_repeats_no_filter_that_would_be_too_deep_in_its_reply(int levels, int? code)
    {
        InsertNumbers(1);
        BsonDocument reply =
            Client.Run(BsonDocument.Of(("explain", BsonDocument.Of(("find", "c"), ("filter", BsonDocument.Of(("n", Nested(levels))))))));
        Assert.Equal(code, reply.FindInt64("code"));
        BsonValidator.ValidateStructure(reply.Bytes);
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
        BsonDocument reply = Client.Run(
            BsonDocument.Of(("update", "c"), ("updates", new object?[] { BsonDocument.Of(("q", BsonDocument.Empty), ("u", set)) })));
        Assert.Equal(code, reply.FindInt64("writeErrors.0.code") ?? reply.FindInt64("code"));
    }

    [Fact]
    public void Update_by_a_pipeline_makes_no_document_too_deep()
    {
        InsertNumbers(1);
        BsonDocument reply = Succeed("{'update': 'c', 'updates': [{'q': {}, 'u': [{'$set': {'y': {'$reduce': {'input': {'$range': [0, "
            + "185]}, 'initialValue': 1, 'in': ['$$value']}}}}]}]}");
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
        BsonDocument reply = Run($"{{'aggregate': 'c', 'pipeline': [{{'$set': {{'y': {{'$reduce': {{'input': {{'$range': [0, 10000]}}, "
            + $"'initialValue': 1, 'in': ['$$value']}}}}}}}}, {stage}, {{'$project': {{'y': 1}}}}], 'cursor': {{}}}}");
        Assert.True(reply.IsTrue("ok") || reply.FindInt64("code") == 15, ExtendedJson.Write(reply.Bytes));
        Succeed("{'ping': 1}");
    }

    [Theory]
    [InlineData("{'$size': {'$range': [0, 2000000000]}}", 146, "$range would use too much memory (32000000040 bytes)")]
    [InlineData("{'$size': {'$range': [0, {'$add': [20000000, '$_id']}]}}", 146, "$range would use too much memory (320000040 bytes)")]
    [InlineData(
        "{'$strLenCP': {'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': 'xxxxxxxx', 'in': {'$concat': ['$$value', '$$value']}}}}",
        16493, "Tried to create string longer than 16MB")]
    [InlineData("{'$size': {'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': [1, 2, 3, 4], 'in': {'$concatArrays': "
        + "['$$value', '$$value']}}}}", 146, "memory limit")]
    [InlineData("{'$size': {'$map': {'input': {'$range': [0, 100000]}, 'in': {'$range': [0, 1000]}}}}", 146, "memory limit")]
    [InlineData("{'$map': {'input': {'$range': [0, 4]}, 'in': {'$range': [0, 500000]}}}", 10334, "BSONObj size")]
    // What is built counts while its next part is worked out: 39 MB, and again as much inside it.
    [InlineData("{'$size': [[RANGE, {'$size': [[RANGE, {'$size': [[RANGE, 1]]}]]}]]}", 146, "memory limit")]
    [InlineData("{'$size': {'$map': {'input': [RANGE, 1], 'in': {'$cond': [{'$isArray': '$$this'}, '$$this', {'$size': [[RANGE, 1]]}]}}}}",
        146, "memory limit")]
    [InlineData(
        "{'$type': {'$setField': {'field': 'a', 'input': {'x': RANGE}, 'value': {'$size': [[RANGE, RANGE]]}}}}", 146, "memory limit")]
    // Constants that are worked out beforehand.
    [InlineData("{'$or': [{'$eq': ['$_id', CONSTANT]}, {'$eq': ['$n', CONSTANT]}, {'$eq': ['$t', CONSTANT]}]}", 146, "memory limit")]
    public void Expressions_hold_100_MB_and_return_16(string expression, int code, string text)
    {
        expression = expression.Replace("RANGE", "{'$range': ['$_id', 3000000]}", StringComparison.Ordinal)
            .Replace("CONSTANT", "{'$range': [0, 3000000]}", StringComparison.Ordinal);
        InsertNumbers(1);
        Fails($"{{'aggregate': 'c', 'pipeline': [{{'$project': {{'y': {expression}}}}}], 'cursor': {{}}}}", code, text);
    }

    [Fact]
    public void Variables_side_by_side_count_together()
    {
        InsertNumbers(1);
        string vars = string.Join(", ", Enumerable.Range(0, 40).Select(i => $"'v{i}': {{'$range': [0, 1000000]}}"));
        Fails($"{{'aggregate': 'c', 'pipeline': [{{'$project': {{'y': {{'$let': {{'vars': {{{vars}}}, 'in': 1}}}}}}}}], 'cursor': {{}}}}",
            146, "memory limit");
    }

    [Fact]
    public void Constant_counts_once_however_it_is_used()
    {
        InsertNumbers(2);
        // 58 MB.
        Assert.Equal(2, Succeed("{'count': 'c', 'query': {'$expr': {'$in': ['$_id', {'$range': [0, 4500000]}]}}}").FindInt64("n"));
    }

    [Theory]
    [InlineData("{'find': 'c', 'filter': {}, LET}")]
    [InlineData("{'aggregate': 'c', 'pipeline': [], 'cursor': {}, LET}")]
    [InlineData("{'update': 'c', 'updates': [], LET}")]
    [InlineData("{'findAndModify': 'c', 'remove': true, LET}")]
    public void Variables_of_a_command_count_together(string command)
    {
        string let = string.Join(", ", Enumerable.Range(0, 3).Select(i => $"'v{i}': {{'$range': [0, 3000000]}}"));
        Fails(command.Replace("LET", $"'let': {{{let}}}", StringComparison.Ordinal), 146, "memory limit");
    }

    [Theory]
    [InlineData("update", "updates", "{'q': {'$expr': {'$eq': ['$t', {'$range': [0, 100000]}]}}, 'u': {'$set': {'x': 1}}}")]
    [InlineData("update", "updates", "{'q': {}, 'u': [{'$set': {'x': {'$eq': ['$t', {'$range': [0, 100000]}]}}}]}")]
    [InlineData("delete", "deletes", "{'q': {'$expr': {'$eq': ['$t', {'$range': [0, 100000]}]}}, 'limit': 0}")]
    public void Constants_of_a_statement_go_with_it(string command, string statements, string statement)
    {
        InsertNumbers(1);
        BsonDocument reply = Client.RunWithSequence(
            $"{{'{command}': 'c'}}", statements, Enumerable.Repeat(TestClient.Json(statement), 100));
        Assert.True(reply.IsTrue("ok") && reply.FindDocument("writeErrors") == null, ExtendedJson.Write(reply.Bytes));
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
            Client.RunWithSequence(
                "{'insert': 'b'}", "documents", Enumerable.Range(10 * i, 10).Select(id => BsonDocument.Of(("_id", id), ("s", text))));
        foreach ((string stage, int code) in stages)
            Fails($"{{'aggregate': 'b', 'pipeline': [{{'$project': {{'s': 1}}}}, {stage}], 'cursor': {{}}}}", code, "limit");
    }

    [Fact]
    public void Batch_of_documents_that_a_projection_makes_large_ends_at_16_MB()
    {
        InsertNumbers(10);
        BsonDocument reply = Succeed("{'find': 'c', 'projection': {'y': {'$range': [0, 200000]}}}");
        Assert.InRange(reply.Bytes.Length, 1 << 20, 17 << 20);
        Assert.Equal(10, Client.FindAll("{'find': 'c', 'projection': {'y': {'$range': [0, 200000]}}}").Count);
    }

    [Fact]
    public void Stages_behind_a_count_give_a_cursor_like_all_others()
    {
        InsertNumbers(3);
        BsonDocument reply = Succeed("{'aggregate': 'c', 'pipeline': [{'$count': 'n'}, {'$project': {'y': {'$range': [0, 1000]}}}, "
            + "{'$unwind': '$y'}], 'cursor': {'batchSize': 5}}");
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
        Fails("{'insert': 'x', 'documents': [{'a': 'TEXT'}]}".Replace("TEXT", new string('x', 17_000_000), StringComparison.Ordinal), 10334,
            "BSONObj size");
    }

    [Fact]
    public void Errors_of_a_batch_take_a_megabyte_of_texts()
    {
        string id = new('k', 20_000);
        BsonDocument reply = Client.RunWithSequence("{'insert': 'c', 'ordered': false}", "documents",
            Enumerable.Range(0, 400).Select(_ => BsonDocument.Of(("_id", id))));
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
        BsonDocument reply =
            Run(json.Replace("STAGES", string.Join(", ", Enumerable.Repeat("{'$skip': 1}", stages)), StringComparison.Ordinal));
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
        BsonDocument reply = Client.Run(BsonDocument.Of(("insert", "c"),
            ("documents", new object?[] { BsonDocument.Of(("_id", 1), ("a", array), ("s", new string('s', 1_000_000))) })));
        Assert.Equal(146, reply.FindInt64("code"));
        Assert.Equal(0, Succeed("{'count': 'c', 'query': {'_id': 1}}").FindInt64("n"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Fact]
    public void Index_on_arrays_stays_one_when_the_insert_that_made_it_one_is_given_up()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1, 's': 1}, 'name': 'as'}]}");
        BsonDocument small = TestClient.Json("{'a': [1, 2], 's': 'x'}");
        BsonDocument large = BsonDocument.Of(("a", new BsonValue(BsonType.Array, Int32Array(100_000))), ("s", new string('s', 1_000_000)));
        Assert.Equal(146, Client.Run(BsonDocument.Of(("insert", "c"), ("documents", new object?[] { small, large }))).FindInt64("code"));
        Client.Run(BsonDocument.Of(("insert", "c"), ("documents", new object?[] { small })));
        Restart();
        Assert.Single(Client.FindAll("{'find': 'c', 'filter': {'a': {'$gt': 0}}, 'hint': 'as'}"));
    }

    [Fact]
    public void Statement_that_fails_holds_no_memory()
    {
        // 42 MB each.
        InsertNumbers(1);
        string variable = $"{{'$map': {{'input': {{'$range': ['$_id', 5]}}, 'in': {EightMegabytes}}}}}";
        BsonDocument statement = TestClient.Json(
            $"{{'q': {{}}, 'u': [{{'$set': {{'y': {{'$let': {{'vars': {{'v': {variable}}}, 'in': {{'$divide': [1, 0]}}}}}}}}}}]}}");
        BsonDocument reply = Client.RunWithSequence("{'update': 'c', 'ordered': false}", "updates", Enumerable.Repeat(statement, 4));
        Assert.Equal(4, reply.FindDocument("writeErrors")!.Count(error => error.Value.ToDocument().FindInt64("code") == 2));
    }

    [Theory]
    [InlineData("{'update': 'c', 'updates': [{'q': {}, 'u': {'$rename': {'t': 'a\\u0000b'}}}]}", 2)]
    [InlineData("{'update': 'c', 'updates': [{'q': {}, 'u': [{'$replaceWith': {'$setField': {'field': 'a\\u0000b', 'input': "
        + "'$$ROOT', 'value': 1}}}]}]}", 16411)]
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
        Answers(
            BsonDocument.Of(("find", "c"),
                ("filter", BsonDocument.Of(("t", BsonDocument.Of(("$regex", new string('(', groups) + "a" + new string(')', groups))))))),
            code);
    }

    [Fact]
    public void Pattern_that_takes_exponential_time_is_matched_in_linear_time()
    {
        Succeed($"{{'insert': 'c', 'documents': [{{'_id': 1, 't': '{new string('a', 5000)}!'}}, {{'_id': 2, 't': "
            + $"'{new string('a', 5000)}'}}, {{'_id': 3, 't': '{new string('a', 40_000)}'}}]}}");
        Assert.Equal([2, 3], Ids(Client.FindAll("{'find': 'c', 'filter': {'t': {'$regex': '^(a+)+$'}}}")));
    }

    [Fact]
    public void Limit_of_count_may_be_the_least_number_there_is()
    {
        InsertNumbers(3);
        Assert.Equal(
            3, Succeed("{'count': 'c', 'query': {'n': {'$gte': 0}}, 'limit': {'$numberLong': '-9223372036854775808'}}").FindInt64("n"));
    }

    [Fact]
    public void Parameter_that_is_given_twice_counts_as_it_stands_last()
    {
        InsertNumbers(1);
        BsonDocument twice = BsonDocument.Of(("$cond", BsonDocument.Of(("if", true), ("then", 1), ("then", 2), ("else", 3))));
        BsonDocument reply = Client.Run(BsonDocument.Of(
            ("aggregate", "c"),
            ("pipeline", new object?[] { BsonDocument.Of(("$project", BsonDocument.Of(("y", twice)))) }),
            ("cursor", BsonDocument.Empty)));
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
