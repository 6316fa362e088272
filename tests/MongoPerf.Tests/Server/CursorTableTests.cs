using MongoPerf.Server.Commands;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class CursorTableTests
{
    private const long MaximumBytes = 1000;

    [Fact]
    public void Cursors_that_keep_too_much_together_make_the_one_idle_longest_end()
    {
        using var table = new CursorTable(MaximumBytes);
        (Cursor first, Source firstSource) = Add(table, 600);
        first.LastUsed--;
        (Cursor second, Source secondSource) = Add(table, 300);
        Assert.Equal(900, table.HeldBytes);
        (Cursor third, _) = Add(table, 200);
        Assert.Equal((true, false, 500), (firstSource.IsDisposed, secondSource.IsDisposed, table.HeldBytes));
        Assert.Equal((null, second, 1), (table.Take(first.Id), table.Take(second.Id), table.TimedOut));
        table.PutBack(second, moreBytes: 700);
        Assert.Equal((null, second, 1000), (table.Take(third.Id), table.Take(second.Id), table.HeldBytes));
        table.End(second);
        Assert.Equal((0, 0), (table.HeldBytes, table.Count));
    }

    [Fact]
    public void A_cursor_that_keeps_nothing_is_not_ended_for_what_others_keep()
    {
        using var table = new CursorTable(MaximumBytes);
        (Cursor idle, Source idleSource) = Add(table, 0);
        idle.LastUsed--;
        Add(table, 600);
        Add(table, 700);
        Assert.Equal((false, 700), (idleSource.IsDisposed, table.HeldBytes));
    }

    [Fact]
    public void One_cursor_may_keep_more_than_all_together()
    {
        using var table = new CursorTable(MaximumBytes);
        (Cursor cursor, _) = Add(table, 3 * MaximumBytes);
        Assert.Equal(cursor, table.Take(cursor.Id));
        table.PutBack(cursor, moreBytes: 0);
        Assert.True(table.Kill(cursor.Id));
        Assert.Equal(0, table.HeldBytes);
    }

    private static (Cursor Cursor, Source Source) Add(CursorTable table, long bytes)
    {
        var operation = new ActiveOperation();
        operation.Begin(1);
        ActiveOperation.Gather(bytes - 1);
        ActiveOperation.Hold(1);
        var source = new Source();
        Cursor cursor = table.Add("test.c", null!, source, operation);
        operation.End();
        return (cursor, source);
    }

    private sealed class Source : IBatchSource
    {
        public bool IsDisposed { get; private set; }

        public ForeignCollections? Foreign => null;

        public (long Keys, long Documents, long Returned) Examined => default;

        public bool WriteBatch(BsonWriter body, long batchSize) => true;

        public void Dispose() => IsDisposed = true;
    }
}
