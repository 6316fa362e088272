using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>aggregate, distinct and the projections and filters that go into nested fields and arrays.</summary>
public sealed class PipelineTests : ServerTest
{
    private static readonly string[] Orders =
    [
        "{'_id': 1, 'who': 'a', 'items': [{'sku': 'x', 'n': 2}, {'sku': 'y', 'n': 1}], 'paid': true}",
        "{'_id': 2, 'who': 'b', 'items': [{'sku': 'x', 'n': 5}]}",
        "{'_id': 3, 'who': 'a', 'items': []}",
        "{'_id': 4, 'who': 'a', 'items': [{'sku': 'y', 'n': 7}, {'sku': 'z', 'n': 2}], 'paid': false}",
    ];

    [Theory]
    [InlineData("{'$match': {'who': 'a'}}, {'$count': 'n'}", "{'n': 3}")]
    [InlineData("{'$unwind': '$items'}, {'$group': {'_id': '$items.sku', 'n': {'$sum': '$items.n'}}}, {'$sort': {'n': -1}}, {'$limit': 1}",
        "{'_id': 'y', 'n': 8}")]
    [InlineData(
        "{'$group': {'_id': null, 'who': {'$addToSet': '$who'}, 'first': {'$first': '$_id'}, 'mean': {'$avg': '$_id'}}}, {'$project': "
        + "{'_id': 0, 'n': {'$size': '$who'}, 'first': 1, 'mean': 1}}",
        "{'first': 1, 'mean': 2.5, 'n': 2}")]
    [InlineData("{'$match': {'_id': 1}}, {'$project': {'items.n': 1, 'total': {'$sum': '$items.n'}}}",
        "{'_id': 1, 'items': [{'n': 2}, {'n': 1}], 'total': 3}")]
    [InlineData(
        "{'$match': {'_id': 3}}, {'$unwind': {'path': '$items', 'preserveNullAndEmptyArrays': true}}, {'$addFields': {'state': "
        + "{'$ifNull': ['$paid', 'open']}}}",
        "{'_id': 3, 'who': 'a', 'state': 'open'}")]
    [InlineData("{'$match': {'_id': 2}}, {'$project': {'_id': {'$toString': '$_id'}, 'd': {'$toDouble': '1e3'}, 'n': {'$convert': "
        + "{'input': '$who', 'to': 'int', 'onError': -1, 'onNull': 0}}, 't': {'$toString': {'$toDate': '2020-01-02T03:04:05+01:00'}}}}",
        "{'_id': '2', 'd': 1000.0, 'n': -1, 't': '2020-01-02T02:04:05.000Z'}")]
    [InlineData("{'$sort': {'_id': -1}}, {'$skip': 1}, {'$limit': 1}, {'$unset': ['who', 'items']}", "{'_id': 3}")]
    [InlineData("{'$sortByCount': '$who'}, {'$limit': 1}", "{'_id': 'a', 'count': 3}")]
    [InlineData("{'$match': {'$expr': {'$gt': [{'$size': '$items'}, 1]}}}, {'$count': 'n'}", "{'n': 2}")]
    [InlineData("{'$match': {'_id': 2}}, {'$replaceRoot': {'newRoot': {'$arrayElemAt': ['$items', 0]}}}", "{'sku': 'x', 'n': 5}")]
    // Three of them are more than int64 holds: a double, as on mongod.
    [InlineData("{'$match': {'who': 'a'}}, {'$group': {'_id': null, 's': {'$sum': {'$numberLong': '4611686018427387904'}}}}",
        "{'_id': null, 's': 13835058055282163712.0}")]
    [InlineData("{'$match': {'who': 'a'}}, {'$group': {'_id': null, 's': {'$sum': {'$numberLong': '-3074457345618258602'}}}}",
        "{'_id': null, 's': {'$numberLong': '-9223372036854775806'}}")]
    public void A_pipeline_gives_this_document(string stages, string expected)
    {
        InsertOrders();
        BsonDocument reply = Succeed("{'aggregate': 'c', 'pipeline': [" + stages + "], 'cursor': {}}");
        Assert.Equal(
            ExtendedJson.Write(TestClient.Json(expected).Bytes), ExtendedJson.Write(TestClient.Batch(reply, "firstBatch").Single().Bytes));
    }

