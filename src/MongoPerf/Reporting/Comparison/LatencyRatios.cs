using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Comparison.Statistics;

namespace MongoPerf.Reporting.Comparison;

/// <summary>Percentiles of latency, candidate to baseline: the geometric mean of the ratios of each window.</summary>
internal static class LatencyRatios
{
    /// <summary>A draw adds up every block of a window.</summary>
    private const int MostBlocks = 40;
    private const int Draws = 500;

    /// <summary>A window or a run is one observation.</summary>
    /// <returns>Null when some percentile was not recorded.</returns>
    public static Ratio? OfUnits(Evidence evidence, SideWindows baseline, SideWindows candidate, IReadOnlyList<WindowKey> keys, Func<LatencySummary, double?> percentile)
    {
        if (Logarithms(baseline, keys, percentile) is not { } a || Logarithms(candidate, keys, percentile) is not { } b)
            return null;
        double ratio = Math.Exp(b.Average(run => run.Average()) - a.Average(run => run.Average()));
        Interval? interval = evidence switch
        {
            Evidence.Runs => Bootstrap.OfRuns([.. a.Select(run => run.Average())], [.. b.Select(run => run.Average())]),
            Evidence.Windows => Bootstrap.OfPairs([.. b[0].Zip(a[0], (x, y) => x - y)]),
            _ => null,
        };
        return new Ratio(ratio, interval);
    }

    /// <summary>Blocks of seconds are drawn again, and their histograms added up.</summary>
    /// <returns>Nulls when some second's latencies were not stored.</returns>
    public static (Ratio? P50, Ratio? P99) OfSeconds(RunWindows baseline, RunWindows candidate, IReadOnlyList<WindowKey> keys)
    {
        var pairs = new List<(BlockHistograms Baseline, BlockHistograms Candidate)>();
        foreach (WindowKey key in keys)
        {
            if (baseline.Find(key)!.JoinHistograms(MostBlocks) is not { } a || candidate.Find(key)!.JoinHistograms(MostBlocks) is not { } b)
                return (null, null);
            pairs.Add((new BlockHistograms(a), new BlockHistograms(b)));
        }

        return pairs.Any(p => p.Baseline.IsEmpty || p.Candidate.IsEmpty) ? (null, null) : (OfBlocks(pairs, 50), OfBlocks(pairs, 99));
    }

    private static Ratio OfBlocks(List<(BlockHistograms Baseline, BlockHistograms Candidate)> pairs, double percent)
    {
        double ratio = Math.Exp(pairs.Average(p => Math.Log(p.Candidate.Percentile(percent) / p.Baseline.Percentile(percent))));
        int blocks = pairs.Sum(p => Math.Min(p.Baseline.Count, p.Candidate.Count));
        Interval interval = Bootstrap.Draw(
            blocks,
            (ref RandomStream random) =>
            {
                double sum = 0;
                foreach ((BlockHistograms a, BlockHistograms b) in pairs)
                    sum += Math.Log(b.DrawPercentile(percent, ref random) / a.DrawPercentile(percent, ref random));
                return sum / pairs.Count;
            },
            Draws);
        return new Ratio(ratio, interval);
    }

    /// <returns>A row per run, a value per window; null when one is missing.</returns>
    private static double[][]? Logarithms(SideWindows side, IReadOnlyList<WindowKey> keys, Func<LatencySummary, double?> percentile)
    {
        double?[][] values = [.. side.Runs.Select(run => keys.Select(key => percentile(run.Find(key)!.Latency)).ToArray())];
        return values.Any(run => run.Any(value => value is not > 0)) ? null : [.. values.Select(run => run.Select(value => Math.Log(value!.Value)).ToArray())];
    }
}

/// <summary>The latencies of a window in blocks of seconds, as counts of the values that occur.</summary>
internal sealed class BlockHistograms
{
    private readonly double[] _values;
    private readonly (int Place, long Count)[][] _blocks;
    private readonly long[] _drawn;

    public BlockHistograms(IReadOnlyList<LatencyHistogram> blocks)
    {
        _values = [.. blocks.SelectMany(b => b.Buckets().Select(bucket => bucket.Microseconds)).Distinct().Order()];
        _blocks = [.. blocks.Select(b => b.Buckets().Select(bucket => (Array.BinarySearch(_values, bucket.Microseconds), bucket.Count)).ToArray())];
        _drawn = new long[_values.Length];
    }

    public int Count => _blocks.Length;

    public bool IsEmpty => _values.Length == 0;

    /// <summary>Of all blocks, microseconds.</summary>
    public double Percentile(double percent)
    {
        Array.Clear(_drawn);
        foreach ((int, long)[] block in _blocks)
            Add(block);
        return OfDrawn(percent);
    }

    /// <summary>Of as many blocks as there are, drawn with replacement; microseconds.</summary>
    public double DrawPercentile(double percent, ref RandomStream random)
    {
        Array.Clear(_drawn);
        for (int i = 0; i < _blocks.Length; i++)
            Add(_blocks[random.Next(_blocks.Length)]);
        return OfDrawn(percent);
    }

    private void Add((int Place, long Count)[] block)
    {
        foreach ((int place, long count) in block)
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
