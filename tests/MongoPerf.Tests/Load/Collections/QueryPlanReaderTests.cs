using MongoPerf.Load.Collections;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>
/// Which collection each stage of an explained command reads, by which index and how much of it: replies of mongod 6.0.5, shortened to what
/// is read of them, and replies made at random in the same forms.
/// </summary>
public sealed class QueryPlanReaderTests
{
    private const string ById =
        """{"$cursor": {"queryPlanner": {"namespace": "t.outer", "winningPlan": {"stage": "IDHACK"}}, "executionStats": {"nReturned": 1, "totalKeysExamined": 1, "totalDocsExamined": 1}}, "nReturned": 1}""";

    private const string Lookup =
        """{"$lookup": {"from": "inner", "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$k"]}}}]}, "totalDocsExamined": 20000, "totalKeysExamined": 0, "collectionScans": 40, "indexesUsed": [], "nReturned": 20}""";

    private const string Union =
        """{"$unionWith": {"coll": "inner", "pipeline": [{"$cursor": {"queryPlanner": {"namespace": "t.inner", "winningPlan": {"stage": "COLLSCAN"}}, "executionStats": {"nReturned": 143, "totalKeysExamined": 0, "totalDocsExamined": 1000}}, "nReturned": 143}]}, "nReturned": 144}""";

    [Theory]
    [InlineData(
        """{"stages": [{"$cursor": {"queryPlanner": {"namespace": "t.outer", "winningPlan": {"stage": "COLLSCAN"}}, "executionStats": {"nReturned": 20, "totalKeysExamined": 0, "totalDocsExamined": 200}}, "nReturned": 20}, """
            + Lookup + "]}",
        "$lookup > COLLSCAN", 20, 0, 20200, "outer scan 0 200 for 20; $lookup inner scan 0 20000 for 20")]
    [InlineData("""{"stages": [""" + ById + ", " + Union + "]}", "$unionWith > IDHACK", 144, 1, 1001,
        "outer _id_ 1 1 for 1; $unionWith inner scan 0 1000 for 143")]
    [InlineData(
        """{"stages": [""" + ById + """, {"$facet": {"a": [{"$internalFacetTeeConsumer": {}, "nReturned": 20}, """ + Lookup
            + """], "b": [{"$internalFacetTeeConsumer": {}, "nReturned": 1}, """ + Union
            + """, {"$group": {}, "nReturned": 1}]}, "nReturned": 1}]}""",
        "$facet > IDHACK", 1, 1, 21001, "outer _id_ 1 1 for 1; $lookup inner scan 0 20000 for 20; $unionWith inner scan 0 1000 for 143")]
    [InlineData("""{"stages": [""" + ById + """, {"$graphLookup": {"from": "keyed", "as": "x"}, "nReturned": 1}]}""",
        "$graphLookup > IDHACK", 1, 1, 1, "outer _id_ 1 1 for 1; $graphLookup keyed ? for 1")]
    [InlineData(
        """{"stages": [""" + ById
            + """, {"$lookup": {"from": "keyed", "pipeline": [{"$lookup": {"from": "inner", "pipeline": [{"$unionWith": "third"}]}}]}, "totalDocsExamined": 3003, "totalKeysExamined": 3, "collectionScans": 6, "indexesUsed": ["k_1"], "nReturned": 1}]}""",
        "$lookup > IDHACK", 1, 4, 3004, "outer _id_ 1 1 for 1; $lookup keyed, inner, third scan k_1 3 3003 for 1")]
    [InlineData("""{"stages": [{"$documents": []}, """ + Union + "]}", "$unionWith > $documents", 0, 0, 1000,
        "$unionWith inner scan 0 1000 for 143")]
    public void A_pipeline_examines_what_all_its_stages_do(
        string reply, string stages, long returned, long keys, long documents, string sources) =>
        Same(reply, stages, returned, keys, documents, sources);

