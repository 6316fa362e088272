using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Stages are moved as by mongod, which shows in what fails; the differential tests compare more of it.</summary>
public sealed class StageOrderTests : ServerTest
{
    [Theory]
    [InlineData("[{'$set': {'z': {'$add': ['$d', 1]}}}, {'$match': {'a': 2}}]")]
    [InlineData("[{'$set': {'z': {'$add': ['$d', 1]}}}, {'$sort': {'a': 1}}, {'$match': {'z': 6, 'a': 2}}]")]
    [InlineData("[{'$project': {'b': '$a', 'z': {'$add': ['$d', 1]}}}, {'$match': {'b': 2}}]")]
    [InlineData("[{'$group': {'_id': '$a', 'n': {'$sum': {'$add': ['$d', 1]}}}}, {'$match': {'_id': 2}}]")]
    [InlineData("[{'$set': {'z': {'$add': ['$d', 1]}}}, {'$skip': 1}]")]
    [InlineData("[{'$sort': {'a': -1}}, {'$set': {'z': {'$add': ['$d', 1]}}}, {'$limit': 1}]")]
    public void An_expression_is_not_evaluated_for_a_document_that_a_later_stage_leaves_out(string pipeline)
    {
        InsertTextAndNumber();
        BsonDocument reply = Succeed($"{{'aggregate': 'c', 'pipeline': {pipeline}, 'cursor': {{}}}}");
        Assert.Single(reply.FindDocument("cursor.firstBatch")!);
    }

    [Theory]
    [InlineData("[{'$set': {'z': {'$add': ['$d', 1]}}}, {'$match': {'z': 6}}]")]
    [InlineData("[{'$set': {'a.z': {'$add': ['$d', 1]}}}, {'$match': {'a': 2}}]")]
    [InlineData("[{'$set': {'z': {'$add': ['$d', 1]}}}, {'$sort': {'a': 1}}, {'$limit': 2}, {'$match': {'a': 2}}]")]
    [InlineData("[{'$set': {'z': {'$add': ['$d', 1]}}}, {'$match': {'$or': [{'z': 6}, {'a': 2}]}}]")]
    public void A_condition_on_what_a_stage_changes_stays_behind_it(string pipeline)
    {
        InsertTextAndNumber();
        Fails($"{{'aggregate': 'c', 'pipeline': {pipeline}, 'cursor': {{}}}}", 16554, "$add only supports numeric or date types");
    }

    [Theory]
    [InlineData("[{'$project': {'_id': '$d'}}, {'$match': {'_id': 5}}]", 1)]
    [InlineData("[{'$project': {'_id': '$d', 'a': 1}}, {'$match': {'_id': 2}}]", 0)]
    [InlineData("[{'$project': {'_id': {'x': '$d'}}}, {'$match': {'_id.x': 5}}]", 1)]
    [InlineData("[{'$project': {'_id': {'x': '$d'}}}, {'$match': {'_id': 2}}]", 0)]
    [InlineData("[{'$project': {'a': 1}}, {'$match': {'_id': 2}}]", 1)]
    public void A_condition_asks_the_id_that_a_projection_makes(string pipeline, int count)
    {
        InsertTextAndNumber();
        Assert.Equal(count, TestClient.Batch(
            Succeed($"{{'aggregate': 'c', 'pipeline': {pipeline}, 'cursor': {{}}}}"), "firstBatch").Count);
    }

    [Theory]
    [InlineData("{'ping': 1, 'apiVersion': '2'}", 322)]
    [InlineData("{'ping': 1, 'apiStrict': true}", 4886600)]
    [InlineData("{'ping': 1, 'apiVersion': '1', 'apiStrict': 1}", 14)]
    [InlineData("{'distinct': 'c', 'key': 'a', 'apiVersion': '1', 'apiStrict': true}", 323)]
    [InlineData("{'aggregate': 'c', 'pipeline': [{'$indexStats': {}}], 'cursor': {}, 'apiVersion': '1', 'apiStrict': true}", 323)]
    [InlineData("{'find': 'c', 'apiVersion': '1', 'apiStrict': true}", null)]
    [InlineData("{'distinct': 'c', 'key': 'a', 'apiVersion': '1', 'apiDeprecationErrors': true}", null)]
    public void The_stable_API_is_kept_where_a_client_asks_for_it(string command, int? code) =>
        Assert.Equal(code, Run(command).FindInt64("code"));

    private void InsertTextAndNumber() =>
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': 1, 'd': 'x'}, {'_id': 2, 'a': 2, 'd': 5}]}");
}
