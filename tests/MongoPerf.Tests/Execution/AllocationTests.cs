using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Workloads;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Execution;

/// <summary>An operation in steady state allocates nothing on the worker's thread.</summary>
public sealed class AllocationTests
{
    private const int WarmupOperations = 1_000;
    private const int Operations = 100_000;

    [Fact]
    public void A_find_allocates_nothing()
    {
        var documents = Enumerable.Range(0, 10).Select(i => BsonDocument.Of(("Number", i)));
        BsonDocument reply = BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", documents), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));
        Assert.Equal(0, Measure(reply, SeriesTests.Find("q5", 1_000_000)));
    }

    [Fact]
    public void A_safe_insert_allocates_nothing() =>
        Assert.Equal(0, Measure(BsonDocument.Of(("n", 1), ("ok", 1.0)), SeriesTests.Insert("safe", 1, journal: false, ordered: true)));

    /// <summary>Bytes that the worker's thread allocates over all operations.</summary>
    private static long Measure(BsonDocument reply, OperationSpecification specification)
    {
        using var server = new CannedServer(reply);
        using var executor = new WireExecutor(() => server.Address, ConnectionSettings.Default, "d", "c", new DocumentGenerator(42));
        executor.Connect();
        IPreparedOperation operation = executor.Prepare(specification, new OperationContext(42, 0, new NumberSource(0, long.MaxValue / 2)));
        long allocated = -1;
        var worker = new Thread(() =>
        {
            if (!Repeat(operation, WarmupOperations))
                return;
            bool succeeded = true;
            long least = Allocation.LeastBytes(() => succeeded &= Repeat(operation, Operations));
            allocated = succeeded ? least : -1;
        });
        worker.Start();
        worker.Join();
        return allocated;
    }

    private static bool Repeat(IPreparedOperation operation, int times)
    {
        bool succeeded = true;
        for (int i = 0; i < times; i++)
            succeeded &= operation.Draw() && operation.Execute().Succeeded;
        return succeeded;
    }
}
