using MongoPerf.Load.Failures;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Phases;

/// <summary>Everything that a group counted. "Measured" leaves the warm-up out.</summary>
public sealed record GroupResult
{
    /// <summary>Warm-up included; Scheduled = Succeeded + Failed + Skipped.</summary>
    public required Accounting Accounting { get; init; }

    /// <summary>The parts by operation.</summary>
    public required IReadOnlyList<OperationCount> Parts { get; init; }

    /// <summary>What it took to have connections; null where each thread had its own throughout.</summary>
    public OperationCount? Connections { get; init; }

    /// <summary>When all connections were opened at once; empty where they were not.</summary>
    public IReadOnlyList<StormResult> Storms { get; init; } = [];

    /// <summary><see cref="Parts"/>, and behind them <see cref="Connections"/>.</summary>
    public IEnumerable<OperationCount> Counted => Connections is null ? Parts : Parts.Append(Connections);

    /// <summary>Documents that the server refused while it filled a collection, warm-up included.</summary>
    public long Refused { get; init; }

    /// <summary>What the server says of the first of these; null for none.</summary>
    public string? FirstRefusal => Errors.FirstOrDefault(error => ServerError.IsOfDocument(error.Code))?.FirstMessage;

    /// <summary>When the first worker began, by this machine's clock: at the group's start, or as much later as it woke.</summary>
    public required DateTimeOffset StartedAt { get; init; }

    /// <inheritdoc cref="Storage.PhaseRecord.Clock"/>
    public ClientClock? Clock { get; init; }

    /// <summary>
    /// Length of the measured part, to the last reply, or to the fence's; of a rate whose window ran to its end that of the window, or to
    /// the last start behind it.
    /// </summary>
    public required double Seconds { get; init; }
    public required double WarmupSeconds { get; init; }

    /// <summary>The seconds from the last send to the fence's reply; 0 without a fence.</summary>
    public required double DrainSeconds { get; init; }

    /// <summary>User and system time of the process in the measured part.</summary>
    public required double ClientCpuSeconds { get; init; }

    /// <summary>The bytes that the process allocated on the managed heap in the measured part.</summary>
    public long ClientAllocatedBytes { get; init; }

    /// <summary>Succeeded operations of each thread in the measured part: how fairly they shared.</summary>
    public required IReadOnlyList<long> ThreadOperations { get; init; }

    /// <summary>What waited because all connections were busy; null in a closed loop.</summary>
    public ClientWaiting? Waiting { get; init; }

    /// <inheritdoc cref="GroupShare.OversleptSeconds"/>
    public double? OversleptSeconds { get; init; }

    /// <inheritdoc cref="GroupShare.Traffic"/>
    public GroupTraffic? Traffic { get; init; }

    /// <summary>The laps of each thread; empty unless the plan asked for laps.</summary>
    public IReadOnlyList<IReadOnlyList<LapMark>> Laps { get; init; } = [];

    /// <summary>
    /// Why the group ended early: the server stayed away, or a worker died. Null when it ran to its end or was asked to stop.
    /// </summary>
    public Exception? GivenUp { get; init; }

    /// <summary>It was asked to stop before its end.</summary>
    public required bool WasStopped { get; init; }

    /// <summary>Succeeded operations that ended after the warm-up.</summary>
    public long Operations => Parts.Sum(p => p.Operations);

    /// <summary>Failed operations that ended after the warm-up.</summary>
    public long Failed => Parts.Sum(p => p.Failed);

    /// <summary>Documents with the warm-up's.</summary>
    public long AllDocuments => Parts.Sum(p => p.AllDocuments);

    public long Wrong => Parts.Sum(p => p.Wrong);

    /// <summary>Warm-up included.</summary>
    public IReadOnlyList<ErrorCount> Errors => ErrorTally.Merge(Parts.Select(p => p.Errors));
}

/// <summary>What a group counted of one of its operations. "Measured" leaves the warm-up out.</summary>
public sealed class OperationCount
{
    private readonly Counters _measured;
    private readonly Counters _warmup;

    internal OperationCount(Operation operation, Counters measured, Counters warmup, IReadOnlyList<ErrorCount> errors)
    {
        Operation = operation;
        _measured = measured;
        _warmup = warmup;
        Errors = errors;
    }

    public Operation Operation { get; }

    /// <summary>The errors, the warm-up's included.</summary>
    public IReadOnlyList<ErrorCount> Errors { get; }

    /// <summary>Succeeded and measured.</summary>
    public long Operations => _measured.Operations;

    /// <summary>
    /// How many of <see cref="Operations"/> each server carried out, the busiest first; empty where the executor does not know them.
    /// </summary>
    public IReadOnlyList<MemberShare> Members { get; init; } = [];

    internal long TicksPerSecond { get; init; } = 1;

    /// <summary>Of each step, in the measured part; empty for an operation without steps.</summary>
    public IReadOnlyList<StepResult> Steps => _measured.Steps is not { } steps ? [] : [.. Operation.TimedSteps.Zip(steps.Each,
        (name, step) => new StepResult(name, step.Operations, step.Failed, LatencySummaries.From(step.Service))
        {
            // Steps of one name are timed together.
            Effect = Operation.Leaves.FirstOrDefault(leaf => leaf.Name == name) is { } leaf ? step.EffectOf(leaf) : null,
        })];

    /// <summary>Null for an operation without transactions.</summary>
    public TransactionResult? Transactions => Operation is StepSequence { Transaction: not null } && _measured.Steps is { } steps
        ? new TransactionResult(steps.Committed, steps.Aborted, steps.Retried, steps.CommitRetried, steps.Unknown,
            Math.Round((double)steps.RetryTicks / TicksPerSecond, 6))
        {
            RolledBack = steps.RolledBack, Seconds = Math.Round((double)steps.TransactionTicks / TicksPerSecond, 6),
        }
        : null;

