using MongoPerf.Load.Plans;
using MongoPerf.Measurement;

namespace MongoPerf.Load.Phases;

/// <summary>When one worker is at work: the thread's part in the steps of its group, and its times to think.</summary>
internal sealed class WorkTimes
{
    private readonly GroupControl _control;
    private readonly ThinkTime?[] _think;
    private readonly (long From, long To)[] _shifts;
    private RandomStream _random;
    private bool _hasWorked;

    private WorkTimes(GroupControl control, int index)
    {
        GroupPlan plan = control.Plan;
        _control = control;
        _think = [.. plan.Parts.Select(part => part.Think ?? plan.Think)];
        _shifts = [.. Shifts(plan.ThreadSteps, index)
            .Select(shift => (control.Clock.TicksOf(shift.From), shift.To is { } to ? control.Clock.TicksOf(to) : long.MaxValue))];
        _random = RandomStream.For(plan.Seed, RandomPurpose.Thinking, plan.StreamOf(index));
    }

    /// <returns>Null for a worker that is always at work.</returns>
    public static WorkTimes? Find(GroupControl control, int index) =>
        control.Plan.Think is null && control.Plan.ThreadSteps.Count == 0 && control.Plan.Parts.All(part => part.Think is null)
            ? null
            : new WorkTimes(control, index);

    /// <summary>When the worker may take its next operation. To be called once for each.</summary>
    /// <param name="free">When its last one had ended, or the group began; ticks.</param>
    /// <param name="part">Which of the plan's parts that was.</param>
    /// <returns>Ticks; the group's end where its turn does not come before that. Null when it has nothing to do any more.</returns>
    public long? NextTurn(long free, int part)
    {
        long turn = _hasWorked && _think[part] is { } think ? free + _control.Clock.TicksOf(think.Draw(ref _random)) : free;
        _hasWorked = true;
        return NextAtWork(turn - _control.StartedAt) is { } next ? Math.Min(next + _control.StartedAt, _control.EndAt) : null;
    }

    /// <returns>Ticks since the start; null for never again.</returns>
    private long? NextAtWork(long ticks)
    {
        if (_shifts.Length == 0)
            return _control.Plan.ThreadSteps.Count == 0 ? ticks : null;
        foreach ((long from, long to) in _shifts)
        {
            if (ticks < to)
                return Math.Max(from, ticks);
        }

        return null;
    }

    /// <summary>When a thread is among those at work; seconds, the last may have no end.</summary>
    private static IEnumerable<(double From, double? To)> Shifts(IReadOnlyList<ThreadStep> steps, int index)
    {
        double? from = null;
        foreach (ThreadStep step in steps)
        {
            if (from is null && index < step.Threads)
            {
                from = step.AtSeconds;
            }
            else if (from is { } began && index >= step.Threads)
            {
                yield return (began, step.AtSeconds);
                from = null;
            }
        }

        if (from is { } last)
            yield return (last, null);
    }
}
