using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>Pipelines whose documents go into a collection: $out and $merge.</summary>
public sealed class PipelineTargetTests : ServerTest
{
    public PipelineTargetTests() => Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': 1}, {'_id': 2, 'a': 2}, {'_id': 3, 'a': 3}]}");

    [Fact]
    public void An_out_takes_the_place_of_what_was_there_and_keeps_its_indexes()
    {
        Succeed("{'insert': 'd', 'documents': [{'_id': 9, 'a': 9}]}");
        Succeed("{'createIndexes': 'd', 'indexes': [{'key': {'a': 1}, 'name': 'a', 'unique': true}]}");
        BsonDocument reply = Succeed("{'aggregate': 'c', 'pipeline': [{'$match': {'a': {'$gt': 1}}}, {'$out': 'd'}], 'cursor': {}}");
        Assert.Empty(TestClient.Batch(reply, "firstBatch"));
        Assert.Equal(0, reply.FindInt64("cursor.id"));
        Assert.Equal([2, 3], Ids(Client.FindAll("{'find': 'd', 'hint': 'a'}")));
        Fails("{'aggregate': 'c', 'pipeline': [{'$set': {'a': 7}}, {'$out': 'd'}], 'cursor': {}}", 11000, "index: a dup key: { a: 7 }");
        Assert.Equal([2, 3], Ids(Client.FindAll("{'find': 'd'}")));
        Assert.Equal(["c", "d"], Names());
        Restart();
        Assert.Equal([2, 3], Ids(Client.FindAll("{'find': 'd', 'hint': 'a'}")));
        Assert.Equal(2, Succeed("{'count': 'd'}").FindInt64("n"));
        BsonDocument duplicate = Succeed("{'insert': 'd', 'documents': [{'_id': 4, 'a': 3}]}");
        Assert.Equal(11000, duplicate.FindInt64("writeErrors.0.code"));
    }

    [Fact]
    public void An_out_may_replace_what_it_reads_and_go_to_another_database()
    {
        Succeed("{'aggregate': 'c', 'pipeline': [{'$unset': 'a'}, {'$out': 'c'}], 'cursor': {}}");
        Assert.All(Client.FindAll("{'find': 'c'}"), document => Assert.Single(document));
        Succeed("{'aggregate': 'c', 'pipeline': [{'$out': {'db': 'other', 'coll': 'x'}}], 'cursor': {}}");
        Assert.Equal(3, Succeed("{'count': 'x'}", "other").FindInt64("n"));
        Succeed("{'aggregate': 'nosuch', 'pipeline': [{'$out': {'db': 'other', 'coll': 'x'}}], 'cursor': {}}");
        Assert.Equal(0, Succeed("{'count': 'x'}", "other").FindInt64("n"));
    }

    [Fact]
    public void An_out_that_fails_leaves_nothing_behind()
    {
        Fails("{'aggregate': 'c', 'pipeline': [{'$project': {'_id': 'x'}}, {'$out': 'd'}], 'cursor': {}}", 11000, "_id_ dup key");
        Fails("{'aggregate': 'c', 'pipeline': [{'$out': 'd'}, {'$limit': 1}], 'cursor': {}}", 40601, "can only be the final stage");
        Assert.Equal(["c"], Names());
    }

    /// <summary>More than one batch goes through, and through a cursor's own way of reading.</summary>
    [Fact]
    public void All_documents_of_a_large_pipeline_arrive()
    {
        Client.RunWithSequence("{'insert': 'big'}", "documents",
            Enumerable.Range(0, 3500).Select(i => BsonDocument.Of(("_id", i), ("n", i % 10))));
        Succeed("{'aggregate': 'big', 'pipeline': [{'$match': {'n': {'$ne': 3}}}, {'$out': 'd'}], 'cursor': {}}");
        Assert.Equal(3150, Succeed("{'count': 'd'}").FindInt64("n"));
        Succeed("{'aggregate': 'big', 'pipeline': [{'$set': {'m': 1}}, {'$merge': 'd'}], 'cursor': {}}");
        Assert.Equal(3500, Succeed("{'count': 'd', 'query': {'m': 1}}").FindInt64("n"));
        // Into what is read: each document once, though it changes meanwhile.
        Succeed("{'aggregate': 'big', 'pipeline': [{'$set': {'n': {'$add': ['$n', 100]}}}, {'$merge': 'big'}], 'cursor': {}}");
        Assert.Equal(3500, Succeed("{'count': 'big', 'query': {'n': {'$gte': 100, '$lt': 110}}}").FindInt64("n"));
    }

