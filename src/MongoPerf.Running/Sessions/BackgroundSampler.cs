using MongoPerf.Deployments.Sampling;
using MongoPerf.Measurement;
using MongoPerf.Running.Progress;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Takes the servers' and the machine's figures every second for as long as a run lasts, each on a thread of its own.</summary>
internal sealed class BackgroundSampler : IDisposable
{
    private readonly List<IDisposable> _all = [];
    private readonly Func<long?> _postpone;

    /// <param name="clock">Real time.</param>
    /// <param name="servers">
    /// What is under load: one server, or the parts of a cluster. They are disposed of here, as all that follow.
    /// </param>
    /// <param name="host">The machine.</param>
    /// <param name="cluster">The cluster of a sharded deployment; null for any other.</param>
    /// <param name="replicas">Replica sets; null for none.</param>
    /// <param name="store">The store of the run.</param>
    /// <param name="progress">Shows the latest.</param>
    /// <param name="report">Gets what happened to the cluster's collections.</param>
    /// <param name="postpone">When to sample instead, ticks; null for now.</param>
    public BackgroundSampler(
        IClock clock, IReadOnlyList<IServerSampler> servers, HostSampler host, ClusterSampler? cluster,
        ReplicaSampler? replicas, RunStore store, ProgressState progress, Action<RunEvent> report, Func<long?> postpone)
    {
        _postpone = postpone;
        foreach ((int i, IServerSampler server) in servers.Index())
        {
            Begin(clock, server, () =>
            {
                MetricSample sample = server.Sample();
                store.AddServerSample(sample);
                progress.OnServerSample(i, sample);
            });
        }

        Begin(clock, host, () =>
        {
            MetricSample sample = host.Sample();
            store.AddHostSample(sample);
            progress.OnHostSample(sample);
        });
        if (replicas is not null)
        {
            Begin(clock, replicas, () =>
            {
                foreach (MetricSample member in replicas.Sample())
                    store.AddReplicaSample(member);
            });
        }

        if (cluster is not null)
            _all.Add(new ShardSnapshots(clock, cluster, store, report));
    }

    public void Dispose() => Dispose(0);

    private void Begin(IClock clock, IDisposable sampler, Action sample)
    {
        _all.Add(sampler);
        _all.Add(clock.Schedule(clock.Now, Every(clock, sample)));
    }

    /// <summary>A timer may throw what ended it; all are ended all the same, and before what they sample with.</summary>
    private void Dispose(int from)
    {
        if (from == _all.Count)
            return;
        try
        {
            Dispose(from + 1);
        }
        finally
        {
            _all[from].Dispose();
        }
    }

    /// <summary>The next tick is a second after this one was due, or after now when it took longer.</summary>
    private Func<long> Every(IClock clock, Action sample)
    {
        long due = clock.Now;
        return () =>
        {
            if (_postpone() is { } later)
                return later;
            sample();
            due = Math.Max(due + clock.TicksPerSecond, clock.Now);
            return due;
        };
    }
}
