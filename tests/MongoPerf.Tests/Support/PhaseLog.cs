using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>One interval: a sample of each operation.</summary>
internal sealed record LoggedInterval(double Until, IReadOnlyList<Sample> Samples)
{
    public double Seconds => Samples[0].Seconds;

    public bool IsWarmup => Samples[0].IsWarmup;

    public bool HasOutage => Samples[0].HasOutage;

    public long CollectionDocuments => Samples[0].CollectionDocuments;

    public long Operations => Samples.Sum(s => s.Operations);

    public long Documents => Samples.Sum(s => s.Documents);

    public long Failed => Samples.Sum(s => s.Failed);

    /// <summary>Latencies in the samples' histograms.</summary>
    public long Recorded => Samples.Where(s => !s.Histogram.IsEmpty).Sum(s => HistogramEncoding.Decode(s.Histogram.Span).TotalCount);

    public double? Least => Samples.Min(s => s.LatencyMicroseconds.Min);

    public double? Most => Samples.Max(s => s.LatencyMicroseconds.Max);
}

/// <summary>Remembers what happens in a phase.</summary>
internal sealed class PhaseLog(ManualClock clock) : IGroupObserver
{
    private readonly Lock _lock = new();

    public List<LoggedInterval> Intervals { get; } = [];

    public List<(string Kind, string Text, double? Seconds)> Events { get; } = [];

    public Action<LoggedInterval> Then { get; init; } = _ => { };

    public void OnInterval(IReadOnlyList<Sample> samples)
    {
        Intervals.Add(new LoggedInterval(clock.Seconds, [.. samples]));
        Then(Intervals[^1]);
    }

    public void OnEvent(string kind, string text, double? seconds)
    {
        lock (_lock)
            Events.Add((kind, text, seconds));
    }
}
