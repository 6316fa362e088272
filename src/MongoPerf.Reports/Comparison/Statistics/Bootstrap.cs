using MongoPerf.Measurement;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Intervals of ratios by drawing again from what was measured (B. Efron, 1979).</summary>
/// <remarks>
/// <para>Samples are autocorrelated, so whole blocks of them are drawn (H. R. Künsch, "The jackknife and the bootstrap for general
/// stationary observations", 1989), in a circle so that each counts alike (D. N. Politis, J. P. Romano, 1992).</para>
/// <para>Blocks can't see a correlation that reaches beyond their length, nor a window's mean that is itself off; both make intervals too
/// short, and what is drawn is spread out by as much as a first-order process with the samples' correlation loses so.</para>
/// <para>Percentiles of few blocks give intervals that are too short; they are taken further out, where Student's t has them (T. C.
/// Hesterberg, "What teachers should know about the bootstrap", 2015, "expanded percentiles").</para>
/// <para>Seeded by a constant: the same runs give the same report.</para>
/// </remarks>
internal static class Bootstrap
{
    private const int Draws = 4000;
    private const ulong Seed = 0x636f6d70617265;

    /// <summary>The geometric mean over the sizes of candidate's mean to baseline's mean.</summary>
    public static Drawn OfSamples(IReadOnlyList<SamplePair> sizes)
    {
        double correlation = Autocorrelation.OfFirstOrder(sizes.SelectMany(s => (double[][])[s.Baseline, s.Candidate]));
        Blocks[] baseline = [.. sizes.Select(s => new Blocks(s.Baseline, correlation))];
        Blocks[] candidate = [.. sizes.Select(s => new Blocks(s.Candidate, correlation))];
        return Draw(Math.Min(baseline.Sum(b => b.Count), candidate.Sum(b => b.Count)), (ref RandomStream random) =>
        {
            double sum = 0;
            for (int i = 0; i < baseline.Length; i++)
                sum += candidate[i].DrawLogarithm(ref random) - baseline[i].DrawLogarithm(ref random);
            return sum / baseline.Length;
        });
    }

    /// <param name="differences">Logarithms of ratios, one per size.</param>
    public static Drawn OfPairs(double[] differences) =>
        Draw(differences.Length, (ref RandomStream random) => DrawMean(differences, ref random));

    /// <param name="baseline">Logarithms, one per run.</param>
    /// <param name="candidate">The candidate's values, as many as the baseline's or not.</param>
    public static Drawn OfRuns(double[] baseline, double[] candidate) => Draw(
        Math.Min(baseline.Length, candidate.Length),
        (ref RandomStream random) => DrawMean(candidate, ref random) - DrawMean(baseline, ref random));

    /// <summary>Draws a logarithm of the ratio anew.</summary>
    internal delegate double Redraw(ref RandomStream random);

    /// <param name="independent">How many independent things each draw is made of, at least.</param>
    /// <param name="redraw">Called many times.</param>
    /// <param name="draws">How many times; fewer where a draw is dear.</param>
    internal static Drawn Draw(int independent, Redraw redraw, int draws = Draws)
    {
        var random = new RandomStream(Seed);
        double[] drawn = new double[draws];
        for (int i = 0; i < draws; i++)
            drawn[i] = redraw(ref random);
        return new Drawn(drawn, independent);
    }

    private static double DrawMean(double[] values, ref RandomStream random)
    {
        double sum = 0;
        for (int i = 0; i < values.Length; i++)
            sum += values[random.Next(values.Length)];
        return sum / values.Length;
    }

    /// <summary>A window laid in a circle, of which blocks are summed up by one subtraction.</summary>
    private sealed class Blocks
    {
        private readonly double[] _sums;
        private readonly int _samples;
        private readonly int _length;
        private readonly double _logarithm;
        private readonly double _spread;

        public Blocks(double[] window, double correlation)
        {
            _samples = window.Length;
            _length = Autocorrelation.BlockLength(correlation, window.Length);
            _sums = new double[(2 * _samples) + 1];
            for (int i = 0; i < 2 * _samples; i++)
                _sums[i + 1] = _sums[i] + window[i % _samples];
            _logarithm = Math.Log(_sums[_samples] / _samples);
            _spread = Autocorrelation.UnseenSpread(correlation, _samples, _length);
        }

        public int Count => _samples / _length;

        /// <summary>Draws the logarithm of the mean of as many samples as there are.</summary>
        public double DrawLogarithm(ref RandomStream random)
        {
            double sum = 0;
            // The last block is cut, so that as many samples are drawn as there are.
            for (int left = _samples; left > 0; left -= _length)
            {
                int start = random.Next(_samples);
                sum += _sums[start + Math.Min(_length, left)] - _sums[start];
            }

            return _logarithm + (_spread * (Math.Log(sum / _samples) - _logarithm));
        }
    }
}
