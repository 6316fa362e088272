using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Carries operations out on a Tokyo Tyrant server with a table database.</summary>
/// <remarks>The server has one table: names of databases and collections mean nothing to it. See <see cref="TyrantRecord"/> for how documents are kept.</remarks>
public sealed class TyrantExecutor : IOperationExecutor
{
    private readonly Func<ServerAddress> _address;
    private readonly ConnectionSettings _settings;
    private readonly DocumentGenerator _generator;
    private readonly Action? _beforeReconnect;
    private TyrantConnection? _connection;
    private bool _wasTried;

    /// <param name="address">Where the server is now; asked at each attempt to connect.</param>
    /// <param name="settings">Time-outs.</param>
    /// <param name="generator">Makes the documents.</param>
    /// <param name="beforeReconnect">Called before each attempt but the first; a <see cref="ConnectionFailedException"/> makes that attempt fail.</param>
    public TyrantExecutor(Func<ServerAddress> address, ConnectionSettings settings, DocumentGenerator generator, Action? beforeReconnect = null)
    {
        _address = address;
        _settings = settings;
        _generator = generator;
        _beforeReconnect = beforeReconnect;
        byte[] first = new byte[DocumentGenerator.DocumentLength];
        generator.Fill(0, first);
        Columns = TyrantColumns.Of(new BsonDocument(first));
    }

    /// <summary>Of the documents that the table holds; the generator's, unless they are others.</summary>
    public TyrantColumns Columns { get; init; }

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
    public IPreparedOperation Prepare(OperationSpecification specification, OperationContext context) => specification switch
    {
        InsertSpecification insert => new TyrantInsert(this, insert, _generator, context),
        FindSpecification find => new TyrantFind(this, find, _generator, context),
        InsertDocuments insert => new TyrantInsertDocuments(this, insert, context),
        FindDocuments find => new TyrantFindDocuments(this, find, context),
        CountDocuments count => new TyrantCountDocuments(this, count),
        CollectionOperation operation => throw new OperationLimitException($"{operation.Test}: not possible with Tokyo Tyrant, allowed are insert, find and count"),
        _ => throw new NotSupportedException($"the Tokyo Tyrant executor has no way to do {specification.GetType().Name}"),
    };

    public void Abort() => _connection?.Abort();

    public void Dispose() => _connection?.Dispose();
}