    /// <summary>
    /// The slot-based engine joins within the plan: of an outer scan that looks up by k_1 it was said that it used that index.
    /// </summary>
    [Theory]
    [InlineData(
        """{"queryPlanner": {"namespace": "t.outer", "winningPlan": {"queryPlan": {"stage": "EQ_LOOKUP", "planNodeId": 2, "foreignCollection": "t.inner", "strategy": "HashJoin", "inputStage": {"stage": "COLLSCAN", "planNodeId": 1}}, "slotBasedPlan": {"stages": "[2] mkbson"}}}, "executionStats": {"nReturned": 20, "totalKeysExamined": 0, "totalDocsExamined": 1200, "executionStages": {"stage": "mkbson", "planNodeId": 2, "nReturned": 20, "inputStage": {"stage": "hash_lookup", "planNodeId": 2, "totalDocsExamined": 1200, "inputStages": [{"stage": "nlj", "planNodeId": 2, "outerStage": {"stage": "filter", "planNodeId": 1, "nReturned": 20, "inputStage": {"stage": "scan", "planNodeId": 1, "nReturned": 200, "numReads": 200}}, "innerStage": {"stage": "coscan", "planNodeId": 2}}, {"stage": "nlj", "planNodeId": 2, "outerStage": {"stage": "scan", "planNodeId": 2, "nReturned": 1000, "numReads": 1000}}]}}}}""",
        "EQ_LOOKUP > COLLSCAN", 20, 0, 1200, "outer scan 0 200 for 20; $lookup inner scan 0 1000 for 20")]
    [InlineData(
        """{"queryPlanner": {"namespace": "t.outer", "winningPlan": {"queryPlan": {"stage": "EQ_LOOKUP", "planNodeId": 3, "foreignCollection": "t.keyed", "strategy": "IndexedLoopJoin", "indexName": "k_1", "inputStage": {"stage": "COLLSCAN", "planNodeId": 1}}}}, "executionStats": {"nReturned": 22, "totalKeysExamined": 30, "totalDocsExamined": 230, "executionStages": {"stage": "nlj", "planNodeId": 3, "outerStage": {"stage": "filter", "planNodeId": 1, "nReturned": 22, "inputStage": {"stage": "scan", "planNodeId": 1, "numReads": 200}}, "innerStage": {"stage": "branch", "planNodeId": 3, "thenStage": {"stage": "ixseek", "planNodeId": 3, "indexName": "k_1", "keysExamined": 30, "numReads": 52}, "elseStage": {"stage": "seek", "planNodeId": 3, "numReads": 30}}}}}""",
        "EQ_LOOKUP > COLLSCAN", 22, 30, 230, "outer scan 0 200 for 22; $lookup keyed k_1 30 30 for 22")]
    public void A_join_of_the_slot_based_engine_is_told_from_what_it_joins(
        string reply, string stages, long returned, long keys, long documents, string sources) =>
        Same(reply, stages, returned, keys, documents, sources);

    /// <summary>
    /// What a shard asks other shards about a $lookup it does not count, and a merger's stages are only planned: that is not nothing.
    /// </summary>
    [Theory]
    [InlineData(
        """{"shards": {"s0": {"stages": [""" + ById
            + """, {"$lookup": {"from": "inner", "localField": "k"}, "totalDocsExamined": 0, "totalKeysExamined": 0, "collectionScans": 0, "indexesUsed": [], "nReturned": 1}]}}}""",
        "$lookup > IDHACK", 1, 1, 1, "outer _id_ 1 1 for 1; $lookup inner ? for 1")]
    [InlineData(
        """{"mergeType": "mongos", "splitPipeline": {"mergerPart": [{"$group": {}}, {"$lookup": {"from": "inner"}}]}, "shards": {"s1": {"queryPlanner": {"namespace": "t.outer", "winningPlan": {"stage": "COLLSCAN"}}, "executionStats": {"nReturned": 41, "totalKeysExamined": 0, "totalDocsExamined": 91}}, "s0": {"queryPlanner": {"namespace": "t.outer", "winningPlan": {"stage": "COLLSCAN"}}, "executionStats": {"nReturned": 42, "totalKeysExamined": 0, "totalDocsExamined": 109}}}}""",
        "COLLSCAN", 83, 0, 200, "outer scan 0 200 for 83; $lookup inner ? for 0")]
    [InlineData(
        """{"mergeType": "anyShard", "splitPipeline": {"mergerPart": [{"$unionWith": {"coll": "inner", "pipeline": {"shards": {"s1": {"queryPlanner": {"namespace": "t.inner", "winningPlan": {"stage": "COLLSCAN"}}, "executionStats": {"nReturned": 86, "totalKeysExamined": 0, "totalDocsExamined": 521}}, "s0": {"queryPlanner": {"namespace": "t.inner", "winningPlan": {"stage": "COLLSCAN"}}, "executionStats": {"nReturned": 65, "totalKeysExamined": 0, "totalDocsExamined": 479}}}}}}]}, "shards": {"s0": {"queryPlanner": {"namespace": "t.outer", "winningPlan": {"stage": "IDHACK"}}, "executionStats": {"nReturned": 1, "totalKeysExamined": 1, "totalDocsExamined": 1}}}}""",
        "IDHACK", 1, 1, 1001, "outer _id_ 1 1 for 1; $unionWith inner scan 0 1000 for 151")]
    public void Of_a_sharded_pipeline_each_shards_part_counts_and_what_none_tells_is_unknown(
        string reply, string stages, long returned, long keys, long documents, string sources) =>
        Same(reply, stages, returned, keys, documents, sources);

