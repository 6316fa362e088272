using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;

namespace MongoPerf.Load.Phases;

/// <summary>The writes of one phase that somebody watches, or that have numbers of their own; by collection.</summary>
/// <remarks>Safe for all threads.</remarks>
internal sealed class PhaseWrites : IDisposable
{
    private readonly Dictionary<string, TrackedWrites> _tracked = [];
    private readonly Dictionary<string, string[]> _fields = [];
    private readonly ManualResetEventSlim _areReady;
    private int _notReady;

    /// <param name="phase">The phase.</param>
    /// <param name="keys">The documents that are there, by collection.</param>
    /// <param name="load">What the first group inserts; null for a phase that fills nothing.</param>
    public PhaseWrites(Phase phase, IReadOnlyDictionary<string, KeySpace> keys, NumberSource? load)
    {
        Operation[] all = [.. phase.Groups.SelectMany(group => group.Operations).Select(item => item.Operation)];
        foreach (string collection in all.Where(one => one is WatchChanges || NumberFields.Of(one).Any())
            .Select(one => one.Collection).Distinct())
        {
            int watchers = phase.Groups.Where(group => IsWatcher(group) && group.Operations[0].Operation.Collection == collection)
                .Sum(group => group.Threads);
            bool isLoaded = load is not null && phase.Groups[0].Operations[0].Operation.Collection == collection;
            _tracked[collection] = new TrackedWrites(keys.GetValueOrDefault(collection), isLoaded ? load : null, watchers);
            _fields[collection] = [.. all.Where(one => one.Collection == collection).SelectMany(NumberFields.Of).Distinct()];
        }

        _notReady = phase.Groups.Count(IsWatcher);
        _areReady = new ManualResetEventSlim(_notReady == 0);
    }

    public static bool IsWatcher(PhaseGroup group) => group.Operations is [{ Operation: WatchChanges }];

    /// <summary>Waits until all who watch do; called by each group when it is ready to begin.</summary>
    /// <returns>False when the phase ended before that.</returns>
    public bool Await(PhaseGroup group, CancellationToken stop)
    {
        if (IsWatcher(group) && Interlocked.Decrement(ref _notReady) == 0)
            _areReady.Set();
        return IsWatcher(group) || _areReady.IsSet || WaitHandle.WaitAny([_areReady.WaitHandle, stop.WaitHandle]) == 0;
    }

    public void Dispose() => _areReady.Dispose();

    /// <summary>Ties an operation to the writes of its collection.</summary>
    public Operation Bind(Operation operation) => operation is CompositeOperation several
        ? several.Each(Bind)
        : _tracked.GetValueOrDefault(operation.Collection) is not { } tracked ? operation
        : operation is WatchChanges watch ? watch with { Tracked = tracked, Fields = _fields[operation.Collection] }
        : operation with { Tracked = tracked };
}
