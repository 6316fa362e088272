using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>Adds the workers up at each tick and hands on what came since the last one.</summary>
/// <remarks>
/// Ticks come every second from the start of the measured part on, and every second of the warm-up before it, so no interval holds both.
/// </remarks>
internal sealed class GroupSampler
{
    private readonly GroupControl _control;
    private readonly List<Worker> _workers;
    private readonly PartSampler[] _parts;

    /// <summary>What all operations did in an interval; null where there is only one.</summary>
    private readonly LatencyHistogram? _together;
    private long _lastTick;
    private long _due;
    private bool _warmupIsRead;
    private TimeSpan _cpuAtMeasureFrom;
    private long _allocatedAtMeasureFrom;

    public GroupSampler(GroupControl control, List<Worker> workers, long start)
    {
        _control = control;
        _workers = workers;
        _parts =
        [
            .. control.Plan.Counted.SelectMany((part, i) => part.TimedSteps
                .Select((name, step) => new PartSampler(part, i, isPaced: false, step) { Name = StepResult.KeyOf(part.Name, name) })
                .Prepend(new PartSampler(part, i, control.Plan.IsPaced && part is not ConnectionUse))),
        ];
        _together = _parts.Count(static part => part.IsDone) > 1 ? new LatencyHistogram() : null;
        _lastTick = start;
        _due = NextDue(start);
        BeginMeasuring();
    }

    public long FirstDue => _due;

    /// <summary>CPU time of the process since the measured part began.</summary>
    public double MeasuredCpuSeconds { get; private set; }

    /// <summary>Bytes that the process allocated since the measured part began, to some kilobytes per thread.</summary>
    public long MeasuredAllocatedBytes { get; private set; }

    /// <summary>Why an interval could not be handed on; the first of such failures, which ended the phase.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Called by the clock.</summary>
    /// <returns>When it wants to be called next.</returns>
    public long Tick()
    {
        long now = _control.Clock.Now;
        if (_lastTick < _control.MeasureFrom && now >= _control.MeasureFrom)
            BeginMeasuring();
        TryTake(now);
        if (Failure is not null)
            return long.MaxValue;
        _due = NextDue(_due);
        return _due;
    }

    /// <summary>Takes the rest after the workers have ended.</summary>
    public void TakeLast()
    {
        MeasuredCpuSeconds = (Environment.CpuUsage.TotalTime - _cpuAtMeasureFrom).TotalSeconds;
        MeasuredAllocatedBytes = GC.GetTotalAllocatedBytes() - _allocatedAtMeasureFrom;
        // A worker that was kept from a processor may have counted an operation of the warm-up since.
        _warmupIsRead = false;
        TryTake(_control.Clock.Now);
    }

    private void BeginMeasuring()
    {
        _cpuAtMeasureFrom = Environment.CpuUsage.TotalTime;
        _allocatedAtMeasureFrom = GC.GetTotalAllocatedBytes();
    }

    /// <summary>
    /// Takes the samples of an interval. On the clock's thread an exception would end the process, and later intervals would look as if
    /// none were missing.
    /// </summary>
    private void TryTake(long now)
    {
        if (Failure is not null)
            return;
        try
        {
            Take(now);
        }
        catch (Exception e)
        {
            Failure = e;
            _control.Stop();
        }
    }

    private long NextDue(long from)
    {
        long second = _control.Clock.TicksPerSecond;
        if (from >= _control.MeasureFrom)
            return from + second;
        // Whole seconds counted back from the start of the measured part.
        long left = _control.MeasureFrom - from;
        long rest = left % second;
        return from + (rest == 0 ? second : rest);
    }

