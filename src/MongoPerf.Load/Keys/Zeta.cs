namespace MongoPerf.Load.Keys;

/// <summary>ζ(n, θ) = 1 + 2^−θ + … + n^−θ, for any n in constant time.</summary>
/// <remarks>
/// YCSB adds term after term, which for 10^10 keys takes minutes, so it has that one value built in. Here the terms beyond the first few
/// are summed by the Euler–Maclaurin formula (DLMF 2.10.1), to some 13 digits.
/// </remarks>
/// <param name="theta">The theta, above 0 and below 1.</param>
internal readonly struct Zeta(double theta)
{
    /// <summary>Up to so many keys terms are added one by one; the formula's first term left out is then below 10^−16.</summary>
    private const int Direct = 64;

    private readonly double _theta = theta is > 0 and < 1 ? theta
        : throw new ArgumentOutOfRangeException(nameof(theta), theta, "a zipfian's theta is above 0 and below 1");
    private readonly double _start = Sum(Direct, theta) - Antiderivative(Direct, theta);

    /// <param name="n">1 or more.</param>
    public double Of(long n) => n <= Direct ? Sum((int)n, _theta) : _start + Antiderivative(n, _theta);

    private static double Sum(int n, double theta)
    {
        double sum = 0;
        // The smallest first: less is lost by rounding.
        for (int i = n; i >= 1; i--)
            sum += Math.Pow(i, -theta);
        return sum;
    }

    /// <summary>
    /// What the sum up to n grows like: the integral of f, f / 2, and f's first, third and fifth derivatives / 12, / −720, / 30240.
    /// </summary>
    private static double Antiderivative(double n, double theta)
    {
        double f = Math.Pow(n, -theta);
        double first = -theta * f / n;
        double third = first * (theta + 1) * (theta + 2) / (n * n);
        double fifth = third * (theta + 3) * (theta + 4) / (n * n);
        return (f * n / (1 - theta)) + (f / 2) + (first / 12) - (third / 720) + (fifth / 30240);
    }
}
