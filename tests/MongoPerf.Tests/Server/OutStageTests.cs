using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>What others do while an $out is at work: steps between its batches, which no client can time.</summary>
public sealed class OutStageTests : IDisposable
{
    private static readonly IndexSpec Index = new(-1, "n", [new IndexField(new FieldPath("n"), IsDescending: false)], IsUnique: false);
    private readonly ServerContext _server = new(DocumentStore.Open(path: null, cacheBytes: 64 << 20), new EmbeddedServerOptions());
    private readonly CommandSession _session;
    private readonly Collection _present;

    public OutStageTests()
    {
        _session = new CommandSession(_server, connectionId: 1);
        _present = _server.Store.GetOrCreate("test", "d", out _)!;
    }

    public void Dispose()
    {
        _session.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void An_index_that_the_target_was_given_meanwhile_is_not_lost()
    {
        using (IPipelineTarget target = Open())
        {
            target.Write([BsonDocument.Of(("_id", 1))]);
            _server.Store.CreateIndex(_present, Index);
            var refused = Assert.Throws<CommandException>(target.Complete);
            Assert.Equal((125, "indexes of target collection test.d changed while processing $out"), (refused.Code, refused.Message));
        }

        Assert.Equal(["_id_", "n"], Assert.Single(_server.Store.Collections).Indexes.Select(index => index.Spec.Name));
    }

    [Fact]
    public void A_target_that_was_made_meanwhile_is_not_replaced()
    {
        _server.Store.Drop("test.d");
        using (IPipelineTarget target = Open())
        {
            _server.Store.GetOrCreate("test", "d", out _);
            Assert.Equal(125, Assert.Throws<CommandException>(target.Complete).Code);
        }

        Assert.Equal("test.d", Assert.Single(_server.Store.Collections).Namespace);
    }

    [Fact]
    public void A_target_that_was_sharded_meanwhile_is_not_replaced()
    {
        using IPipelineTarget target = Open();
        _present.Shards = new ShardMap(new ShardKey(BsonDocument.Of(("n", 1))), [new Chunk([], 0)], shards: 1);
        Assert.Equal(28769, Assert.Throws<CommandException>(target.Complete).Code);
    }

    /// <summary>Also where the drop has to wait, as for the reader of the collection's statistics.</summary>
    [Fact]
    public async Task What_an_interrupted_one_has_written_is_dropped()
    {
        IPipelineTarget target = Open();
        Collection written = _server.Store.Collections.Single(collection => collection != _present);
        written.Lock.EnterReadLock();
        Task end = Task.Factory.StartNew(() =>
        {
            _session.Operation.Begin(7);
            _session.Operation.Interrupt(7, Interruption.Killed);
            target.Dispose();
            _session.Operation.End();
        }, TaskCreationOptions.LongRunning);
        while (!end.IsCompleted && !HasWaitingWriter(written))
            await Task.Yield();
        written.Lock.ExitReadLock();
        await end;
        Assert.Equal("test.d", Assert.Single(_server.Store.Collections).Namespace);
    }

    /// <summary>A reader that comes waits where a writer waits, and this one waits for nothing.</summary>
    private static bool HasWaitingWriter(Collection collection)
    {
        var reader = new ActiveOperation();
        reader.Begin(1);
        reader.Interrupt(1, Interruption.Killed);
        try
        {
            collection.Lock.EnterReadLock();
            collection.Lock.ExitReadLock();
            return false;
        }
        catch (InterruptedException)
        {
            return true;
        }
        finally
        {
            reader.End();
        }
    }

    private IPipelineTarget Open() => OutStage.Parse(Values.Of("d"), "test")(_session);
}
