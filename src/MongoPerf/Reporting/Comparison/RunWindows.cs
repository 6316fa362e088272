using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Reporting.Comparison;

/// <summary>A test at one size of one run.</summary>
internal readonly record struct WindowKey(string Test, int Threads, int Step);

/// <summary>What one test measured at one size, without its warm-up.</summary>
internal sealed record RateWindow
{
    /// <summary>In the collection.</summary>
    public required long Documents { get; init; }

    /// <summary>Per second over the whole window: documents of insert tests, operations of query tests. As the report gives it, but that seconds
    /// with an outage are left out.</summary>
    public required double Rate { get; init; }

    /// <summary>The whole seconds, in order; those with an outage are left out.</summary>
    public required IReadOnlyList<PhaseSample> Samples { get; init; }

    /// <summary>Their rates; the mean of the window's is <see cref="Rate"/>.</summary>
    public required double[] Rates { get; init; }

    /// <summary>Seconds that were left out since the connection was down in them, or came back.</summary>
    public required int OutageSamples { get; init; }

    /// <summary>Of the stored result.</summary>
    public required LatencySummary Latency { get; init; }
}

/// <summary>The windows of one run.</summary>
/// <param name="windows">What was measured.</param>
/// <param name="readSamples">Reads the run's samples anew, with their histograms: only when those are asked for.</param>
internal sealed class RunWindows(IReadOnlyDictionary<WindowKey, RateWindow> windows, Func<IEnumerable<PhaseSample>> readSamples)
{
    /// <summary>A rest that is shorter says too little of a second.</summary>
    private const double LeastSampleSeconds = 0.5;
    private const long LongestGapMilliseconds = 1500;

    public static RunWindows Of(StoredRun run)
    {
        var windows = new Dictionary<WindowKey, RateWindow>();
        Dictionary<WindowKey, List<PhaseSample>> samples = ReadMeasured(run);
        HashSet<int> creates = [.. run.Points.Where(point => point.IsCreate).Select(point => point.Step)];
        foreach (StepResult step in run.Steps.Where(step => !creates.Contains(step.Step)))
        {
            foreach (TestResult test in step.Tests)
            {
                var key = new WindowKey(test.Test, test.Threads, step.Step);
                if (Make(step.Documents, test, samples.GetValueOrDefault(key, [])) is { } window)
                    windows[key] = window;
            }
        }

        return new RunWindows(windows, () => run.ReadSamples(withHistograms: true));
    }

    public IEnumerable<WindowKey> Keys => windows.Keys;

    public RateWindow? Find(WindowKey key) => windows.GetValueOrDefault(key);

    /// <summary>The latencies of a window's seconds, neighbours joined so that there are at most so many histograms.</summary>
    /// <returns>Null when some were not stored.</returns>
    public IReadOnlyList<LatencyHistogram>? ReadHistograms(WindowKey key, int atMost)
    {
        RateWindow window = windows[key];
        HashSet<long> times = [.. window.Samples.Select(s => s.AtMilliseconds)];
        int count = Math.Min(atMost, times.Count);
        LatencyHistogram[] joined = [.. Enumerable.Range(0, count).Select(_ => new LatencyHistogram())];
        int read = 0;
        foreach (PhaseSample sample in readSamples())
        {
            if (KeyOf(sample) != key || !times.Contains(sample.AtMilliseconds))
                continue;
            if (sample.Histogram.IsEmpty)
                return null;
            HistogramEncoding.DecodeInto(joined[(int)((long)read++ * count / times.Count)], sample.Histogram.Span);
        }

        return read == times.Count ? joined : null;
    }

    public static bool IsInsert(string test) => SeriesTests.IsInsert(test);

    private static WindowKey KeyOf(PhaseSample sample) => new(sample.Test, sample.Threads, sample.Step);

    /// <summary>A step that was taken again after a crash has several windows; the last is the stored result's.</summary>
    private static Dictionary<WindowKey, List<PhaseSample>> ReadMeasured(StoredRun run)
    {
        var windows = new Dictionary<WindowKey, List<PhaseSample>>();
        PhaseSample? before = null;
        foreach (PhaseSample sample in run.ReadSamples())
        {
            WindowKey key = KeyOf(sample);
            bool goesOn = before is not null && KeyOf(before) == key
                && sample.AtMilliseconds - (sample.Seconds * 1000) - before.AtMilliseconds < LongestGapMilliseconds;
            before = sample;
            if (!goesOn)
                windows[key] = [];
            if (!sample.IsWarmup)
                windows[key].Add(sample);
        }

        return windows;
    }

    /// <returns>Null when nothing was done in it.</returns>
    private static RateWindow? Make(long documents, TestResult result, List<PhaseSample> samples)
    {
        bool isInsert = IsInsert(result.Test);
        // The second after an outage holds its end.
        List<PhaseSample> sound = [.. samples.Where((s, i) => !s.HasOutage && (i == 0 || !samples[i - 1].HasOutage))];
        int outages = samples.Count - sound.Count;
        double reported = isInsert ? result.DocumentsPerSecond : result.OperationsPerSecond;
        double seconds = sound.Sum(s => s.Seconds);
        double measured = seconds > 0 ? sound.Sum(s => CountOf(s, isInsert)) / seconds : 0;
        double rate = outages > 0 ? measured : reported;
        if (!double.IsFinite(rate) || rate <= 0)
            return null;
        List<PhaseSample> whole = [.. sound.Where(s => s.Seconds >= LeastSampleSeconds)];
        // Seconds of unacknowledged inserts count what was sent, the result what had arrived when the fence answered.
        double scale = measured > 0 ? rate / measured : 1;
        return new RateWindow
        {
            Documents = documents,
            Rate = rate,
            Samples = whole,
            Rates = [.. whole.Select(s => scale * CountOf(s, isInsert) / s.Seconds)],
            OutageSamples = outages,
            Latency = result.LatencyMicroseconds,
        };
    }

    private static long CountOf(PhaseSample sample, bool isInsert) => isInsert ? sample.Documents : sample.Operations;
}
