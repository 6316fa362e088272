using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Update operators by example: the document before, the update, and the document afterwards.</summary>
public sealed class UpdateOperatorTests : ServerTest
{
    [Theory]
    [InlineData("{'a': {'b': 1}}", "{'$set': {'a.c.d': 2}}", "{'a': {'b': 1, 'c': {'d': 2}}}")]
    [InlineData("{'a': [1]}", "{'$set': {'a.3': 2}}", "{'a': [1, null, null, 2]}")]
    [InlineData("{'a': [1, 2]}", "{'$unset': {'a.0': ''}}", "{'a': [null, 2]}")]
    [InlineData("{'a': 1}", "{'$set': {'z': 1, 'b': 2}, '$inc': {'m': 3}}", "{'a': 1, 'b': 2, 'm': 3, 'z': 1}")]
    [InlineData("{'a': 3}", "{'$mul': {'a': 2, 'b': 5}}", "{'a': 6, 'b': 0}")]
    [InlineData("{'a': 3, 'b': 3}", "{'$min': {'a': 2}, '$max': {'b': 2}}", "{'a': 2, 'b': 3}")]
    [InlineData("{'a': [1]}", "{'$push': {'a': {'$each': [5, 3], '$sort': 1, '$slice': -2}}}", "{'a': [3, 5]}")]
    [InlineData("{'a': [1, 2]}", "{'$push': {'a': {'$each': [9], '$position': 1}}}", "{'a': [1, 9, 2]}")]
    [InlineData("{'a': [{'n': 2}, {'n': 1}]}", "{'$push': {'a': {'$each': [], '$sort': {'n': 1}}}}", "{'a': [{'n': 1}, {'n': 2}]}")]
    [InlineData("{'a': [1, 2]}", "{'$addToSet': {'a': {'$each': [2.0, 3, 3]}}}", "{'a': [1, 2, 3]}")]
    [InlineData("{'a': [1, 5, 8]}", "{'$pull': {'a': {'$gt': 4}}}", "{'a': [1]}")]
    [InlineData("{'a': [{'x': 1, 'y': 2}, {'x': 2}]}", "{'$pull': {'a': {'x': 1}}}", "{'a': [{'x': 2}]}")]
    [InlineData("{'a': [1, 2, 1]}", "{'$pullAll': {'a': [1, 7]}}", "{'a': [2]}")]
    [InlineData("{'a': [1, 2]}", "{'$pop': {'a': -1}}", "{'a': [2]}")]
    [InlineData("{'a': {'b': 1}, 'c': 2}", "{'$rename': {'a.b': 'd.e', 'c': 'a.c'}}", "{'a': {'c': 2}, 'd': {'e': 1}}")]
    [InlineData("{'a': 12}", "{'$bit': {'a': {'and': 10, 'or': 1}}}", "{'a': 9}")]
    [InlineData("{'a': [{'n': 1}, {'n': 5}]}", "{'$inc': {'a.$[].n': 1}}", "{'a': [{'n': 2}, {'n': 6}]}")]
    [InlineData("{'a': 1, 'b': 2}", "[{'$set': {'c': {'$add': ['$a', '$b']}}}, {'$unset': 'a'}]", "{'b': 2, 'c': 3}")]
    public void An_update_changes_the_document_as_the_manual_says(string before, string update, string after)
    {
        Insert(before);
        BsonDocument reply = Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': " + update + "}]}");
        Assert.Equal((1L, 1L), (reply.FindInt64("n"), reply.FindInt64("nModified")));
        Assert.Equal(ExtendedJson.Write(WithId(after).Bytes), ExtendedJson.Write(Client.FindAll("{'find': 'c'}").Single().Bytes));
    }

    [Fact]
    public void Array_filters_choose_the_elements()
    {
        Insert("{'a': [{'n': 1}, {'n': 5}, {'n': 9}]}");
        Succeed("{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'a.$[big].n': 0}}, 'arrayFilters': [{'big.n': {'$gte': 5}}]}]}");
        Assert.Equal([1, 0, 0],
            Client.FindAll("{'find': 'c'}").Single().FindDocument("a")!.Select(pair => (int)pair.Value.ToDocument().FindInt64("n")!));
    }

    [Fact]
    public void An_upsert_begins_with_what_the_filter_binds()
    {
        Succeed("{'update': 'c', 'updates': [{'q': {'_id': 7, 'a.b': 1, 'c': {'$eq': 'x'}, 'd': {'$gt': 5}}, 'u': {'$setOnInsert': "
            + "{'e': 1}}, 'upsert': true}]}");
        Assert.Equal("""{"_id": 7, "a": {"b": 1}, "c": "x", "e": 1}""", ExtendedJson.Write(Client.FindAll("{'find': 'c'}").Single().Bytes));
    }

