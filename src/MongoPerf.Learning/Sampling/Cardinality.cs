namespace MongoPerf.Learning.Sampling;

/// <summary>How many different values a field has in the whole collection, and how unevenly they come.</summary>
/// <param name="Distinct">1 or more.</param>
/// <param name="Drawn">
/// Of how many values each document's was drawn at random, if it was: more than there are, since some are met by no document.
/// </param>
/// <param name="Theta">
/// The θ of the zipfian that fits: value number r comes in proportion to r^−θ; 0 where all come alike.
/// </param>
public readonly record struct Cardinality(double Distinct, double Drawn, double Theta)
{
    private const double MostTheta = 0.999;
    private const int Direct = 512;

    /// <summary>Drawn from so many times the number of documents, hardly any two of them have the same value.</summary>
    private const double AllDifferent = 20;

    /// <summary>The values come more unevenly than any zipfian would have them.</summary>
    public bool IsSteepest => Theta >= MostTheta;

    /// <summary>
    /// Two figures of the sample are met: the chance that two of its values are the same, which a few frequent values decide, and how many
    /// different ones it has.
    /// </summary>
    /// <param name="counts">How often each different value is in the sample.</param>
    /// <param name="total">Values in the whole collection, no fewer than in the sample.</param>
    public static Cardinality Of(IReadOnlyCollection<long> counts, double total) => Of(counts, counts.Count, total);

    /// <summary>By how much <see cref="Distinct"/> differs between samples, as a standard deviation.</summary>
    /// <inheritdoc cref="Of(IReadOnlyCollection{long}, double)"/>
    public static double ErrorOf(IReadOnlyCollection<long> counts, double total)
    {
        double values = counts.Sum();
        // What came once might not have come, what came c times with a chance of e^-c; where nearly all came once, what came twice might
        // have come once.
        double error = Math.Sqrt(Math.Min(counts.Sum(count => count == 1 ? 1 : Math.Exp(-count)), values - counts.Count + 1));
        return values >= total * 0.999 ? error
            : (Of(counts, Math.Min(values, counts.Count + error), total).Distinct
                - Of(counts, Math.Max(1, counts.Count - error), total).Distinct) / 2;
    }

    private static Cardinality Of(IReadOnlyCollection<long> counts, double different, double total)
    {
        double values = counts.Sum();
        if (values < 2)
            return new Cardinality(Math.Max(1, values), Math.Max(1, values), 0);
        double repeat = counts.Sum(count => (double)count * (count - 1)) / (values * (values - 1));
        double most = AllDifferent * total;
        double theta = 0;
        double drawn = Drawn(0);
        // The two depend on each other; they settle at once.
        for (int round = 0; round < 4; round++)
        {
            // By chance alone even values of a uniform draw repeat somewhat more or less.
            theta = drawn < 2 || drawn >= most || repeat < 1.1 / drawn ? 0 : Solve(0, MostTheta, t => Repeat(drawn, t), repeat);
            if (theta <= 0)
                break;
            drawn = Drawn(theta);
        }

        if (theta is > 0 and < 0.15)
            (theta, drawn) = (0, Drawn(0));
        double distinct = values >= total * 0.999 ? different
            : drawn >= most ? total : Math.Min(total, Math.Max(different, Expected(drawn, theta, total)));
        return new Cardinality(distinct, drawn, theta);

        double Drawn(double skew) => Solve(different, most, d => Expected(d, skew, values), different);
    }

    /// <summary>The chance that two draws give the same value.</summary>
    private static double Repeat(double distinct, double theta) =>
        Sum(distinct, 2 * theta) / (Sum(distinct, theta) * Sum(distinct, theta));

    /// <summary>How many different values so many draws give.</summary>
    private static double Expected(double distinct, double theta, double draws)
    {
        double norm = draws / Sum(distinct, theta);
        double expected = 0;
        double rank = 1;
        // Ranks one by one, then in blocks that grow.
        while (rank < distinct + 1)
        {
            double width = Math.Min(distinct - rank + 1, rank < Direct ? 1 : Math.Max(1, rank * 0.03));
            double middle = rank + ((width - 1) / 2);
            expected += width * (1 - Math.Exp(-norm * Math.Pow(middle, -theta)));
            rank += width;
        }

        return expected;
    }

    /// <summary>1 + 2^−s + … + n^−s; the terms after the first few by their integral.</summary>
    private static double Sum(double n, double s)
    {
        double sum = 0;
        double direct = Math.Min(n, Direct);
        for (int i = 1; i <= direct; i++)
            sum += Math.Pow(i, -s);
        if (n <= Direct)
            return sum;
        (double from, double to) = (Direct + 0.5, n + 0.5);
        return sum + (Math.Abs(s - 1) < 1e-9 ? Math.Log(to / from) : (Math.Pow(to, 1 - s) - Math.Pow(from, 1 - s)) / (1 - s));
    }

    /// <summary>Where a growing function has a value, between two ends.</summary>
    private static double Solve(double low, double high, Func<double, double> function, double value)
    {
        if (function(high) <= value)
            return high;
        for (int i = 0; i < 50 && high - low > 1e-4 * Math.Max(1, low); i++)
        {
            double middle = (low + high) / 2;
            if (function(middle) < value)
                low = middle;
            else
                high = middle;
        }

        return (low + high) / 2;
    }
}
