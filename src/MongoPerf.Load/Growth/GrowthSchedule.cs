using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;

namespace MongoPerf.Load.Growth;

/// <summary>Which numbers of a collection one way of writing writes in a step.</summary>
public sealed record WriteRange(GrowthWrite Write, GrowingCollection Collection, NumberRange Range);

/// <summary>How collections grow to their target: a function of the plan, so that a resumed run has the same steps.</summary>
public static class GrowthSchedule
{
    /// <summary>
    /// Steps of a growth that names none, for a target: its tenth under 10M, its twentieth under 20M, 1M from there, as 1, 2 or 5
    /// times a power of ten.
    /// </summary>
    /// <remarks>A million documents are fine enough to show swings with a period of four.</remarks>
    public static long DefaultStep(long target)
    {
        double wanted = target < 10_000_000 ? Math.Max(1, target / 10.0) : Math.Min(1_000_000, target / 20.0);
        double power = Math.Pow(10, Math.Floor(Math.Log10(wanted)));
        double leading = wanted / power;
        // The nearest of 1, 2, 5 and 10 on a scale of ratios.
        int nice = leading < Math.Sqrt(2) ? 1 : leading < Math.Sqrt(10) ? 2 : leading < Math.Sqrt(50) ? 5 : 10;
        return (long)(nice * power);
    }

    /// <summary>The sizes from one step to the target.</summary>
    public static IReadOnlyList<long> Sizes(long target, long step) =>
        [.. Enumerable.Range(1, (int)((target + step - 1) / step)).Select(number => Math.Min(target, number * step))];

    /// <summary>What is written in a step, in order; ranges without documents are left out.</summary>
    /// <param name="growth">The growth of the plan.</param>
    /// <param name="step">1-based.</param>
    public static IReadOnlyList<WriteRange> WritesOf(GrowthPlan growth, int step)
    {
        long before = step == 1 ? 0 : growth.Sizes[step - 2];
        double shares = growth.Writes.Sum(write => write.Share);
        var ranges = new List<WriteRange>();
        foreach (GrowingCollection collection in growth.Collections)
        {
            var all = new NumberRange(before * collection.Factor, growth.Sizes[step - 1] * collection.Factor);
            double share = 0;
            long first = all.First;
            foreach (GrowthWrite write in growth.Writes)
            {
                share += write.Share;
                long end = share >= shares ? all.End : all.First + (long)(all.Count * share / shares);
                if (end > first)
                    ranges.Add(new WriteRange(write, collection, new NumberRange(first, end)));
                first = end;
            }
        }

        return ranges;
    }

    /// <summary>The step in which the collection has grown beyond these documents.</summary>
    /// <returns>1-based; one beyond the last when the target is reached.</returns>
    public static int StepBeyond(GrowthPlan growth, long documents) => growth.Sizes.TakeWhile(size => size <= documents).Count() + 1;
}
