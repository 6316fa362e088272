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
    private const int Rounds = 3;

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
            // What an operation allocates shows in every round; what the runtime does once (a method compiled anew, a static of its own)
            // does not. The tests beside this one run with tiered compilation, the program without.
            for (int round = 0; round < Rounds && allocated != 0; round++)
                allocated = MeasureRound(operation);
        });
        worker.Start();
        worker.Join();
        return allocated;
    }

    private static long MeasureRound(IPreparedOperation operation)
    {
        // A collection that another test causes books the rest of this thread's piece of heap as allocated: after one there is no piece.
        GC.Collect(0);
        long before = GC.GetAllocatedBytesForCurrentThread();
        bool succeeded = Repeat(operation, Operations);
        long after = GC.GetAllocatedBytesForCurrentThread();
        return succeeded ? after - before : -1;
    }

    private static bool Repeat(IPreparedOperation operation, int times)
    {
        bool succeeded = true;
        for (int i = 0; i < times; i++)
            succeeded &= operation.Draw() && operation.Execute().Succeeded;
        return succeeded;
    }
}
