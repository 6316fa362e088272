using System.Text.Json;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What the engine reads out of replies of a real mongod 6.0.5.</summary>
public sealed class RecordedReplyTests
{
    private const int RequestId = 77;

    [VectorFact]
    public void Batches_are_counted_by_documents_and_bytes()
    {
        // batchSize 2; getMore of 3; an empty batch with a live cursor; nothing at all, with the batch behind the id.
        Assert.Equal((true, 2, 6836269781179662357), Cursor(0));
        Assert.Equal((true, 3, 6836269781179662357), Cursor(1));
        Assert.Equal((true, 0, 9163946620220795427), Cursor(5));
        Assert.Equal((true, 3, 0), Cursor(9));
        Assert.Equal((true, 0, 0), Cursor(18));
        CursorReply reply = CursorReply.Parse(LyingServer.Message(Reply("find_getMore_killCursors.json", 0), RequestId));
        // { _id: ObjectId, Number: int32 } is 4 + 17 + 12 + 1 bytes.
        Assert.Equal(68, reply.Bytes);
    }

    [VectorFact]
    public void The_place_of_a_batch_is_that_in_the_message()
    {
        byte[] message = LyingServer.Message(Reply("find_getMore_killCursors.json", 19), RequestId);
        CursorReply reply = CursorReply.Parse(message);
        byte[] batch = message.AsSpan(reply.Batch.Start, reply.Batch.Length).ToArray();
        BsonValidator.Validate(batch);
        Assert.Equal([2L, 2L], new BsonDocument(batch).Select(item => item.Value.ToDocument().FindInt64("Number")!.Value));
    }

    [VectorFact]
    public void Refused_finds_are_no_success()
    {
        foreach (int index in new[] { 3, 6, 7, 14, 15, 20, 21, 22, 23 })
            Assert.False(CursorReply.Parse(LyingServer.Message(Reply("find_getMore_killCursors.json", index), RequestId)).IsOk);
    }

    [VectorFact]
    public void A_duplicate_key_has_its_code_though_the_reply_says_ok()
    {
        foreach ((int index, int inserted) in new[] { (0, 0), (1, 1), (2, 2) })
        {
            byte[] message = LyingServer.Message(Reply("insert_duplicate_key.json", index), RequestId);
            WriteReply reply = WriteReply.Parse(message);
            Assert.Equal(new WriteReply(false, inserted), reply);
            ServerError error = reply.ReadError(message, 3);
            Assert.Equal((ServerError.DuplicateKey, "DuplicateKey"), (error.Code, error.Name));
            Assert.StartsWith("E11000 duplicate key error collection: perf.crudt index: _id_", error.Message, StringComparison.Ordinal);
        }
    }

    [VectorFact]
    public void A_good_insert_is_a_success()
    {
        byte[] message = LyingServer.Message(Reply("insert_ok.json", 0), RequestId);
        WriteReply reply = WriteReply.Parse(message);
        Assert.True(reply.IsOk);
        Assert.True(reply.Count > 0);
    }

    [VectorTheory]
    [InlineData("explain_find_Number.json", "Number_1", "FETCH > IXSCAN", 196, 196, 196)]
    [InlineData("explain_find_Number_Number1.json", "Number1_1", "FETCH > IXSCAN", 2, 2, 1)]
    [InlineData("explain_find_Number_sort_Date.json", "Number_1", "SKIP > SORT > FETCH > IXSCAN", 196, 196, 10)]
    [InlineData("explain_find_all_limit100.json", null, "LIMIT > COLLSCAN", 0, 100, 100)]
    public void A_plan_is_read(string file, string? index, string stages, long keys, long documents, long returned) => Assert.Equal(
        new PlanSummary
        {
            Index = index, Stages = stages, KeysExamined = keys, DocumentsExamined = documents, Returned = returned, Necessary = returned,
        },
        QueryPlanReader.Read(Reply(file, 1), limit: 1000));

