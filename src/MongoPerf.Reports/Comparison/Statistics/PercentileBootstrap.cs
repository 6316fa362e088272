using MongoPerf.Measurement;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Intervals of ratios of percentiles: blocks of seconds are drawn, and their histograms added up.</summary>
/// <remarks>
/// It draws as <see cref="Bootstrap"/> does for means: blocks in a circle, of a length that follows from how much a second's percentile
/// resembles the one before, spread out by what blocks can't see.
/// </remarks>
public static class PercentileBootstrap
{
    /// <summary>A draw adds up every second of a window; of longer windows neighbours are joined.</summary>
    public const int MostSeconds = 60;
    private const int Draws = 1000;

    /// <param name="sizes">Seconds of both sides, in the order of time, at each size.</param>
    /// <param name="percent">50 is the median.</param>
    public static Drawn Of(IReadOnlyList<HistogramPair> sizes, double percent)
    {
        double correlation = Autocorrelation.OfFirstOrder(
            sizes.SelectMany(s => (double[][])[s.Baseline.PercentilesOfEach(percent), s.Candidate.PercentilesOfEach(percent)]));
        Side[] baseline = [.. sizes.Select(s => new Side(s.Baseline, percent, correlation))];
        Side[] candidate = [.. sizes.Select(s => new Side(s.Candidate, percent, correlation))];
        return Bootstrap.Draw(
            Math.Min(baseline.Sum(side => side.Blocks), candidate.Sum(side => side.Blocks)),
            (ref RandomStream random) =>
            {
                double sum = 0;
                for (int i = 0; i < baseline.Length; i++)
                    sum += candidate[i].DrawLogarithm(ref random) - baseline[i].DrawLogarithm(ref random);
                return sum / baseline.Length;
            },
            Draws);
    }

    /// <summary>The percentile itself, of one window: its logarithm is drawn.</summary>
    public static Drawn Of(JoinedHistograms seconds, double percent)
    {
        var side = new Side(seconds, percent, Autocorrelation.OfFirstOrder([seconds.PercentilesOfEach(percent)]));
        return Bootstrap.Draw(side.Blocks, side.DrawLogarithm, Draws);
    }

    private sealed class Side
    {
        private readonly JoinedHistograms _seconds;
        private readonly double _percent;
        private readonly int _length;
        private readonly double _logarithm;
        private readonly double _spread;

        public Side(JoinedHistograms seconds, double percent, double correlation)
        {
            _seconds = seconds;
            _percent = percent;
            _length = Autocorrelation.BlockLength(correlation, seconds.Count);
            _logarithm = Math.Log(seconds.Percentile(percent));
            _spread = Autocorrelation.UnseenSpread(correlation, seconds.Count, _length);
        }

        public int Blocks => _seconds.Count / _length;

        public double DrawLogarithm(ref RandomStream random) =>
            _logarithm + (_spread * (Math.Log(_seconds.DrawPercentile(_percent, _length, ref random)) - _logarithm));
    }
}

/// <summary>Seconds that stand against each other at one size, each in the order of time.</summary>
public sealed record HistogramPair(JoinedHistograms Baseline, JoinedHistograms Candidate);

/// <summary>The latencies of a window's seconds, as counts of the values that occur.</summary>
/// <remarks>One thread.</remarks>
public sealed class JoinedHistograms
{
    private readonly double[] _values;
    private readonly (int Place, long Count)[][] _seconds;
    private readonly long[] _drawn;

    /// <param name="seconds">The seconds in the order of time; one value at least in all of them together.</param>
    public JoinedHistograms(IReadOnlyList<LatencyHistogram> seconds)
    {
        _values = [.. seconds.SelectMany(s => s.Buckets().Select(bucket => bucket.Microseconds)).Distinct().Order()];
        _seconds =
        [
            .. seconds.Select(s => s.Buckets().Select(bucket => (Array.BinarySearch(_values, bucket.Microseconds), bucket.Count)).ToArray())
        ];
        _drawn = new long[_values.Length];
    }

    /// <param name="seconds">The seconds as they are stored, in the order of time.</param>
    /// <param name="atMost">Neighbours are joined so that there are no more.</param>
    public static JoinedHistograms Decode(IReadOnlyList<ReadOnlyMemory<byte>> seconds, int atMost)
    {
        int count = Math.Min(atMost, seconds.Count);
        LatencyHistogram[] joined = [.. Enumerable.Range(0, count).Select(_ => new LatencyHistogram())];
        foreach ((int i, ReadOnlyMemory<byte> second) in seconds.Index())
            HistogramEncoding.DecodeInto(joined[(int)((long)i * count / seconds.Count)], second.Span);
        return new JoinedHistograms(joined);
    }

    public int Count => _seconds.Length;

    public bool IsEmpty => _values.Length == 0;

    /// <summary>The percentile over all seconds, in microseconds.</summary>
    public double Percentile(double percent) => Percentile(percent, Enumerable.Range(0, _seconds.Length));

    /// <summary>The percentiles of each second in which something was recorded, in microseconds.</summary>
    public double[] PercentilesOfEach(double percent) =>
        [.. Enumerable.Range(0, _seconds.Length).Where(i => _seconds[i].Length > 0).Select(i => Percentile(percent, [i]))];

    /// <summary>
    /// Draws the percentile of as many seconds as there are, with replacement in blocks, the window laid in a circle; in microseconds.
    /// </summary>
    public double DrawPercentile(double percent, int blockLength, ref RandomStream random)
    {
        Array.Clear(_drawn);
        int start = 0;
        for (int i = 0; i < _seconds.Length; i++)
        {
            if (i % blockLength == 0)
                start = random.Next(_seconds.Length);
            Add(_seconds[(start + (i % blockLength)) % _seconds.Length]);
        }

        return OfDrawn(percent);
    }

    private double Percentile(double percent, IEnumerable<int> seconds)
    {
        Array.Clear(_drawn);
        foreach (int second in seconds)
            Add(_seconds[second]);
        return OfDrawn(percent);
    }

    private void Add((int Place, long Count)[] second)
    {
        foreach ((int place, long count) in second)
            _drawn[place] += count;
    }

    private double OfDrawn(double percent)
    {
        double wanted = percent / 100 * _drawn.Sum();
        long seen = 0;
        for (int i = 0; i < _drawn.Length; i++)
        {
            seen += _drawn[i];
            if (seen >= wanted && seen > 0)
                return _values[i];
        }

        return _values[^1];
    }
}
