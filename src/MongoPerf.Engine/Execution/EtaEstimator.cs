using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>Seconds until the target is reached: likely, and a range.</summary>
public readonly record struct Eta(double LowSeconds, double LikelySeconds, double HighSeconds);

/// <summary>Estimates the time left from the recent rate, not from the mean since the start: inserts slow down as data grows.</summary>
/// <remarks>
/// Each insert test has a rate of its own, the mean of its last ten seconds; the range is the best and worst ten seconds of its last
/// minute. What a step needs beside inserts (query windows, sizes, checks) is the last finished step's time for it, or, before that, the windows.
/// One thread at a time.
/// </remarks>
public sealed class EtaEstimator
{
    private const int Recent = 10;
    private const int Kept = 60;

    private readonly SeriesSettings _settings;
    private readonly Dictionary<string, Queue<PhaseSample>> _samples = [];
    private double _insertSecondsInStep;
    private double? _otherSecondsPerStep;
    private long? _stepStartMilliseconds;

    public EtaEstimator(SeriesSettings settings) => _settings = settings;

    public void Add(PhaseSample sample)
    {
        _stepStartMilliseconds ??= sample.AtMilliseconds - (long)(sample.Seconds * 1000);
        if (!SeriesTests.IsInsert(sample.Test))
            return;
        _insertSecondsInStep += sample.Seconds;
        if (!_samples.TryGetValue(sample.Test, out Queue<PhaseSample>? queue))
            _samples[sample.Test] = queue = new Queue<PhaseSample>();
        queue.Enqueue(sample);
        if (queue.Count > Kept)
            queue.Dequeue();
    }

    public void EndStep(long atMilliseconds)
    {
        if (_stepStartMilliseconds is { } start)
            _otherSecondsPerStep = Math.Max(0, ((atMilliseconds - start) / 1000.0) - _insertSecondsInStep);
        _stepStartMilliseconds = null;
        _insertSecondsInStep = 0;
    }

    /// <param name="documents">In the collection now.</param>
    /// <returns>Null while no rate is known.</returns>
    public Eta? Estimate(long documents)
    {
        if (documents >= _settings.TargetDocumentCount && _stepStartMilliseconds is null)
            return default(Eta);
        if (_samples.Values.All(q => q.Count == 0))
            return null;
        int current = (int)(Math.Min(documents, _settings.TargetDocumentCount - 1) / _settings.StepDocumentCount) + 1;
        int last = (int)((_settings.TargetDocumentCount - 1) / _settings.StepDocumentCount) + 1;
        var left = new Dictionary<string, long>();
        AddLeft(left, current, 1, documents);
        // The steps between are whole and all alike.
        if (last - current > 1)
            AddLeft(left, current + 1, last - current - 1, documents);
        if (last > current)
            AddLeft(left, last, 1, documents);

        double low = 0, likely = 0, high = 0;
        foreach ((string test, long count) in left)
        {
            (double slowest, double recent, double fastest) = RatesOf(test);
            low += count / fastest;
            likely += count / recent;
            high += count / slowest;
        }

        int queries = SeriesTests.Queries.Count(_settings.Tests.Contains) * _settings.Threads.Count;
        double other = (last - current + 1) * (_otherSecondsPerStep ?? (queries * _settings.WindowSeconds));
        return new Eta(low + other, likely + other, high + other);
    }

    /// <summary>Adds what each insert test has still to write in a step.</summary>
    /// <param name="left">By test.</param>
    /// <param name="step">1-based.</param>
    /// <param name="times">How many steps are like it.</param>
    /// <param name="documents">In the collection now.</param>
    private void AddLeft(Dictionary<string, long> left, int step, long times, long documents)
    {
        IReadOnlyList<InsertRange> inserts = SeriesSchedule.StepAt(
            step, _settings.TargetDocumentCount, _settings.StepDocumentCount, _settings.Shares, _settings.Tests).Inserts;
        foreach (InsertRange insert in inserts)
        {
            long count = insert.Range.End - Math.Max(insert.Range.First, documents);
            if (count > 0)
                left[insert.Test] = left.GetValueOrDefault(insert.Test) + (times * count);
        }
    }

    private (double Slowest, double Recent, double Fastest) RatesOf(string test)
    {
        // A test that has not run yet is taken to be like one that has; batches come first in that.
        if (!_samples.TryGetValue(test, out Queue<PhaseSample>? queue) && !_samples.TryGetValue(SeriesTests.Batch, out queue))
            queue = _samples.Values.First();
        PhaseSample[] samples = [.. queue];
        double recent = Rate(samples.AsSpan(Math.Max(0, samples.Length - Recent)));
        double slowest = recent;
        double fastest = recent;
        for (int at = 0; at + Recent <= samples.Length; at += Recent)
        {
            double rate = Rate(samples.AsSpan(at, Recent));
            slowest = Math.Min(slowest, rate);
            fastest = Math.Max(fastest, rate);
        }

        // A short history says little: a fifth to either side at least.
        return (Math.Min(slowest, recent * 0.8), recent, Math.Max(fastest, recent * 1.2));
    }

    private static double Rate(ReadOnlySpan<PhaseSample> samples)
    {
        double documents = 0, seconds = 0;
        foreach (PhaseSample sample in samples)
        {
            documents += sample.Documents;
            seconds += sample.Seconds;
        }

        return Math.Max(1, documents / Math.Max(seconds, 0.001));
    }
}