    [Fact]
    public void A_routers_plan_tells_what_the_client_gets_and_what_all_shards_did_for_it()
    {
        // Three shards return the ten documents each that may be among the first ten.
        PlanSummary plan = QueryPlanReader.Read(
            ExtendedJson.Parse("""
                {"queryPlanner": {"winningPlan": {"stage": "SHARD_MERGE_SORT", "shards": [{"shardName": "s0", "winningPlan": {"stage": "SORT", "inputStage": {"stage": "IXSCAN", "indexName": "Number_1"}}}]}},
                 "executionStats": {"nReturned": 30, "totalKeysExamined": 330, "totalDocsExamined": 330,
                  "executionStages": {"shards": [{"shardName": "s0", "nReturned": 12, "totalKeysExamined": 331, "totalDocsExamined": 332}]}}}
                """),
            limit: 10);
        Assert.Equal([new ShardPlan("s0", "SORT > IXSCAN", 331, 332, 12, "Number_1")], plan.ByShard);
        Assert.Equal((1, 10), (plan.Shards, plan.Necessary));
        Assert.Equal(
            ("SHARD_MERGE_SORT > SORT > IXSCAN", "Number_1", 10, 330), (plan.Stages, plan.Index, plan.Returned, plan.DocumentsExamined));
    }

    [VectorFact]
    public void Each_shards_own_plan_is_read_from_a_mongos_of_8()
    {
        PlanSummary plan = QueryPlanReader.Read(Reply("../replies-8.0/mongos_explain.json", 0), limit: 1000);
        Assert.Equal(["s0", "s1", "s2"], plan.ByShard.Select(shard => shard.Shard));
        Assert.All(plan.ByShard, shard => Assert.Equal(("Number_1", "SHARDING_FILTER > FETCH > IXSCAN"), (shard.Index, shard.Stages)));
        Assert.Equal(70, plan.ByShard[0].KeysExamined);
        Assert.Equal((200, 200, 200), (plan.ByShard.Sum(shard => shard.KeysExamined), plan.ByShard.Sum(shard => shard.DocumentsExamined),
            plan.ByShard.Sum(shard => shard.Returned)));
    }

    /// <summary>Three shards return the hundred documents that the client may want, and go through what it skips.</summary>
    [Fact]
    public void What_shards_read_for_a_limit_and_a_skip_is_necessary()
    {
        BsonDocument reply = ExtendedJson.Parse("""
            {"queryPlanner": {"winningPlan": {"stage": "SHARD_MERGE", "shards": [{"winningPlan": {"stage": "LIMIT"}}, {"winningPlan": {"stage": "LIMIT"}}, {"winningPlan": {"stage": "LIMIT"}}]}},
             "executionStats": {"nReturned": 300, "totalDocsExamined": 300}}
            """);
        Assert.Equal((3, 300), (QueryPlanReader.Read(reply, limit: 100).Shards, QueryPlanReader.Read(reply, limit: 100).Necessary));
        Assert.Equal(330, QueryPlanReader.Read(reply, limit: 10, skip: 100).Necessary);
        Assert.Equal(400, QueryPlanReader.Read(reply, limit: 0, skip: 100).Necessary);
    }

    /// <summary>
    /// Lookups by _id do not say which index they use: 6.0's IDHACK, and clustered collections. Release 8.0's EXPRESS_IXSCAN does.
    /// </summary>
    [Theory]
    [InlineData("""{"stage": "IDHACK"}""", "_id_")]
    [InlineData("""{"stage": "PROJECTION_SIMPLE", "inputStage": {"stage": "IDHACK"}}""", "_id_")]
    [InlineData(
        """{"stage": "SINGLE_SHARD", "shards": [{"shardName": "s0", "winningPlan": {"stage": "SHARDING_FILTER", "inputStage": {"stage": "IDHACK"}}}]}""",
        "_id_")]
    [InlineData("""{"stage": "CLUSTERED_IXSCAN"}""", "_id_")]
    [InlineData("""{"stage": "EXPRESS_CLUSTERED_IXSCAN"}""", "_id_")]
    [InlineData("""{"stage": "EXPRESS_IXSCAN", "indexName": "_id_"}""", "_id_")]
    [InlineData("""{"stage": "LIMIT", "inputStage": {"stage": "COLLSCAN"}}""", null)]
    public void A_find_by_id_uses_the_index_of_id(string plan, string? index) =>
        Assert.Equal(
            index, QueryPlanReader.Read(ExtendedJson.Parse("{\"queryPlanner\": {\"winningPlan\": " + plan + "}}"), limit: 0).Index);

