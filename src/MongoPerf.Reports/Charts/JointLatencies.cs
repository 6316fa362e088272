using System.Collections.Concurrent;
using System.Runtime.ExceptionServices;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// Latencies of several operations together, second by second: of all of a phase, and of each of its mixes. They are stored for a phase
/// that has one group; others, and those of earlier versions, are added up from histograms: once for both, on all processors, as a run of
/// a day has hundreds of thousands.
/// </summary>
internal sealed class JointLatencies
{
    private readonly ConcurrentDictionary<(int Phase, string Mix, long AtMilliseconds), double> _mixes = [];

    /// <summary>A mix's 99th percentile in the second that ended then.</summary>
    /// <returns>Microseconds; NaN where its operations can't be added up, or nothing was recorded.</returns>
    public double P99Of(PhaseRecord phase, OperationMix mix, long atMilliseconds) =>
        _mixes.GetValueOrDefault((phase.Number, mix.Total.Operation, atMilliseconds), double.NaN);

    /// <param name="run">Its samples are read with their histograms, if there is anything to add up.</param>
    /// <param name="measured">Its seconds.</param>
    /// <param name="totals">The totals by phase, in time order; gets the percentiles.</param>
    public static JointLatencies Read(StoredRun run, MeasuredSeconds measured, IReadOnlyDictionary<int, OperationSecond[]> totals)
    {
        var joint = new JointLatencies();
        Dictionary<int, IReadOnlyList<OperationMix>> mixes = run.Phases.Where(phase => phase.Mixes.Count > 0)
            .ToDictionary(phase => phase.Number, phase => phase.Mixes);
        HashSet<int> wanted = [.. totals.Keys.Union(mixes.Keys)];
        if (measured.OfGroups.Count > 0)
        {
            int[] single = [.. run.Phases.Where(phase => phase.Groups.Count == 1).Select(phase => phase.Number).Where(wanted.Contains)];
            IEnumerable<Timed> timed = measured.All.Select((second, place) => new Timed(
                second, measured.NameOf(second), measured.OfGroups.TryGetValue(place, out GroupLatency ofGroup) ? ofGroup : null));
            wanted.ExceptWith(joint.ReadStored(run, timed, Divided(single)));
        }

        if (wanted.Count == 0)
            return joint;
        try
        {
            Parallel.ForEach(
                SecondsOf(run, run.ReadSamples(withHistograms: true).Select(static sample => new Timed(sample)), Divided(wanted)),
                new ParallelOptions { MaxDegreeOfParallelism = Environment.ProcessorCount },
                static () => new LatencyHistogram(), (second, _, sum) => joint.Add(second, sum), static _ => { });
        }
        catch (AggregateException e)
        {
            ExceptionDispatchInfo.Throw(e.InnerExceptions[0]);
        }

        return joint;

        Dictionary<int, PhaseSeconds> Divided(IEnumerable<int> numbers) => numbers.ToDictionary(
            number => number, number => new PhaseSeconds(totals.GetValueOrDefault(number, []), mixes.GetValueOrDefault(number, [])));
    }

    /// <returns>The numbers of the phases of which all is stored.</returns>
    private IEnumerable<int> ReadStored(StoredRun run, IEnumerable<Timed> all, Dictionary<int, PhaseSeconds> phases)
    {
        HashSet<PhaseSeconds> stored = [.. phases.Values];
        foreach (Second second in SecondsOf(run, all, phases))
        {
            if (stored.Contains(second.Phase) && !TryAddStored(second))
                stored.Remove(second.Phase);
        }

        return phases.Where(phase => stored.Contains(phase.Value)).Select(phase => phase.Key);
    }

    private bool TryAddStored(Second second)
    {
        GroupLatency? stored = null;
        long at = 0;
        int timed = 0;
        // Where a clock was set back, a second may hold several samples of each.
        bool isOne = true;
        foreach (Timed sample in second.Samples)
        {
            isOne &= sample.OfGroup is null || stored is null;
            stored ??= sample.OfGroup;
            if (!sample.IsTimed)
                continue;
            isOne &= timed++ == 0 || sample.AtMilliseconds == at;
            at = sample.AtMilliseconds;
        }

        if (timed == 0)
            return true;
        if (!isOne || stored is not { } joint)
            return false;
        foreach ((OperationMix mix, IGrouping<long, Timed> same) in second.Phase.OfMixes(second.Samples))
        {
            if (same.Count() < timed)
                return false;
            _mixes[(same.First().Phase, mix.Total.Operation, same.Key)] = LatencySummaries.Rounded(joint.P99);
        }

        second.Phase.Set(second.Place, joint);
        return true;
    }

    private static IEnumerable<Second> SecondsOf(StoredRun run, IEnumerable<Timed> samples, Dictionary<int, PhaseSeconds> phases)
    {
        HashSet<(int, string)> others = [.. run.Phases.SelectMany(phase =>
            phase.Operations.Where(static result => !result.IsDone).Select(result => (phase.Number, result.Operation)))];
        foreach (Timed sample in samples)
        {
            if (phases.TryGetValue(sample.Phase, out PhaseSeconds? phase) && !others.Contains((sample.Phase, sample.Operation))
                && phase.Add(sample) is { } ended)
                yield return ended;
        }

        foreach (PhaseSeconds phase in phases.Values)
        {
            if (phase.End() is { } ended)
                yield return ended;
        }
    }