    // As mongod 6.0.5 answers.
    [Theory]
    [InlineData("['abc', 1, 1]", "b")]
    [InlineData("['abc', 0, 9]", "abc")]
    [InlineData("['abc', 5, 1]", "")]
    [InlineData("['a\u00e9\ud83d\ude00z', 1, 2]", "\u00e9\ud83d\ude00")]
    [InlineData("['abc', 0, 0]", "")]
    [InlineData("[12345, 1.0, 2]", "23")]
    [InlineData("['$nosuch', 0, 1]", "")]
    public void A_part_of_a_text_is_counted_in_characters(string operands, string expected)
    {
        InsertOrders();
        BsonDocument reply = Succeed("{'aggregate': 'c', 'pipeline': [{'$match': {'_id': 1}}, {'$project': "
            + "{'r': {'$substrCP': " + operands + "}}}], 'cursor': {}}");
        Assert.Equal(expected, TestClient.Batch(reply, "firstBatch").Single().FindString("r"));
    }

    [Theory]
    [InlineData("['abc', -1, 2]", 34455, "the starting index must be nonnegative integer.")]
    [InlineData("['abc', 1, -2]", 34454, "length must be a nonnegative integer.")]
    [InlineData("['abc', 'x', 1]", 34450, "starting index must be a numeric type (is BSON type string)")]
    [InlineData("['abc', 1, null]", 34452, "length must be a numeric type (is BSON type null)")]
    [InlineData("['abc', 1.5, 1]", 34451, "starting index cannot be represented as a 32-bit integral value: 1.5")]
    [InlineData("[[1], 0, 1]", 16007, "can't convert from BSON type array to String")]
    [InlineData("['abc', 1]", 16020, "takes exactly 3 arguments. 2 were passed in.")]
    public void A_part_of_a_text_that_can_not_be_is_refused(string operands, int code, string message)
    {
        InsertOrders();
        Fails("{'aggregate': 'c', 'pipeline': [{'$project': {'r': {'$substrCP': " + operands + "}}}], 'cursor': {}}", code, message);
    }

    [Fact]
    public void A_pipelines_cursor_gives_batches()
    {
        InsertNumbers(250);
        string command =
            "{'aggregate': 'c', 'pipeline': [{'$match': {'n': {'$lt': 9}}}, {'$project': {'n': 1}}], 'cursor': {'batchSize': 50}}";
        Assert.Equal(50, TestClient.Batch(Succeed(command), "firstBatch").Count);
        Assert.Equal(225, Client.FindAll(command).Count);
    }

    [Fact]
    public void A_sample_has_as_many_documents_as_were_asked_for_each_once()
    {
        InsertNumbers(200);
        int[] ids = Ids(Client.FindAll("{'aggregate': 'c', 'pipeline': [{'$sample': {'size': 20}}], 'cursor': {}}"));
        Assert.Equal(20, ids.Distinct().Count());
    }

    [Fact]
    public void Index_statistics_count_the_queries_that_used_an_index()
    {
        InsertNumbers(20);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        for (int i = 0; i < 3; i++)
            Client.FindAll("{'find': 'c', 'filter': {'n': 4}}");
        List<BsonDocument> statistics =
            Client.FindAll("{'aggregate': 'c', 'pipeline': [{'$indexStats': {}}, {'$sort': {'name': 1}}], 'cursor': {}}");
        Assert.Equal(["_id_", "n_1"], statistics.Select(index => index.FindString("name")));
        Assert.Equal([0L, 3L], statistics.Select(index => index.FindInt64("accesses.ops")));
    }

