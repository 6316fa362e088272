using MathNet.Numerics;
using MathNet.Numerics.Distributions;

namespace MongoPerf.Reports.Comparison.Statistics;

/// <summary>A stretch of a row of values on another level than the rest.</summary>
/// <param name="From">Its first value, 0-based.</param>
/// <param name="To">One beyond its last.</param>
/// <param name="Ratio">The ratio of its level to that of the rest.</param>
/// <param name="Interval">The interval of the ratio.</param>
/// <param name="P">The probability that chance makes such a stretch anywhere in the row, at most.</param>
internal sealed record LevelShift(int From, int To, double Ratio, Interval Interval, double P)
{
    public bool Contains(int place) => place >= From && place < To;

    /// <summary>The same change, said of the values behind a stretch that begins the row.</summary>
    /// <param name="count">The number of values in the row.</param>
    public LevelShift OfRest(int count) => new(To, count, 1 / Ratio, new Interval(1 / Interval.High, 1 / Interval.Low), P);
}

/// <summary>Finds stretches on another level by two methods that must agree.</summary>
/// <remarks>
/// <para>Circular binary segmentation (A. B. Olshen et al., Biostatistics 5, 2004) looks for the stretch whose mean lies farthest from that
/// of the rest, in standard errors. Ranks, which no outlier can sway, must put a change at each of its ends too: A. N. Pettitt's change
/// point (Applied Statistics 28, 1979) among the neighbours. Then Student's t, multiplied by the number of stretches that lie beside each
/// other, must stay below the level; it is doubled, since the correlation that its error grows by is an estimate.</para>
/// <para>The error grows by what the correlation from value to value does to it (<see cref="Autocorrelation"/>), and beyond that by
/// what means of blocks vary more than a first-order process has it: machines wander. A short row can't show how much; it is
/// granted 1.5 %.</para>
/// </remarks>
internal static class LevelScan
{
    public const int LeastValues = 20;
    private const int LeastLength = 5;
    private const int LeastBlocks = 8;
    private const double LengthGrowth = 1.3;
    private const double Deviations = 10;
    private const int MostNeighbours = 50;
    private const double LeastDeviation = 0.002;

    /// <summary>
    /// How far the level of an idle machine moves by itself, as a share, and how many stretches it takes to see that in the row itself.
    /// </summary>
    private const double OwnWander = 0.015;
    private const double StretchesToSeeIt = 2;

    /// <summary>The stretches, the plainest first; each is looked for when the ones before it have been taken out.</summary>
    /// <param name="values">Greater than 0, in the order of time; fewer than 20 have no stretch.</param>
    /// <param name="level">A stretch's <see cref="LevelShift.P"/> is below it.</param>
    /// <param name="least">How far its ratio is from 1, at least, as a share.</param>
    /// <param name="most">How many.</param>
    public static IReadOnlyList<LevelShift> FindAll(double[] values, double level, double least, int most)
    {
        List<LevelShift> found = [];
        double[] rest = [.. values];
        while (found.Count < most && Find(rest, level) is { } shift && Math.Abs(shift.Ratio - 1) >= least)
        {
            found.Add(shift);
            for (int i = shift.From; i < shift.To; i++)
                rest[i] /= shift.Ratio;
        }

        return found;
    }

    private static LevelShift? Find(double[] values, double level)
    {
        if (values.Length < LeastValues)
            return null;
        double[] all = [.. values.Select(v => Math.Log(v))];
        double[] clamped = Clamped(all);
        (int from, int to) = Farthest(clamped);
        if (!IsChange(clamped, from, to - from) || !IsChange(clamped, to, to - from) || IsSlope(clamped, from, to))
            return null;
        // Each level about its own median: about that of all, a level far off would be a single value, with no noise of its own.
        double[] rest = Clamped([.. all[..from], .. all[to..]]);
        double[] logarithms = [.. rest[..from], .. Clamped(all[from..to]), .. rest[from..]];
        double[] inside = [.. logarithms[from..to]];
        double[] outside = [.. logarithms[..from], .. logarithms[to..]];
        double difference = inside.Average() - outside.Average();
        (double error, double freedom) = Error(logarithms, from, to);
        double p = Math.Min(1, 2 * Stretches(values.Length) * 2 * StudentT.CDF(0, 1, freedom, -Math.Abs(difference) / error));
        double reach = error * StudentT.InvCDF(0, 1, freedom, 0.975);
        if (p >= level)
            return null;
        // Of the values as they are, as findings state them.
        double ratio = values[from..to].Average() / values[..from].Concat(values[to..]).Average();
        return new LevelShift(from, to, ratio, new Interval(ratio * Math.Exp(-reach), ratio * Math.Exp(reach)), p);
    }

    private static double[] Clamped(double[] logarithms)
    {
        double median = Quantiles.Median(logarithms);
        double deviation = Math.Max(LeastDeviation, 1.4826 * Quantiles.Median([.. logarithms.Select(v => Math.Abs(v - median))]));
        return [.. logarithms.Select(v => Math.Clamp(v, median - (Deviations * deviation), median + (Deviations * deviation)))];
    }

    /// <summary>Ranks put the change among the neighbours of a stretch's end near it; the ends of the row need none.</summary>
    private static bool IsChange(double[] values, int at, int length)
    {
        if (at == 0 || at == values.Length)
            return true;
        int neighbours = Math.Clamp(length, LeastLength, MostNeighbours);
        int from = Math.Max(0, at - neighbours);
        double[] near = values[from..Math.Min(values.Length, at + neighbours)];
        int sum = 0;
        (int Score, int Place) best = (-1, 0);
        for (int i = 0; i < near.Length - 1; i++)
        {
            sum += near.Sum(other => Math.Sign(near[i] - other));
            if (Math.Abs(sum) > best.Score)
                best = (Math.Abs(sum), i + 1);
        }

        return Math.Abs(from + best.Place - at) <= Math.Max(2, length / 4);
    }

