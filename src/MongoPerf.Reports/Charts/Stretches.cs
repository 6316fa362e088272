namespace MongoPerf.Reports.Charts;

/// <summary>So much happened between two times.</summary>
/// <param name="From">The beginning in Unix milliseconds.</param>
/// <param name="To">The end in Unix milliseconds, later.</param>
/// <param name="Count">How much happened.</param>
internal readonly record struct Stretch(long From, long To, double Count);

/// <summary>Counts in stretches, asked for by other stretches: what lies in both is divided by time.</summary>
/// <param name="all">The stretches in time order; what overlaps the one before begins where that ended.</param>
internal sealed class Stretches(IReadOnlyList<Stretch> all)
{
    private int _first;

    /// <param name="from">The beginning in Unix milliseconds, never earlier than at the last call.</param>
    /// <param name="to">The end in Unix milliseconds, later.</param>
    public double Between(long from, long to)
    {
        while (_first < all.Count && all[_first].To <= from)
            _first++;
        double sum = 0;
        for (int i = _first; i < all.Count && all[i].From < to; i++)
        {
            long begin = i == 0 ? all[i].From : Math.Max(all[i].From, all[i - 1].To);
            long shared = Math.Min(to, all[i].To) - Math.Max(from, begin);
            if (shared > 0)
                sum += all[i].Count * shared / (all[i].To - begin);
        }

        return sum;
    }
}
