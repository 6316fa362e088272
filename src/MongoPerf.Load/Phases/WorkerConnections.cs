using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Phases;

/// <summary>How one worker comes by its connection, where that is not its own throughout, and what it took.</summary>
/// <remarks>The worker's own.</remarks>
internal sealed class WorkerConnections : IDisposable
{
    private readonly IOperationExecutor _executor;
    private readonly IClock _clock;
    private readonly ConnectionPool? _pool;
    private readonly ConnectionPool.Ticket _ticket = new();
    private readonly ConnectionStorms? _storms;
    private readonly GroupControl _control;
    private readonly bool _isChurn;
    private volatile bool _isOpening;
    private int _storm;

    private WorkerConnections(GroupControl control, IOperationExecutor executor, ConnectionKind kind)
    {
        _control = control;
        _executor = executor;
        _clock = control.Clock;
        _pool = kind == ConnectionKind.Pool && !executor.HasPool ? control.Pool : null;
        _storms = control.Storms;
        _isChurn = kind == ConnectionKind.Churn;
    }

    /// <returns>Null for a worker with a connection of its own.</returns>
    public static WorkerConnections? Find(GroupControl control, IOperationExecutor executor) =>
        control.Plan.Connections is { } use ? new(control, executor, use.Kind) : null;

    /// <summary>What its connections took since it was cleared.</summary>
    public ConnectionLog Log { get; } = new();

    /// <summary>All connections are opened at once, and its own is not yet one of them.</summary>
    public bool MustOpen => _storms is not null && _storms.Number != _storm;

    /// <summary>It opens a connection just now, between operations. For any thread.</summary>
    public bool IsOpening => _isOpening;

    /// <summary>To be called on the worker's own thread, before anything else.</summary>
    public void Begin() => _executor.Note(Log);

    /// <summary>Called before each operation, as part of it: waits for a connection, or opens one.</summary>
    /// <exception cref="ConnectionFailedException">There is none.</exception>
    public void Acquire()
    {
        if (_isChurn)
            _executor.Connect();
        if (_pool is null)
            return;
        long start = _clock.Now;
        bool isFree = _pool.TryTake(_ticket);
        if (!isFree)
            _ticket.Called.Wait();
        IOperationExecutor taken = _ticket.Taken;
        if (!isFree)
            Log.Add(start, _clock.Now);
        _executor.Borrow(taken);
    }

    /// <summary>Called after each operation, when its reply has been looked at: gives the connection back, or closes it.</summary>
    public void Release()
    {
        if (_isChurn)
            _executor.Disconnect();
        if (_pool is null || _ticket.Executor is not { } taken)
            return;
        _executor.Borrow(null);
        _ticket.Executor = null;
        _pool.Return(taken);
    }

    /// <summary>Opens the connection that it has, or had, again.</summary>
    /// <exception cref="ConnectionFailedException">Not reachable just now.</exception>
    public void Connect()
    {
        if (_pool is not null)
        {
            _ticket.Taken.Connect();
            _executor.Borrow(_ticket.Taken);
            return;
        }

        _isOpening = true;
        try
        {
            _executor.Connect();
        }
        finally
        {
            _isOpening = false;
        }
    }

    /// <summary>The connection is of no use any more.</summary>
    public void Lose() => _storm = _storms?.Lose(_storm) ?? 0;

    /// <summary>Takes part in opening all connections at once.</summary>
    public void Join() => _storm = _storms!.Number;

    /// <summary>The connection is open.</summary>
    public void CountOpen() => _storms?.Count(_storm);

    /// <summary>Counts what connections took, and forgets it.</summary>
    /// <param name="part">The place of what that is counted as.</param>
    /// <param name="home">Where the worker counts; of storms, which mostly begin in the warm-up, all are measured.</param>
    public void CountInto(int part, Lane home)
    {
        if (Log.Entries.IsEmpty)
            return;
        Lane lane = home.Enter();
        foreach ((long start, long end, Exception? failure) in Log.Entries)
        {
            Counters counters = lane.CountersOf(
                part, isMeasured: _storms is not null || end > _control.MeasureFrom || start >= _control.MeasureFrom);
            double seconds = _clock.SecondsBetween(start, end);
            if (failure is null)
            {
                counters.Service.RecordNanoseconds((long)(seconds * 1e9));
                counters.Operations++;
            }
            else if (_storms is null ? !_control.IsAborted : !_control.IsStopped)
            {
                // Openings of a storm are broken off as soon as the group is stopped: that is no failure.
                counters.Failed++;
                _control.Errors[part].Add(ErrorTally.Describe(failure), Math.Round(seconds * 1e6, 1));
            }
        }

        lane.Exit();
        Log.Clear();
    }

    public void Dispose() => _ticket.Dispose();
}
