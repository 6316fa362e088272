using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Execution;

/// <summary>Adds the workers up at each tick and hands on what came since the last one.</summary>
/// <remarks>Ticks come every second from the start of the measured part on, and every second of the warm-up before it, so no interval holds both.</remarks>
internal sealed class PhaseSampler
{
    private readonly PhaseControl _control;
    private readonly List<Worker> _workers;
    private readonly PartSampler[] _parts;
    private readonly LatencyHistogram _all = new();
    private long _lastTick;
    private long _due;
    private TimeSpan _cpuAtMeasureFrom;

    public PhaseSampler(PhaseControl control, List<Worker> workers, long start)
    {
        _control = control;
        _workers = workers;
        _parts = [.. control.Plan.Operation.Parts.Select((part, i) => new PartSampler(part.Test, i, part.Inserts))];
        _lastTick = start;
        _due = NextDue(start);
        _cpuAtMeasureFrom = Environment.CpuUsage.TotalTime;
    }

    public long FirstDue => _due;

    /// <summary>CPU time of the process since the measured part began.</summary>
    public double MeasuredCpuSeconds { get; private set; }

    /// <summary>Why an interval could not be handed on; the first of such failures, which ended the phase.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Called by the clock.</summary>
    /// <returns>When it wants to be called next.</returns>
    public long Tick()
    {
        long now = _control.Clock.Now;
        if (_lastTick < _control.MeasureFrom && now >= _control.MeasureFrom)
            _cpuAtMeasureFrom = Environment.CpuUsage.TotalTime;
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
        TryTake(_control.Clock.Now);
    }

    /// <summary>On the clock's thread an exception would end the process, and later intervals would look as if none were missing.</summary>
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
        IntervalPart[] parts = [.. _parts.Select(part => part.Take(_workers))];
        double seconds = _control.Clock.SecondsBetween(_lastTick, now);
        if (seconds <= 0)
            return;
        bool isWarmup = now <= _control.MeasureFrom || _lastTick < _control.MeasureFrom;
        _control.Observer.OnInterval(new PhaseInterval(
            isWarmup, down, seconds, parts.Sum(p => p.Operations), parts.Sum(p => p.Documents), parts.Sum(p => p.Bytes), parts.Sum(p => p.Failed),
            _parts.Sum(p => p.Inserted), ServiceOf(parts)) { Parts = parts });
        foreach (PartSampler part in _parts)
            part.EndInterval();
        _lastTick = now;
    }

    private LatencyHistogram ServiceOf(IntervalPart[] parts)
    {
        if (parts.Length == 1)
            return parts[0].Service;
        _all.Clear();
        foreach (IntervalPart part in parts)
            part.Service.AddTo(_all);
        return _all;
    }
}

/// <summary>The sum of all workers' counters of one operation, now and at the last interval's end.</summary>
internal sealed class PartSampler(string test, int index, bool inserts)
{
    private readonly LatencyHistogram _interval = new();
    private CounterSum _now = new();
    private CounterSum _before = new();

    /// <summary>Documents that were inserted since the phase started; 0 for an operation that brings some back.</summary>
    public long Inserted => inserts ? _now.Documents : 0;

    /// <returns>What came since <see cref="EndInterval"/>.</returns>
    public IntervalPart Take(List<Worker> workers)
    {
        _now.Clear();
        foreach (Worker worker in workers)
        {
            _now.Add(worker.Warmup[index]);
            _now.Add(worker.Measured[index]);
        }

        _interval.SetToDifference(_now.Service, _before.Service);
        return new IntervalPart(
            test, _now.Operations - _before.Operations, _now.Documents - _before.Documents, _now.Bytes - _before.Bytes, _now.Failed - _before.Failed, _interval);
    }

    public void EndInterval() => (_now, _before) = (_before, _now);
}

/// <summary>A phase's intervals could not be stored (disk full, run.db read-only), so the phase was ended.</summary>
public sealed class SamplingFailedException(Exception cause) : Exception($"run store: {cause.Message}", cause);
