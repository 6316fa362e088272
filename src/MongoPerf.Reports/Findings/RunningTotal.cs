namespace MongoPerf.Reports.Findings;

/// <summary>
/// What was done in each second, added up so that any stretch of time is found in two look-ups; of a second that lies in it in
/// part, that part counts.
/// </summary>
internal sealed class RunningTotal
{
    private readonly (TimeWindow Window, double Amount)[] _seconds;

    /// <summary>The amounts of all seconds before that of the same place.</summary>
    private readonly double[] _amounts;
    private readonly double[] _lengths;

    /// <param name="seconds">The seconds in the order of time, without overlaps, and what was done in each.</param>
    public RunningTotal(IEnumerable<(TimeWindow Window, double Amount)> seconds)
    {
        _seconds = [.. seconds];
        _amounts = new double[_seconds.Length + 1];
        _lengths = new double[_seconds.Length + 1];
        foreach ((int i, (TimeWindow window, double amount)) in _seconds.Index())
        {
            _amounts[i + 1] = _amounts[i] + amount;
            _lengths[i + 1] = _lengths[i] + window.Seconds;
        }
    }

    /// <summary>The rate per second of those seconds that lie in the windows; 0 where there are none.</summary>
    /// <param name="windows">The windows without overlaps.</param>
    public double RateIn(IReadOnlyList<TimeWindow> windows)
    {
        double amount = 0;
        double length = 0;
        foreach (TimeWindow window in windows)
        {
            (double amountBefore, double lengthBefore) = Until(window.From);
            (double amountThen, double lengthThen) = Until(window.To);
            amount += amountThen - amountBefore;
            length += lengthThen - lengthBefore;
        }

        return length > 0 ? amount / length : 0;
    }

    private (double Amount, double Length) Until(long at)
    {
        int low = 0;
        int high = _seconds.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            (low, high) = _seconds[middle].Window.From < at ? (middle + 1, high) : (low, middle);
        }

        if (low == 0)
            return (0, 0);
        (TimeWindow last, double amount) = _seconds[low - 1];
        double share = Math.Min(1, (at - last.From) / (double)Math.Max(1, last.To - last.From));
        return (_amounts[low - 1] + (share * amount), _lengths[low - 1] + (share * last.Seconds));
    }
}
