using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>A phase's samples, several seconds in one where there are too many.</summary>
/// <param name="Sample">Sums, and the latencies of all its seconds together.</param>
/// <param name="Histograms">What was stored of it. They are filled again once the next sample is asked for.</param>
internal sealed record MergedSample(Sample Sample, MergedHistograms Histograms)
{
    public DateTimeOffset Start => DateTimeOffset.FromUnixTimeMilliseconds(Sample.AtMilliseconds).AddSeconds(-Sample.Seconds);
}

/// <summary>Merges the histograms of several seconds; empty where none were stored.</summary>
internal sealed class MergedHistograms
{
    public LatencyHistogram Service { get; } = new();

    public LatencyHistogram Response { get; } = new();

    public LatencyHistogram Lateness { get; } = new();

    /// <summary>Response times where a rate was set, service times otherwise.</summary>
    public LatencyHistogram Reported => Response.TotalCount > 0 ? Response : Service;

    public void SetTo(IEnumerable<Sample> samples)
    {
        Service.Clear();
        Response.Clear();
        Lateness.Clear();
        foreach (Sample sample in samples)
        {
            Add(Service, sample.Histogram);
            Add(Response, sample.ResponseHistogram);
            Add(Lateness, sample.LatenessHistogram);
        }
    }

    private static void Add(LatencyHistogram sum, ReadOnlyMemory<byte> encoded)
    {
        if (!encoded.IsEmpty)
            HistogramEncoding.DecodeInto(sum, encoded.Span);
    }
}

/// <summary>Keeps the files of week-long runs bounded, and the memory that their reports take.</summary>
internal static class SampleThinning
{
    /// <summary>Rows of a file of samples; with a few more where an operation ends in the middle of a group.</summary>
    public const int MaxRows = 7200;

    /// <summary>The most samples of a run of more than a day that are held: they take 200 MB.</summary>
    private const int MostOfDays = 2_000_000;
    private const long DayMilliseconds = 86_400_000;

    /// <summary>How many samples of an operation are one row, so that a run has about <see cref="MaxRows"/>.</summary>
    public static int PerRow(StoredRun run) =>
        OperationSeconds.Of(run).SecondsEach * GroupSize(OperationSeconds.Of(run).All.Count, MaxRows);

    /// <summary>How many seconds of an operation are one in charts and findings.</summary>
    public static int SecondsEach(StoredRun run) => run.ReadSamples().FirstOrDefault() is { } first
        ? SecondsEach(run.End.Samples, run.End.AtMilliseconds - first.AtMilliseconds) : 1;

    /// <param name="samples">How many there are.</param>
    /// <param name="milliseconds">From the first to the last.</param>
    public static int SecondsEach(long samples, long milliseconds) =>
        milliseconds <= DayMilliseconds ? 1 : GroupSize(checked((int)samples), MostOfDays);

    /// <summary>
    /// Makes one sample of those of an operation that lie in the same so many seconds, except where its warm-up, an outage or an attempt
    /// ends: their sum, with the median of their medians and the highest of everything else. Streams.
    /// </summary>
    /// <param name="samples">The samples in time order.</param>
    /// <param name="seconds">More than 1.</param>
    public static IEnumerable<Sample> InPieces(IEnumerable<Sample> samples, int seconds)
    {
        var groups = new OrderedDictionary<string, List<Sample>>(StringComparer.Ordinal);
        int phase = 0;
        long piece = 0;
        foreach (Sample sample in samples)
        {
            long its = sample.AtMilliseconds / (seconds * 1000L);
            // Groups are not sampled at quite the same time: one may be a little behind another.
            if (sample.Phase != phase || its > piece || its < piece - 1)
            {
                foreach (List<Sample> ended in groups.Values)
                    yield return Joined(ended);
                groups.Clear();
                (phase, piece) = (sample.Phase, its);
            }

            if (groups.TryGetValue(sample.Operation, out List<Sample>? group)
                && !(AreAlike(group[0], sample) && sample.Continues(group[^1])))
            {
                yield return Joined(group);
                group.Clear();
            }

            (group ?? (groups[sample.Operation] = [])).Add(sample);
        }

        foreach (List<Sample> rest in groups.Values)
            yield return Joined(rest);
    }

    /// <summary>
    /// Joins samples of the same operation that follow one another. Idle processors add their histograms up ahead. Streams.
    /// </summary>
    /// <param name="run">Its samples are read with their histograms.</param>
    /// <param name="perRow">So many become one, fewer where an operation or its warm-up ends.</param>
    /// <exception cref="HistogramFormatException">A histogram is damaged.</exception>
    public static IEnumerable<MergedSample> Merge(StoredRun run, int perRow)
    {
        var ahead = new Queue<Task<MergedSample>>();
        var idle = new Stack<MergedHistograms>();
        foreach (IReadOnlyList<Sample> group in Groups(run, perRow))
        {
            MergedHistograms histograms = idle.TryPop(out MergedHistograms? former) ? former : new MergedHistograms();
            ahead.Enqueue(Task.Run(() => Join(group, histograms)));
            if (ahead.Count <= 2 * Environment.ProcessorCount)
                continue;
            MergedSample merged = ahead.Dequeue().GetAwaiter().GetResult();
            yield return merged;
            idle.Push(merged.Histograms);
        }

        foreach (Task<MergedSample> rest in ahead)
            yield return rest.GetAwaiter().GetResult();
    }

