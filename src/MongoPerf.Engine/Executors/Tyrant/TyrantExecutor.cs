using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Engine.Executors.Tyrant;

/// <summary>Carries operations out on a Tokyo Tyrant server with a table database.</summary>
/// <remarks>The server has one table: names of databases and collections mean nothing to it. See <see cref="TyrantRecord"/> for how documents are kept.</remarks>
public sealed class TyrantExecutor : IOperationExecutor
{
    private readonly Func<ServerAddress> _address;
    private readonly ConnectionSettings _settings;
    private readonly Action? _beforeReconnect;
    private TyrantConnection? _connection;
    private bool _wasTried;

    /// <param name="address">Where the server is now; asked at each attempt to connect.</param>
    /// <param name="settings">Time-outs.</param>
    /// <param name="columns">Of the documents that the table holds.</param>
    /// <param name="beforeReconnect">Called before each attempt but the first; a <see cref="ConnectionFailedException"/> makes that attempt fail.</param>
    public TyrantExecutor(Func<ServerAddress> address, ConnectionSettings settings, TyrantColumns columns, Action? beforeReconnect = null)
    {
        _address = address;
        _settings = settings;
        Columns = columns;
        _beforeReconnect = beforeReconnect;
    }

    /// <summary>Of the documents that the table holds.</summary>
    public TyrantColumns Columns { get; }

    /// <summary>The connection that is open now.</summary>
    /// <exception cref="ConnectionFailedException">None is.</exception>
    internal TyrantConnection Connection => _connection ?? throw new ConnectionFailedException(_address(), "not connected");

    /// <inheritdoc/>
    /// <exception cref="TyrantServerException">The server's database is no table database.</exception>
    public void Connect()
    {
        _connection?.Dispose();
        _connection = null;
        if (_wasTried)
            _beforeReconnect?.Invoke();
        _wasTried = true;
        _connection = TyrantConnection.Open(_address(), _settings);
    }

    /// <inheritdoc/>
    /// <exception cref="OperationLimitException">Tokyo Tyrant can't do that; said before anything is sent.</exception>
    public IPreparedOperation Prepare(Operation operation, OperationContext context) => operation switch
    {
        InsertDocuments insert => new TyrantInsertDocuments(this, insert, context),
        FindDocuments find => new TyrantFindDocuments(this, find, context),
        CountDocuments count => new TyrantCountDocuments(this, count),
        _ => throw new OperationLimitException($"{operation.Name} is not possible with Tokyo Tyrant; allowed: insert, find, count"),
    };

    public void Abort() => _connection?.Abort();

    public void Dispose() => _connection?.Dispose();
}
