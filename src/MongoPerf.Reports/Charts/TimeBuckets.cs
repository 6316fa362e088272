namespace MongoPerf.Reports.Charts;

/// <summary>Averages values of the same second, where several parts of a line are laid over each other.</summary>
/// <remarks>Columns are sums and weights: a rate is given as (operations, seconds), a level as (level, 1).</remarks>
internal sealed class TimeBuckets(int columns)
{
    private readonly SortedDictionary<long, Bucket> _buckets = [];

    public void Add(double at, int column, double sum, double weight)
    {
        if (!double.IsFinite(sum) || weight <= 0)
            return;
        long key = (long)at;
        if (!_buckets.TryGetValue(key, out var bucket))
            _buckets.Add(key, bucket = new Bucket(columns));
        bucket.Times += at;
        bucket.Count++;
        bucket.Sums[column] += sum;
        bucket.Weights[column] += weight;
    }

    /// <summary>Makes rows of time and averages, in time order; NaN where nothing fell in.</summary>
    public IEnumerable<double[]> Rows() => _buckets.Values.Select(bucket =>
        (double[])[bucket.Times / bucket.Count,
            .. bucket.Sums.Zip(bucket.Weights, static (sum, weight) => weight > 0 ? sum / weight : double.NaN)]);

    private sealed class Bucket(int columns)
    {
        public double[] Sums { get; } = new double[columns];

        public double[] Weights { get; } = new double[columns];

        public double Times { get; set; }

        public int Count { get; set; }
    }
}
