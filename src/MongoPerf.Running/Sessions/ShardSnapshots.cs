using MongoPerf.Deployments.Sampling;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Stores what a look at a cluster brings, every few seconds for as long as a run lasts, on a thread of its own.</summary>
internal sealed class ShardSnapshots : IDisposable
{
    private const double SecondsBetweenLooks = 2;

    /// <summary>Servers that answer slowly are busy, or have very many chunks to count: they get four times as long a rest.</summary>
    private const int RestPerLook = 4;

    private readonly ClusterSampler _sampler;
    private readonly RunStore _store;
    private readonly IDisposable _timer;

    /// <param name="clock">Real time.</param>
    /// <param name="sampler">Disposed of with this.</param>
    /// <param name="store">The store of the run.</param>
    public ShardSnapshots(IClock clock, ClusterSampler sampler, RunStore store)
    {
        _sampler = sampler;
        _store = store;
        _timer = clock.Schedule(clock.Now, () =>
        {
            long begun = clock.Now;
            Look();
            return Math.Max(begun + clock.TicksOf(SecondsBetweenLooks), clock.Now + (RestPerLook * (clock.Now - begun)));
        });
    }

    public void Dispose()
    {
        using (_sampler)
        {
            _timer.Dispose();
            // How it stood at the end, however short the run.
            Look();
        }
    }

    private void Look()
    {
        ClusterLook look = _sampler.Look();
        foreach (MetricSample shard in look.Shards)
            _store.AddShardSample(shard);
        _store.AddChunkEvents(look.ChunkEvents);
    }
}
