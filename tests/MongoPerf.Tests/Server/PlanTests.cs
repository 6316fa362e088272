using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>The series' four queries use the indexes that they are meant to, and examine about as much as MongoDB does.</summary>
public sealed class PlanTests : ServerTest
{
    private const int Documents = 5000;

    [Fact]
    public void Q4_walks_the_index_on_Number()
    {
        Load();
        BsonDocument reply = Explain("{'find': 'c', 'filter': {'Number': {'$gte': 300000}}, 'limit': 10}");
        Assert.Equal("LIMIT FETCH IXSCAN", Stages(reply));
        Assert.Equal("Number_1", Index(reply));
        Assert.Equal(10, reply.FindInt64("executionStats.nReturned"));
        Assert.Equal(10, reply.FindInt64("executionStats.totalKeysExamined"));
        Assert.Equal(10, reply.FindInt64("executionStats.totalDocsExamined"));
    }

    [Fact]
    public void Q5_picks_the_index_whose_documents_pass_the_other_condition()
    {
        Load();
        Assert.Equal(
            "Number_1", Index(Explain("{'find': 'c', 'filter': {'Number': {'$gte': 890000}, 'Number1': {'$gte': 1000}}, 'limit': 10}")));
        Assert.Equal(
            "Number1_1", Index(Explain("{'find': 'c', 'filter': {'Number': {'$gte': 1000}, 'Number1': {'$gte': 890000}}, 'limit': 10}")));
        BsonDocument reply = Explain("{'find': 'c', 'filter': {'Number': {'$gte': 500000}, 'Number1': {'$gte': 500000}}, 'projection': "
            + "{'_id': 0, 'Number': 1, 'Number1': 1}, 'limit': 10}");
        Assert.Equal("LIMIT PROJECTION_SIMPLE FETCH IXSCAN", Stages(reply));
        Assert.InRange(reply.FindInt64("executionStats.totalDocsExamined")!.Value, 10, 60);
    }

    [Fact]
    public void Q6_walks_the_index_on_Date_and_sorts_nothing()
    {
        Load();
        BsonDocument reply =
            Explain("{'find': 'c', 'filter': {'Number': {'$gte': 300000}}, 'sort': {'Date': -1}, 'skip': 100, 'limit': 10}");
        Assert.Equal("LIMIT SKIP FETCH IXSCAN", Stages(reply));
        Assert.Equal("Date_-1", Index(reply));
        Assert.InRange(reply.FindInt64("executionStats.totalDocsExamined")!.Value, 110, 250);
    }

    [Fact]
    public void Few_candidates_are_sorted_rather_than_the_whole_index_walked()
    {
        Load();
        BsonDocument reply = Explain("{'find': 'c', 'filter': {'Number': {'$gte': 999000}}, 'sort': {'Date': -1}, 'limit': 10}");
        Assert.Equal("SORT FETCH IXSCAN", Stages(reply));
        Assert.Equal("Number_1", Index(reply));
    }

    [Fact]
    public void Q7_scans_the_collection()
    {
        Load();
        BsonDocument reply = Explain("{'find': 'c', 'filter': {}, 'limit': 100}");
        Assert.Equal("LIMIT COLLSCAN", Stages(reply));
        Assert.Equal(100, reply.FindInt64("executionStats.totalDocsExamined"));
    }

    [Fact]
    public void Explain_of_the_planner_alone_has_no_figures()
    {
        Load();
        BsonDocument reply = Succeed("{'explain': {'find': 'c', 'filter': {'_id': 5}}, 'verbosity': 'queryPlanner'}");
        Assert.Equal("_id_", reply.FindString("queryPlanner.winningPlan.inputStage.indexName"));
        Assert.Null(reply.FindDocument("executionStats"));
    }

    private BsonDocument Explain(string find) => Succeed("{'explain': " + find + ", 'verbosity': 'executionStats'}");

    private static string Stages(BsonDocument reply)
    {
        var names = new List<string>();
        for (BsonDocument? stage = reply.FindDocument("queryPlanner.winningPlan"); stage != null; stage = stage.FindDocument("inputStage"))
            names.Add(stage.FindString("stage")!);
        return string.Join(' ', names);
    }

    private static string? Index(BsonDocument reply)
    {
        BsonDocument stage = reply.FindDocument("executionStats.executionStages")!;
        while (stage.FindDocument("inputStage") is { } inner)
            stage = inner;
        return stage.FindString("indexName");
    }

    private void Load()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'Number': 1}, 'name': 'Number_1'}, {'key': {'Number1': 1}, 'name': "
            + "'Number1_1'}, {'key': {'Date': -1}, 'name': 'Date_-1'}]}");
        var random = new Random(1);
        Client.RunWithSequence("{'insert': 'c'}", "documents", Enumerable.Range(0, Documents).Select(i => BsonDocument.Of(
            ("_id", i),
            ("Number", random.Next(1_000_000)),
            ("Number1", random.Next(1_000_000)),
            ("Date", DateTime.UnixEpoch.AddMilliseconds(1e12 + i)))));
    }
}
