using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Connections that a group shares or opens, at a server that counts and refuses them.</summary>
public sealed class WireConnectionsTests : IDisposable
{
    private readonly LyingServer _server = new();
    private int _opened;

    public void Dispose() => _server.Dispose();

    [Fact]
    public void A_pool_opens_as_many_connections_as_it_has_however_many_threads_there_are()
    {
        Shake(_ => true);
        GroupResult result = Run(Plan(ConnectionKind.Pool, 2) with { Threads = 5, Count = 100 });
        Assert.Equal((100L, 0L), (result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal(2, _opened);
        Assert.NotNull(result.Traffic);
    }

    [Fact]
    public void A_churn_opens_a_connection_for_each_operation_and_one_to_prepare_them()
    {
        Shake(_ => true);
        GroupResult result = Run(Plan(ConnectionKind.Churn, 0) with { Threads = 2, Count = 20 });
        Assert.Equal((20L, 0L), (result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal((20L, 0L), (result.Connections!.Operations, result.Connections.Failed));
        Assert.Equal(21, _opened);
    }

    /// <summary>As a server does that has no connection left: it closes what it has just taken.</summary>
    [Fact]
    public void Connections_that_the_server_closes_at_once_are_counted_and_tried_again()
    {
        Shake(number => number is not (2 or 3));
        GroupResult result = Run(Plan(ConnectionKind.Churn, 0) with { Count = 5 });
        Assert.Equal((4L, 1L), (result.Accounting.Succeeded, result.Accounting.Failed));
        Assert.Equal(2, result.Connections!.Failed);
        Assert.Equal(("NetworkError", 2L), (Assert.Single(result.Connections.Errors).Name, result.Connections.Errors[0].Count));
    }

    [Fact]
    public void A_storm_goes_on_until_a_server_that_refuses_most_has_taken_all()
    {
        // The first is the one for preparing.
        Shake(number => number is 1 || number > 6);
        GroupResult result = Run(Plan(ConnectionKind.Storm, 4) with { Threads = 4, Count = 40 });
        StormResult storm = Assert.Single(result.Storms);
        Assert.Equal((4, 4, true), (storm.Connections, storm.Usable, storm.Seconds > 0));
        Assert.Equal((4L, 5L), (result.Connections!.Operations, result.Connections.Failed));
        Assert.Equal(40, result.Accounting.Succeeded);
    }

    /// <summary>A pool's connection is handed out within an operation, between its two time stamps.</summary>
    [Fact]
    public void Borrowing_a_connection_allocates_nothing()
    {
        Shake(_ => true);
        using WireExecutor lender = Open(), borrower = Open();
        lender.Connect();
        borrower.Borrow(lender);
        borrower.Prepare(Plan(ConnectionKind.Pool, 1).Operations[0].Operation, new OperationContext(42, 0, null));
        using var pool = new ConnectionPool([lender]);
        using var ticket = new ConnectionPool.Ticket();
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                borrower.Borrow(null);
                pool.TryTake(ticket);
                borrower.Borrow(ticket.Taken);
                pool.Return(ticket.Taken);
            }
        }));
    }

    private void Shake(Func<int, bool> isTaken)
    {
        _server.Handshake = exchange =>
        {
            if (isTaken(Interlocked.Increment(ref _opened)))
                exchange.Reply(LyingServer.Hello(17));
            else
                exchange.Close();
        };
        _server.Answer = exchange => exchange.Reply(BsonDocument.Of(("n", 1), ("ok", 1.0)));
    }

    private static GroupPlan Plan(ConnectionKind kind, int count) => new()
    {
        Name = "p",
        Operations = [new(new CountDocuments("count", "users", DocumentValue.Of()), 1)],
        Threads = 1,
        Seed = 42,
        Connections = new ConnectionUse(OperationResult.NameOf(kind, ""), kind, count),
    };

    private WireExecutor Open() => new(_ => _server.Address, ConnectionSettings.Default, "d");

    private GroupResult Run(GroupPlan plan) =>
        new GroupRunner(SystemClock.Instance, (_, _) => Open())
            .Run(plan, new PhaseLog(new ManualClock()), CancellationToken.None);
}
