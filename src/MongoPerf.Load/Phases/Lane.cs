namespace MongoPerf.Load.Phases;

/// <summary>Where workers of a group count what they do: one of their own each, or, beyond 64, one for several of them.</summary>
/// <remarks>
/// A worker's histograms take some 200 KB, and the sampler reads all of them every second. Thousands of workers never count at the same
/// time; as many as there are processors do.
/// </remarks>
internal sealed class Lane
{
    private const int Most = 64;

    private readonly Lock? _lock;
    private Lane _next;

    private Lane(GroupPlan plan)
    {
        _next = this;
        _lock = plan.Threads > Most ? new Lock() : null;
        Warmup = [.. plan.Counted.Select(part => Counters.Of(part, plan.IsPaced))];
        Measured = [.. plan.Counted.Select(part => Counters.Of(part, plan.IsPaced))];
    }

    /// <summary>One for each of <see cref="GroupPlan.Counted"/>.</summary>
    public Counters[] Warmup { get; }

    /// <inheritdoc cref="Warmup"/>
    public Counters[] Measured { get; }

    public Counters CountersOf(int part, bool isMeasured) => (isMeasured ? Measured : Warmup)[part];

    public static IReadOnlyList<Lane> Of(GroupPlan plan)
    {
        Lane[] lanes = [.. Enumerable.Range(0, Math.Min(plan.Threads, Most)).Select(_ => new Lane(plan))];
        for (int i = 0; i < lanes.Length; i++)
            lanes[i]._next = lanes[(i + 1) % lanes.Length];
        return lanes;
    }

    /// <summary>
    /// Enters this lane, or the next one that is free: one whose worker has lost its processor while it counted, maybe to thousands, keeps
    /// nobody waiting.
    /// </summary>
    /// <returns>The lane to count in, alone, until <see cref="Exit"/>. Nothing in between may throw.</returns>
    public Lane Enter()
    {
        if (_lock is null)
            return this;
        Lane lane = this;
        do
        {
            if (lane._lock!.TryEnter())
                return lane;
            lane = lane._next;
        }
        while (lane != this);
        _lock.Enter();
        return this;
    }

    /// <inheritdoc cref="Enter"/>
    public void Exit() => _lock?.Exit();
}