    [Fact]
    public void Distinct_values_come_once_elements_of_arrays_each_for_itself()
    {
        InsertOrders();
        Assert.Equal(["x", "y", "z"],
            Succeed("{'distinct': 'c', 'key': 'items.sku'}").FindDocument("values")!.Select(pair => pair.Value.ToString()));
        Assert.Equal(["b"], Succeed("{'distinct': 'c', 'key': 'who', 'query': {'items.n': 5}}")
            .FindDocument("values")!.Select(pair => pair.Value.ToString()));
    }

    [Theory]
    [InlineData("{'items.sku': 'y'}", new[] { 1, 4 })]
    [InlineData("{'items': {'$elemMatch': {'sku': 'y', 'n': {'$gt': 5}}}}", new[] { 4 })]
    [InlineData("{'items.sku': {'$all': ['x', 'y']}}", new[] { 1 })]
    [InlineData("{'items': {'$size': 0}}", new[] { 3 })]
    [InlineData("{'paid': {'$type': 'bool'}}", new[] { 1, 4 })]
    [InlineData("{'_id': {'$mod': [2, 0]}}", new[] { 2, 4 })]
    [InlineData("{'who': {'$regex': '^A', '$options': 'i'}, 'paid': {'$exists': true}}", new[] { 1, 4 })]
    [InlineData("{'who': {'$in': ['b', {'$regularExpression': {'pattern': '^z', 'options': ''}}]}}", new[] { 2 })]
    [InlineData("{'items.1.n': 1}", new[] { 1 })]
    [InlineData("{'items.n': {'$not': {'$gt': 4}}}", new[] { 1, 3 })]
    public void A_filter_over_arrays_finds_the_same_with_and_without_an_index(string filter, int[] expected)
    {
        InsertOrders();
        string command = "{'find': 'c', 'sort': {'_id': 1}, 'filter': " + filter + "}";
        Assert.Equal(expected, Ids(Client.FindAll(command)));
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'items.sku': 1, 'items.n': -1}, 'name': 'items'}, {'key': {'who': 1, "
            + "'items.n': 1}, 'name': 'who'}]}");
        foreach (string hint in (string[])["items", "who", "_id_"])
            Assert.Equal(expected, Ids(Client.FindAll(command[..^1] + ", 'hint': '" + hint + "'}")));
    }

    [Fact]
    public void Fields_below_one_array_are_indexed_element_by_element_and_two_arrays_are_refused()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a.x': 1, 'a.y': 1}, 'name': 'xy', 'unique': true}, {'key': {'p': "
            + "1, 'q': 1}, 'name': 'pq'}]}");
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': [{'x': 1, 'y': 2}, {'x': 3, 'y': 4}]}]}");
        Assert.Equal(1, Succeed("{'insert': 'c', 'documents': [{'_id': 2, 'a': {'x': 1, 'y': 4}}]}").FindInt64("n"));
        Assert.Equal(11000, Succeed("{'insert': 'c', 'documents': [{'_id': 3, 'a': {'x': 3, 'y': 4}}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(171, Succeed("{'insert': 'c', 'documents': [{'_id': 4, 'p': [1], 'q': [2]}]}").FindInt64("writeErrors.0.code"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Theory]
    [InlineData("{'items.n': 1, '_id': 0}", "{'items': [{'n': 2}, {'n': 1}]}")]
    [InlineData("{'items.n': 0, 'paid': 0}", "{'_id': 1, 'who': 'a', 'items': [{'sku': 'x'}, {'sku': 'y'}]}")]
    [InlineData("{'items': {'$slice': -1}, 'paid': 1}", "{'_id': 1, 'items': [{'sku': 'y', 'n': 1}], 'paid': true}")]
    [InlineData("{'items': {'$elemMatch': {'sku': 'y'}}}", "{'_id': 1, 'items': [{'sku': 'y', 'n': 1}]}")]
    [InlineData("{'_id': 0, 'twice': {'$multiply': [2, {'$sum': '$items.n'}]}}", "{'twice': 6}")]
    public void A_projection_reaches_into_arrays(string projection, string expected)
    {
        InsertOrders();
        BsonDocument found = Client.FindAll("{'find': 'c', 'filter': {'_id': 1}, 'projection': " + projection + "}").Single();
        Assert.Equal(ExtendedJson.Write(TestClient.Json(expected).Bytes), ExtendedJson.Write(found.Bytes));
    }

    [Fact]
    public void Compact_gives_back_what_deleted_documents_took_and_all_is_valid_afterwards()
    {
        byte[] large = new byte[20_000];
        new Random(1).NextBytes(large);
        Client.RunWithSequence(
            "{'insert': 'c'}", "documents", Enumerable.Range(0, 500).Select(i => BsonDocument.Of(("_id", i), ("b", large))));
        Succeed("{'delete': 'c', 'deletes': [{'q': {'_id': {'$gte': 10}}, 'limit': 0}]}");
        Succeed("{'compact': 'c'}");
        Assert.InRange(Succeed("{'collStats': 'c'}").FindInt64("storageSize")!.Value, 1, 2_000_000);
        BsonDocument report = Succeed("{'validate': 'c', 'full': true}");
        Assert.True(report.IsTrue("valid"), ExtendedJson.Write(report.Bytes));
        Assert.Equal((10L, 10L), (report.FindInt64("nrecords"), report.FindInt64("keysPerIndex._id_")));
    }

    /// <summary>As mongod 6.0 takes them; pymongo 3 sends scandata.</summary>
    [Theory]
    [InlineData("{'validate': 'c', 'scandata': false, 'full': false}")]
    [InlineData("{'compact': 'c', 'bogus': 1}")]
    public void What_old_drivers_send_along_is_passed_over(string command)
    {
        InsertNumbers(1);
        Succeed(command);
    }

    [Theory]
    [InlineData("{'find': 'c', 'filter': {'$where': 'true'}}", 238, "$where in filters")]
    [InlineData("{'find': 'c', 'filter': {'a': {'$regex': '(?<=x)y'}}}", 238, "a part of the regular expression '(?<=x)y'")]
    [InlineData("{'find': 'c', 'collation': {'locale': 'sv'}}", 238, "the collation of locale 'sv'")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$redact': {}}], 'cursor': {}}", 238, "the pipeline stage $redact")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$dateToString': {}}}}], 'cursor': {}}", 238,
        "the expression $dateToString")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$group': {'_id': 1, 'a': {'$stdDevPop': '$a'}}}], 'cursor': {}}", 238,
        "the accumulator $stdDevPop")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$nosuch': 1}}}], 'cursor': {}}", 31325,
        "Unknown expression $nosuch")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$toInt': '1.5'}}}], 'cursor': {}}", 241,
        "Failed to parse number '1.5' in $convert with no onError value")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$toDate': 'tomorrow'}}}], 'cursor': {}}", 238,
        "dates from texts but such")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$getField': {}}}}], 'cursor': {}}", 3041702,
        "the parameter 'field' is missing")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$getField': {'$concat': ['a', 'b']}}}}], 'cursor': {}}", 5654601,
        "$getField requires 'field' to evaluate to a constant, but got a non-constant argument")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$unsetField': {'field': {'$concat': ['a', 'b']}, 'input': {}}}}}], "
        + "'cursor': {}}", 4161106, "$unsetField requires 'field' to evaluate to a constant, but got a non-constant argument")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$getField': '$a'}}}], 'cursor': {}}", 5654600,
        "takes no path as its 'field'")]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$let': {'vars': 1, 'in': 1}}}}], 'cursor': {}}", 10065,
        "expected an object (vars)")]
    [InlineData("{'distinct': 'c', 'key': 'a', 'bogus': 1}", 40415, "'distinct.bogus' is an unknown field")]
    public void What_is_not_known_is_refused_with_a_clear_text(string command, int code, string text)
    {
        InsertNumbers(1);
        Fails(command, code, text);
    }

    private void InsertOrders() => Client.RunWithSequence("{'insert': 'c'}", "documents", Orders.Select(TestClient.Json));
}
