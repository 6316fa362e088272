using System.Collections.Concurrent;

namespace MongoPerf.Server.Operations;

/// <summary>The operations of all connections. Any thread.</summary>
internal sealed class OperationTable
{
    private readonly ConcurrentDictionary<ActiveOperation, byte> _operations = new();
    private long _lastId;

    /// <summary>Numbers are 1 and up, and fit an int32 for two thousand million commands, as drivers expect.</summary>
    public long NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Those that are at a command.</summary>
    public IEnumerable<ActiveOperation> Active => _operations.Keys.Where(operation => operation.Id != 0);

    public void Add(ActiveOperation operation) => _operations[operation] = 0;

    public void Remove(ActiveOperation operation) => _operations.TryRemove(operation, out _);

    public void Kill(long id)
    {
        foreach (ActiveOperation operation in _operations.Keys)
            operation.Interrupt(id, Interruption.Killed);
    }

    public void InterruptAll(Interruption reason)
    {
        foreach (ActiveOperation operation in Active)
            operation.Interrupt(operation.Id, reason);
    }
}
