using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>One operation held for a count or a time, by a number of threads.</summary>
public sealed record PhasePlan
{
    public required OperationSpecification Operation { get; init; }

    public required int Threads { get; init; }

    /// <summary>Of the run; workers draw from streams of their own under it.</summary>
    public required ulong Seed { get; init; }

    /// <summary>Where inserts take their numbers; the phase ends when they run out.</summary>
    public NumberSource? Numbers { get; init; }

    /// <summary>Each thread takes its numbers from an unbroken range of its own, not whichever comes next.</summary>
    public bool HasRanges { get; init; }

    /// <summary>Each thread notes when it has done so many: documents where the phase has <see cref="Numbers"/>, operations otherwise. Null notes nothing.</summary>
    public long? Lap { get; init; }

    /// <summary>Warm-up included; null has no limit of time. Limits starts, not ends: an operation under way is waited for.</summary>
    public double? Seconds { get; init; }

    /// <summary>From the start; operations that start in it are counted apart.</summary>
    public double WarmupSeconds { get; init; }

    /// <summary>Over all threads, warm-up included; null has no limit of number.</summary>
    public long? Operations { get; init; }

    /// <summary>Operations per second over all threads; null starts each when the one before has ended.</summary>
    public double? Rate { get; init; }

    /// <summary>0 to 1: the share of replies whose documents are compared.</summary>
    public double VerifyShare { get; init; }

    /// <summary>How long a worker tries to connect again before the phase is given up.</summary>
    public TimeSpan ReconnectFor { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>In the collection when the phase starts, as far as the client knows.</summary>
    public long CollectionDocuments { get; init; }
}
