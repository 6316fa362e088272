using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>
/// The connection that a worker's operations of one read preference go by: another one after each failure, maybe to another server.
/// </summary>
/// <remarks>The executor opens and closes it. One thread.</remarks>
internal sealed class WireRoute(ReadPreference preference)
{
    private MongoConnection? _connection;

    public ReadPreference Preference { get; } = preference;

    /// <summary>The server that it led to last, whether it is open or not; null before it was opened.</summary>
    public string? Member { get; private set; }

    /// <summary>The connection that is open now.</summary>
    /// <exception cref="ConnectionFailedException">None is.</exception>
    public MongoConnection Connection => _connection ?? throw new ConnectionFailedException(new ServerAddress("", 0), "not connected");

    /// <param name="connection">Open; null while there is none.</param>
    public void Use(MongoConnection? connection)
    {
        _connection = connection;
        Member = connection?.Member ?? Member;
    }
}
