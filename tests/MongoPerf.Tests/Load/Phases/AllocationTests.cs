using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>An operation of the series in steady state allocates nothing on the worker's thread.</summary>
public sealed class AllocationTests
{
    private const int WarmupOperations = 1_000;
    private const int Operations = 5_000;

    [Theory]
    [InlineData("q4")]
    [InlineData("q5")]
    [InlineData("q6")]
    [InlineData("q7")]
    public void A_find_allocates_nothing(string name)
    {
        var documents = Enumerable.Range(0, 10).Select(i => BsonDocument.Of(("Number", i)));
        BsonDocument reply = BsonDocument.Of(
            ("cursor", BsonDocument.Of(("firstBatch", documents), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));
        Assert.Equal(0, Measure(reply, SeriesFile.Find(name)));
    }

    [Theory]
    [InlineData("batch", 10)]
    [InlineData("safe", 1)]
    public void An_acknowledged_insert_allocates_nothing(string name, int documents) =>
        Assert.Equal(0, Measure(BsonDocument.Of(("n", documents), ("ok", 1.0)), SeriesFile.Insert(name, 10)));

    [Fact]
    public void An_unacknowledged_insert_allocates_nothing()
    {
        // What it is sent it takes, and never answers.
        using var server = new LyingServer { Answer = _ => { } };
        Assert.Equal(0, Measure(server.Address, SeriesFile.Insert("unack")));
    }

    private static long Measure(BsonDocument reply, Operation operation)
    {
        using var server = new CannedServer(reply);
        return Measure(server.Address, operation);
    }

    /// <summary>Bytes that the worker's thread allocates over all operations.</summary>
    private static long Measure(ServerAddress address, Operation operation)
    {
        using var executor = new WireExecutor(_ => address, ConnectionSettings.Default, "d");
        executor.Connect();
        IPreparedOperation prepared = executor.Prepare(operation, new OperationContext(42, 0, new NumberSource(0, long.MaxValue / 2)));
        long allocated = -1;
        var worker = new Thread(() =>
        {
            if (!Repeat(prepared, WarmupOperations))
                return;
            bool succeeded = true;
            long least = Allocation.LeastBytes(() => succeeded &= Repeat(prepared, Operations));
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
