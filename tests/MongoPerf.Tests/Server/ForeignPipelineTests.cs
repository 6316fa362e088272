using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Stages that read other collections, or run pipelines of their own: $lookup, $facet, $bucket.</summary>
public sealed class ForeignPipelineTests : ServerTest
{
    public ForeignPipelineTests()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'k': 1}, {'_id': 2, 'k': [1, 3]}, {'_id': 3}, {'_id': 4, 'k': 9}]}");
        Succeed("{'insert': 'd', 'documents': [{'_id': 1, 'f': 1}, {'_id': 2, 'f': [2, 3]}, {'_id': 3, 'f': null}, {'_id': 4}]}");
    }

    [Theory]
    [InlineData(1, "[1]")]
    [InlineData(2, "[1, 2]")]
    [InlineData(3, "[3, 4]")]
    [InlineData(4, "[]")]
    public void A_lookup_gives_the_documents_with_an_equal_field(int id, string found)
    {
        string join = "{'$lookup': {'from': 'd', 'localField': 'k', 'foreignField': 'f', 'as': 'r'}}";
        Assert.Equal(found, Joined(id, join));
        Succeed("{'createIndexes': 'd', 'indexes': [{'key': {'f': 1}, 'name': 'f'}]}");
        Assert.Equal(found, Joined(id, join));
    }

    [Fact]
    public void A_lookup_on_an_index_reads_no_more_than_it_joins()
    {
        Client.RunWithSequence("{'insert': 'big'}", "documents", Enumerable.Range(0, 3000).Select(i => BsonDocument.Of(("_id", i))));
        Succeed("{'aggregate': 'c', 'pipeline': [{'$lookup': {'from': 'big', 'localField': '_id', 'foreignField': '_id', 'as': 'r'}}], "
            + "'cursor': {}}");
        BsonDocument big = TestClient.Batch(Succeed("{'aggregate': 'big', 'pipeline': [{'$indexStats': {}}], 'cursor': {}}"), "firstBatch")
            .Single();
        Assert.Equal(4, big.FindInt64("accesses.ops"));
    }

    [Fact]
    public void A_lookups_pipeline_sees_the_variables_of_its_document()
    {
        Assert.Equal("[3, 4]", Joined(3, "{'$lookup': {'from': 'd', 'let': {'x': '$_id'}, 'pipeline': [{'$match': {'$expr': {'$gte': "
            + "['$_id', '$$x']}}}], 'as': 'r'}}"));
        Assert.Equal("[1]", Joined(2, "{'$lookup': {'from': 'd', 'localField': 'k', 'foreignField': 'f', 'pipeline': [{'$limit': 1}], "
            + "'as': 'r'}}"));
        // One within the other, each with its own variable.
        Assert.Equal("[2]", Joined(1, "{'$lookup': {'from': 'd', 'let': {'x': '$_id'}, 'pipeline': [{'$lookup': {'from': 'c', 'let': "
            + "{'y': '$_id'}, 'pipeline': [{'$match': {'$expr': {'$and': [{'$eq': ['$_id', '$$x']}, {'$eq': ['$$y', 2]}]}}}], 'as': 's'}}, "
            + "{'$match': {'s': {'$ne': []}}}], 'as': 'r'}}"));
    }

    [Fact]
    public void A_lookup_of_what_is_not_there_finds_nothing()
    {
        Assert.Equal("[]", Joined(1, "{'$lookup': {'from': 'nosuch', 'localField': 'k', 'foreignField': 'f', 'as': 'r'}}"));
        Fails("{'aggregate': 'c', 'pipeline': [{'$lookup': {'from': 'd', 'as': 'r'}}], 'cursor': {}}", 9,
            "requires either 'pipeline' or both 'localField' and 'foreignField'");
        Fails("{'aggregate': 'c', 'pipeline': [{'$lookup': {'from': 'd', 'pipeline': [{'$out': 'e'}], 'as': 'r'}}], 'cursor': {}}", 51047,
            "$out is not allowed within a $lookup's sub-pipeline");
    }

    [Theory]
    [InlineData("[{'$unionWith': 'd'}]", "[1, 2, 3, 4, 1, 2, 3, 4]")]
    [InlineData("[{'$match': {'_id': 1}}, {'$unionWith': {'coll': 'd', 'pipeline': [{'$match': {'f': 2}}]}}]", "[1, 2]")]
    [InlineData("[{'$match': {'_id': 9}}, {'$unionWith': {'coll': 'd', 'pipeline': [{'$count': '_id'}]}}]", "[4]")]
    [InlineData("[{'$unionWith': 'd'}, {'$match': {'_id': {'$gt': 3}}}]", "[4, 4]")]
    [InlineData("[{'$unionWith': 'd'}, {'$skip': 3}, {'$limit': 2}]", "[4, 1]")]
    [InlineData("[{'$unionWith': 'c'}, {'$sort': {'_id': -1}}, {'$limit': 3}]", "[4, 4, 3]")]
    [InlineData("[{'$limit': 1}, {'$unionWith': 'nosuch'}]", "[1]")]
    [InlineData("[{'$limit': 1}, {'$unionWith': {'coll': 'd', 'pipeline': [{'$limit': 1}, {'$unionWith': {'coll': 'c', 'pipeline': "
        + "[{'$skip': 3}]}}]}}]", "[1, 1, 4]")]
    [InlineData("[{'$match': {'_id': 3}}, {'$lookup': {'from': 'd', 'let': {'x': '$_id'}, 'pipeline': [{'$limit': 1}, {'$unionWith': "
        + "{'coll': 'c', 'pipeline': [{'$match': {'$expr': {'$eq': ['$_id', '$$x']}}}]}}], 'as': 'r'}}, {'$unwind': '$r'}, "
        + "{'$replaceRoot': {'newRoot': '$r'}}]", "[1, 3]")]
    [InlineData("[{'$facet': {'a': [{'$unionWith': 'd'}, {'$count': 'n'}], 'b': [{'$count': 'n'}]}}, {'$project': {'_id': {'$add': "
        + "[{'$first': '$a.n'}, {'$multiply': [100, {'$first': '$b.n'}]}]}}}]", "[408]")]
    public void A_union_has_its_own_documents_first_and_then_the_other_collections(string pipeline, string found)
    {
        IEnumerable<string> ids = TestClient.Batch(
            Succeed("{'aggregate': 'c', 'pipeline': " + pipeline + ", 'cursor': {}}"), "firstBatch")
            .Select(document => $"{document.FindInt64("_id")}");
        Assert.Equal(found, $"[{string.Join(", ", ids)}]");
    }

    [Theory]
    [InlineData("5", 9, "must be an object or string, but found int")]
    [InlineData("{}", 9, "without explicit collection")]
    [InlineData("{'pipeline': []}", 9, "without explicit collection")]
    [InlineData("{'coll': 5}", 14, "BSON field '$unionWith.coll' is the wrong type 'int', expected type 'string'")]
    [InlineData("{'coll': 'd', 'pipeline': 5}", 14, "BSON field '$unionWith.pipeline' is the wrong type 'int', expected type 'array'")]
    [InlineData("{'coll': 'd', 'z': 5}", 40415, "BSON field '$unionWith.z' is an unknown field.")]
    [InlineData("''", 73, "the name of the collection is empty")]
    [InlineData("{'coll': 'd', 'pipeline': [{'$out': 'q'}]}", 31441, "$out is not allowed within a $unionWith's sub-pipeline")]
    [InlineData("{'coll': 'd', 'pipeline': [{'$zz': 1}]}", 40324, "Unrecognized pipeline stage name: '$zz'")]
    public void A_union_that_is_wrong_is_refused_as_mongod_does(string stage, int code, string message) =>
        Fails("{'aggregate': 'c', 'pipeline': [{'$unionWith': " + stage + "}], 'cursor': {}}", code, message);

    [Fact]
    public void A_union_goes_on_over_batches_and_ends_where_the_other_collection_is_dropped()
    {
        BsonDocument first = Succeed("{'aggregate': 'c', 'pipeline': [{'$unionWith': 'd'}], 'cursor': {'batchSize': 5}}");
        Assert.Equal(5, TestClient.Batch(first, "firstBatch").Count);
        string more = $"{{'getMore': {{'$numberLong': '{first.FindInt64("cursor.id")}'}}, 'collection': 'c', 'batchSize': 2}}";
        Assert.Equal(2, TestClient.Batch(Succeed(more), "nextBatch").Count);
        Succeed("{'drop': 'd'}");
        Assert.Empty(TestClient.Batch(Succeed(more), "nextBatch"));
    }

    [Fact]
    public void Lookups_are_nested_twenty_deep_and_no_deeper()
    {
        string pipeline = "[]";
        for (int i = 0; i < 20; i++)
            pipeline = Around(pipeline);
        Succeed("{'aggregate': 'c', 'pipeline': " + pipeline + ", 'cursor': {}}");
        Fails("{'aggregate': 'c', 'pipeline': " + Around(pipeline) + ", 'cursor': {}}", 232, "nested sub-pipelines exceeded. Limit is 20");

        static string Around(string inner) => "[{'$lookup': {'from': 'nosuch', 'pipeline': " + inner + ", 'as': 'r'}}]";
    }

    [Fact]
    public void A_lookups_result_is_bounded()
    {
        Succeed("{'insert': 'fat', 'documents': [{'_id': 1, 'i': " + Numbers(120) + ", 't': '" + new string('x', 1_000_000) + "'}]}");
        Fails("{'aggregate': 'c', 'pipeline': [{'$lookup': {'from': 'fat', 'pipeline': [{'$unwind': '$i'}], 'as': 'r'}}, "
            + "{'$project': {'r.i': 1}}], 'cursor': {}}", 4568, "exceeds 104857600 bytes");
    }

    [Fact]
    public void A_cursor_goes_on_after_the_other_collection_was_dropped()
    {
        BsonDocument first = Succeed("{'aggregate': 'c', 'pipeline': [{'$lookup': {'from': 'd', 'localField': '_id', "
            + "'foreignField': '_id', 'as': 'r'}}], 'cursor': {'batchSize': 1}}");
        Succeed("{'drop': 'd'}");
        BsonDocument rest = Succeed($"{{'getMore': {{'$numberLong': '{first.FindInt64("cursor.id")}'}}, 'collection': 'c'}}");
        Assert.All(TestClient.Batch(rest, "nextBatch"), document => Assert.Empty(document.FindDocument("r")!));
    }

    /// <summary>Each holds one collection and asks for the other, and somebody waits to write: they must not wait in a circle.</summary>
    [Fact]
    public async Task Pipelines_that_read_two_collections_do_not_block_each_other()
    {
        await Task.WhenAll(Enumerable.Range(0, 4).Select(number => Task.Factory.StartNew(() =>
        {
            using var client = new TestClient(Port);
            string[] names = number % 2 == 0 ? ["c", "d"] : ["d", "c"];
            for (int i = 0; i < 40; i++)
            {
                BsonDocument reply = client.Run(number == 3
                    ? "{'createIndexes': 'c', 'indexes': [{'key': {'x" + i + "': 1}, 'name': 'x" + i + "'}]}"
                    : $"{{'aggregate': '{names[0]}', 'pipeline': [{{'$lookup': {{'from': '{names[1]}', 'pipeline': [{{'$lookup': {{'from': "
                        + $"'{names[0]}', 'pipeline': [], 'as': 's'}}}}], 'as': 'r'}}}}], 'cursor': {{}}}}");
                Assert.Equal(1, reply.FindDouble("ok"));
            }
        }, TaskCreationOptions.LongRunning))).WaitAsync(TimeSpan.FromMinutes(1));
    }

    [Fact]
    public void Facets_run_over_the_same_documents()
    {
        BsonDocument made = TestClient.Batch(Succeed("{'aggregate': 'c', 'pipeline': [{'$match': {'_id': {'$gt': 1}}}, {'$facet': {'n': "
            + "[{'$count': 'n'}], 'all': [{'$sort': {'_id': -1}}, {'$project': {'k': 0}}], 'none': [{'$match': {'k': 77}}]}}], "
            + "'cursor': {}}"), "firstBatch").Single();
        Assert.Equal("""{"n": [{"n": 3}], "all": [{"_id": 4}, {"_id": 3}, {"_id": 2}], "none": []}""", ExtendedJson.Write(made.Bytes));
        Assert.Single(TestClient.Batch(Succeed(
            "{'aggregate': 'nosuch', 'pipeline': [{'$facet': {'n': [{'$count': 'n'}]}}], 'cursor': {}}"), "firstBatch"));
        Fails("{'aggregate': 'c', 'pipeline': [{'$facet': {'a': [{'$facet': {'b': []}}]}}], 'cursor': {}}", 40600,
            "$facet is not allowed to be used within a $facet stage");
        Fails("{'aggregate': 'c', 'pipeline': [{'$facet': {'a': 1}}], 'cursor': {}}", 40170, "arguments to $facet must be arrays");
    }

    /// <summary>More than is kept in memory: the documents are read again for each of the pipelines.</summary>
    [Fact]
    public void Facets_over_more_than_100_MB_give_what_they_give_over_less()
    {
        Succeed("{'insert': 'fat', 'documents': [{'_id': 1, 'i': " + Numbers(120) + ", 't': '" + new string('x', 1_000_000) + "'}]}");
        BsonDocument made = TestClient.Batch(Succeed("{'aggregate': 'fat', 'pipeline': [{'$unwind': '$i'}, {'$facet': {'n': [{'$count': "
            + "'n'}], 's': [{'$group': {'_id': null, 's': {'$sum': '$i'}}}]}}], 'cursor': {}}"), "firstBatch").Single();
        Assert.Equal("""{"n": [{"n": 120}], "s": [{"_id": null, "s": 7140}]}""", ExtendedJson.Write(made.Bytes));
    }

    [Fact]
    public void Buckets_count_what_lies_between_their_boundaries()
    {
        Succeed("{'insert': 'b', 'documents': [{'v': 1}, {'v': 5}, {'v': 7.5}, {'v': 20}, {'v': 'x'}]}");
        BsonDocument reply = Succeed("{'aggregate': 'b', 'pipeline': [{'$bucket': {'groupBy': '$v', 'boundaries': [0, 5, 10], 'default': "
            + "'other'}}], 'cursor': {}}");
        Assert.Equal(["""{"_id": 0, "count": 1}""", """{"_id": 5, "count": 2}""", """{"_id": "other", "count": 2}"""],
            TestClient.Batch(reply, "firstBatch").Select(bucket => ExtendedJson.Write(bucket.Bytes)));
        Fails("{'aggregate': 'b', 'pipeline': [{'$bucket': {'groupBy': '$v', 'boundaries': [5, 0]}}], 'cursor': {}}", 40194,
            "must be sorted");
    }

    private static string Numbers(int count) => $"[{string.Join(", ", Enumerable.Range(0, count))}]";

    /// <summary>The _ids in <c>r</c> of one document of c, after a stage.</summary>
    private string Joined(int id, string stage)
    {
        BsonDocument document = TestClient.Batch(
            Succeed($"{{'aggregate': 'c', 'pipeline': [{{'$match': {{'_id': {id}}}}}, {stage}], 'cursor': {{}}}}"), "firstBatch").Single();
        return $"[{string.Join(", ", document.FindDocument("r")!.Select(pair => pair.Value.ToDocument().FindInt64("_id")))}]";
    }
}
