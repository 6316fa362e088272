using MongoPerf.Deployments;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Looks after a cluster, or a replica set, for as long as a run lasts: what ends without a connection of the client's breaking is noted,
/// and started again where it is the run's own; a failover, and a shard that comes or goes, is an event.
/// </summary>
internal sealed class ClusterWatch : IDisposable
{
    /// <summary>Between two looks at the list of shards.</summary>
    private const double ListSeconds = 30;

    private readonly IDeployment _deployment;
    private readonly IClock _clock;
    private readonly Action<RunEvent> _report;
    private readonly PrimaryWatch _primaries;
    private readonly PrimaryWatch _config;
    private readonly IDisposable[] _timers;
    private IReadOnlyList<string> _shards;

    /// <param name="deployment">A cluster, or a replica set.</param>
    /// <param name="keeper">Keeps the deployment's servers running.</param>
    /// <param name="connections">How clients connect.</param>
    /// <param name="clock">Real time.</param>
    /// <param name="report">Gets what happened.</param>
    public ClusterWatch(IDeployment deployment, ServerKeeper keeper, ConnectionSettings connections, IClock clock, Action<RunEvent> report)
    {
        (_deployment, _clock, _report, _shards) = (deployment, clock, report, Shards(deployment));
        _primaries = new PrimaryWatch(() => deployment.WatchedSets, deployment.Refresh, connections, clock, report);
        // A thread of its own: one that is stopped answers late, and must not hide a shard's outage.
        _config = new PrimaryWatch(
            () => WatchedSet.OfConfig(deployment.Cluster), static () => { }, connections, clock, report, RunEvent.ConfigServer);
        _timers =
        [
            clock.Schedule(clock.Now + clock.TicksPerSecond, () => After(1, keeper.KeepUp)),
            clock.Schedule(clock.Now, () => After(0.5, _primaries.Look)),
            clock.Schedule(clock.Now, () => After(0.5, _config.Look)),
            clock.Schedule(clock.Now + clock.TicksOf(ListSeconds), () => After(ListSeconds, LookAtShards)),
        ];
    }

    public void Dispose()
    {
        foreach (IDisposable timer in _timers)
            timer.Dispose();
        _primaries.Dispose();
        _config.Dispose();
    }

    /// <summary>Asks which shards there are, and tells of those that came or went.</summary>
    internal void LookAtShards()
    {
        if (_deployment.Cluster is null)
            return;
        _deployment.Refresh();
        IReadOnlyList<string> now = Shards(_deployment);
        foreach (string shard in now.Except(_shards))
            Report($"shard {shard} was added to the cluster");
        foreach (string shard in _shards.Except(now))
            Report($"shard {shard} was removed from the cluster");
        _shards = now;
    }

    private void Report(string text) => _report(new RunEvent(_clock.UtcNow.ToUnixTimeMilliseconds(), "shards", text));

    private static IReadOnlyList<string> Shards(IDeployment deployment) =>
        [.. (deployment.Cluster?.Shards ?? []).Select(shard => shard.Name)];

    private long After(double seconds, Action action)
    {
        action();
        return _clock.Now + _clock.TicksOf(seconds);
    }
}