    [Theory]
    [InlineData("{'a': 2}", "{'a': [1, 9]}")]
    [InlineData("{'a': {'$gt': 0}}", "{'a': [9, 2]}")]
    [InlineData("{'a': {'$elemMatch': {'$gte': 2}}}", "{'a': [1, 9]}")]
    [InlineData("{'$or': [{'a': 2}, {'a': 1}]}", "{'a': [9, 2]}")]
    [InlineData("{'a': 2, 'b': [5]}", "{'a': [1, 9]}")]
    public void The_positional_operator_stands_for_the_element_that_met_the_query(string query, string after)
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': [1, 2], 'b': [5]}]}");
        Succeed("{'update': 'c', 'updates': [{'q': " + query + ", 'u': {'$set': {'a.$': 9}}}]}");
        Assert.Equal(ExtendedJson.Write(WithId(after).Bytes),
            ExtendedJson.Write(Client.FindAll("{'find': 'c', 'projection': {'b': 0}}").Single().Bytes));
    }

    [Theory]
    [InlineData("{'_id': 1}", "{'a.$': 9}", 2, "did not find the match needed from the query")]
    [InlineData("{'a.1': 2}", "{'a.$': 9}", 2, "did not find the match needed from the query")]
    [InlineData("{'$or': [{'a': 2}, {'b': 5}]}", "{'a.$': 9}", 2, "did not find the match needed from the query")]
    [InlineData("{'a': 2}", "{'$.a': 9}", 2, "in the first position in path '$.a'")]
    [InlineData("{'a': 2}", "{'a.$.b.$': 9}", 2, "Too many positional (i.e. '$') elements found in path 'a.$.b.$'")]
    [InlineData("{'a': 2}", "{'a.$': 9, 'a.1': 8}", 40, "Update created a conflict at 'a.1'")]
    [InlineData("{'a': 2}", "{'a.$': 9, 'a.$[]': 8}", 40, "would create a conflict at 'a'")]
    public void A_positional_operator_that_is_wrong_changes_nothing(string query, string fields, int code, string text)
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': [1, 2], 'b': [5]}]}");
        BsonDocument reply = Succeed("{'update': 'c', 'updates': [{'q': " + query + ", 'u': {'$set': " + fields + "}}]}");
        Assert.Equal(code, reply.FindInt64("writeErrors.0.code"));
        Assert.Contains(text, reply.FindString("writeErrors.0.errmsg"), StringComparison.Ordinal);
        Assert.Equal(1, Succeed("{'count': 'c', 'query': {'a': [1, 2]}}").FindInt64("n"));
    }

    [Fact]
    public void Find_and_modify_takes_the_first_of_the_order_and_gives_the_old_or_the_new()
    {
        InsertNumbers(30);
        BsonDocument old =
            Succeed("{'findAndModify': 'c', 'query': {'n': 3}, 'sort': {'t': -1}, 'update': {'$inc': {'n': 100}}, 'fields': {'n': 1}}");
        Assert.Equal((3L, 3L), (old.FindInt64("value._id"), old.FindInt64("value.n")));
        BsonDocument changed = Succeed("{'findAndModify': 'c', 'query': {'_id': 3}, 'update': {'$inc': {'n': 1}}, 'new': true}");
        Assert.Equal(104, changed.FindInt64("value.n"));
        Assert.Equal(13, Succeed("{'findAndModify': 'c', 'query': {'n': 3}, 'sort': {'_id': 1}, 'remove': true}").FindInt64("value._id"));
        Assert.Equal(BsonType.Null, Succeed("{'findAndModify': 'c', 'query': {'_id': 13}, 'remove': true}").Find("value")!.Value.Type);
        BsonDocument upserted =
            Succeed("{'findAndModify': 'c', 'query': {'_id': 77}, 'update': {'$set': {'n': 1}}, 'upsert': true, 'new': true}");
        Assert.Equal((77L, 1L), (upserted.FindInt64("lastErrorObject.upserted"), upserted.FindInt64("value.n")));
        Assert.Equal(30, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public void A_null_that_an_unset_puts_in_a_nulls_place_counts_as_a_change()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': [1, null]}]}");
        Assert.Equal(1, Succeed("{'update': 'c', 'updates': [{'q': {}, 'u': {'$unset': {'a.1': ''}}}]}").FindInt64("nModified"));
        Assert.Equal(0, Succeed("{'update': 'c', 'updates': [{'q': {}, 'u': {'$unset': {'a.2': ''}}}]}").FindInt64("nModified"));
    }

    [Fact]
    public void Find_and_modify_that_meets_a_taken_key_fails_with_11000()
    {
        InsertNumbers(3);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'t': 1}, 'name': 't', 'unique': true}]}");
        Fails("{'findAndModify': 'c', 'query': {'_id': 1}, 'update': {'$set': {'t': 'text 2'}}}", 11000,
            "E11000 duplicate key error collection: test.c index: t dup key: { t: \"text 2\" }");
    }

    private void Insert(string json) => Client.Run(BsonDocument.Of(("insert", "c"), ("documents", new object[] { WithId(json) })));

    private static BsonDocument WithId(string json) =>
        BsonDocument.Of([("_id", 1), .. TestClient.Json(json).Select(pair => (pair.Key, (object?)pair.Value))]);
}