    private LatencyHistogram Add(Second second, LatencyHistogram sum)
    {
        try
        {
            Timed[] timed = [.. second.Samples.Where(static sample => !sample.Histogram.IsEmpty)];
            GroupLatency? joint = GroupLatency.Of(SetTo(sum, timed));
            if (joint is { } all)
                second.Phase.Set(second.Place, all);
            foreach ((OperationMix mix, IGrouping<long, Timed> same) in second.Phase.OfMixes(second.Samples))
            {
                if (same.Any(static sample => sample.Histogram.IsEmpty))
                    continue;
                // Mostly the phase has nothing but the mix.
                if (same.Count() < timed.Length)
                    joint = GroupLatency.Of(SetTo(sum, same));
                if (joint is { } ofMix)
                    _mixes[(same.First().Phase, mix.Total.Operation, same.Key)] = LatencySummaries.Rounded(ofMix.P99);
            }
        }
        catch (HistogramFormatException)
        {
            // Whoever asks for the histogram itself is told; lines have a gap where it is damaged.
        }

        return sum;
    }

    private static LatencyHistogram SetTo(LatencyHistogram sum, IEnumerable<Timed> samples)
    {
        sum.Clear();
        foreach (Timed sample in samples)
            HistogramEncoding.DecodeInto(sum, sample.Histogram.Span);
        return sum;
    }

    /// <summary>What is needed of a sample.</summary>
    private readonly record struct Timed
    {
        public Timed(Sample sample)
        {
            (AtMilliseconds, Phase, Operation) = (sample.AtMilliseconds, sample.Phase, sample.Operation);
            HasOperations = sample.Operations > 0;
            IsTimed = sample.ReportedMicroseconds.P50 is not null;
            Histogram = sample.ReportedHistogram;
        }

        public Timed(OperationSecond second, string operation, GroupLatency? ofGroup)
        {
            (AtMilliseconds, Phase, Operation) = (second.AtMilliseconds, second.Phase, operation);
            HasOperations = second.Operations > 0;
            IsTimed = double.IsFinite(second.P50);
            OfGroup = ofGroup;
        }

        public long AtMilliseconds { get; }

        public int Phase { get; }

        public string Operation { get; }

        public bool HasOperations { get; }

        /// <summary>Its latencies have percentiles.</summary>
        public bool IsTimed { get; }

        /// <summary>What is stored of its group; null where nothing is, or it was not read.</summary>
        public GroupLatency? OfGroup { get; }

        /// <summary>Of the reported times; empty where it was not read, or nothing was recorded.</summary>
        public ReadOnlyMemory<byte> Histogram { get; }
    }

    /// <param name="Phase">Whose second it is.</param>
    /// <param name="Place">Its place among the phase's totals; -1 for none.</param>
    /// <param name="Samples">All that ended in it; those of one group at the same time.</param>
    private sealed record Second(PhaseSeconds Phase, int Place, IReadOnlyList<Timed> Samples);

    /// <summary>Divides a phase's samples into seconds.</summary>
    private sealed class PhaseSeconds(OperationSecond[] totals, IReadOnlyList<OperationMix> mixes)
    {
        private readonly (OperationMix Mix, HashSet<string> Operations)[] _mixes =
            [.. mixes.Where(static mix => mix.Total.ReportedMicroseconds.P50 is not null)
                .Select(static mix => (mix, mix.Operations.Select(static result => result.Operation).ToHashSet()))];

        private List<Timed> _open = [];
        private int _at;

        public void Set(int place, GroupLatency joint)
        {
            if (place >= 0)
                totals[place] = totals[place] with { P50 = joint.P50, P99 = joint.P99, Max = joint.Max };
        }

        /// <returns>The second before the sample's; null where that is the same, or nothing is known of it.</returns>
        public Second? Add(Timed sample)
        {
            bool isNext = _open.Count > 0
                && sample.AtMilliseconds > (_at < totals.Length ? totals[_at].AtMilliseconds : _open[^1].AtMilliseconds);
            Second? ended = isNext ? End() : null;
            while (_at < totals.Length && totals[_at].AtMilliseconds < sample.AtMilliseconds)
                _at++;
            _open.Add(sample);
            return ended;
        }

        /// <returns>The last second; null where nothing is known of it.</returns>
        public Second? End()
        {
            var ended = new Second(this, _at < totals.Length ? _at : -1, _open);
            _open = [];
            return ended.Samples.Count > 0 ? ended : null;
        }

        /// <summary>What each mix did in a second, by the time at which it was sampled; nothing where that can't be added up.</summary>
        public IEnumerable<(OperationMix Mix, IGrouping<long, Timed> Same)> OfMixes(IReadOnlyList<Timed> second) =>
            _mixes.SelectMany(mix => second.Where(sample => sample.HasOperations && mix.Operations.Contains(sample.Operation))
                .GroupBy(static sample => sample.AtMilliseconds)
                .Where(static same => same.All(static sample => sample.IsTimed))
                .Select(same => (mix.Mix, same)));
    }
}
