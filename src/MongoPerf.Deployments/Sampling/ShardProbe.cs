using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Asks one shard's primary for its part of the collection and for its operations. Never throws.</summary>
/// <param name="primary">Asked before each attempt to connect: another member may have become primary.</param>
/// <param name="settings">The settings as the run's connections have them.</param>
/// <param name="collection">What is read.</param>
internal sealed class ShardProbe(Func<ServerAddress> primary, ConnectionSettings settings, SampledNamespace collection) : IDisposable
{
    // A shard behind a firewall costs a timeout at each attempt.
    private readonly SamplerConnection _connection = new(primary, settings.ForShard(),
        longestPause: TimeSpan.FromSeconds(10));

    private readonly ContinuedCounters _counters = new();

    /// <summary>From 8.0 on shards show most users their state alone.</summary>
    private bool _isPartRefused;

    /// <summary>Sets what the shard says; the other columns are left as they are.</summary>
    /// <param name="values">The values in the order of <see cref="MetricCatalogue.Shard"/>.</param>
    /// <returns>False when it does not say what it holds.</returns>
    public bool Fill(double[] values)
    {
        BsonDocument? status = null;
        bool isTold = _connection.Ask(false, connection =>
        {
            // First, and for itself: it is what most users may see.
            status = connection.RunCommand("admin", ServerStatusRequest.Counters);
            ShardColumns.SetOperations(values, status);
            if (_isPartRefused)
                return false;
            try
            {
                ShardColumns.SetPart(values, ReadPart(connection));
            }
            catch (ServerCommandException e) when (e.Error.MeansForbidden)
            {
                _isPartRefused = true;
            }

            return !_isPartRefused;
        });
        if (status is not null)
            _counters.Continue(values, _connection.Address, status.FindDouble("uptimeMillis") ?? double.NaN, Environment.TickCount64);
        return isTold;
    }

    public void Dispose() => _connection.Dispose();

    /// <returns>Null when the shard has nothing of the collection, which is no error.</returns>
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
}
