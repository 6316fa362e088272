using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>TTL indexes delete what is too old, and nothing else.</summary>
public sealed class TtlTests : ServerTest
{
    [Fact]
    public void What_is_too_old_goes_and_all_else_stays()
    {
        Insert(
            (1, Ago(100)), (2, Ago(-100)), (3, "text"), (4, null), (5, new object?[] { Ago(-100), Ago(100) }), (6, Array.Empty<object?>()),
            (7, Ago(20)), (8, 5));
        CreateIndex("{'key': {'d': -1}, 'name': 'd', 'expireAfterSeconds': 50}");
        Hurry();
        WaitForIds(2, 3, 4, 6, 7, 8);
        Succeed("{'collMod': 'c', 'index': {'keyPattern': {'d': -1}, 'expireAfterSeconds': 5}}");
        WaitForIds(2, 3, 4, 6, 8);
        // A pass is counted behind its deletions.
        Eventually.Is(() => Deleted() >= 3);
        Assert.Equal(3, Deleted());
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Fact]
    public void Hidden_partial_index_deletes_its_documents_only_also_after_a_restart()
    {
        Insert((1, Ago(100)), (6, Ago(100)), (7, Ago(100)));
        CreateIndex("{'key': {'d': 1}, 'name': 'd', 'hidden': true, 'expireAfterSeconds': 0, "
            + "'partialFilterExpression': {'_id': {'$gt': 5}}}");
        Restart();
        Hurry();
        WaitForIds(1);
    }

    [Fact]
    public void Nothing_is_deleted_while_the_monitor_is_off_or_the_index_gone()
    {
        Succeed("{'setParameter': 1, 'ttlMonitorEnabled': false}", "admin");
        Insert((1, Ago(100)));
        CreateIndex("{'key': {'d': 1}, 'name': 'd', 'expireAfterSeconds': 0}");
        Hurry();
        Assert.Equal((1, true), ((int)Succeed("{'getParameter': '*'}", "admin").FindInt64("ttlMonitorSleepSecs")!,
            Succeed("{'listIndexes': 'c'}").FindInt64("cursor.firstBatch.1.expireAfterSeconds") == 0));
        Succeed("{'dropIndexes': 'c', 'index': 'd'}");
        Succeed("{'setParameter': 1, 'ttlMonitorEnabled': true}", "admin");
        long passes = Passes();
        Eventually.Is(() => Passes() >= passes + 1);
        Assert.Equal([1], Ids(Client.FindAll("{'find': 'c'}")));
    }

    [Fact]
    public void Parameters_are_checked()
    {
        Fails("{'setParameter': 1, 'ttlMonitorSleepSecs': 0}", 2, "0 is not greater than 0", "admin");
        Fails("{'setParameter': 1, 'ttlMonitorSleepSecs': 1}", 13, "admin database");
        BsonDocument unknown = Run("{'setParameter': 1, 'nosuch': 1}", "admin");
        Assert.Contains("the embedded server knows ttlMonitorEnabled and ttlMonitorSleepSecs", unknown.FindString("errmsg"),
            StringComparison.Ordinal);
    }

    private static DateTime Ago(int seconds) => DateTime.UtcNow.AddSeconds(-seconds);

    private void Insert(params (int Id, object? Date)[] documents) => Client.RunWithSequence("{'insert': 'c'}", "documents",
        documents.Select(document => BsonDocument.Of(("_id", document.Id), ("d", document.Date))));

    private void CreateIndex(string index) => Succeed("{'createIndexes': 'c', 'indexes': [" + index + "]}");

    private void Hurry() => Succeed("{'setParameter': 1, 'ttlMonitorSleepSecs': 1}", "admin");

    private long Deleted() => Succeed("{'serverStatus': 1}").FindInt64("metrics.ttl.deletedDocuments")!.Value;

    private long Passes() => Succeed("{'serverStatus': 1}").FindInt64("metrics.ttl.passes")!.Value;

    private void WaitForIds(params int[] ids)
    {
        Eventually.Is(() => Succeed("{'count': 'c'}").FindInt64("n") <= ids.Length);
        Assert.Equal(ids, Ids(Client.FindAll("{'find': 'c', 'sort': {'_id': 1}}")));
    }
}
