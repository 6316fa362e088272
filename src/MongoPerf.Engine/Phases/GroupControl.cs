using MongoPerf.Engine.Failures;
using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Phases;

/// <summary>What the workers of one group share: its limits, its end, its errors.</summary>
internal sealed class GroupControl(GroupPlan plan, IClock clock, IGroupObserver observer)
{
    private long _operationsLeft = plan.Count ?? long.MaxValue;
    private volatile bool _stopped;

    public GroupPlan Plan { get; } = plan;

    public IClock Clock { get; } = clock;

    public IGroupObserver Observer { get; } = observer;

    /// <summary>One for each part of the plan.</summary>
    public IReadOnlyList<ErrorTally> Errors { get; } = [.. plan.Parts.Select(_ => new ErrorTally())];

    /// <summary>Operations that start from here on are measured; ticks.</summary>
    public long MeasureFrom { get; private set; }

    /// <summary>Nothing starts from here on; ticks.</summary>
    public long EndAt { get; private set; } = long.MaxValue;

    public bool IsStopped => _stopped;

    public void Begin(long start)
    {
        MeasureFrom = start + Clock.TicksOf(Plan.WarmupSeconds);
        if (Plan.Seconds is { } seconds)
            EndAt = start + Clock.TicksOf(seconds);
    }

    /// <summary>Workers end after the operation they are at.</summary>
    public void Stop() => _stopped = true;

    /// <summary>Takes one operation from those left.</summary>
    public bool MayStart(long now)
    {
        if (_stopped || now >= EndAt)
            return false;
        return Plan.Count is null || Interlocked.Decrement(ref _operationsLeft) >= 0;
    }
}