    [Theory]
    [InlineData(
        """{"queryPlanner": {"winningPlan": {"stage": "SUBPLAN", "inputStage": {"stage": "FETCH", "inputStage": {"stage": "OR", "inputStages": [{"stage": "IXSCAN", "indexName": "_id_"}, {"stage": "IXSCAN", "indexName": "k_1"}]}}}}, "executionStats": {"nReturned": 2, "totalKeysExamined": 2, "totalDocsExamined": 2}}""",
        "SUBPLAN > FETCH > OR > IXSCAN", "_id_, k_1", 2)]
    [InlineData(
        """{"queryPlanner": {"winningPlan": {"stage": "COUNT", "inputStage": {"stage": "COUNT_SCAN", "indexName": "k_1"}}}, "executionStats": {"nReturned": 0, "totalKeysExamined": 197, "totalDocsExamined": 0, "executionStages": {"stage": "COUNT", "nReturned": 0, "nCounted": 196}}}""",
        "COUNT > COUNT_SCAN", "k_1", 196)]
    [InlineData(
        """{"queryPlanner": {"winningPlan": {"stage": "SHARD_MERGE", "shards": [{"shardName": "s0", "winningPlan": {"stage": "COUNT", "inputStage": {"stage": "COLLSCAN"}}}]}}, "executionStats": {"nReturned": 0, "executionStages": {"stage": "SHARD_MERGE", "shards": [{"shardName": "s0", "executionStages": {"stage": "COUNT", "nCounted": 5}}, {"shardName": "s1", "executionStages": {"stage": "COUNT", "nCounted": 7}}]}}}""",
        "SHARD_MERGE > COUNT > COLLSCAN", null, 12)]
    [InlineData(
        """{"queryPlanner": {"winningPlan": {"stage": "UPDATE", "inputStage": {"stage": "IDHACK"}}}}""", "UPDATE > IDHACK", "_id_", 0)]
    [InlineData("""{"queryPlanner": {"winningPlan": {"stage": "EXPRESS_UPDATE"}}}""", "EXPRESS_UPDATE", "_id_", 0)]
    public void All_indexes_of_a_plan_are_named_and_a_count_returns_what_it_counts(
        string reply, string stages, string? index, long returned)
    {
        PlanSummary plan = QueryPlanReader.Read(ExtendedJson.Parse(reply), limit: 0);
        Assert.Equal((stages, index, returned), (plan.Stages, plan.Index, plan.Returned));
        Assert.Empty(plan.Sources);
    }

    /// <summary>An index on a filter that is not there would help nothing.</summary>
    [Theory]
    [InlineData("""{"stage": "GROUP", "inputStage": {"stage": "COLLSCAN"}}""", "{}", 5000)]
    [InlineData("""{"stage": "GROUP", "inputStage": {"stage": "COLLSCAN"}}""", """{"a": {"$eq": 1}}""", 50)]
    [InlineData("""{"stage": "SORT", "inputStage": {"stage": "COLLSCAN"}}""", "{}", 50)]
    public void A_group_of_all_documents_needs_them_all(string plan, string filter, long necessary) =>
        Assert.Equal(necessary, QueryPlanReader.Read(
            ExtendedJson.Parse("""{"queryPlanner": {"parsedQuery": """ + filter + """, "winningPlan": """ + plan
                + """}, "executionStats": {"nReturned": 50, "totalDocsExamined": 5000}}"""), limit: 0).Necessary);

