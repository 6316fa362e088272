using MongoPerf.Deployments;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Looks after a cluster, or a replica set, for as long as a run lasts: what ends without a connection of the client's breaking is noted,
/// and started again where it is the run's own.
/// </summary>
internal sealed class ClusterWatch : IDisposable
{
    private readonly ShardWatch? _shards;
    private readonly IDisposable? _lookTimer;
    private readonly IDisposable _keepTimer;

    /// <param name="deployment">A cluster, whose shards are watched, or a replica set.</param>
    /// <param name="keeper">Of the deployment.</param>
    /// <param name="connections">How clients connect.</param>
    /// <param name="clock">Real time.</param>
    /// <param name="report">Gets the outages.</param>
    public ClusterWatch(IDeployment deployment, ServerKeeper keeper, ConnectionSettings connections, IClock clock, Action<RunEvent> report)
    {
        if (deployment.Cluster is not null)
        {
            var shards = new ShardWatch(() => deployment.Cluster, deployment.RefreshCluster, connections, clock, report);
            _shards = shards;
            _lookTimer = clock.Schedule(clock.Now, () => After(clock, 0.5, shards.Look));
        }

        _keepTimer = clock.Schedule(clock.Now + clock.TicksPerSecond, () => After(clock, 1, keeper.KeepUp));
    }

    public void Dispose()
    {
        _keepTimer.Dispose();
        _lookTimer?.Dispose();
        _shards?.Dispose();
    }

    private static long After(IClock clock, double seconds, Action action)
    {
        action();
        return clock.Now + clock.TicksOf(seconds);
    }
}