    [Theory]
    [InlineData(
        """{"queryPlanner": {"winningPlan": {"stage": "PROJECTION_SIMPLE", "inputStage": {"stage": "IXSCAN", "indexName": "u_1"}}}, "executionStats": {"nReturned": 3, "totalKeysExamined": 5, "totalDocsExamined": 7}}""",
        "PROJECTION_SIMPLE > IXSCAN", 3, 5)]
    [InlineData(
        """{"stages": [{"$cursor": {"queryPlanner": {"winningPlan": {"stage": "IXSCAN", "indexName": "u_1"}}, "executionStats": {"nReturned": 30, "totalKeysExamined": 5, "totalDocsExamined": 7}}}, {"$group": {}, "nReturned": 4}, {"$sort": {}, "nReturned": 2}]}""",
        "$sort > $group > IXSCAN", 2, 5)]
    [InlineData(
        """{"mergeType": "mongos", "shards": {"s0": {"stages": [{"$cursor": {"queryPlanner": {"winningPlan": {"stage": "IXSCAN", "indexName": "u_1"}}, "executionStats": {"nReturned": 3, "totalKeysExamined": 5, "totalDocsExamined": 7}}}, {"$group": {}, "nReturned": 4}]}, "s1": {"queryPlanner": {"winningPlan": {"stage": "EOF"}}, "executionStats": {"nReturned": 1, "totalKeysExamined": 6, "totalDocsExamined": 0}}}}""",
        "$group > IXSCAN", 5, 11)]
    public void The_plan_of_an_aggregation_is_read_in_each_of_its_forms(string reply, string stages, long returned, long keys)
    {
        PlanSummary plan = QueryPlanReader.Read(ExtendedJson.Parse(reply), limit: 0);
        Assert.Equal(
            (stages, "u_1", returned, keys, 7), (plan.Stages, plan.Index, plan.Returned, plan.KeysExamined, plan.DocumentsExamined));
        Assert.Equal(plan.Shards is null ? []
            : [new ShardPlan("s0", "$group > IXSCAN", 5, 7, 4, "u_1"), new ShardPlan("s1", "EOF", 6, 0, 1, null)], plan.ByShard);
    }

    [VectorFact]
    public void Sizes_are_read()
    {
        SizeResult sizes = SizeReader.Read(Reply("collStats.json", 0), 20_000);
        Assert.Equal(
            (20_000, 20_480_000, 7_114_752, 0, 765_952),
            (sizes.Documents, sizes.DataBytes, sizes.StorageBytes, sizes.FreeStorageBytes, sizes.IndexBytes));
        Assert.Equal(
            [("Date_-1", 241_664L), ("Number1_1", 200_704L), ("Number_1", 110_592L), ("_id_", 212_992L)],
            sizes.Indexes.Select(i => (i.Key, i.Value)).OrderBy(i => i.Key, StringComparer.Ordinal));
        Assert.Empty(sizes.Shards);
    }

    [VectorFact]
    public void Sizes_of_a_missing_collection_are_zero()
    {
        SizeResult sizes = SizeReader.Read(Reply("collStats.json", 2), 0);
        Assert.Equal((0, 0, 0), (sizes.DataBytes, sizes.StorageBytes, sizes.IndexBytes));
        Assert.Null(sizes.FreeStorageBytes);
        Assert.Empty(sizes.Indexes);
    }

    [Fact]
    public void Sizes_that_are_no_numbers_or_come_twice_are_no_failure()
    {
        var indexes = BsonDocument.Of(("a", 1), ("a", 2), ("b", "many"));
        SizeResult sizes = SizeReader.Read(BsonDocument.Of(("indexSizes", indexes), ("indexDetails", BsonDocument.Of(("a", 5)))), 0);
        Assert.Equal([("a", 2L)], sizes.Indexes.Select(one => (one.Key, one.Value)));
        Assert.Null(sizes.UsedIndexBytes);
    }

