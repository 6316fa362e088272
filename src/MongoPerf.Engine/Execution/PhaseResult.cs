using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>Everything a phase counted. "Measured" leaves the warm-up out.</summary>
public sealed class PhaseResult
{
    /// <summary>Warm-up included; Scheduled = Succeeded + Failed + Skipped.</summary>
    public required Accounting Accounting { get; init; }

    /// <summary>Succeeded operations that started after the warm-up.</summary>
    public required long Operations { get; init; }
    public required long Documents { get; init; }
    public required long Bytes { get; init; }
    public required long Failed { get; init; }

    /// <summary>Succeeded queries after the warm-up that brought fewer documents than they may.</summary>
    public long ShortReplies { get; init; }

    /// <summary>Documents inserted with the warm-up's.</summary>
    public required long AllDocuments { get; init; }

    /// <summary>Length of the measured part, to the last reply, or to the fence's.</summary>
    public required double Seconds { get; init; }
    public required double WarmupSeconds { get; init; }

    /// <summary>From the last send to the fence's reply; 0 without a fence.</summary>
    public required double DrainSeconds { get; init; }

    /// <summary>User and system time of the process in the measured part.</summary>
    public required double ClientCpuSeconds { get; init; }

    /// <summary>Service times of succeeded operations, microseconds.</summary>
    public required LatencyHistogram Service { get; init; }
    public required LatencyHistogram WarmupService { get; init; }

    /// <summary>From the intended start; null in a closed loop.</summary>
    public LatencyHistogram? Response { get; init; }
    public required IReadOnlyList<ErrorCount> Errors { get; init; }

    /// <summary>The same by operation; of a mix several, otherwise one.</summary>
    public required IReadOnlyList<PhasePart> Parts { get; init; }

    /// <summary>Succeeded operations of each thread in the measured part: how fairly they shared.</summary>
    public required IReadOnlyList<long> ThreadOperations { get; init; }
    public required long Verified { get; init; }
    public required long Wrong { get; init; }

    /// <summary>Of each thread; empty unless the plan asked for laps.</summary>
    public IReadOnlyList<IReadOnlyList<LapMark>> Laps { get; init; } = [];

    /// <summary>Why the phase ended early: the server stayed away, or a worker died. Null when it ran to its end or was asked to stop.</summary>
    public Exception? GivenUp { get; init; }

    /// <summary>It was asked to stop before its end.</summary>
    public required bool WasStopped { get; init; }
}

/// <summary>What a phase counted of one of its operations. "Measured" leaves the warm-up out.</summary>
public sealed record PhasePart(OperationSpecification Operation)
{
    public required long Operations { get; init; }
    public required long Documents { get; init; }
    public required long Bytes { get; init; }
    public required long Failed { get; init; }
    public required long ShortReplies { get; init; }

    /// <summary>Succeeded and failed with the warm-up's.</summary>
    public required long AllSucceeded { get; init; }

    /// <inheritdoc cref="AllSucceeded"/>
    public required long AllFailed { get; init; }

    /// <summary>Documents compared with what must have come, and how many differed; with the warm-up's.</summary>
    public required long Verified { get; init; }

    /// <inheritdoc cref="Verified"/>
    public required long Wrong { get; init; }

    /// <summary>Service times of succeeded operations, microseconds.</summary>
    public required LatencyHistogram Service { get; init; }
    public required LatencyHistogram WarmupService { get; init; }

    /// <summary>From the intended start; null in a closed loop.</summary>
    public LatencyHistogram? Response { get; init; }
    public required IReadOnlyList<ErrorCount> Errors { get; init; }
}

/// <summary>One interval of a phase, while it runs.</summary>
/// <param name="IsWarmup">The interval lies in the warm-up.</param>
/// <param name="HasOutage">A worker was without a connection in it.</param>
/// <param name="Seconds">Its length.</param>
/// <param name="Operations">Succeeded.</param>
/// <param name="Documents">Inserted or returned.</param>
/// <param name="Bytes">Of these documents.</param>
/// <param name="Failed">Failed operations.</param>
/// <param name="Inserted">Documents inserted since the phase started.</param>
/// <param name="Service">Service times of the interval; overwritten by the next one.</param>
public sealed record PhaseInterval(
    bool IsWarmup, bool HasOutage, double Seconds, long Operations, long Documents, long Bytes, long Failed, long Inserted, LatencyHistogram Service)
{
    /// <summary>The same by operation; of a mix several, otherwise one.</summary>
    public required IReadOnlyList<IntervalPart> Parts { get; init; }
}

/// <summary>What came of one of a phase's operations in an interval.</summary>
/// <param name="Test">The operation's name.</param>
/// <param name="Operations">Succeeded.</param>
/// <param name="Documents">Inserted or returned.</param>
/// <param name="Bytes">Of these documents.</param>
/// <param name="Failed">Failed operations.</param>
/// <param name="Service">Service times; overwritten by the next interval.</param>
public sealed record IntervalPart(string Test, long Operations, long Documents, long Bytes, long Failed, LatencyHistogram Service);

/// <summary>Hears what happens in a phase. Called from the sampling thread and from workers, never between two time stamps.</summary>
public interface IPhaseObserver
{
    void OnInterval(PhaseInterval interval);

    void OnEvent(string kind, string text, double? seconds);
}
