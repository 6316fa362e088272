using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Indexes that leave documents out hold the right ones, and are asked only where none of those is missed.</summary>
public sealed class SparseAndPartialIndexTests : ServerTest
{
    private const string Partial = "{'s': {'$gt': 5}}";

    [Theory]
    [InlineData("{'a': 7}", false)]
    [InlineData("{'a': 7, 's': 6}", true)]
    [InlineData("{'a': 7, 's': 5}", false)]
    [InlineData("{'a': 7, 's': '6'}", false)]
    [InlineData("{'a': 7, 's': {'$gte': 5}}", false)]
    [InlineData("{'a': 7, 's': {'$gt': 5.0}}", true)]
    [InlineData("{'a': 7, 's': {'$lt': 9, '$gte': 6}}", true)]
    [InlineData("{'a': 7, 's': {'$in': [6, 7]}}", true)]
    [InlineData("{'a': 7, 's': {'$in': [6, 5]}}", false)]
    [InlineData("{'a': 7, '$or': [{'s': 6}, {'s': {'$gt': 8}}]}", true)]
    [InlineData("{'a': 7, '$or': [{'s': 6}, {'t': 1}]}", false)]
    [InlineData("{'a': 7, 's': {'$not': {'$lte': 5}}}", false)]
    [InlineData("{'a': 7, 's': {'$elemMatch': {'$gt': 6}}}", false)]
    [InlineData("{'s': 6}", false)]
    public void Partial_index_is_asked_where_the_query_implies_its_filter(string filter, bool isAsked)
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'x', 'partialFilterExpression': " + Partial + "}]}");
        Assert.Equal(isAsked ? "x" : null, IndexOf($"{{'find': 'c', 'filter': {filter}}}"));
    }

    [Fact]
    public void Sort_takes_its_order_from_an_index_that_has_all_matches_only()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'p', 'partialFilterExpression': " + Partial + "}, "
            + "{'key': {'b': 1}, 'name': 's', 'sparse': true}]}");
        Assert.Null(IndexOf("{'find': 'c', 'sort': {'a': 1}}"));
        Assert.Equal("p", IndexOf("{'find': 'c', 'filter': {'s': 6}, 'sort': {'a': 1}}"));
        Assert.Null(IndexOf("{'find': 'c', 'sort': {'b': 1}}"));
        Assert.Equal("s", IndexOf("{'find': 'c', 'filter': {'b': {'$exists': true}}, 'sort': {'b': 1}}"));
    }

    [Theory]
    [InlineData("{'a': 1}", true)]
    [InlineData("{'a': {'$exists': true}}", true)]
    [InlineData("{'a': {'$ne': null}}", true)]
    [InlineData("{'a': null}", false)]
    [InlineData("{'a': {'$in': [1, null]}}", false)]
    [InlineData("{'a': {'$exists': false}}", false)]
    [InlineData("{'a': {'$ne': 1}}", false)]
    [InlineData("{'b': 1}", false)]
    public void Sparse_index_is_asked_where_its_first_field_must_be_there(string filter, bool isAsked)
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1, 'b': 1}, 'name': 'x', 'sparse': true}]}");
        Assert.Equal(isAsked ? "x" : null, IndexOf($"{{'find': 'c', 'filter': {filter}}}"));
    }

    [Fact]
    public void They_hold_what_they_should_after_writes_and_a_restart()
    {
        InsertNumbers(40);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'p', 'partialFilterExpression': {'n': {'$gte': 8}}}, "
            + "{'key': {'x': 1}, 'name': 's', 'sparse': true, 'unique': true}]}");
        Succeed("{'update': 'c', 'updates': [{'q': {'n': 8}, 'u': {'$inc': {'n': -1}}}, "
            + "{'q': {'_id': 0}, 'u': {'$set': {'n': [9, 10], 'x': 1}}}, {'q': {'_id': 9}, 'u': {'$set': {'n': 20}}}]}");
        Succeed("{'delete': 'c', 'deletes': [{'q': {'n': 20}, 'limit': 1}]}");
        Restart();
        BsonDocument report = Succeed("{'validate': 'c'}");
        Assert.True(report.IsTrue("valid"), ExtendedJson.Write(report.Bytes));
        Assert.Equal((Client.FindAll("{'find': 'c', 'filter': {'n': {'$gte': 8}}, 'hint': '_id_'}").Count, 1L),
            (Client.FindAll("{'find': 'c', 'filter': {'n': {'$gte': 8}}, 'hint': 'p'}").Count, report.FindInt64("keysPerIndex.s")));
        Assert.Equal(11000, Succeed("{'insert': 'c', 'documents': [{'x': 1}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(8, TestClient.Batch(Succeed("{'listIndexes': 'c'}"), "firstBatch")[1].FindInt64("partialFilterExpression.n.$gte"));
    }

    [Fact]
    public void Refusals_name_what_a_partial_filter_may_have() =>
        Fails("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'x', 'partialFilterExpression': {'a': {'$ne': 1}}}]}", 67,
            "Expression not supported in partial index: $ne; allowed are $and, $or, $in");

    private string? IndexOf(string find)
    {
        BsonDocument stage = Succeed("{'explain': " + find + ", 'verbosity': 'queryPlanner'}").FindDocument("queryPlanner.winningPlan")!;
        while (stage.FindDocument("inputStage") is { } inner)
            stage = inner;
        return stage.FindString("indexName");
    }
}