    private void Take(long now)
    {
        bool down = false;
        foreach (Worker worker in _workers)
            down |= worker.IsDown;
        foreach (PartSampler part in _parts)
            part.Read(_control.Lanes, readsWarmup: !_warmupIsRead);
        // From a second after it ended, nothing comes to it any more.
        _warmupIsRead = _lastTick >= _control.MeasureFrom;
        double seconds = _control.Clock.SecondsBetween(_lastTick, now);
        if (seconds <= 0)
            return;
        long documents = _control.Plan.CollectionDocuments + _parts.Sum(p => p.Inserted);
        long at = _control.Clock.UtcNow.ToUnixTimeMilliseconds();
        bool isWarmup = now <= _control.MeasureFrom || _lastTick < _control.MeasureFrom;
        _together?.Clear();
        Sample[] samples = [.. _parts.Select(part => part.Take(_together) with
        {
            AtMilliseconds = at, Phase = _control.Plan.Phase, IsWarmup = isWarmup, HasOutage = down, Seconds = seconds,
            CollectionDocuments = documents,
        })];
        int first = Array.FindIndex(_parts, static part => part.IsDone);
        if (_together is not null)
            samples[first] = samples[first] with { OfGroup = GroupLatency.Of(_together) };
        _control.Observer.OnInterval(samples);
        _lastTick = now;
    }
}

/// <summary>The sum of all lanes' counters of one operation, now and at the last interval's end.</summary>
internal sealed class PartSampler(Operation operation, int index, bool isPaced, int? step = null)
{
    /// <summary>Of its samples.</summary>
    public string Name { get; init; } = operation.Name;

    /// <inheritdoc cref="OperationResult.IsDone"/>
    public bool IsDone => step is null && operation is not (ConnectionUse or WatchChanges);

    private readonly LatencyHistogram _interval = new();
    private readonly Counters _warmup = new(isPaced);
    private Counters _now = new(isPaced);
    private Counters _before = new(isPaced);

    /// <summary>Documents that were inserted since the group started; 0 for an operation that brings some back.</summary>
    public long Inserted => operation.Inserts && step is null ? _now.Documents : 0;

    /// <param name="lanes">All of the group's.</param>
    /// <param name="readsWarmup">False where the warm-up has not changed since the last reading.</param>
    public void Read(IReadOnlyList<Lane> lanes, bool readsWarmup)
    {
        if (readsWarmup)
        {
            _warmup.Clear();
            foreach (Lane lane in lanes)
                _warmup.Add(CountersOf(lane.Warmup));
        }

        _now.Clear();
        _now.Add(_warmup);
        foreach (Lane lane in lanes)
            _now.Add(CountersOf(lane.Measured));
    }

    private Counters CountersOf(Counters[] counted) => step is { } place ? counted[index].Steps!.Each[place] : counted[index];

    /// <param name="together">Gets the latencies too; null for none.</param>
    /// <returns>What came between the last two readings of which this was called; the caller says when and where that was.</returns>
    public Sample Take(LatencyHistogram? together)
    {
        if (!IsDone)
            together = null;
        (LatencySummary service, ReadOnlyMemory<byte> serviceHistogram) =
            Interval(_now.Service, _before.Service, isPaced ? null : together);
        var sample = new Sample
        {
            AtMilliseconds = 0,
            Phase = 0,
            Operation = Name,
            IsWarmup = false,
            Seconds = 0,
            Operations = _now.Operations - _before.Operations,
            Documents = _now.Documents - _before.Documents,
            Bytes = _now.Bytes - _before.Bytes,
            Failed = _now.Failed - _before.Failed,
            CollectionDocuments = 0,
            LatencyMicroseconds = service,
            Histogram = serviceHistogram,
        };
        if (_now.Paced is { } now && _before.Paced is { } before)
            sample = WithLateness(sample, now, before, together);
        (_now, _before) = (_before, _now);
        return sample;
    }

    private Sample WithLateness(Sample sample, PacedCounters now, PacedCounters before, LatencyHistogram? together)
    {
        (LatencySummary response, ReadOnlyMemory<byte> responseHistogram) = Interval(now.Response, before.Response, together);
        (LatencySummary lateness, ReadOnlyMemory<byte> latenessHistogram) = Interval(now.Lateness, before.Lateness, null);
        return sample with
        {
            ResponseMicroseconds = response, ResponseHistogram = responseHistogram, LatenessMicroseconds = lateness,
            LatenessHistogram = latenessHistogram,
        };
    }

    private (LatencySummary Summary, ReadOnlyMemory<byte> Encoded) Interval(
        LatencyHistogram now, LatencyHistogram before, LatencyHistogram? together)
    {
        _interval.SetToDifference(now, before);
        if (together is not null)
            _interval.AddTo(together);
        return (LatencySummaries.From(_interval), _interval.TotalCount == 0 ? default : HistogramEncoding.EncodeCompressed(_interval));
    }
}
