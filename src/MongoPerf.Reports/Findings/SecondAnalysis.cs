using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>What is more than chance in the rates of seconds in a row.</summary>
/// <param name="Drift">Null when they rise or fall in no steady way.</param>
/// <param name="Shifts">Stretches on another level, beside the drift; none where there is a period.</param>
/// <param name="Period">Null when there is none.</param>
internal sealed record SecondAnalysis(Trend? Drift, IReadOnlyList<LevelShift> Shifts, Period? Period)
{
    /// <summary>Smaller ones are within what an idle machine differs by from one run to the next, as in comparisons.</summary>
    public const double Least = 0.05;
    private const int LeastForDrift = 30;
    private const int MostShifts = 3;

    /// <param name="rates">Greater than 0, in the order of time.</param>
    /// <param name="level">Chance of each of the three where nothing but noise is, at most.</param>
    /// <param name="inStep">
    /// The same with a value for each second that is not judged: behind a gap a period would be out of step. Null where there is none.
    /// </param>
    public static SecondAnalysis Of(double[] rates, double level, double[]? inStep = null)
    {
        Trend? drift = DriftOf(rates, level);
        return Period.Find(Flat(inStep ?? rates), level) is { } period && period.Amplitude >= Least
            ? new SecondAnalysis(drift, [], period)
            : new SecondAnalysis(drift, LevelScan.FindAll(Flat(rates), level, Least, MostShifts), null);

        double[] Flat(double[] row) =>
            drift is null ? row : [.. row.Select((rate, i) => rate * Math.Pow(drift.Ratio, -i / (double)(row.Length - 1)))];
    }

    /// <summary>Both halves must drift the same way: a step does not.</summary>
    private static Trend? DriftOf(double[] rates, double level)
    {
        if (rates.Length < LeastForDrift || Trend.Of(rates) is not { IsStraight: true } trend || trend.P >= level
            || Math.Abs(trend.Ratio - 1) < Least)
            return null;
        int half = rates.Length / 2;
        int way = Math.Sign(trend.Ratio - 1);
        return new[] { rates[..half], rates[half..] }.All(part => Trend.Of(part) is { } one && Math.Sign(one.Ratio - 1) == way) ? trend
            : null;
    }
}
