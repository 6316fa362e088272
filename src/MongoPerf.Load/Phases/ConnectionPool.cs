using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Phases;

/// <summary>
/// Executors whose connections the workers of a group borrow, one worker at a time: a pool, or the connection on which operations are
/// prepared that later open their own. Whoever asks first gets one first.
/// </summary>
/// <remarks>For all threads of the group. Nothing allocates once its queues have grown.</remarks>
internal sealed class ConnectionPool(IReadOnlyList<IOperationExecutor> executors) : IDisposable
{
    private readonly Lock _lock = new();
    private readonly Stack<IOperationExecutor> _free = new(executors);
    private readonly Queue<Ticket> _waiting = [];
    private bool _isAborted;

    /// <summary>The executors of all connections, connected.</summary>
    public IReadOnlyList<IOperationExecutor> Executors => executors;

    /// <summary>How many workers wait for a connection now.</summary>
    public int Waiting
    {
        get
        {
            lock (_lock)
                return _waiting.Count;
        }
    }

    /// <summary>Takes a connection, or gets in line.</summary>
    /// <returns>False when the ticket has to wait.</returns>
    public bool TryTake(Ticket ticket)
    {
        lock (_lock)
        {
            ticket.Executor = null;
            if (_isAborted || _free.TryPop(out ticket.Executor))
                return true;
            ticket.Called.Reset();
            _waiting.Enqueue(ticket);
            return false;
        }
    }

    /// <summary>Hands a connection on to whoever waits longest.</summary>
    public void Return(IOperationExecutor executor)
    {
        lock (_lock)
        {
            if (!_waiting.TryDequeue(out Ticket? next))
            {
                _free.Push(executor);
                return;
            }

            next.Executor = executor;
            next.Called.Set();
        }
    }

    /// <summary>Wakes whoever waits for a connection or on one.</summary>
    public void Abort()
    {
        lock (_lock)
        {
            _isAborted = true;
            while (_waiting.TryDequeue(out Ticket? next))
                next.Called.Set();
        }

        foreach (IOperationExecutor executor in executors)
            executor.Abort();
    }

    public void Dispose()
    {
        foreach (IOperationExecutor executor in executors)
            executor.Dispose();
    }

    /// <summary>A worker's place in the line.</summary>
    internal sealed class Ticket : IDisposable
    {
        /// <summary>What the worker has; null while it has nothing.</summary>
        public IOperationExecutor? Executor;

        // Workers that spin would keep those from a processor that have a connection.
        public ManualResetEventSlim Called { get; } = new(false, spinCount: 0);

        /// <exception cref="ConnectionFailedException">The group was ended meanwhile.</exception>
        public IOperationExecutor Taken =>
            Executor ?? throw new ConnectionFailedException(new ServerAddress("", 0), "waiting for a connection of the pool was stopped");

        public void Dispose() => Called.Dispose();
    }
}