    [Theory]
    [InlineData("'whenMatched': 'merge'", "{'_id': 1, 'x': 1, 'a': 1}", 3)]
    [InlineData("'whenMatched': 'replace'", "{'_id': 1, 'a': 1}", 3)]
    [InlineData("'whenMatched': 'keepExisting'", "{'_id': 1, 'x': 1, 'a': 0}", 3)]
    [InlineData("'whenMatched': [{'$set': {'y': '$$new.a', 'z': '$x'}}]", "{'_id': 1, 'x': 1, 'a': 0, 'y': 1, 'z': 1}", 3)]
    [InlineData("'whenMatched': [{'$set': {'y': '$$v'}}], 'let': {'v': {'$add': ['$a', 5]}}", "{'_id': 1, 'x': 1, 'a': 0, 'y': 6}", 3)]
    [InlineData("'whenNotMatched': 'discard'", "{'_id': 1, 'x': 1, 'a': 1}", 1)]
    public void A_merge_does_what_it_is_told_with_what_is_there(string options, string expected, int count)
    {
        Succeed("{'insert': 'd', 'documents': [{'_id': 1, 'x': 1, 'a': 0}]}");
        Succeed("{'aggregate': 'c', 'pipeline': [{'$merge': {'into': 'd', " + options + "}}], 'cursor': {}}");
        Assert.Equal(ExtendedJson.Write(TestClient.Json(expected).Bytes),
            ExtendedJson.Write(Client.FindAll("{'find': 'd', 'filter': {'_id': 1}}").Single().Bytes));
        Assert.Equal(count, Succeed("{'count': 'd'}").FindInt64("n"));
    }

    [Theory]
    [InlineData("'into': 'd', 'whenMatched': 'fail'", 11000, "E11000 duplicate key error collection: test.d index: _id_")]
    [InlineData("'into': 'd', 'whenNotMatched': 'fail'", 13113, "could not find a matching document in the target collection")]
    [InlineData("'into': 'd', 'on': 'a'", 51183, "Cannot find index to verify that join fields will be unique")]
    [InlineData("'into': 'd', 'whenMatched': 'fail', 'whenNotMatched': 'discard'", 51181, "Combination of $merge modes")]
    [InlineData("'into': 'd', 'whenMatched': 'bogus'", 2, "'bogus' for field 'whenMatched' is not a valid value")]
    [InlineData("'on': 'a'", 40414, "'$merge.into' is missing")]
    public void A_merge_that_cannot_be_carried_out_has_mongods_code(string options, int code, string text)
    {
        Succeed("{'insert': 'd', 'documents': [{'_id': 1, 'x': 1}]}");
        Fails("{'aggregate': 'c', 'pipeline': [{'$merge': {" + options + "}}], 'cursor': {}}", code, text);
    }

    [Theory]
    [InlineData("{'$out': {'db': 'admin', 'coll': 'x'}}", 31321)]
    [InlineData("{'$merge': {'into': {'db': 'config', 'coll': 'x'}}}", 31320)]
    [InlineData("{'$merge': {'into': {'db': 'other', 'coll': 'system.x'}}}", 31319)]
    public void Nothing_is_written_where_mongod_keeps_its_own(string stage, int code) =>
        Fails("{'aggregate': 'c', 'pipeline': [" + stage + "], 'cursor': {}}", code, "Can");

    [Fact]
    public void A_merge_takes_for_the_same_what_the_targets_collation_does()
    {
        Succeed("{'create': 'd', 'collation': {'locale': 'en', 'strength': 2}}");
        Succeed("{'insert': 'd', 'documents': [{'_id': 'X'}]}");
        const string Renamed = "{'aggregate': 'c', 'pipeline': [{'$match': {'_id': 1}}, {'$project': {'_id': 'x'}}, {'$merge': ";
        Succeed(Renamed + "{'into': 'd', 'whenMatched': 'keepExisting'}}], 'cursor': {}}");
        Fails(Renamed + "'d'}], 'cursor': {}}", 66, "immutable field '_id'");
        Fails(Renamed + "{'into': 'd', 'on': '_id'}}], 'cursor': {}}", 51183, "Cannot find index to verify that join fields");
        Fails(Renamed + "{'into': 'd', 'whenMatched': [{'$set': {'a': 1}}]}}], 'cursor': {}}", 238, "a $merge by a pipeline under");
        Assert.Equal("X", Client.FindAll("{'find': 'd'}").Single().FindString("_id"));
        Fails(Renamed + "'d'}], 'cursor': {}, 'collation': {'locale': 'simple'}}", 11000, "index: _id_ collation");
    }

    [Fact]
    public void A_merge_on_a_unique_index_looks_documents_up_by_its_fields()
    {
        Succeed("{'insert': 'd', 'documents': [{'_id': 11, 'a': 1, 'x': 1}]}");
        Succeed("{'createIndexes': 'd', 'indexes': [{'key': {'a': 1}, 'name': 'a', 'unique': true}]}");
        Succeed("{'aggregate': 'c', 'pipeline': [{'$project': {'_id': 0, 'a': 1, 'n': '$a'}}, {'$merge': {'into': 'd', 'on': 'a'}}], "
            + "'cursor': {}}");
        Assert.Equal(3, Succeed("{'count': 'd', 'query': {'n': {'$exists': true}}}").FindInt64("n"));
        Assert.Equal(11, Client.FindAll("{'find': 'd', 'filter': {'n': 1, 'x': 1}}").Single().FindInt64("_id"));
        Fails("{'aggregate': 'c', 'pipeline': [{'$merge': {'into': 'd', 'on': 'a'}}], 'cursor': {}}", 66, "immutable field '_id'");
        Fails("{'aggregate': 'c', 'pipeline': [{'$unset': 'a'}, {'$merge': {'into': 'd', 'on': 'a'}}], 'cursor': {}}", 51132,
            "cannot be missing, null, undefined or an array");
    }

    private string[] Names() => [.. TestClient.Batch(Succeed("{'listCollections': 1, 'nameOnly': true}"), "firstBatch")
        .Select(collection => collection.FindString("name")!)];
}