    /// <summary>What a watcher saw, its warm-up included: a gap is a gap whenever it is. Null for any other operation.</summary>
    public ChangeResult? Changes
    {
        get
        {
            if (_measured.Changes is not { } all)
                return null;
            var sum = new ChangeCounters();
            all.AddTo(sum);
            _warmup.Changes!.AddTo(sum);
            return new ChangeResult(sum.Followed, AllSucceeded - sum.Followed - sum.Duplicated, sum.Missing, sum.Duplicated, sum.Misordered,
                sum.Resumed, sum.Unsettled);
        }
    }

    /// <summary>How replies compare with the recorded ones, the warm-up's included; null for an operation of no recording.</summary>
    public ReplayResult? Replay => AllReplies()?.ToResult();

    public long Documents => _measured.Documents;

    public long Bytes => _measured.Bytes;

    public long Failed => _measured.Failed;

    /// <summary>Succeeded queries that brought fewer documents than they may.</summary>
    public long ShortReplies => _measured.Short;

    /// <summary>Succeeded and measured operations that came to nothing; null where no reply tells.</summary>
    public EffectResult? Effect => _measured.EffectOf(Operation);

    /// <summary>Those of <see cref="Operations"/> that began in the warm-up; null when there are none.</summary>
    public OperationsInFlight? InFlightAtStart => Of(_measured.AtStart);

    /// <summary>Those that this program ended without a reply; null when there are none.</summary>
    public OperationsInFlight? InFlightAtEnd => OperationsInFlight.Sum([Of(_warmup.AtEnd), Of(_measured.AtEnd)]);

    /// <summary>Succeeded, with the warm-up's.</summary>
    public long AllSucceeded => _measured.Operations + _warmup.Operations;

    /// <summary>Failed, with the warm-up's.</summary>
    public long AllFailed => _measured.Failed + _warmup.Failed;

    /// <summary>All documents, the warm-up's included.</summary>
    public long AllDocuments => _measured.Documents + _warmup.Documents;

    /// <summary>Documents compared with what must have come, with the warm-up's.</summary>
    public long Verified => _measured.Verified + _warmup.Verified;

    /// <summary>Those among them that differed.</summary>
    public long Wrong => _measured.Wrong + _warmup.Wrong;

    /// <summary>Service times of succeeded operations.</summary>
    public LatencyHistogram Service => _measured.Service;

    public LatencyHistogram WarmupService => _warmup.Service;

    /// <summary>The response times, from when operations were due to their replies; null in a closed loop.</summary>
    public LatencyHistogram? Response => _measured.Paced?.Response;

    /// <summary>The lateness, from when operations were due to their starts; null in a closed loop.</summary>
    public LatencyHistogram? Lateness => _measured.Paced?.Lateness;

    /// <summary>The lateness of those for which a connection was free when they were due; null in a closed loop.</summary>
    public LatencyHistogram? ClientLateness => _measured.Paced?.ClientLateness;

    /// <summary>The latencies of the measured part.</summary>
    public OperationLatency Latency => new(Operation.Concerns.IsUnacknowledged, Service, Response, Lateness);

    private static OperationsInFlight? Of(InFlight some) =>
        some.Operations == 0 ? null : new(some.Operations, Math.Round(some.LongestNanoseconds / 1000.0, 1));

    /// <summary>How long its replies took when they were recorded; null for an operation of no recording.</summary>
    /// <param name="phase">Number of the phase record.</param>
    public StoredHistogram? EncodeRecorded(int phase) => AllReplies() is not { } replies ? null
        : new StoredHistogram(
            phase, ReplayResult.KeyOf(Operation.Name), IsWarmup: false, HistogramEncoding.EncodeCompressed(replies.Recorded));

    /// <summary>What is stored of its steps.</summary>
    /// <inheritdoc cref="Encode"/>
    public IEnumerable<StoredHistogram> EncodeSteps(int phase, bool ofWarmup) => (ofWarmup ? _warmup : _measured).Steps is not { } steps
        ? []
        : Operation.TimedSteps.Zip(steps.Each, (name, step) => new StoredHistogram(
            phase, StepResult.KeyOf(Operation.Name, name), ofWarmup, HistogramEncoding.EncodeCompressed(step.Service)));

    /// <summary>What is stored of it.</summary>
    /// <param name="phase">Number of the phase record.</param>
    /// <param name="ofWarmup">Otherwise of the measured part.</param>
    public StoredHistogram Encode(int phase, bool ofWarmup)
    {
        Counters counters = ofWarmup ? _warmup : _measured;
        return new StoredHistogram(phase, Operation.Name, ofWarmup, HistogramEncoding.EncodeCompressed(counters.Service))
        {
            Response = counters.Paced is null ? default : HistogramEncoding.EncodeCompressed(counters.Paced.Response),
            Lateness = counters.Paced is null ? default : HistogramEncoding.EncodeCompressed(counters.Paced.Lateness),
        };
    }

    private ReplyCounters? AllReplies()
    {
        if (_measured.Replies is not { } measured)
            return null;
        var sum = new ReplyCounters();
        _warmup.Replies!.AddTo(sum);
        measured.AddTo(sum);
        return sum;
    }
}

/// <summary>Hears what happens in a group. Called from the sampling thread and from workers, never between two time stamps.</summary>
public interface IGroupObserver
{
    /// <param name="samples">The samples of one interval, one for each operation; the caller keeps nothing of them.</param>
    void OnInterval(IReadOnlyList<Sample> samples);

    void OnEvent(string kind, string text, double? seconds);
}
