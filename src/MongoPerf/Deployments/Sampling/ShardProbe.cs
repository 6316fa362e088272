using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Asks one shard's primary for its part of the collection and for its operations. Never throws.</summary>
/// <param name="name">Of the shard.</param>
/// <param name="primary">Asked before each attempt to connect: another member may have become primary.</param>
/// <param name="settings">As the run's connections have them.</param>
/// <param name="collection">What is read.</param>
internal sealed class ShardProbe(string name, Func<ServerAddress> primary, ConnectionSettings settings, ShardedNamespace collection) : IDisposable
{
    // A shard behind a firewall costs a time-out at each attempt.
    private readonly SamplerConnection _connection = new(primary, settings with { Dialect = CommandDialect.Plain }, longestPause: TimeSpan.FromSeconds(30));
    private bool _everAnswered;
    private DateTimeOffset? _awaySince;

    /// <summary>Sets what the shard says; the other columns are left as they are.</summary>
    /// <param name="values">In the order of <see cref="MetricCatalogue.Shard"/>.</param>
    /// <param name="events">Gets an event when a shard that used to answer does not, and when it does again.</param>
    /// <returns>False when it can't be asked now.</returns>
    public bool Fill(double[] values, List<RunEvent> events)
    {
        try
        {
            if (_connection.Connect() is not { } connection)
                return false;
            ShardColumns.SetPart(values, ReadPart(connection));
            ShardColumns.SetOperations(values, connection.RunCommand("admin", ServerStatusRequest.Counters));
            Answered(events);
            return true;
        }
        catch (Exception e) when (SamplerConnection.IsFailure(e))
        {
            _connection.Fail();
            Failed(e, events);
            return false;
        }
    }

    public void Dispose() => _connection.Dispose();

    /// <returns>Null when the shard has nothing of the collection, which is not to be asked for as an error.</returns>
    private BsonDocument? ReadPart(MongoConnection connection)
    {
        try
        {
            return connection.RunCursor(collection.Database, ShardColumns.PartRequest(collection.Collection)).FirstOrDefault();
        }
        catch (ServerCommandException e) when (e.Code == ServerError.NamespaceNotFound)
        {
            return null;
        }
    }

    private void Answered(List<RunEvent> events)
    {
        _everAnswered = true;
        if (_awaySince is not { } since)
            return;
        DateTimeOffset now = DateTimeOffset.UtcNow;
        events.Add(new RunEvent(now.ToUnixTimeMilliseconds(), "shard back", $"{name} answers again", (now - since).TotalSeconds));
        _awaySince = null;
    }

    private void Failed(Exception e, List<RunEvent> events)
    {
        if (!_everAnswered || _awaySince is not null)
            return;
        _awaySince = DateTimeOffset.UtcNow;
        events.Add(new RunEvent(_awaySince.Value.ToUnixTimeMilliseconds(), "shard away", $"{name} does not answer: {e.Message}"));
    }
}
