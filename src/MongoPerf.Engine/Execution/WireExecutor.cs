using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution;

/// <summary>Carries operations out over MongoPerf's own wire client.</summary>
public sealed class WireExecutor : IOperationExecutor
{
    private readonly ServerAddress _address;
    private readonly ConnectionSettings _settings;
    private readonly string _database;
    private readonly string _collection;
    private readonly DocumentGenerator _generator;
    private MongoConnection? _connection;

    public WireExecutor(ServerAddress address, ConnectionSettings settings, string database, string collection, DocumentGenerator generator)
    {
        _address = address;
        _settings = settings;
        _database = database;
        _collection = collection;
        _generator = generator;
    }

    /// <summary>The connection that is open now.</summary>
    /// <exception cref="ConnectionFailedException">None is.</exception>
    internal MongoConnection Connection => _connection ?? throw new ConnectionFailedException(_address, "not connected");

    public void Connect()
    {
        _connection?.Dispose();
        _connection = null;
        _connection = MongoConnection.Open(_address, _settings);
    }

    public IPreparedOperation Prepare(OperationSpecification specification, OperationContext context) => specification switch
    {
        InsertSpecification insert => new WireInsert(this, insert, _database, _collection, _generator, context),
        FindSpecification find => new WireFind(this, find, _database, _collection, _generator, context),
        _ => throw new NotSupportedException($"the wire executor has no way to do {specification.GetType().Name}"),
    };

    public void Abort() => _connection?.Abort();

    public void Dispose() => _connection?.Dispose();
}
