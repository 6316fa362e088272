using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>One step: where it ends, and which insert test writes which numbers.</summary>
/// <param name="Step">1-based.</param>
/// <param name="Range">All numbers of the step.</param>
/// <param name="Inserts">In order; ranges without documents are left out.</param>
public sealed record SeriesStep(int Step, NumberRange Range, IReadOnlyList<InsertRange> Inserts);

public sealed record InsertRange(string Test, NumberRange Range);

/// <summary>How a collection grows to its target: a function of what was asked for, so that a resumed run has the same steps.</summary>
public static class SeriesSchedule
{
    /// <summary>The default step: the target's tenth under 10 M, its twentieth under 100 M, its hundredth from there, as 1, 2 or 5 times a power of ten.</summary>
    public static long DefaultStep(long target)
    {
        long parts = target < 10_000_000 ? 10 : target < 100_000_000 ? 20 : 100;
        double wanted = Math.Max(1, (double)target / parts);
        double power = Math.Pow(10, Math.Floor(Math.Log10(wanted)));
        double leading = wanted / power;
        // The nearest of 1, 2, 5 and 10 on a scale of ratios.
        int nice = leading < Math.Sqrt(2) ? 1 : leading < Math.Sqrt(10) ? 2 : leading < Math.Sqrt(50) ? 5 : 10;
        return (long)(nice * power);
    }

    /// <summary>Percent of a step for unack, batch and safe: small steps give the single inserts more, so that each is long enough to measure.</summary>
    public static IReadOnlyList<int> DefaultShares(long target) => target < 10_000_000 ? [20, 60, 20] : [10, 85, 5];

    /// <summary>Seconds of a query test's window.</summary>
    public static double DefaultWindow(long target) => target < 100_000_000 ? 5 : 10;

    /// <summary>The steps from the one that holds number <paramref name="start"/> on.</summary>
    /// <param name="target">Documents at the end.</param>
    /// <param name="step">Documents per step.</param>
    /// <param name="shares">Percent for unack, batch and safe; add up to 100.</param>
    /// <param name="tests">The share of an insert test that was not asked for goes to batch.</param>
    /// <param name="start">Documents that are there already.</param>
    public static IEnumerable<SeriesStep> Steps(long target, long step, IReadOnlyList<int> shares, IReadOnlyList<string> tests, long start = 0)
    {
        for (int number = (int)(start / step) + 1; (number - 1) * step < target; number++)
            yield return StepAt(number, target, step, shares, tests);
    }

    /// <param name="number">1-based.</param>
    /// <param name="target">Documents at the end.</param>
    /// <param name="step">Documents per step.</param>
    /// <param name="shares">Percent for unack, batch and safe; add up to 100.</param>
    /// <param name="tests">The share of an insert test that was not asked for goes to batch.</param>
    public static SeriesStep StepAt(int number, long target, long step, IReadOnlyList<int> shares, IReadOnlyList<string> tests)
    {
        long first = (number - 1) * step;
        var range = new NumberRange(first, Math.Min(first + step, target));
        return new SeriesStep(number, range, Split(range, shares, tests));
    }

    private static List<InsertRange> Split(NumberRange range, IReadOnlyList<int> shares, IReadOnlyList<string> tests)
    {
        int unack = tests.Contains(SeriesTests.Unacknowledged) ? shares[0] : 0;
        int safe = tests.Contains(SeriesTests.Safe) ? shares[2] : 0;
        long batchFirst = range.First + (range.Count * unack / 100);
        long safeFirst = range.End - (range.Count * safe / 100);
        InsertRange[] all =
        [
            new(SeriesTests.Unacknowledged, new(range.First, batchFirst)),
            new(SeriesTests.Batch, new(batchFirst, safeFirst)),
            new(SeriesTests.Safe, new(safeFirst, range.End)),
        ];
        return [.. all.Where(r => r.Range.Count > 0)];
    }
}