    private static IEnumerable<IReadOnlyList<Sample>> Groups(StoredRun run, int perRow)
    {
        // Operations of one phase take turns, so each has a group that is being filled.
        var groups = new Dictionary<string, List<Sample>>(StringComparer.Ordinal);
        int phase = 0;
        foreach (Sample sample in run.ReadSamples(withHistograms: true))
        {
            if (sample.Phase != phase)
            {
                foreach (List<Sample> rest in groups.Values)
                    yield return rest;
                groups.Clear();
                phase = sample.Phase;
            }

            if (groups.TryGetValue(sample.Operation, out List<Sample>? group) && (group.Count == perRow || !AreAlike(group[0], sample)))
            {
                yield return group;
                group = null;
            }

            (group ?? (groups[sample.Operation] = [])).Add(sample);
        }

        foreach (List<Sample> rest in groups.Values)
            yield return rest;
    }

    /// <summary>Gauges as means, counters as rates per second; NaN where there is none, such as across a restart. Streams.</summary>
    /// <param name="read">Reads samples with the values of some metrics; called twice: once to count.</param>
    /// <param name="metrics">What the values are.</param>
    /// <param name="atMost">About so many come out.</param>
    public static IEnumerable<MetricSample> Rates(
        Func<IReadOnlyList<Metric>, IEnumerable<MetricSample>> read, IReadOnlyList<Metric> metrics, int atMost = MaxRows)
    {
        int perGroup = GroupSize(read([]).Count(), atMost);
        var members = new Dictionary<string, MetricGroup>(StringComparer.Ordinal);
        foreach (MetricSample sample in read(metrics))
        {
            if (!members.TryGetValue(sample.Member, out MetricGroup? group))
                members[sample.Member] = group = new MetricGroup(metrics);
            group.Add(sample);
            if (group.Count == perGroup)
                yield return group.Take();
        }

        foreach (MetricGroup rest in members.Values.Where(g => g.Count > 0))
            yield return rest.Take();
    }

    private static int GroupSize(int count, int atMost) => Math.Max(1, (count + atMost - 1) / atMost);

    private static bool AreAlike(Sample a, Sample b) => a.IsWarmup == b.IsWarmup && a.HasOutage == b.HasOutage;

    private static MergedSample Join(IReadOnlyList<Sample> group, MergedHistograms histograms)
    {
        histograms.SetTo(group);
        if (group.Count == 1)
            return new MergedSample(group[0], histograms);
        bool hasRate = group.Any(s => s.HasRate);
        return new MergedSample(
            SumOf(group) with
            {
                LatencyMicroseconds = LatencySummaries.From(histograms.Service),
                ResponseMicroseconds = hasRate ? LatencySummaries.From(histograms.Response) : null,
                LatenessMicroseconds = hasRate ? LatencySummaries.From(histograms.Lateness) : null,
                Histogram = default,
                ResponseHistogram = default,
                LatenessHistogram = default,
            },
            histograms);
    }

    /// <summary>The last of them with what all did.</summary>
    private static Sample SumOf(IReadOnlyList<Sample> group) => group[^1] with
    {
        Seconds = group.Sum(s => s.Seconds),
        Operations = group.Sum(s => s.Operations),
        Documents = group.Sum(s => s.Documents),
        Bytes = group.Sum(s => s.Bytes),
        Failed = group.Sum(s => s.Failed),
    };

    private static Sample Joined(List<Sample> group)
    {
        if (group.Count == 1)
            return group[0];
        GroupLatency[] together = [.. group.Select(s => s.OfGroup).OfType<GroupLatency>()];
        return SumOf(group) with
        {
            LatencyMicroseconds = Joined(group.Select(s => s.LatencyMicroseconds)),
            ResponseMicroseconds = group.Exists(s => s.HasRate) ? Joined(group.Select(s => s.ResponseMicroseconds).OfType<LatencySummary>())
                : null,
            OfGroup = together.Length == 0 ? null : new GroupLatency(
                Quantiles.Median([.. together.Select(one => one.P50)]), together.Max(one => one.P99), together.Max(one => one.Max)),
        };
    }

    private static LatencySummary Joined(IEnumerable<LatencySummary> seconds)
    {
        LatencySummary[] known = [.. seconds.Where(second => second.P50 is not null)];
        return known.Length == 0 ? LatencySummary.None : new LatencySummary
        {
            P50 = Quantiles.Median([.. known.Select(second => second.P50!.Value)]),
            P99 = known.Max(second => second.P99), Max = known.Max(second => second.Max),
        };
    }

    /// <summary>The sums of one member's samples since the last row.</summary>
    private sealed class MetricGroup(IReadOnlyList<Metric> metrics)
    {
        private readonly double[] _sums = new double[metrics.Count];
        private readonly double[] _weights = new double[metrics.Count];
        private MetricSample? _last;

        public int Count { get; private set; }

        public void Add(MetricSample sample)
        {
            for (int i = 0; i < metrics.Count; i++)
            {
                double value = sample.Values[i];
                double weight = 1;
                if (metrics[i].Kind == MetricKind.Counter)
                {
                    // A count that falls is another process's.
                    value -= _last?.Values[i] ?? double.NaN;
                    weight = value >= 0 ? (sample.AtMilliseconds - _last!.AtMilliseconds) / 1000.0 : 0;
                }

                if (!double.IsFinite(value) || weight <= 0)
                    continue;
                _sums[i] += value;
                _weights[i] += weight;
            }

            _last = sample;
            Count++;
        }

        public MetricSample Take()
        {
            double[] values = new double[metrics.Count];
            for (int i = 0; i < values.Length; i++)
                values[i] = _weights[i] > 0 ? _sums[i] / _weights[i] : double.NaN;
            Array.Clear(_sums);
            Array.Clear(_weights);
            Count = 0;
            return _last! with { Values = values };
        }
    }
}
