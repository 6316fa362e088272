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
    private readonly IClock _clock;
    private readonly Action<RunEvent> _report;
    private readonly long _since;
    private readonly Dictionary<string, ChunkEvent> _reshardings = new(StringComparer.Ordinal);
    private readonly HashSet<string> _told = new(StringComparer.Ordinal);
    private readonly IDisposable _timer;

    /// <param name="clock">Real time.</param>
    /// <param name="sampler">Disposed of with this.</param>
    /// <param name="store">The store of the run.</param>
    /// <param name="report">Gets an event when a resharding has ended, and when one still lasts at the end.</param>
    public ShardSnapshots(IClock clock, ClusterSampler sampler, RunStore store, Action<RunEvent> report)
    {
        (_clock, _sampler, _store, _report) = (clock, sampler, store, report);
        _since = clock.UtcNow.ToUnixTimeMilliseconds();
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
            foreach (ChunkEvent untold in _reshardings.Values.Where(one => !_told.Contains(one.Id)))
                Report(untold);
        }
    }

    private void Look()
    {
        ClusterLook look = _sampler.Look();
        foreach (MetricSample shard in look.Shards)
            _store.AddShardSample(shard);
        _store.AddChunkEvents(look.ChunkEvents);
        // The last entry of one that has ended may come with the next look.
        foreach (ChunkEvent ended in _reshardings.Values.Where(one => one.Outcome != ChunkEventOutcome.Running
            && _told.Add(one.Id)).ToArray())
            Report(look.ChunkEvents.FirstOrDefault(one => one.Id == ended.Id) ?? ended);
        // What ended before a run was resumed was not under way while it measured.
        foreach (ChunkEvent one in look.ChunkEvents
            .Where(one => one.Kind == ChunkEventKind.Resharding && !(one.EndMilliseconds < _since)))
            _reshardings[one.Id] = one;
    }

    private void Report(ChunkEvent resharding)
    {
        long at = resharding.EndMilliseconds ?? _clock.UtcNow.ToUnixTimeMilliseconds();
        double seconds = Math.Max(0, at - resharding.AtMilliseconds) / 1000.0;
        string keys = resharding.KeyBefore is { } before ? $" from {before}" : "";
        string blocked = resharding.BlockedSeconds is { } length ? $"; it took no writes for {length:0.0} s" : "";
        string text = resharding.Outcome switch
        {
            ChunkEventOutcome.Running => $"{resharding.Collection} was still being resharded{keys} when the run ended, "
                + $"after {seconds:0.0} s",
            ChunkEventOutcome.Failed => $"{resharding.Collection} was not resharded{keys}: aborted after {seconds:0.0} s{blocked}",
            _ => $"{resharding.Collection} was resharded{keys}{(resharding.KeyAfter is { } after ? $" to {after}" : "")} "
                + $"in {seconds:0.0} s{blocked}",
        };
        _report(new RunEvent(at, RunEvent.Resharding, text, seconds));
    }
}