    [Theory]
    [InlineData("""{"stages": [7, {"$lookup": "inner"}, {"$facet": {"a": 3}}, {"$unionWith": {"coll": 5}}], "shards": 3}""")]
    [InlineData("""{"stages": {"0": {}, "1": {"$lookup": {"from": {"coll": "a\u001b[2J"}}, "indexesUsed": 4}}}""")]
    [InlineData("""{"shards": {"s0": 5, "s1": {"stages": []}}, "splitPipeline": {"mergerPart": [null]}}""")]
    [InlineData("""{"queryPlanner": 1, "executionStats": {"executionStages": {"stage": 5, "inputStage": [1, {"nCounted": "x"}]}}}""")]
    public void Whatever_a_server_answers_is_no_failure(string reply)
    {
        PlanSummary plan = QueryPlanReader.Read(ExtendedJson.Parse(reply), limit: 0);
        Assert.True(plan.KeysExamined >= 0 && plan.DocumentsExamined >= 0);
        Assert.DoesNotContain(plan.Sources, source => source.Collection.Any(char.IsControl));
    }

    /// <summary>
    /// Pipelines of any depth, on one server and on shards: each collection has what its stages were given, no index is named of another
    /// collection, and the sum is the whole.
    /// </summary>
    [Fact]
    public void What_is_examined_adds_up_and_belongs_to_its_collection()
    {
        var random = new RandomStream(56);
        for (int round = 0; round < 2000; round++)
        {
            var made = new List<MadeSource>();
            BsonDocument reply = random.Next(3) == 0 ? Sharded(ref random, made) : Stages(ref random, made);
            PlanSummary plan = QueryPlanReader.Read(reply, limit: 0);
            string about = $"round {round}: {ExtendedJson.Write(reply.Bytes)}";
            IReadOnlyList<PlanSource> sources = plan.Sources.Count > 0 ? plan.Sources
                : [new PlanSource("c0", plan.Returned) { Index = plan.Index, KeysExamined = plan.KeysExamined,
                    DocumentsExamined = plan.DocumentsExamined }];
            foreach (var ofCollection in made.GroupBy(source => source.Collection))
            {
                PlanSource[] read = [.. sources.Where(source => source.Collection == ofCollection.Key)];
                Assert.True(read.Length > 0, about);
                Assert.True(ofCollection.Sum(source => source.Keys) == read.Sum(source => source.KeysExamined), about);
                Assert.True(ofCollection.Sum(source => source.Documents) == read.Sum(source => source.DocumentsExamined), about);
                string[] named = [.. read.SelectMany(source => source.Index?.Split(", ") ?? [])];
                Assert.True(named.All(index => index == "_id_" || index == $"{ofCollection.Key}_1"), about);
            }

            Assert.True(plan.KeysExamined == made.Sum(source => source.Keys ?? 0), about);
            Assert.True(plan.DocumentsExamined == made.Sum(source => source.Documents ?? 0), about);
            Assert.True(plan.Index is null or "_id_" or "c0_1", about);
        }
    }

    private sealed record MadeSource(string Collection, long? Keys, long? Documents);

    private static BsonDocument Sharded(ref RandomStream random, List<MadeSource> made)
    {
        ulong seed = random.Next();
        var shards = new List<(string, object?)>();
        for (int shard = 0; shard < 1 + (int)(seed % 3); shard++)
        {
            // Every shard has the same pipeline.
            var own = new List<MadeSource>();
            var same = new RandomStream(seed);
            shards.Add(($"s{shard}", Stages(ref same, own)));
            made.AddRange(own);
        }

        return BsonDocument.Of(("mergeType", "mongos"), ("shards", BsonDocument.Of([.. shards])));
    }

    private static BsonDocument Stages(ref RandomStream random, List<MadeSource> made)
    {
        int next = 1;
        BsonDocument query = Query(ref random, made, "c0");
        BsonDocument[] rest = Followers(ref random, made, ref next, depth: 0);
        return rest.Length == 0 ? query : BsonDocument.Of(("stages", (BsonDocument[])[
            BsonDocument.Of(("$cursor", query), ("nReturned", 7L)), .. rest]));
    }

