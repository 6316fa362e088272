using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>The newest keys are the most popular; how far back a key lies is distributed exponentially.</summary>
/// <remarks>
/// The distance to the newest key has the rate γ = −ln(1 − percentile / 100) / (count × fraction): that percentage of the operations
/// lies within that fraction of the keys. What would lie before the first key is drawn again. YCSB takes the count from the start of
/// the run, and so does this.
/// </remarks>
public sealed class ExponentialKeys : KeyChooser
{
    private readonly double _meanDistance;

    /// <param name="keys">Those that exist, at least 1.</param>
    /// <param name="percentile">The percentile, above 0 and below 100 (YCSB's exponential.percentile, there 95).</param>
    /// <param name="fraction">The fraction, above 0 (YCSB's exponential.frac, there 0.8571428571).</param>
    public ExponentialKeys(KeySpace keys, double percentile, double fraction)
        : base(keys)
    {
        if (percentile is not (> 0 and < 100))
            throw new ArgumentOutOfRangeException(nameof(percentile), percentile, "a percentile lies between 0 and 100");
        if (fraction is not (> 0 and <= double.MaxValue))
            throw new ArgumentOutOfRangeException(nameof(fraction), fraction, "a fraction of the keys is above 0");
        _meanDistance = Count * fraction / -Math.Log(1 - (percentile / 100));
    }

    private protected override long Draw(ref RandomStream random)
    {
        long count = Count;
        while (true)
        {
            // 1 − u is above 0, so the logarithm is finite; a distance beyond a long's range is cut to its greatest value.
            long distance = (long)(-Math.Log(1 - random.NextDouble()) * _meanDistance);
            if (distance < count)
                return count - 1 - distance;
        }
    }
}
