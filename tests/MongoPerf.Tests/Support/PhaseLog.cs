using MongoPerf.Engine.Execution;

namespace MongoPerf.Tests.Support;

/// <summary>One interval, with what is overwritten later copied out of it.</summary>
internal sealed record LoggedInterval(double Until, PhaseInterval Interval, long Recorded, long? Least, long? Most);

/// <summary>Remembers what happens in a phase.</summary>
internal sealed class PhaseLog(ManualClock clock) : IPhaseObserver
{
    private readonly Lock _lock = new();

    public List<LoggedInterval> Intervals { get; } = [];

    public List<(string Kind, string Text, double? Seconds)> Events { get; } = [];

    public Action<PhaseInterval> Then { get; init; } = _ => { };

    public void OnInterval(PhaseInterval interval)
    {
        Intervals.Add(new LoggedInterval(clock.Seconds, interval, interval.Service.TotalCount, interval.Service.Minimum, interval.Service.Maximum));
        Then(interval);
    }

    public void OnEvent(string kind, string text, double? seconds)
    {
        lock (_lock)
            Events.Add((kind, text, seconds));
    }
}