    /// <summary>A router's: orphans are no documents of a shard's.</summary>
    [Fact]
    public void Each_shards_sizes_are_read_and_those_of_a_buckets_two_collections_added_up()
    {
        SizeResult files = Sizes("'s1': {'count': 3, 'size': 30, 'storageSize': 4096, 'totalIndexSize': 100, 'nchunks': 1, "
            + "'numOrphanDocs': 1, 'indexSizes': {'_id_': 60}}", documents: 5);
        SizeResult chunks = Sizes("'s1': {'count': 8, 'size': 800, 'storageSize': 8192, 'totalIndexSize': 1000, 'nchunks': 2, "
            + "'numOrphanDocs': 2, 'indexSizes': {'_id_': 600}}, 's0': {'count': 6, 'size': 600}", documents: 11) with
        {
            FreeStorageBytes = 7,
        };
        Assert.Equal([new ShardSize("s1", 2, 30, 4096, 100, 1) { Orphans = 1, Indexes = files.Shards[0].Indexes }], files.Shards);
        Assert.Equal(60, files.Shards[0].Indexes["_id_"]);
        Assert.Equal(("s0", 6L, 600L, 0L, 0L, 0L, null), Parts(chunks.Shards[1]));
        SizeResult sum = SizeReader.Sum([("files", files), ("chunks", chunks)], 9);
        Assert.Equal((9, 2 * 1000, 2 * 5000, 2 * 100), (sum.Documents, sum.DataBytes, sum.StorageBytes, sum.IndexBytes));
        Assert.Null(sum.FreeStorageBytes);
        Assert.Equal(14, SizeReader.Sum([("files", chunks), ("chunks", chunks)], 9).FreeStorageBytes);
        Assert.Equal(("files.a", 100L, "chunks.a", 100L), sum.Indexes.ToArray() is [var one, var two]
            ? (one.Key, one.Value, two.Key, two.Value) : default);
        // The last one's documents are those that count.
        Assert.Equal([("s0", 6L, 600L, 0L, 0L, 0L, null), ("s1", 6L, 830L, 12_288L, 1100L, 3L, 3L)], sum.Shards.Select(Parts));
        Assert.Equal((60L, 600L), (sum.Shards[1].Indexes["files._id_"], sum.Shards[1].Indexes["chunks._id_"]));
        Assert.False(sum.AreOfCheckpoint);
        Assert.True(SizeReader.Sum([("files", files), ("chunks", chunks with { AreOfCheckpoint = true })], 9).AreOfCheckpoint);

        static (string, long, long, long, long, long, long?) Parts(ShardSize shard) => (shard.Shard, shard.Documents, shard.DataBytes,
            shard.StorageBytes, shard.IndexBytes, shard.Chunks, shard.Orphans);

        static SizeResult Sizes(string shards, long documents) => SizeReader.Read(
            ExtendedJson.Parse("{'size': 1000, 'storageSize': 5000, 'totalIndexSize': 100, 'indexSizes': {'a': 100}, 'shards': {"
                .Replace('\'', '"') + shards.Replace('\'', '"') + "}}"), documents);
    }

    [Fact]
    public void Shards_plans_are_in_the_order_of_their_names()
    {
        PlanSummary plan = QueryPlanReader.Read(ExtendedJson.Parse("""
            {"mergeType": "mongos", "shards": {
              "s2": {"queryPlanner": {"winningPlan": {"stage": "EOF"}}, "executionStats": {"nReturned": 1}},
              "s10": {"queryPlanner": {"winningPlan": {"stage": "EOF"}}, "executionStats": {"nReturned": 2}},
              "s1": {"queryPlanner": {"winningPlan": {"stage": "EOF"}}, "executionStats": {"nReturned": 3}}}}
            """), limit: 0);
        Assert.Equal([("s1", 3L), ("s10", 2L), ("s2", 1L)], plan.ByShard.Select(shard => (shard.Shard, (long)shard.Returned)));
    }

    private static (bool IsOk, int Documents, long CursorId) Cursor(int index)
    {
        CursorReply reply = CursorReply.Parse(LyingServer.Message(Reply("find_getMore_killCursors.json", index), RequestId));
        return (reply.IsOk, reply.Documents, reply.CursorId);
    }

    private static BsonDocument Reply(string file, int index)
    {
        using var document = JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, file)));
        JsonElement root = document.RootElement;
        JsonElement entry = root.TryGetProperty("exchanges", out JsonElement exchanges) ? exchanges[index] : root;
        return ExtendedJson.Parse(entry.GetProperty("reply").GetRawText());
    }
}
