using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>
/// Draws ranks 0 ≤ r &lt; n where rank r is about (r + 1)^θ times rarer than rank 0, in constant time and memory for any n.
/// </summary>
/// <remarks>
/// J. Gray et al., "Quickly generating billion-record synthetic databases", 1994, section 3, as YCSB uses it. Ranks 0 and 1 have exactly
/// the probabilities of Zipf's law, 1 / ζ(n, θ) and 2^−θ / ζ(n, θ); the others share the rest by a continuous curve, which gives the next
/// few up to a sixth more than the law does. A mutable struct: hold it in a field, never copy it. One thread.
/// </remarks>
/// <param name="theta">Skew, above 0 and below 1; YCSB's is <see cref="UsualTheta"/>.</param>
internal struct Zipfian(double theta)
{
    public const double UsualTheta = 0.99;

    private readonly Zeta _zeta = new(theta);
    private readonly double _alpha = 1 / (1 - theta);
    private readonly double _firstTwo = 1 + Math.Pow(0.5, theta);
    private long _count;
    private double _zetaOfCount;
    private double _eta;

    /// <param name="count">Ranks, 1 or more. A count other than the last one costs a few logarithms.</param>
    /// <param name="random">The worker's own.</param>
    public long Next(long count, ref RandomStream random)
    {
        if (count != _count)
            Adapt(count);
        double u = random.NextDouble();
        double scaled = u * _zetaOfCount;
        if (scaled < 1)
            return 0;
        if (scaled < _firstTwo || count == 2)
            return 1;
        // Rounding may reach count itself.
        return Math.Min(count - 1, (long)(count * Math.Pow((_eta * u) - _eta + 1, _alpha)));
    }

    private void Adapt(long count)
    {
        _zetaOfCount = _zeta.Of(count);
        _eta = (1 - Math.Pow(2.0 / count, 1 - theta)) / (1 - (_firstTwo / _zetaOfCount));
        _count = count;
    }
}
