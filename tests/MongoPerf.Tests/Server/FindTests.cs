using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class FindTests : ServerTest
{
    private static readonly string[] Mixed =
    [
        "{'_id': 0, 'a': 1, 'b': {'c': 5}}", "{'_id': 1, 'a': 2.5}", "{'_id': 2, 'a': 'x'}", "{'_id': 3, 'a': null}", "{'_id': 4}",
        "{'_id': 5, 'a': [1, 7]}", "{'_id': 6, 'a': true}", "{'_id': 7, 'a': {'$date': {'$numberLong': '1000'}}}", "{'_id': 8, 'a': []}",
        "{'_id': 9, 'a': {'$numberLong': '9007199254740993'}}", "{'_id': 10, 'b': [{'c': 5}, {'c': 8}]}", "{'_id': 11, 'a': 'y'}",
    ];

    [Theory]
    [InlineData("{}", new[] { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 })]
    [InlineData("{'a': 1}", new[] { 0, 5 })]
    [InlineData("{'a': {'$gt': 1}}", new[] { 1, 5, 9 })]
    [InlineData("{'a': {'$gte': 1, '$lt': 3}}", new[] { 0, 1, 5 })]
    [InlineData("{'a': {'$gte': 'x'}}", new[] { 2, 11 })]
    [InlineData("{'a': null}", new[] { 3, 4, 10 })]
    [InlineData("{'a': {'$exists': false}}", new[] { 4, 10 })]
    [InlineData("{'a': {'$exists': true}, '_id': {'$lt': 3}}", new[] { 0, 1, 2 })]
    [InlineData("{'a': {'$ne': 1}, '_id': {'$lte': 5}}", new[] { 1, 2, 3, 4 })]
    [InlineData("{'a': {'$in': [2.5, 'y', null]}}", new[] { 1, 3, 4, 10, 11 })]
    [InlineData("{'a': {'$nin': [1, null]}}", new[] { 1, 2, 6, 7, 8, 9, 11 })]
    [InlineData("{'a': {'$gt': {'$numberLong': '9007199254740992'}}}", new[] { 9 })]
    [InlineData("{'a': [1, 7]}", new[] { 5 })]
    [InlineData("{'b.c': 5}", new[] { 0, 10 })]
    [InlineData("{'b.c': {'$gt': 6}}", new[] { 10 })]
    [InlineData("{'$and': [{'a': 1}, {'_id': {'$gt': 0}}]}", new[] { 5 })]
    [InlineData("{'$or': [{'a': 'x'}, {'_id': 4}]}", new[] { 2, 4 })]
    [InlineData("{'$nor': [{'_id': {'$gt': 1}}]}", new[] { 0, 1 })]
    [InlineData("{'a': {'$not': {'$gte': 1}}, '_id': {'$lt': 3}}", new[] { 2 })]
    public void Filter_finds_the_same_with_and_without_an_index(string filter, int[] expected)
    {
        Client.RunWithSequence("{'insert': 'c'}", "documents", Mixed.Select(TestClient.Json));
        string command = "{'find': 'c', 'filter': " + filter + ", 'sort': {'_id': 1}}";
        Assert.Equal(expected, Ids(Client.FindAll(command)));
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'a_1'}, {'key': {'b.c': -1}, 'name': 'b.c_-1'}]}");
        foreach (string hint in (string[])["a_1", "b.c_-1", "_id_"])
            Assert.Equal(expected, Ids(Client.FindAll(command[..^1] + ", 'hint': '" + hint + "'}")));
        Assert.Equal(expected, Ids(Client.FindAll(command)));
    }

    [Theory]
    [InlineData("{'n': 1, 'm': -1}")]
    [InlineData("{'n': -1, 'm': 1}")]
    [InlineData("{'m': 1}")]
    [InlineData("{'n': -1}")]
    public void Sort_by_an_index_gives_the_order_of_a_sort_in_memory(string sort)
    {
        var random = new Random(5);
        BsonDocument[] documents = [.. Enumerable.Range(0, 400)
            .Select(i => BsonDocument.Of(("_id", i), ("n", random.Next(20)), ("m", random.Next(20)), ("u", i)))];
        Client.RunWithSequence("{'insert': 'c'}", "documents", documents);
        string command = "{'find': 'c', 'filter': {'n': {'$gte': 5}}, 'sort': " + sort + ", 'skip': 7, 'limit': 50}";
        List<BsonDocument> without = Client.FindAll(command);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1, 'm': -1}, 'name': 'nm'}, {'key': {'m': -1}, 'name': 'm'}]}");
        List<BsonDocument> with = Client.FindAll(command);
        Assert.Equal(50, with.Count);
        string[] fields = [.. TestClient.Json(sort).Select(pair => pair.Key)];
        Assert.Equal(Keys(without), Keys(with));

        IEnumerable<string> Keys(IEnumerable<BsonDocument> list) =>
            list.Select(document => string.Join(',', fields.Select(field => document.FindInt64(field))));
    }

    [Theory]
    [InlineData(6)]
    [InlineData(7)]
    public void Random_filters_find_through_indexes_what_a_full_scan_finds(int seed)
    {
        var random = new Random(seed);
        Client.RunWithSequence("{'insert': 'c'}", "documents",
            Enumerable.Range(0, 500).Select(i => BsonDocument.Of(("_id", i), ("n", random.Next(50)), ("m", random.Next(50) + 0.5))));
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n'}, {'key': {'m': -1}, 'name': 'm'}, {'key': {'n': "
            + "-1, 'm': 1}, 'name': 'nm'}]}");
        string[] operators = ["$eq", "$gt", "$gte", "$lt", "$lte", "$ne"];
        for (int i = 0; i < 60; i++)
        {
            string filter = $"{{'n': {{'{operators[random.Next(6)]}': {random.Next(50)}}}, 'm': {{'{operators[random.Next(6)]}': "
                + $"{random.Next(50)}, '{operators[random.Next(5)]}': {random.Next(50)}.5}}}}";
            int[] expected = [.. Ids(Client.FindAll("{'find': 'c', 'hint': {'$natural': 1}, 'filter': " + filter + "}")).Order()];
            foreach (string hint in (string[])["", ", 'hint': 'n'", ", 'hint': 'm'", ", 'hint': 'nm'"])
                Assert.Equal(expected, Ids(Client.FindAll("{'find': 'c', 'filter': " + filter + hint + "}")).Order());
        }
    }

    [Fact]
    public void Batches_end_where_the_client_says_and_cursors_die_when_they_are_done()
    {
        InsertNumbers(250);
        BsonDocument first = Succeed("{'find': 'c'}");
        Assert.Equal(101, TestClient.Batch(first, "firstBatch").Count);
        long id = first.FindInt64("cursor.id")!.Value;
        Assert.NotEqual(0, id);
        BsonDocument second = Client.Run(BsonDocument.Of(("getMore", id), ("collection", "c"), ("batchSize", 100)));
        Assert.Equal(100, TestClient.Batch(second, "nextBatch").Count);
        Assert.Equal(id, second.FindInt64("cursor.id"));
        BsonDocument third = Client.Run(BsonDocument.Of(("getMore", id), ("collection", "c")));
        Assert.Equal(49, TestClient.Batch(third, "nextBatch").Count);
        Assert.Equal(0, third.FindInt64("cursor.id"));
        Assert.Equal(43, Client.Run(BsonDocument.Of(("getMore", id), ("collection", "c"))).FindInt64("code"));
        Assert.Equal(0, Succeed("{'find': 'c', 'limit': 5, 'batchSize': 5}").FindInt64("cursor.id"));
        Assert.Equal(0, Succeed("{'find': 'c', 'batchSize': 5, 'singleBatch': true}").FindInt64("cursor.id"));
        Assert.Empty(TestClient.Batch(Succeed("{'find': 'c', 'batchSize': 0}"), "firstBatch"));
    }

    [Fact]
    public void Cursor_can_be_continued_from_another_connection_and_killed()
    {
        InsertNumbers(20);
        long id = Succeed("{'find': 'c', 'batchSize': 3}").FindInt64("cursor.id")!.Value;
        using var other = new TestClient(Port);
        BsonDocument more = other.Run(BsonDocument.Of(("getMore", id), ("collection", "c"), ("batchSize", 4)));
        Assert.Equal([3, 4, 5, 6], Ids(TestClient.Batch(more, "nextBatch")));
        Assert.Equal(13, Client.Run(BsonDocument.Of(("getMore", id), ("collection", "d"))).FindInt64("code"));
        BsonDocument killed = Client.Run(BsonDocument.Of(("killCursors", "c"), ("cursors", new object[] { id, 12345L })));
        Assert.Equal(id, killed.FindInt64("cursorsKilled.0"));
        Assert.Equal(12345, killed.FindInt64("cursorsNotFound.0"));
    }

    [Fact]
    public void Replies_stop_at_16_MiB_and_the_rest_follows()
    {
        byte[] large = new byte[6 << 20];
        for (int i = 0; i < 5; i++)
            Client.RunWithSequence("{'insert': 'c'}", "documents", [BsonDocument.Of(("_id", i), ("b", large))]);
        BsonDocument first = Succeed("{'find': 'c'}");
        Assert.Equal(2, TestClient.Batch(first, "firstBatch").Count);
        Assert.Equal([0, 1, 2, 3, 4], Ids(Client.FindAll("{'find': 'c'}")));
        BsonDocument error = Run("{'find': 'c', 'sort': {'b': 1}}");
        Assert.Equal(1, error.FindDouble("ok"));
    }

    [Fact]
    public void Projection_chooses_top_level_fields()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': 1, 'b': {'c': 2}, 'd': 3}]}");
        Assert.Equal("_id,a", Names("{'a': 1}"));
        Assert.Equal("a,d", Names("{'d': 1, '_id': 0, 'a': true}"));
        Assert.Equal("_id,b,d", Names("{'a': 0}"));
        Assert.Equal("a,b,d", Names("{'_id': 0}"));
        Assert.Equal("_id", Names("{'_id': 1}"));
        Fails("{'find': 'c', 'projection': {'a': 1, 'b': 0}}", 31254, "exclusion on field b");
        Fails("{'find': 'c', 'projection': {'a': 1, 'a': 0}}", 31250, "Path collision at a");
        Fails("{'find': 'c', 'projection': {'_id': 1, 'a': 1, '_id': 1}}", 31250, "Path collision at _id");
        Assert.Equal("_id,b", Names("{'b.c': 1}"));

        string Names(string projection) =>
            string.Join(',', Client.FindAll("{'find': 'c', 'projection': " + projection + "}").Single().Select(pair => pair.Key));
    }

    [Fact]
    public void Projection_cuts_an_array_to_the_element_that_met_the_filter()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': [{'x': 1}, {'x': 2, 'y': 3}], 's': 4}]}");
        BsonDocument cut = Client.FindAll("{'find': 'c', 'filter': {'a.x': 2}, 'projection': {'a.$': 1, '_id': 0}}").Single();
        Assert.Equal("""{"a": [{"x": 2, "y": 3}]}""", ExtendedJson.Write(cut.Bytes));
        Fails("{'find': 'c', 'filter': {'s': 4}, 'projection': {'a.$': 1}}", 51246, "couldn't find a matching element");
        Fails("{'find': 'c', 'projection': {'a.$': 0}}", 31395, "cannot be used with exclusion");
        Fails("{'find': 'c', 'projection': {'a.$': 1, 's.$': 1}}", 31276, "more than one positional projection");
        Fails("{'findAndModify': 'c', 'query': {'a.x': 1}, 'fields': {'a.$': 1}, 'update': {'$set': {'s': 1}}, 'new': true}", 2,
            "cannot use a positional projection and return the new document");
    }

    [Theory]
    [InlineData("'filter': {'n': {'$bogus': 1}}", 2, "unknown operator: $bogus")]
    [InlineData("'filter': {'$bogus': 1}", 2, "unknown top level operator: $bogus")]
    [InlineData("'filter': {'n': {'$in': 1}}", 2, "$in needs an array")]
    [InlineData("'filter': {'$and': []}", 2, "$and/$or/$nor must be a nonempty array")]
    [InlineData("'filter': 5", 14, "Expected field filter")]
    [InlineData("'sort': {'a': 2}", 15975, "$sort key ordering must be 1")]
    [InlineData("'skip': -1", 51024, "value must be >= 0")]
    [InlineData("'limit': -1", 51024, "value must be >= 0")]
    [InlineData("'hint': 'nosuch'", 2, "hint provided does not correspond to an existing index")]
    [InlineData("'bogus': 1", 40415, "'find.bogus' is an unknown field")]
    public void Find_that_is_wrong_is_refused_with_MongoDBs_code(string part, int code, string text)
    {
        InsertNumbers(1);
        Fails("{'find': 'c', " + part + "}", code, text);
    }

    [Fact]
    public void Find_in_a_missing_collection_is_empty() => Assert.Empty(Client.FindAll("{'find': 'nosuch', 'filter': {'a': 1}}"));

    [Fact]
    public void Sort_beyond_100_MB_is_refused_with_292()
    {
        byte[] large = new byte[15 << 20];
        for (int i = 0; i < 8; i++)
            Client.RunWithSequence("{'insert': 'c'}", "documents", [BsonDocument.Of(("_id", i), ("a", -i), ("b", large))]);
        Fails("{'find': 'c', 'sort': {'a': 1}}", 292, "Sort exceeded memory limit");
        Assert.Equal([7, 6], Ids(Client.FindAll("{'find': 'c', 'sort': {'a': 1}, 'limit': 2}")));
    }
}
