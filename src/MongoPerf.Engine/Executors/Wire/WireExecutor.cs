using MongoPerf.Engine.Executors.GridFs;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Executors.Wire;

/// <summary>Carries operations out over MongoPerf's own wire client.</summary>
public sealed class WireExecutor : IOperationExecutor
{
    private readonly Func<ServerAddress> _address;
    private readonly ConnectionSettings _settings;
    private readonly string _database;
    private readonly Action? _beforeReconnect;
    private readonly CancellationTokenSource _aborted = new();
    private MongoConnection? _connection;
    private bool _wasTried;

    /// <param name="address">Where the server is now; asked at each attempt to connect.</param>
    /// <param name="settings">Time-outs and name.</param>
    /// <param name="database">Its name.</param>
    /// <param name="beforeReconnect">Called before each attempt but the first; a <see cref="ConnectionFailedException"/> makes that attempt fail.</param>
    public WireExecutor(Func<ServerAddress> address, ConnectionSettings settings, string database, Action? beforeReconnect = null)
    {
        _address = address;
        _settings = settings;
        _database = database;
        _beforeReconnect = beforeReconnect;
    }

    /// <summary>Does what is done to a sharded deployment behind its router; null for any other.</summary>
    public ClusterControl? Cluster { get; init; }

    /// <summary>The connection that is open now.</summary>
    /// <exception cref="ConnectionFailedException">None is.</exception>
    internal MongoConnection Connection => _connection ?? throw new ConnectionFailedException(_address(), "not connected");

    /// <summary>How commands are named where it connects.</summary>
    internal CommandDialect Dialect => _settings.Dialect;

    public void Connect()
    {
        _connection?.Dispose();
        _connection = null;
        if (_wasTried)
            _beforeReconnect?.Invoke();
        _wasTried = true;
        _connection = MongoConnection.Open(_address(), _settings);
    }

    public IPreparedOperation Prepare(Operation operation, OperationContext context) => operation switch
    {
        UploadFile upload => new WireGridFsWrite(this, upload, _database, context),
        DownloadFile download => new WireGridFsRead(this, download, _database, context),
        { IsForCluster: true } when Cluster is not null => new WireClusterOperation(operation, Cluster, _aborted.Token),
        InsertDocuments insert => new WireInsertDocuments(this, insert, _database, context),
        _ => new WireOperation(this, operation, _database, context),
    };

    public void Abort()
    {
        _aborted.Cancel();
        _connection?.Abort();
    }

    public void Dispose()
    {
        _connection?.Dispose();
        _aborted.Dispose();
    }
}
