using MongoPerf.Load.Executors.GridFs;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>Carries operations out over MongoPerf's own wire client.</summary>
/// <remarks>Operations of one read preference share a connection, and so do preferences that lead to the same server.</remarks>
public sealed class WireExecutor : IOperationExecutor
{
    private readonly Func<ReadPreference, ServerAddress> _servers;
    private readonly ConnectionSettings _settings;
    private readonly string _database;
    private readonly Action? _beforeReconnect;
    private readonly CancellationTokenSource _aborted = new();
    private readonly List<WireRoute> _routes = [];
    private MongoConnection[] _connections = [];
    private TrafficCounters _closed;
    private WireExecutor? _lender;
    private ConnectionLog? _log;
    private bool _wasTried;

    /// <param name="servers">
    /// Where operations go that read with this preference, and writes with the primary's; asked at each attempt to connect.
    /// </param>
    /// <param name="settings">Time-outs and name.</param>
    /// <param name="database">Its name.</param>
    /// <param name="beforeReconnect">
    /// Called before each attempt but the first; a <see cref="ConnectionFailedException"/> makes that attempt fail.
    /// </param>
    public WireExecutor(
        Func<ReadPreference, ServerAddress> servers, ConnectionSettings settings, string database, Action? beforeReconnect = null)
    {
        _servers = servers;
        _settings = settings;
        _database = database;
        _beforeReconnect = beforeReconnect;
    }

    /// <summary>Does what is done to a sharded deployment behind its router; null for any other.</summary>
    public ClusterControl? Cluster { get; init; }

    /// <summary>
    /// The read preferences of the operations that will be prepared: connections for them are there before. Others get theirs when they are
    /// prepared.
    /// </summary>
    public IReadOnlyCollection<ReadPreference> Preferences { get; init; } = [ReadPreference.Primary];

    public TrafficCounters? Traffic => _connections.Aggregate(_closed, (sum, connection) => sum + connection.Traffic);

    public string? Compressor => _connections.Select(connection => connection.CompressorName).FirstOrDefault(name => name is not null);

    /// <summary>Opens its connections; another one in rehearsals.</summary>
    internal Func<ServerAddress, ConnectionSettings, MongoConnection> OpenConnection { get; init; } = MongoConnection.Open;

    internal ConnectionSettings Settings => _settings;

    internal bool IsAborted => _aborted.IsCancellationRequested;

    /// <summary>How commands are named where it connects.</summary>
    internal CommandDialect Dialect => _settings.Dialect;

    /// <summary>The preferences that these operations need.</summary>
    /// <param name="operations">The operations to be prepared.</param>
    /// <param name="usual">The preference of reads that name none.</param>
    public static IReadOnlyCollection<ReadPreference> PreferencesOf(IEnumerable<Operation> operations, ReadPreference usual) =>
        [.. operations.SelectMany(operation => operation.Steps).Select(step => step.PreferenceOr(usual)).Distinct()];

    public void Connect()
    {
        Close();
        if (_wasTried)
            _beforeReconnect?.Invoke();
        _wasTried = true;
        foreach (ReadPreference preference in Preferences.Where(preference => FindRoute(preference) is null))
            _routes.Add(new WireRoute(preference));
        foreach (WireRoute route in _routes)
            Open(route);
    }

    public void Disconnect()
    {
        Close();
        _wasTried = false;
    }

    public void Note(ConnectionLog log) => _log = log;

    public void Borrow(IOperationExecutor? lender)
    {
        _lender = (WireExecutor?)lender;
        foreach (WireRoute route in _routes)
            route.Use(_lender?.RouteOf(route.Preference).Connection);
    }

    /// <summary>The way of an operation's command.</summary>
    /// <inheritdoc cref="RouteOf(ReadPreference)"/>
    internal WireRoute RouteOf(Operation step) => RouteOf(step.PreferenceOr(_settings.ReadPreference));

    /// <exception cref="ConnectionFailedException">It is a new one, and its server is not reachable just now.</exception>
    internal WireRoute RouteOf(ReadPreference preference)
    {
        if (FindRoute(preference) is { } known)
            return known;
        var route = new WireRoute(preference);
        Open(route);
        _routes.Add(route);
        return route;
    }

    /// <summary>The servers are the run's own: what slows others down on a primary slows nobody down.</summary>
    public bool ForcesCompact { get; init; }

    public IPreparedOperation Prepare(Operation operation, OperationContext context) => operation switch
    {
        DatabaseCommand { LacksForce: true } compact when ForcesCompact => Prepare(compact.Forced, context),
        UploadFile upload => new WireGridFsWrite(this, upload, _database, context),
        DownloadFile download => new WireGridFsRead(this, download, _database, context),
        { IsForCluster: true } when Cluster is not null => new WireClusterOperation(operation, Cluster, _aborted.Token),
        StepSequence steps => new PreparedSteps(new WireSteps(this, steps, _database), steps, context),
        WatchChanges watch => new WireWatch(this, watch, _database, context),
        BulkWrite bulk => new WireBulkWrite(this, bulk, _database, context),
        InsertDocuments insert => new WireInsertDocuments(this, insert, _database, context),
        _ => new WireOperation(this, operation, _database, context),
    };

    /// <inheritdoc/>
    /// <remarks>Connections hang on the token; so does one that is being opened.</remarks>
    public void Abort() => _aborted.Cancel();

    public void Dispose()
    {
        Close();
        _aborted.Dispose();
    }

    /// <remarks>Allocates nothing: a connection that is shared is borrowed within an operation.</remarks>
    private WireRoute? FindRoute(ReadPreference preference)
    {
        foreach (WireRoute route in _routes)
        {
            if (route.Preference == preference)
                return route;
        }

        return null;
    }

    private void Open(WireRoute route)
    {
        if (_lender is not null)
        {
            route.Use(_lender.RouteOf(route.Preference).Connection);
            return;
        }

        ServerAddress server = _servers(route.Preference);
        MongoConnection? shared = Array.Find(_connections, connection => connection.Address == server);
        route.Use(shared ?? Open(server));
        if (shared is null)
            _connections = [.. _connections, route.Connection];
    }

    private MongoConnection Open(ServerAddress server)
    {
        if (_log is null)
            return OpenConnection(server, _settings with { Stop = _aborted.Token });
        long start = SystemClock.Instance.Now;
        try
        {
            MongoConnection opened = OpenConnection(server, _settings with { Stop = _aborted.Token });
            _log.Add(start, SystemClock.Instance.Now);
            return opened;
        }
        catch (Exception e)
        {
            _log.Add(start, SystemClock.Instance.Now, e);
            throw;
        }
    }

    private void Close()
    {
        foreach (MongoConnection connection in _connections)
        {
            _closed += connection.Traffic;
            connection.Dispose();
        }

        _connections = [];
        foreach (WireRoute route in _routes)
            route.Use(null);
    }
}
