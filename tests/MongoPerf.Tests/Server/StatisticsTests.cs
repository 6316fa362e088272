using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class StatisticsTests : ServerTest
{
    [Fact]
    public void Sizes_are_counted_and_measured()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        InsertNumbers(5000);
        long bytes = Client.FindAll("{'find': 'c'}").Sum(document => (long)document.Bytes.Length);
        BsonDocument stats = Succeed("{'collStats': 'c'}");
        Assert.Equal(5000, stats.FindInt64("count"));
        Assert.Equal(bytes, stats.FindInt64("size"));
        Assert.True(stats.FindInt64("storageSize") >= bytes);
        Assert.True(stats.FindInt64("indexSizes.n_1") > 5000 * 10);
        Assert.Equal(stats.FindInt64("totalIndexSize"), stats.FindInt64("indexSizes.n_1") + stats.FindInt64("indexSizes._id_"));
        BsonDocument database = Succeed("{'dbStats': 1}");
        Assert.Equal(5000, database.FindInt64("objects"));
        Assert.Equal(bytes, database.FindInt64("dataSize"));
        BsonDocument stage = TestClient.Batch(
            Succeed("{'aggregate': 'c', 'pipeline': [{'$collStats': {'storageStats': {}, 'count': {}}}], 'cursor': {}}"),
            "firstBatch").Single();
        Assert.Equal(bytes, stage.FindInt64("storageStats.size"));
        Assert.Equal(5000, stage.FindInt64("count"));
        Assert.Equal(0, Succeed("{'collStats': 'nosuch'}").FindInt64("count"));
    }

    [Fact]
    public void Server_status_counts_what_was_done()
    {
        InsertNumbers(100);
        Client.FindAll("{'find': 'c', 'filter': {'n': 3}, 'batchSize': 4}");
        Run("{'ping': 1}");
        BsonDocument status = Succeed("{'serverStatus': 1}", "admin");
        Assert.Equal(100, status.FindInt64("opcounters.insert"));
        Assert.Equal(1, status.FindInt64("opcounters.query"));
        Assert.Equal(2, status.FindInt64("opcounters.command"));
        Assert.Equal(100, status.FindInt64("metrics.document.inserted"));
        Assert.Equal(10, status.FindInt64("metrics.document.returned"));
        Assert.Equal(100, status.FindInt64("metrics.queryExecutor.scannedObjects"));
        Assert.Equal(1, status.FindInt64("connections.current"));
        Assert.True(status.FindInt64("mem.resident") > 10);
        // As in WiredTiger's cache, what is dirty is a part of what is used.
        long dirty = status.FindInt64("mongoperfStorage.dirtyBytes")!.Value;
        Assert.InRange(dirty, 1, status.FindInt64("mongoperfStorage.cacheBytesUsed")!.Value);
        Assert.Equal(64 << 20, status.FindInt64("mongoperfStorage.cacheBytesMax"));
        Assert.Null(status.FindDocument("wiredTiger"));
        Assert.True(status.FindInt64("network.bytesIn") > 3000);
    }

    [Fact]
    public void Counting_pipelines_give_what_count_gives()
    {
        InsertNumbers(95);
        const string Head = "{'aggregate': 'c', 'cursor': {}, 'pipeline': [{'$match': {'n': 7}}, ";
        Assert.Equal(9, Succeed("{'count': 'c', 'query': {'n': 7}}").FindInt64("n"));
        Assert.Equal(
            9, TestClient.Batch(Succeed(Head + "{'$group': {'_id': 1, 'n': {'$sum': 1}}}]}"), "firstBatch").Single().FindInt64("n"));
        Assert.Equal(9, TestClient.Batch(Succeed(Head + "{'$count': 'k'}]}"), "firstBatch").Single().FindInt64("k"));
        Assert.Empty(TestClient.Batch(
            Succeed("{'aggregate': 'c', 'cursor': {}, 'pipeline': [{'$match': {'n': 70}}, {'$count': 'k'}]}"), "firstBatch"));
        Fails(Head + "{'$bogus': 1}]}", 40324, "Unrecognized pipeline stage name: '$bogus'");
        Fails(Head + "{'$redact': {}}]}", 238, "does not support the pipeline stage $redact");
        Fails("{'aggregate': 'c', 'pipeline': []}", 9, "'cursor' option is required");
    }
}
