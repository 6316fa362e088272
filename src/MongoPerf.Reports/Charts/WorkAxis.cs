namespace MongoPerf.Reports.Charts;

/// <summary>Maps wall-clock time to seconds spent in some operations: all others and pauses are cut out.</summary>
internal sealed class WorkAxis
{
    /// <summary>Samples that are nearer to each other belong together.</summary>
    private const long GapMilliseconds = 500;

    private readonly List<(long Start, long End, double Before)> _stretches = [];

    /// <param name="work">The seconds in time order.</param>
    public WorkAxis(IEnumerable<OperationSecond> work)
    {
        foreach (OperationSecond second in work)
            Add(second.StartMilliseconds, second.AtMilliseconds);
    }

    public double Seconds => _stretches.Count == 0 ? 0 : EndOf(_stretches[^1]);

    /// <summary>Turns a time into seconds on the axis; one between two stretches is put at the end of the first.</summary>
    public double At(long milliseconds)
    {
        int low = 0;
        int high = _stretches.Count - 1;
        while (low < high)
        {
            int middle = (low + high + 1) / 2;
            if (_stretches[middle].Start <= milliseconds)
                low = middle;
            else
                high = middle - 1;
        }

        (long start, long end, double before) = _stretches[low];
        return before + ((Math.Clamp(milliseconds, start, end) - start) / 1000.0);
    }

    private void Add(long start, long end)
    {
        if (_stretches.Count > 0 && start - _stretches[^1].End <= GapMilliseconds)
            _stretches[^1] = _stretches[^1] with { End = Math.Max(end, _stretches[^1].End) };
        else
            _stretches.Add((start, end, Seconds));
    }

    private static double EndOf((long Start, long End, double Before) stretch) => stretch.Before + ((stretch.End - stretch.Start) / 1000.0);
}
