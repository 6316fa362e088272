using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Percentiles of a phase's operations together, second by second: those of their histograms added up.</summary>
internal static class TotalLatencies
{
    /// <param name="run">Its samples are read with their histograms.</param>
    /// <param name="totals">The totals by phase, in time order; gets the percentiles.</param>
    public static void AddTo(StoredRun run, IReadOnlyDictionary<int, OperationSecond[]> totals)
    {
        if (totals.Count == 0)
            return;
        Dictionary<int, Sum> sums = totals.ToDictionary(total => total.Key, total => new Sum(total.Value));
        try
        {
            foreach (Sample sample in run.ReadSamples(withHistograms: true))
            {
                if (sums.TryGetValue(sample.Phase, out Sum? sum))
                    sum.Add(sample);
            }

            foreach (Sum sum in sums.Values)
                sum.EndSecond();
        }
        catch (HistogramFormatException)
        {
            // Whoever asks for the histogram itself is told; a line ends where it is damaged.
        }
    }

    private sealed class Sum(OperationSecond[] seconds)
    {
        private readonly LatencyHistogram _histogram = new();
        private int _at;

        public void Add(Sample sample)
        {
            while (_at < seconds.Length && seconds[_at].AtMilliseconds < sample.AtMilliseconds)
                EndSecond();
            if (_at < seconds.Length && !sample.ReportedHistogram.IsEmpty)
                HistogramEncoding.DecodeInto(_histogram, sample.ReportedHistogram.Span);
        }

        public void EndSecond()
        {
            if (_histogram.ValuesAtPercentiles(50, 99) is [var p50, var p99])
            {
                seconds[_at] = seconds[_at] with { P50 = p50, P99 = p99, Max = _histogram.Maximum!.Value };
                _histogram.Clear();
            }

            _at++;
        }
    }
}
