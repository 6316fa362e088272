using MongoPerf.Load.Executors;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Traffic.Replaying;

/// <summary>One worker's connection to the target.</summary>
/// <param name="script">What is replayed.</param>
/// <param name="copies">By copy, of those that have a connection in the script: the state of the pass.</param>
/// <param name="options">How the target is reached.</param>
/// <param name="number">0-based: of several mongos the workers use each as often.</param>
/// <param name="closed">Called once, when it is disposed of.</param>
internal sealed class ReplayExecutor(
    ReplayScript script, IReadOnlyDictionary<int, ReplayState> copies, ClientOptions options, int number, Action closed)
    : IOperationExecutor
{
    private readonly CancellationTokenSource _aborted = new();
    private MongoConnection? _connection;
    private TrafficCounters _before;
    private WorkerRequests? _requests;
    private bool _wasTried;
    private bool _isDisposed;

    public TrafficCounters? Traffic => _connection is { } connection ? _before + connection.Traffic : _before;

    public string? Compressor => _connection?.CompressorName;

    public bool IsAborted => _aborted.IsCancellationRequested;

    /// <summary>The server that it led to last; null before it was opened.</summary>
    public string? Member { get; private set; }

    /// <exception cref="ConnectionFailedException">It is not open.</exception>
    public MongoConnection Connection => _connection ?? throw new ConnectionFailedException(options.Address(), "not connected");

    public void Connect()
    {
        Close();
        if (_wasTried)
            options.BeforeReconnect();
        _wasTried = true;
        _connection = MongoConnection.Open(options.PrimaryOf(number), options.Connections with { Stop = _aborted.Token });
        Member = _connection.Member;
    }

    public IPreparedOperation Prepare(Operation operation, OperationContext context) =>
        throw new NotSupportedException("a recording says what is sent");

    public IScriptedOperation PrepareScript(int worker)
    {
        ReplayedConnection line = script.Lines[worker];
        return _requests = new WorkerRequests(this, copies[line.Copy], line);
    }

    public void Abort() => _aborted.Cancel();

    public void Dispose()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        Close();
        _requests?.Dispose();
        _aborted.Dispose();
        closed();
    }

    private void Close()
    {
        if (_connection is null)
            return;
        _before += _connection.Traffic;
        _connection.Dispose();
        _connection = null;
    }
}