    /// <summary>
    /// A line through all values fits them as well as two levels do, of which one reaches an end: they fall or rise steadily.
    /// </summary>
    private static bool IsSlope(double[] values, int from, int to)
    {
        if (from > 0 && to < values.Length)
            return false;
        int half = from > 0 ? from : to;
        double[] places = [.. Enumerable.Range(0, values.Length).Select(i => (double)i)];
        (double start, double slope) = Fit.Line(places, values);
        return places.Zip(values, (at, v) => Squared(v - start - (slope * at))).Sum() <= SquaresOf(
            values[..half]) + SquaresOf(values[half..]);

        static double Squared(double v) => v * v;

        static double SquaresOf(double[] part)
        {
            double mean = part.Average();
            return part.Sum(v => Squared(v - mean));
        }
    }

    /// <summary>The shorter part where the stretch reaches an end of the row.</summary>
    private static (int From, int To) Farthest(double[] values)
    {
        double[] sums = new double[values.Length + 1];
        for (int i = 0; i < values.Length; i++)
            sums[i + 1] = sums[i] + values[i];
        (double Score, int From, int To) best = (-1, 0, LeastLength);
        foreach (int length in Lengths(values.Length))
        {
            for (int from = 0; from + length <= values.Length; from++)
                best = Better(best, sums, from, from + length);
        }

        // Lengths were tried in steps: now each end is put right.
        for (int round = 0; round < 2; round++)
        {
            int room = 1 + ((best.To - best.From) / 2);
            (_, int oldFrom, int oldTo) = best;
            for (int from = Math.Max(0, oldFrom - room); from <= oldFrom + room; from++)
                best = Better(best, sums, from, oldTo);
            int start = best.From;
            for (int to = oldTo - room; to <= Math.Min(values.Length, oldTo + room); to++)
                best = Better(best, sums, start, to);
        }

        int half = values.Length / 2;
        return best.From == 0 && best.To > half ? (best.To, values.Length)
            : best.To == values.Length && best.From < half ? (0, best.From) : (best.From, best.To);
    }

    private static (double Score, int From, int To) Better((double Score, int From, int To) best, double[] sums, int from, int to)
    {
        int all = sums.Length - 1;
        int inside = to - from;
        if (inside < LeastLength || all - inside < LeastLength)
            return best;
        double sum = sums[to] - sums[from];
        double outside = all - inside;
        double score = Math.Abs((sum / inside) - ((sums[all] - sum) / outside)) * Math.Sqrt(inside * outside / all);
        return score > best.Score ? (score, from, to) : best;
    }

    private static IEnumerable<int> Lengths(int values)
    {
        for (double length = LeastLength; length <= values - LeastLength; length *= LengthGrowth)
            yield return (int)length;
    }

    /// <summary>About how many of all lengths lie beside each other without overlap by more than half.</summary>
    private static double Stretches(int values) => Lengths(values).Sum(length => 2.0 * (values - length + 1) / length);

    /// <summary>The difference of the two means with its degrees of freedom.</summary>
    private static (double Error, double Freedom) Error(double[] logarithms, int from, int to)
    {
        double[][] parts = [logarithms[..from], logarithms[from..to], logarithms[to..]];
        double correlation = Autocorrelation.OfFirstOrder(parts.Where(part => part.Length >= LeastLength)
            .Select(part => part.Select(v => Math.Exp(v)).ToArray()));
        double inside = parts[1].Average();
        double outside = parts[0].Concat(parts[2]).Average();
        double[] left = [.. logarithms.Select((v, i) => v - (i >= from && i < to ? inside : outside))];
        int all = logarithms.Length;
        int length = to - from;
        double inflation = Autocorrelation.VarianceInflation(correlation, all);
        double variance =
            Math.Max(LeastDeviation * LeastDeviation, left.Sum(v => v * v) / Math.Max(1, all - 2)) / Math.Max(0.1, 1 - (inflation / all));
        double wandering = Wandering(left, Math.Min(length, all / LeastBlocks), correlation, variance);
        double ofBoth = variance * wandering
            * ((Autocorrelation.VarianceInflation(correlation, length) / length)
                + (Autocorrelation.VarianceInflation(correlation, all - length) / (all - length)));
        double ownWander = OwnWander * OwnWander / (1 + (Math.Max(0, (all / (double)length) - 2) / StretchesToSeeIt));
        // Squares of correlated values resemble each other by the square of the correlation (Bayley and Hammersley, 1946).
        return (Math.Sqrt(ofBoth + ownWander), Math.Max(3, (all / Autocorrelation.VarianceInflation(correlation * correlation, all)) - 2));
    }

    /// <summary>How much more the means of blocks vary than a first-order process has it; 1 at least.</summary>
    private static double Wandering(double[] left, int length, double correlation, double variance)
    {
        if (length < 2)
            return 1;
        double[] means = [.. left.Chunk(length).Where(block => block.Length == length).Select(block => block.Average())];
        double expected = variance * Autocorrelation.VarianceInflation(correlation, length) / length;
        return Math.Max(1, means.Sum(m => m * m) / means.Length / expected);
    }
}
