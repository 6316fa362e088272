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

    private Lane(GroupPlan plan)
    {
        _lock = plan.Threads > Most ? new Lock() : null;
        Warmup = [.. plan.Counted.Select(part => Counters.Of(part, plan.IsPaced))];
        Measured = [.. plan.Counted.Select(part => Counters.Of(part, plan.IsPaced))];
    }

    /// <summary>One for each of <see cref="GroupPlan.Counted"/>.</summary>
    public Counters[] Warmup { get; }

    /// <inheritdoc cref="Warmup"/>
    public Counters[] Measured { get; }

    public static IReadOnlyList<Lane> Of(GroupPlan plan) =>
        [.. Enumerable.Range(0, Math.Min(plan.Threads, Most)).Select(_ => new Lane(plan))];

    /// <summary>To be called before counting; nobody else counts until <see cref="Exit"/>. Nothing in between may throw.</summary>
    public void Enter() => _lock?.Enter();

    public void Exit() => _lock?.Exit();
}
