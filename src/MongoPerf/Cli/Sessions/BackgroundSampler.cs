using MongoPerf.Cli.Progress;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli.Sessions;

/// <summary>Takes the server's and the machine's figures every second for as long as a run goes on, each on a thread of its own.</summary>
internal sealed class BackgroundSampler : IDisposable
{
    private readonly IServerSampler _server;
    private readonly HostSampler _host;
    private readonly IDisposable _serverTimer;
    private readonly IDisposable _hostTimer;

    /// <param name="clock">Real time.</param>
    /// <param name="server">Disposed of with this one.</param>
    /// <param name="folder">Under which the disk is watched.</param>
    /// <param name="store">Of the run.</param>
    /// <param name="progress">Shows the latest.</param>
    public BackgroundSampler(IClock clock, IServerSampler server, string folder, RunStore store, ProgressState progress)
    {
        _server = server;
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
    }

    public void Dispose()
    {
        try
        {
            // Each may throw what ended it; all are ended all the same.
            _serverTimer.Dispose();
        }
        finally
        {
            try
            {
                _hostTimer.Dispose();
            }
            finally
            {
                _server.Dispose();
                _host.Dispose();
            }
        }
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
