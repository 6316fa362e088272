namespace MongoPerf.Reporting.Charts;

/// <summary>Averages values over equal pieces of the time axis, so that a data file's length does not grow with the run's.</summary>
/// <remarks>Columns are sums and weights: a rate is given as (operations, seconds), a level as (level, 1).</remarks>
internal sealed class TimeBuckets(int columns, double totalSeconds, int mostBuckets)
{
    private readonly SortedDictionary<long, Bucket> _buckets = [];

    /// <summary>Never under a second, the distance of samples.</summary>
    public double Width { get; } = Math.Max(1, totalSeconds / mostBuckets);

    public void Add(double at, int column, double sum, double weight)
    {
        if (!double.IsFinite(sum) || weight <= 0)
            return;
        long key = (long)(at / Width);
        if (!_buckets.TryGetValue(key, out var bucket))
            _buckets.Add(key, bucket = new Bucket(columns));
        bucket.Times += at;
        bucket.Count++;
        bucket.Sums[column] += sum;
        bucket.Weights[column] += weight;
    }

    /// <summary>Time and averages in time order; NaN where nothing fell in, and a row of NaN where samples were missing for long.</summary>
    public IEnumerable<double[]> Rows()
    {
        double longestStep = Math.Max(5, Width * 2.5);
        double previous = double.NaN;
        foreach (var bucket in _buckets.Values)
        {
            double at = bucket.Times / bucket.Count;
            if (at - previous > longestStep)
                yield return Row((at + previous) / 2, static _ => double.NaN);
            yield return Row(at, column => bucket.Weights[column] > 0 ? bucket.Sums[column] / bucket.Weights[column] : double.NaN);
            previous = at;
        }
    }

    private double[] Row(double at, Func<int, double> valueOf) => [at, .. Enumerable.Range(0, columns).Select(valueOf)];

    private sealed class Bucket(int columns)
    {
        public double[] Sums { get; } = new double[columns];

        public double[] Weights { get; } = new double[columns];

        public double Times { get; set; }

        public int Count { get; set; }
    }
}
