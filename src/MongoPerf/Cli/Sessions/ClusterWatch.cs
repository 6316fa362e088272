using MongoPerf.Deployments;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Sessions;

/// <summary>Looks after a cluster for as long as a run goes on: what ends without a connection of the client's breaking is noted, and started again where it is the run's own.</summary>
internal sealed class ClusterWatch : IDisposable
{
    private readonly ShardWatch _shards;
    private readonly IDisposable _lookTimer;
    private readonly IDisposable _keepTimer;

    /// <param name="deployment">With a cluster.</param>
    /// <param name="keeper">Of the deployment.</param>
    /// <param name="connections">How clients connect.</param>
    /// <param name="clock">Real time.</param>
    /// <param name="report">Gets the outages.</param>
    public ClusterWatch(IDeployment deployment, ServerKeeper keeper, ConnectionSettings connections, IClock clock, Action<RunEvent> report)
    {
        _shards = new ShardWatch(() => deployment.Cluster, connections, clock, report);
        _lookTimer = clock.Schedule(clock.Now, () => After(clock, 0.5, _shards.Look));
        _keepTimer = clock.Schedule(clock.Now + clock.TicksPerSecond, () => After(clock, 1, keeper.KeepUp));
    }

    public void Dispose()
    {
        _keepTimer.Dispose();
        _lookTimer.Dispose();
        _shards.Dispose();
    }

    private static long After(IClock clock, double seconds, Action action)
    {
        action();
        return clock.Now + clock.TicksOf(seconds);
    }
}
