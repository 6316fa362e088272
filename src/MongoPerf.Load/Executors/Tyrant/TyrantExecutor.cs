using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>Runs operations on a Tokyo Tyrant server with a table database.</summary>
/// <remarks>
/// The server has one table: names of databases and collections mean nothing to it. See <see cref="TyrantRecord"/> for how
/// documents are kept.
/// </remarks>
/// <param name="address">Where the server is now; asked at each attempt to connect.</param>
/// <param name="settings">Timeouts.</param>
/// <param name="columns">The columns of the documents that the table holds.</param>
/// <param name="beforeReconnect">
/// Called before each attempt but the first; a <see cref="ConnectionFailedException"/> makes that attempt fail.
/// </param>
public sealed class TyrantExecutor(
    Func<ServerAddress> address, ConnectionSettings settings, TyrantColumns columns, Action? beforeReconnect = null) : IOperationExecutor
{
    private readonly CancellationTokenSource _aborted = new();
    private TyrantConnection? _connection;
    private bool _wasTried;

    /// <summary>The columns of the documents that the table holds.</summary>
    public TyrantColumns Columns { get; } = columns;

    /// <summary>The connection that is open now.</summary>
    /// <exception cref="ConnectionFailedException">None is.</exception>
    internal TyrantConnection Connection => _connection ?? throw new ConnectionFailedException(address(), "not connected");

    /// <inheritdoc/>
    /// <exception cref="TyrantServerException">The server's database is no table database.</exception>
    public void Connect()
    {
        _connection?.Dispose();
        _connection = null;
        if (_wasTried)
            beforeReconnect?.Invoke();
        _wasTried = true;
        _connection = TyrantConnection.Open(address(), settings with { Stop = _aborted.Token });
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

    /// <summary>A refusal in the form of MongoDB's errors, so that it is counted and shown alike.</summary>
    /// <param name="code">The response's first byte, not 0.</param>
    internal static ServerError Refusal(int code) =>
        new(code, "TyrantFailure", $"Tokyo Tyrant answered code {code} and gives no reason; its log may", []);

    /// <inheritdoc/>
    /// <remarks>Cancelling the token ends the connection, even one that is just being opened.</remarks>
    public void Abort() => _aborted.Cancel();

    public void Dispose()
    {
        _connection?.Dispose();
        _aborted.Dispose();
    }
}
