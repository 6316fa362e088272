using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>Logarithms of a ratio, as they were drawn: its intervals of any confidence.</summary>
public sealed class Drawn
{
    private readonly double[] _sorted;
    private readonly int _independent;

    /// <param name="logarithms">Taken over, and sorted.</param>
    /// <param name="independent">How many independent things each draw is made of, at least.</param>
    public Drawn(double[] logarithms, int independent)
    {
        _sorted = logarithms;
        _independent = independent;
        Array.Sort(_sorted);
    }

    /// <param name="confidence">0.95 leaves out a fortieth at each end.</param>
    public Interval At(double confidence)
    {
        double tail = Tail((1 - confidence) / 2);
        return Interval.OfLogarithms(Quantile(tail), Quantile(1 - tail));
    }

    /// <summary>The share itself for very many independent things, less for few.</summary>
    private double Tail(double share) => _independent < 2
        ? 0
        : Normal.CDF(0, 1, Math.Sqrt(_independent / (_independent - 1.0)) * StudentT.InvCDF(0, 1, _independent - 1, share));

    private double Quantile(double share)
    {
        double place = share * (_sorted.Length - 1);
        int below = (int)place;
        double above = _sorted[Math.Min(below + 1, _sorted.Length - 1)];
        return _sorted[below] + ((place - below) * (above - _sorted[below]));
    }
}
