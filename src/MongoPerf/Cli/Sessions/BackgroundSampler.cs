using MongoPerf.Cli.Progress;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Sessions;

/// <summary>Takes the server's and the machine's figures every second for as long as a run goes on, each on a thread of its own.</summary>
internal sealed class BackgroundSampler : IDisposable
{
    private readonly ServerSampler _server;
    private readonly HostSampler _host;
    private readonly IDisposable _serverTimer;
    private readonly IDisposable _hostTimer;
    private readonly ClusterWatch? _cluster;

    /// <param name="clock">Real time.</param>
    /// <param name="address">Where the server is now.</param>
    /// <param name="settings">How to connect.</param>
    /// <param name="folder">Under which the disk is watched.</param>
    /// <param name="store">Of the run.</param>
    /// <param name="progress">Shows the latest.</param>
    /// <param name="cluster">Of a sharded deployment; null for any other. It is disposed of here.</param>
    public BackgroundSampler(
        IClock clock, Func<ServerAddress> address, ConnectionSettings settings, string folder, RunStore store, ProgressState progress, ClusterSampler? cluster = null)
    {
        _server = new ServerSampler(address, settings);
        _host = new HostSampler(folder);
        _serverTimer = clock.Schedule(clock.Now, Every(clock, () =>
        {
            MetricSample sample = _server.Sample();
            store.AddServerSample(sample);
            progress.OnServerSample(sample);
        }));
        _hostTimer = clock.Schedule(clock.Now, Every(clock, () =>
        {
            MetricSample sample = _host.Sample();
            store.AddHostSample(sample);
            progress.OnHostSample(sample);
        }));
        _cluster = cluster is null ? null : new ClusterWatch(clock, cluster, store, progress);
    }

    public void Dispose()
    {
        // Each may throw what ended it; all are ended all the same.
        using (_host)
        using (_server)
        using (_cluster)
        using (_hostTimer)
            _serverTimer.Dispose();
    }

    /// <summary>The next tick is a second after this one was due, or after now when it took longer.</summary>
    private static Func<long> Every(IClock clock, Action sample)
    {
        long due = clock.Now;
        return () =>
        {
            sample();
            due = Math.Max(due + clock.TicksPerSecond, clock.Now);
            return due;
        };
    }
}
