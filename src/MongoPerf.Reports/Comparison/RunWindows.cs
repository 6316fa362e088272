using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What one operation measured in one window, without its warm-up.</summary>
public sealed record RateWindow
{
    /// <summary>The documents in the collection when the window ended.</summary>
    public required long Documents { get; init; }

    /// <summary>The rate is that of documents; otherwise of operations.</summary>
    public bool IsInsert { get; init; }

    /// <summary>Its latency is the time to send.</summary>
    public bool IsUnacknowledged { get; init; }

    /// <summary>The rate is judged by itself; otherwise it follows from a mix's, by weight.</summary>
    public bool IsIndependent { get; init; } = true;

    /// <summary>It is the total of several operations, whose own latencies are judged.</summary>
    public bool IsTotal { get; init; }

    /// <summary>The rate per second over the whole window, as the report gives it, but without seconds with an outage.</summary>
    public required double Rate { get; init; }

    /// <summary>The whole seconds, in order; those with an outage are left out.</summary>
    public required IReadOnlyList<Sample> Samples { get; init; }

    /// <summary>Their rates; the mean of the window's is <see cref="Rate"/>.</summary>
    public required double[] Rates { get; init; }

    /// <summary>Seconds that were left out since the connection was down in them, or came back.</summary>
    public required int OutageSamples { get; init; }

    /// <summary>The stored result; null where there is none.</summary>
    public OperationResult? Result { get; init; }

    /// <summary>Reads percentiles that <see cref="Latency"/> does not have; null where there is no histogram.</summary>
    public Func<LatencyMetric, double?>? OfHistogram { get; init; }

    /// <summary>The latency of the stored result: response times where a rate was set.</summary>
    public required LatencySummary Latency { get; init; }

    /// <summary>The service time beside <see cref="Latency"/> where a rate was set; otherwise null.</summary>
    public LatencySummary? Service { get; init; }

    /// <summary>How long it was, and what makes it longer; null where that is not known.</summary>
    public WindowLength? Length { get; init; }

    /// <summary>The value over the whole window, per second or in microseconds; null where nothing was recorded.</summary>
    public double? ValueOf(Measure measure)
    {
        double? value = Rate;
        if (measure.Latency is { } latency)
        {
            LatencySummary? summary = measure.IsService ? Service : Latency;
            if (!latency.TryRead(summary, out value) && summary is not null)
                value = OfHistogram?.Invoke(latency);
        }

        return value > 0 ? value : null;
    }

    /// <summary>The latencies of each second in which there was one.</summary>
    public double[] SecondsOf(Measure measure) =>
        measure.Latency is { } latency ? [.. Samples.Select(latency.Of).OfType<double>()] : Rates;

    /// <summary>The latencies of the window's seconds, neighbours joined so that there are at most so many histograms.</summary>
    /// <returns>Null when some are not there.</returns>
    public JoinedHistograms? JoinHistograms(int atMost)
    {
        // A second without an operation has none to show.
        Sample[] measured = [.. Samples.Where(sample => sample.Operations > 0)];
        if (measured.Length == 0 || measured.Any(sample => sample.ReportedHistogram.IsEmpty))
            return null;
        var histograms = JoinedHistograms.Decode([.. measured.Select(sample => sample.ReportedHistogram)], atMost);
        return histograms.IsEmpty ? null : histograms;
    }
}

/// <summary>The windows of one run, in the order of its plan.</summary>
public sealed class RunWindows(IReadOnlyDictionary<WindowKey, RateWindow> windows)
{
    /// <summary>Reads the run's samples, once.</summary>
    /// <param name="run">Whose windows.</param>
    /// <param name="withHistograms">Keeps the latencies of each second, which takes several times as much memory.</param>
    public static RunWindows Of(StoredRun run, bool withHistograms)
    {
        var windows = new Dictionary<WindowKey, RateWindow>();
        Dictionary<(int, string), List<Sample>> samples = ReadMeasured(run, withHistograms);
        var arrivals = new Arrivals(run);
        foreach (PhaseRecord phase in run.Phases.Where(phase => phase.Kind != PhaseKind.Create))
        {
            var own = phase.Operations.ToDictionary(
                result => result, result => samples.GetValueOrDefault((phase.Number, result.Operation), [])
                    .Select(sample => new Counted(sample, arrivals.CountIn(sample, result))).ToList());
            foreach (OperationResult result in phase.Operations)
                Add(phase, result, own[result]);
            foreach (OperationMix mix in phase.Mixes)
                Add(phase, mix.Total, [.. Sum(mix, own)]);
        }

        return new RunWindows(windows);

        void Add(PhaseRecord phase, OperationResult result, List<Counted> counted)
        {
            if (Make(phase, result, counted) is { } window)
                windows[WindowKey.Of(phase, result)] = window with
                {
                    Length = WindowLength.Of(run, phase, result), Result = result, OfHistogram = metric => run.ValueOf(metric, result),
                };
        }
    }

