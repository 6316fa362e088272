using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class WriteTests : ServerTest
{
    [Fact]
    public void Update_sets_unsets_and_increments_one_document()
    {
        InsertNumbers(3);
        BsonDocument reply = Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'b': 'x', 'a': 2}, '$unset': {'t': ''}, "
            + "'$inc': {'n': 4, 'k': 1}}}]}");
        Assert.Equal((1L, 1L), (reply.FindInt64("n"), reply.FindInt64("nModified")));
        Assert.Equal("""{"_id":1,"n":5,"a":2,"b":"x","k":1}""", One("{'_id': 1}").Replace(" ", "", StringComparison.Ordinal));
        BsonDocument again = Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'a': 2}}}]}");
        Assert.Equal((1L, 0L), (again.FindInt64("n"), again.FindInt64("nModified")));
    }

    [Fact]
    public void Id_that_is_there_already_is_told_before_what_another_index_has_against_the_document()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1, 'b': 1}, 'name': 'ab'}]}");
        Succeed("{'insert': 'c', 'documents': [{'_id': 1}]}");
        Assert.Equal(11000, Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': [1], 'b': [1]}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(171, Succeed("{'insert': 'c', 'documents': [{'_id': 2, 'a': [1], 'b': [1]}]}").FindInt64("writeErrors.0.code"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Fact]
    public void Distinct_of_an_index_returns_the_number_that_comes_first_there()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1, 'b': 1}, 'name': 'ab'}]}");
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': 2.0, 'b': 3}, {'_id': 2, 'a': 2, 'b': 1}]}");
        Assert.Equal(BsonType.Int32, Succeed("{'distinct': 'c', 'key': 'a'}").Find("values.0")!.Value.Type);
    }

    [Fact]
    public void Update_of_many_moves_their_index_keys()
    {
        InsertNumbers(100);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        BsonDocument reply = Succeed("{'update': 'c', 'updates': [{'q': {'n': {'$gte': 5}}, 'u': {'$inc': {'n': 10}}, 'multi': true}]}");
        Assert.Equal(50, reply.FindInt64("nModified"));
        Assert.Equal(50, Succeed("{'count': 'c', 'query': {'n': {'$gte': 15}}}").FindInt64("n"));
        Assert.Equal(0, Succeed("{'count': 'c', 'query': {'n': {'$gte': 5, '$lt': 15}}}").FindInt64("n"));
        Assert.Equal(100, Client.FindAll("{'find': 'c', 'hint': 'n_1'}").Count);
    }

    [Fact]
    public void Upsert_inserts_what_filter_and_update_say()
    {
        BsonDocument reply = Succeed(
            "{'update': 'c', 'updates': [{'q': {'_id': 'm', 'k': 3}, 'u': {'$set': {'v': 1}, '$setOnInsert': {'w': 2}}, 'upsert': true}]}");
        Assert.Equal((1L, 0L), (reply.FindInt64("n"), reply.FindInt64("nModified")));
        Assert.Equal("m", reply.FindString("upserted.0._id"));
        Assert.Equal("""{"_id":"m","k":3,"v":1,"w":2}""", One("{'_id': 'm'}").Replace(" ", "", StringComparison.Ordinal));
        Succeed("{'update': 'c', 'updates': [{'q': {'_id': 'm'}, 'u': {'x': 9}, 'upsert': true}]}");
        Assert.Equal("""{"_id":"m","x":9}""", One("{'_id': 'm'}").Replace(" ", "", StringComparison.Ordinal));
    }

    [Fact]
    public void Update_into_a_duplicate_key_or_of_the_id_is_a_write_error()
    {
        InsertNumbers(3);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'t': 1}, 'name': 't_1', 'unique': true}]}");
        BsonDocument duplicate = Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'t': 'text 2'}}}]}");
        Assert.Equal(11000, duplicate.FindInt64("writeErrors.0.code"));
        Assert.Equal(
            66, Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'_id': 8}}}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(
            9, Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$bogus': {'a': 8}}}]}").FindInt64("writeErrors.0.code"));
        Assert.Contains("text 1", One("{'_id': 1}"), StringComparison.Ordinal);
    }

    [Fact]
    public void Delete_takes_one_or_all_and_their_index_keys()
    {
        InsertNumbers(100);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        Assert.Equal(1, Succeed("{'delete': 'c', 'deletes': [{'q': {'n': 3}, 'limit': 1}]}").FindInt64("n"));
        Assert.Equal(9, Succeed("{'delete': 'c', 'deletes': [{'q': {'n': 3}, 'limit': 0}]}").FindInt64("n"));
        Assert.Equal(90, Succeed("{'count': 'c'}").FindInt64("n"));
        Assert.Equal(90, Client.FindAll("{'find': 'c', 'hint': 'n_1'}").Count);
        Fails("{'delete': 'c', 'deletes': [{'q': {}, 'limit': 2}]}", 9, "must be 0 or 1. Got 2");
        Fails("{'delete': 'c', 'deletes': [{'q': {}}]}", 40414, "'delete.deletes.limit' is missing");
    }

    [Fact]
    public void Unique_index_refuses_a_second_document_with_the_same_values()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1, 'b': -1}, 'name': 'ab', 'unique': true}]}");
        BsonDocument reply = Succeed("{'insert': 'c', 'ordered': false, 'documents': [{'_id': 1, 'a': 1, 'b': 'x'}, {'_id': 2, 'a': 1, "
            + "'b': 'x'}, {'_id': 3, 'a': 1}, {'_id': 4, 'a': 1.0}]}");
        Assert.Equal(2, reply.FindInt64("n"));
        Assert.Equal("E11000 duplicate key error collection: test.c index: ab dup key: { a: 1, b: \"x\" }",
            reply.FindString("writeErrors.0.errmsg"));
        Assert.Equal([1, 3], Ids(Client.FindAll("{'find': 'c', 'sort': {'_id': 1}}")));
        Assert.Equal(1, Succeed("{'insert': 'c', 'documents': [{'_id': 2, 'a': 2}]}").FindInt64("n"));
    }

    private string One(string filter) => ExtendedJson.Write(Client.FindAll("{'find': 'c', 'filter': " + filter + "}").Single().Bytes);
}