    private static BsonDocument[] Followers(ref RandomStream random, List<MadeSource> made, ref int next, int depth)
    {
        var stages = new List<BsonDocument>();
        for (int i = random.Next(3); i > 0; i--)
        {
            string name = $"c{next++}";
            switch (random.Next(depth < 3 ? 5 : 3))
            {
                case 0:
                    long keys = random.Next(50);
                    long documents = 1 + random.Next(1000);
                    made.Add(new MadeSource(name, keys, documents));
                    stages.Add(BsonDocument.Of(
                        ("$lookup", BsonDocument.Of(("from", name), ("as", "x"))), ("totalDocsExamined", documents),
                        ("totalKeysExamined", keys), ("collectionScans", keys == 0 ? 2L : 0L),
                        ("indexesUsed", keys == 0 ? Array.Empty<string>() : [$"{name}_1"]), ("nReturned", 5L)));
                    break;
                case 1:
                    made.Add(new MadeSource(name, null, null));
                    stages.Add(BsonDocument.Of(("$graphLookup", BsonDocument.Of(("from", name))), ("nReturned", 5L)));
                    break;
                case 2:
                    stages.Add(BsonDocument.Of(("$group", BsonDocument.Of(("_id", $"${name}"))), ("nReturned", 3L)));
                    break;
                case 3:
                    BsonDocument inner = Query(ref random, made, name);
                    stages.Add(BsonDocument.Of(("$unionWith", BsonDocument.Of(("coll", name), ("pipeline", (BsonDocument[])[
                        BsonDocument.Of(("$cursor", inner)), .. Followers(ref random, made, ref next, depth + 1)]))), ("nReturned", 9L)));
                    break;
                default:
                    stages.Add(BsonDocument.Of(("$facet", BsonDocument.Of(
                        ("a", Followers(ref random, made, ref next, depth + 1)),
                        ("b", Followers(ref random, made, ref next, depth + 1)))), ("nReturned", 1L)));
                    break;
            }
        }

        return [.. stages];
    }

    private static BsonDocument Query(ref RandomStream random, List<MadeSource> made, string name)
    {
        long documents = random.Next(1000);
        bool isScan = random.Next(2) == 0;
        long keys = isScan ? 0 : random.Next(1000);
        made.Add(new MadeSource(name, keys, documents));
        BsonDocument plan = isScan ? BsonDocument.Of(("stage", "COLLSCAN"))
            : BsonDocument.Of(
                ("stage", "FETCH"), ("inputStage", BsonDocument.Of(("stage", "IXSCAN"), ("indexName", $"{name}_1"))));
        return BsonDocument.Of(
            ("queryPlanner", BsonDocument.Of(
                ("namespace", $"t.{name}"),
                ("winningPlan", random.Next(2) == 0 ? plan : BsonDocument.Of(("queryPlan", plan))))),
            ("executionStats", BsonDocument.Of(
                ("nReturned", 7L), ("totalKeysExamined", keys), ("totalDocsExamined", documents))));
    }

    private static void Same(string reply, string stages, long returned, long keys, long documents, string sources)
    {
        PlanSummary plan = QueryPlanReader.Read(ExtendedJson.Parse(reply), limit: 0);
        Assert.Equal(
            (stages, returned, keys, documents), (plan.Stages, plan.Returned, plan.KeysExamined, plan.DocumentsExamined));
        Assert.Equal(sources, string.Join("; ", plan.Sources.Select(Text)));
        Assert.Equal(plan.Sources.FirstOrDefault(source => source.Stage is null)?.Index, plan.Index);
    }

    private static string Text(PlanSource source)
    {
        string[] parts =
        [
            .. source.Stage is null ? Array.Empty<string>() : [source.Stage], source.Collection,
            .. source.DocumentsExamined is null ? (string[])["?"]
                : [.. source.IsScanned ? (string[])["scan"] : [], .. source.Index is null ? (string[])[] : [source.Index],
                    $"{source.KeysExamined}", $"{source.DocumentsExamined}"],
            "for", $"{source.Served}",
        ];
        return string.Join(' ', parts);
    }
}