    /// <summary>A second.</summary>
    /// <param name="Sample">The sample as it was measured.</param>
    /// <param name="Count">What its rate counts.</param>
    private readonly record struct Counted(Sample Sample, double Count);

    /// <summary>The mix's seconds; with latencies where those of its operations were read.</summary>
    private static IEnumerable<Counted> Sum(OperationMix mix, Dictionary<OperationResult, List<Counted>> all) => mix.Operations
        .SelectMany(result => all[result].Select(one => (Result: result, Second: one)))
        .GroupBy(one => one.Second.Sample.AtMilliseconds).OrderBy(same => same.Key)
        .Select(same =>
        {
            Sample[] parts = [.. same.Select(one => one.Second.Sample)];
            LatencySummary latency =
                JointSecond.Sum(mix, [.. parts.Where(part => part.Operations > 0).Select(part => part.ReportedHistogram)]) is { } latencies
                    ? LatencySummaries.From(latencies)
                    : LatencySummary.None;
            Sample sum = parts[0] with
            {
                Operation = mix.Total.Operation,
                HasOutage = parts.Any(part => part.HasOutage),
                Operations = parts.Sum(part => part.Operations),
                Documents = parts.Sum(part => part.Documents),
                Bytes = parts.Sum(part => part.Bytes),
                Failed = parts.Sum(part => part.Failed),
                LatencyMicroseconds = mix.Total.HasRate ? LatencySummary.None : latency,
                ResponseMicroseconds = mix.Total.HasRate ? latency : null,
                LatenessMicroseconds = null, Histogram = default, ResponseHistogram = default, LatenessHistogram = default,
            };
            return new Counted(sum, same.Sum(one => JointSecond.CountOf(mix, one.Result, one.Second.Count)));
        });

    public IEnumerable<WindowKey> Keys => windows.Keys;

    public RateWindow? Find(WindowKey key) => windows.GetValueOrDefault(key);

    /// <summary>Reads the measured samples by phase and operation, of the last attempt only: the stored result is that one's.</summary>
    private static Dictionary<(int Phase, string Operation), List<Sample>> ReadMeasured(StoredRun run, bool withHistograms)
    {
        var measured = new Dictionary<(int, string), List<Sample>>();
        var before = new Dictionary<(int, string), Sample>();
        foreach (Sample sample in run.ReadSamples(withHistograms))
        {
            (int, string) key = (sample.Phase, sample.Operation);
            if (!before.TryGetValue(key, out Sample? last) || !sample.Continues(last))
                measured[key] = [];
            before[key] = sample;
            if (!sample.IsWarmup)
                measured[key].Add(sample);
        }

        return measured;
    }

    /// <returns>Null when nothing was done in it.</returns>
    private static RateWindow? Make(PhaseRecord phase, OperationResult result, List<Counted> samples)
    {
        // The second after an outage holds its end.
        List<Counted> sound = [.. samples.Where((s, i) => !s.Sample.HasOutage && (i == 0 || !samples[i - 1].Sample.HasOutage))];
        int outages = samples.Count - sound.Count;
        double reported = result.IsInsert ? result.DocumentsPerSecond : result.OperationsPerSecond;
        double seconds = sound.Sum(s => s.Sample.Seconds);
        double measured = seconds > 0 ? sound.Sum(s => s.Count) / seconds : 0;
        double rate = outages > 0 ? measured : reported;
        if (!double.IsFinite(rate) || rate <= 0)
            return null;
        Counted[] whole = [.. sound.Where(second => second.Sample.Seconds >= SampleAttempts.LeastSeconds)];
        // Seconds of unacknowledged writes count what arrived in them, or was sent where no server counted; the result also what arrived
        // until the fence was answered.
        double scale = measured > 0 ? rate / measured : 1;
        return new RateWindow
        {
            Documents = phase.DocumentsAtEnd(),
            IsInsert = result.IsInsert,
            IsUnacknowledged = result.Unacknowledged is not null,
            IsIndependent = phase.Independent.Contains(result),
            IsTotal = result.IsTotal,
            Rate = rate,
            Samples = [.. whole.Select(second => second.Sample)],
            Rates = [.. whole.Select(second => scale * second.Count / second.Sample.Seconds)],
            OutageSamples = outages,
            Latency = result.ReportedMicroseconds,
            Service = result.HasRate ? result.LatencyMicroseconds : null,
        };
    }
}
