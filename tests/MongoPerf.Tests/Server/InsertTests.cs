using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class InsertTests : ServerTest
{
    [Fact]
    public void Insert_takes_documents_from_the_body_and_from_a_sequence()
    {
        Assert.Equal(2, Succeed("{'insert': 'c', 'documents': [{'_id': 1}, {'_id': 2}]}").FindInt64("n"));
        Assert.Equal(1, Client.RunWithSequence("{'insert': 'c'}", "documents", [TestClient.Json("{'_id': 3}")]).FindInt64("n"));
        Assert.Equal([1, 2, 3], Ids(Client.FindAll("{'find': 'c'}")));
    }

    [Fact]
    public void Insert_with_a_duplicate_key_reports_11000_and_goes_on_when_unordered()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': {'$oid': '660000000000000000000001'}}]}");
        const string Batch = "'documents': [{'_id': 5}, {'_id': {'$oid': '660000000000000000000001'}}, {'_id': 6}, {'_id': 5}]}";
        BsonDocument ordered = Succeed("{'insert': 'c', " + Batch);
        Assert.Equal(1, ordered.FindInt64("n"));
        Assert.Single(ordered.FindDocument("writeErrors")!);
        Assert.Equal(1, ordered.FindInt64("writeErrors.0.index"));
        Assert.Equal(11000, ordered.FindInt64("writeErrors.0.code"));
        Assert.Equal("E11000 duplicate key error collection: test.c index: _id_ dup key: { _id: ObjectId('660000000000000000000001') }",
            ordered.FindString("writeErrors.0.errmsg"));
        Assert.Equal(1, ordered.FindInt64("writeErrors.0.keyPattern._id"));
        BsonDocument unordered = Succeed("{'insert': 'c', 'ordered': false, " + Batch);
        Assert.Equal(1, unordered.FindInt64("n"));
        Assert.Equal([0, 1, 3], unordered.FindDocument("writeErrors")!
            .Select(pair => pair.Value.ToDocument().FindInt64("index")!.Value).Select(index => (int)index));
        Assert.Equal(3, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public void Insert_with_the_same_id_twice_in_one_batch_is_refused()
    {
        BsonDocument reply = Succeed("{'insert': 'c', 'ordered': false, 'documents': [{'_id': 7}, {'_id': 3}, {'_id': 3}, {'_id': 7.0}]}");
        Assert.Equal(2, reply.FindInt64("n"));
        Assert.Equal(2, reply.FindDocument("writeErrors")!.Count());
    }

    [Fact]
    public void Insert_without_an_id_gets_one_in_front()
    {
        Succeed("{'insert': 'c', 'documents': [{'a': 1}, {'a': 2, '_id': 9}]}");
        List<BsonDocument> documents = Client.FindAll("{'find': 'c'}");
        Assert.All(documents, document => Assert.Equal("_id", document.First().Key));
        Assert.Equal(BsonType.ObjectId, documents[0].Find("_id")!.Value.Type);
        Assert.Equal(9, documents[1].FindInt64("_id"));
    }

    [Fact]
    public void Insert_with_more_to_come_is_done_without_a_reply()
    {
        Client.SendWithoutReply("{'insert': 'c', 'writeConcern': {'w': 0}}", "documents", [TestClient.Json("{'_id': 1}")]);
        Assert.Equal(1, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public void Insert_with_w_0_and_a_reply_says_nothing_of_the_outcome()
    {
        Assert.Equal(0, Succeed("{'insert': 'c', 'writeConcern': {'w': 0}, 'documents': [{'_id': 1}]}").FindInt64("n"));
        Assert.Equal(1, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Fact]
    public void Insert_takes_the_write_concerns_of_a_single_server_only()
    {
        Succeed("{'insert': 'c', 'writeConcern': {'w': 'majority', 'j': true}, 'documents': [{'_id': 1}]}");
        Fails(
            "{'insert': 'c', 'writeConcern': {'w': 2}, 'documents': [{'_id': 2}]}", 2, "cannot use 'w' > 1 when a host is not replicated");
        Assert.Equal(1, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Theory]
    [InlineData("{'insert': 'c', 'documents': []}", 16, "Got 0 operations")]
    [InlineData("{'insert': 'c'}", 40414, "'insert.documents' is missing")]
    [InlineData("{'insert': 'c', 'bogus': 1, 'documents': [{}]}", 40415, "'insert.bogus' is an unknown field")]
    [InlineData("{'insert': '', 'documents': [{}]}", 73, "Invalid collection name")]
    [InlineData("{'insert': 'a$b', 'documents': [{}]}", 73, "Invalid collection name")]
    public void Insert_that_is_wrong_fails_as_a_whole(string command, int code, string text) => Fails(command, code, text);

    [Fact]
    public void Insert_of_a_document_beyond_16_MiB_is_a_write_error()
    {
        BsonDocument reply = Client.RunWithSequence("{'insert': 'c', 'ordered': false}", "documents",
            [BsonDocument.Of(("_id", 1), ("b", new byte[16_777_216])), BsonDocument.Of(("_id", 2))]);
        Assert.Equal(1, reply.FindInt64("n"));
        Assert.Equal("object to insert too large. size in bytes: 16777238, max size: 16777216", reply.FindString("writeErrors.0.errmsg"));
    }

    [Fact]
    public void Insert_from_many_connections_loses_and_doubles_nothing()
    {
        Parallel.For(0, 8, thread =>
        {
            using var client = new TestClient(Port);
            for (int i = 0; i < 20; i++)
                client.RunWithSequence("{'insert': 'c'}", "documents",
                    Enumerable.Range(0, 10).Select(k => BsonDocument.Of(("_id", (thread * 1000) + (i * 10) + k))));
        });
        Assert.Equal(1600, Succeed("{'count': 'c'}").FindInt64("n"));
        Assert.Equal(1600, Client.FindAll("{'find': 'c'}").Select(document => document.FindInt64("_id")).Distinct().Count());
    }
}
