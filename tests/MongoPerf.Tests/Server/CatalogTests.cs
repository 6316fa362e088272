using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class CatalogTests : ServerTest
{
    [Fact]
    public void Collections_come_and_go()
    {
        Succeed("{'create': 'a'}");
        Fails("{'create': 'a'}", 48, "already exists");
        Succeed("{'insert': 'b', 'documents': [{'_id': 1}]}");
        Succeed("{'insert': 'x', 'documents': [{'_id': 1}]}", "other");
        Assert.Equal(["a", "b"], Names(Succeed("{'listCollections': 1}"), "name"));
        Assert.Equal(["b"], Names(Succeed("{'listCollections': 1, 'nameOnly': true, 'filter': {'name': 'b'}}"), "name"));
        BsonDocument databases = Succeed("{'listDatabases': 1}", "admin");
        Assert.Equal(["other", "test"], databases.FindDocument("databases")!.Select(pair => pair.Value.ToDocument().FindString("name")!));
        Assert.Equal(1, Succeed("{'drop': 'a'}").FindInt64("nIndexesWas"));
        Fails("{'drop': 'a'}", 26, "ns not found");
        Assert.Equal("test", Succeed("{'dropDatabase': 1}").FindString("dropped"));
        Assert.Empty(Names(Succeed("{'listCollections': 1}"), "name"));
        Assert.Equal(1, Succeed("{'count': 'x'}", "other").FindInt64("n"));
    }

    [Fact]
    public void Dropped_collection_takes_its_cursors_with_it_and_may_come_back_empty()
    {
        InsertNumbers(20);
        long id = Succeed("{'find': 'c', 'batchSize': 2}").FindInt64("cursor.id")!.Value;
        Succeed("{'drop': 'c'}");
        Assert.Equal(175, Client.Run(BsonDocument.Of(("getMore", id), ("collection", "c"))).FindInt64("code"));
        InsertNumbers(3);
        Assert.Equal(3, Client.FindAll("{'find': 'c'}").Count);
    }

    [Fact]
    public void Renamed_collection_keeps_documents_and_indexes_and_its_cursors_end()
    {
        InsertNumbers(20);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n', 'sparse': true}]}");
        long id = Succeed("{'find': 'c', 'batchSize': 2}").FindInt64("cursor.id")!.Value;
        Succeed("{'renameCollection': 'test.c', 'to': 'other.d.e'}", "admin");
        Assert.Equal(175, Client.Run(BsonDocument.Of(("getMore", id), ("collection", "c"))).FindInt64("code"));
        Assert.Equal(0, Succeed("{'count': 'c'}").FindInt64("n"));
        // The name is free again.
        InsertNumbers(3);
        Assert.Equal(1, Succeed("{'insert': 'd.e', 'documents': [{'_id': 99, 'n': [1, 2]}]}", "other").FindInt64("n"));
        Restart();
        Assert.Equal(3, Succeed("{'count': 'c'}").FindInt64("n"));
        Assert.Equal(21, Succeed("{'count': 'd.e'}", "other").FindInt64("n"));
        Assert.Equal(["_id_", "n"], Names(Succeed("{'listIndexes': 'd.e'}", "other"), "name"));
        Assert.True(Succeed("{'validate': 'd.e'}", "other").IsTrue("valid"));
    }

    [Fact]
    public void Rename_drops_what_has_the_name_only_when_asked()
    {
        InsertNumbers(20);
        Succeed("{'insert': 'd', 'documents': [{'_id': 'former'}]}");
        Fails("{'renameCollection': 'test.c', 'to': 'test.d'}", 48, "target namespace exists", "admin");
        Succeed("{'renameCollection': 'test.c', 'to': 'test.d', 'dropTarget': true}", "admin");
        Assert.Equal(20, Client.FindAll("{'find': 'd'}").Count);
        Assert.Equal(["d"], Names(Succeed("{'listCollections': 1}"), "name"));
        Fails("{'renameCollection': 'test.c', 'to': 'test.d'}", 26, "Source collection test.c does not exist", "admin");
        Fails("{'renameCollection': 'test.d', 'to': 'test.d'}", 20, "to itself", "admin");
        Fails("{'renameCollection': 'test.d', 'to': 'TEST.d'}", 13297, "different case already have: [test]", "admin");
        Fails("{'renameCollection': 'test.d', 'to': 'test.e'}", 13, "admin database");
    }

    [Fact]
    public async Task Collections_that_change_places_all_the_time_lose_nothing()
    {
        InsertNumbers(5);
        Succeed("{'insert': 'd', 'documents': [{'_id': 1}]}");
        await Task.WhenAll(Enumerable.Range(0, 4).Select(number => Task.Factory.StartNew(() =>
        {
            using var client = new TestClient(Port);
            for (int i = 0; i < 50; i++)
            {
                (string from, string to) = number % 2 == 0 ? ("c", "d") : ("d", "c");
                BsonDocument reply = client.Run($"{{'renameCollection': 'test.{from}', 'to': 'test.e{number}'}}", "admin");
                if (reply.FindDouble("ok") == 1)
                    client.Run($"{{'renameCollection': 'test.e{number}', 'to': 'test.{to}', 'dropTarget': true}}", "admin");
            }
        }, TaskCreationOptions.LongRunning))).WaitAsync(TimeSpan.FromMinutes(1));
        Assert.Equal(0, Server.Defects);
        Assert.NotEmpty(Names(Succeed("{'listCollections': 1}"), "name"));
    }

    [Fact]
    public void Index_is_built_over_what_is_there_and_is_listed()
    {
        InsertNumbers(50);
        BsonDocument reply =
            Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}, {'key': {'t': -1, 'n': 1}, 'name': 'tn'}]}");
        Assert.Equal((1L, 3L), (reply.FindInt64("numIndexesBefore"), reply.FindInt64("numIndexesAfter")));
        Assert.False(reply.IsTrue("createdCollectionAutomatically"));
        Assert.Equal(5, Client.FindAll("{'find': 'c', 'filter': {'n': 4}, 'hint': {'n': 1}}").Count);
        Assert.Equal(["_id_", "n_1", "tn"], Names(Succeed("{'listIndexes': 'c'}"), "name"));
        Assert.Equal("all indexes already exist",
            Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}").FindString("note"));
        Assert.Equal(3, Succeed("{'dropIndexes': 'c', 'index': 'n_1'}").FindInt64("nIndexesWas"));
        Assert.Equal(2, Succeed("{'dropIndexes': 'c', 'index': '*'}").FindInt64("nIndexesWas"));
        Assert.Equal(["_id_"], Names(Succeed("{'listIndexes': 'c'}"), "name"));
    }

    [Fact]
    public void A_hidden_index_is_in_force_but_in_no_plan()
    {
        InsertNumbers(10);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n', 'unique': true, 'hidden': true}]}");
        Restart();
        const string Explain = "{'explain': {'find': 'c', 'filter': {'n': 3}}, 'verbosity': 'queryPlanner'}";
        Assert.Equal("COLLSCAN", Succeed(Explain).FindString("queryPlanner.winningPlan.stage"));
        Fails("{'find': 'c', 'filter': {'n': 3}, 'hint': {'n': 1}}", 2, "hint provided does not correspond to an existing index");
        Assert.Equal(11000, Run("{'insert': 'c', 'documents': [{'_id': 'x', 'n': 3}]}").FindInt64("writeErrors.0.code"));
        Assert.True(Succeed("{'listIndexes': 'c'}").IsTrue("cursor.firstBatch.1.hidden"));
        BsonDocument change = Succeed("{'collMod': 'c', 'index': {'name': 'n', 'hidden': false}}");
        Assert.Equal((true, false), (change.IsTrue("hidden_old"), change.IsTrue("hidden_new")));
        Assert.Equal("IXSCAN", Succeed(Explain).FindString("queryPlanner.winningPlan.inputStage.stage"));
    }

    [Fact]
    public void Index_conflicts_have_MongoDBs_codes()
    {
        InsertNumbers(20);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        Fails("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'other'}]}", 85, "already exists with a different name: n_1");
        Fails("{'createIndexes': 'c', 'indexes': [{'key': {'n': -1}, 'name': 'n_1'}]}", 86, "same name as the requested index");
        Fails("{'createIndexes': 'd', 'indexes': [{'key': {'n': 'text'}, 'name': 't'}]}", 238, "'text' indexes");
        Fails("{'dropIndexes': 'c', 'index': 'nosuch'}", 27, "index not found with name [nosuch]");
        Fails("{'dropIndexes': 'c', 'index': '_id_'}", 72, "cannot drop _id index");
        Fails("{'listIndexes': 'nosuch'}", 26, "ns does not exist: test.nosuch");
        Fails("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1, 'x': 1}, 'name': 'u', 'unique': true}]}", 11000,
            "E11000 duplicate key error");
        Assert.Equal(["_id_", "n_1"], Names(Succeed("{'listIndexes': 'c'}"), "name"));
    }

    [Fact]
    public void Everything_is_there_after_a_restart()
    {
        InsertNumbers(300);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': -1}, 'name': 'n_-1'}]}");
        Succeed("{'insert': 'c', 'documents': [{'_id': 1000, 'n': [1, 2]}]}");
        Restart();
        Assert.Equal(301, Succeed("{'count': 'c'}").FindInt64("n"));
        Assert.Equal(31, Client.FindAll("{'find': 'c', 'filter': {'n': 2}, 'hint': 'n_-1'}").Count);
        Assert.Equal(302, Succeed("{'collStats': 'c'}").FindInt64("count") + 1);
        Assert.Equal(11000, Succeed("{'insert': 'c', 'documents': [{'_id': 299}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(1, Succeed("{'insert': 'c', 'documents': [{'_id': 301}]}").FindInt64("n"));
        Assert.True(Succeed("{'explain': {'find': 'c', 'filter': {'n': 2}}}").IsTrue("queryPlanner.winningPlan.inputStage.isMultiKey"));
    }

    private static string[] Names(BsonDocument reply, string field) =>
        [.. TestClient.Batch(reply, "firstBatch").Select(document => document.FindString(field)!)];
}
