using MongoPerf.Load.Plans;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Watches the seconds of a group until a percentile of each of its operations is known well enough.</summary>
/// <remarks>
/// Looks after 20 seconds and then whenever there are a quarter more: who looks every second stops at the first lucky one, and each look
/// takes some tens of milliseconds of a core. One thread at a time.
/// </remarks>
/// <param name="until">How well.</param>
/// <param name="group">Named in sentences.</param>
internal sealed class UntilWatch(Until until, string group)
{
    private const double Growth = 1.25;

    private readonly Dictionary<string, List<ReadOnlyMemory<byte>>> _seconds = [];
    private int _measured;
    private double _next = OperationComparer.LeastSamples;

    /// <summary>It was known well enough.</summary>
    public bool IsReached { get; private set; }

    /// <summary>It was, or turned out to be when the time was over.</summary>
    public bool IsKnown => IsReached || (Worst() is { Share: var share } && share <= until.Share);

    /// <param name="samples">The samples of one second, one for each operation.</param>
    /// <returns>True when what there is now is enough.</returns>
    public bool Add(IReadOnlyList<Sample> samples)
    {
        if (IsReached || samples.Any(sample => sample.IsWarmup))
            return IsReached;
        foreach (Sample sample in samples.Where(sample => !sample.ReportedHistogram.IsEmpty))
        {
            if (!_seconds.TryGetValue(sample.Operation, out List<ReadOnlyMemory<byte>>? seconds))
                _seconds[sample.Operation] = seconds = [];
            seconds.Add(sample.ReportedHistogram);
        }

        if (++_measured < _next)
            return false;
        _next = _measured * Growth;
        return IsReached = Worst() is { Share: var share } && share <= until.Share;
    }

    /// <summary>"q4: p99 ±2 % asked for; known to ±1.7 % after 45 s", or how long it would have taken.</summary>
    public string Describe()
    {
        string asked = $"{group}: {until.Text} asked for";
        if (Worst() is not ({ } operation, var share))
            return $"{asked}; its precision can't be determined: "
                + $"{(_seconds.Count == 0 ? 0 : _seconds.Values.Min(seconds => seconds.Count))} s were measured after the warm-up; "
                + $"{OperationComparer.LeastSamples} s are needed (--duration)";
        string of = operation == group || _seconds.Count == 1 ? "" : $" ({operation})";
        string known = $"{asked}; known to ±{Units.Percent(share)} after {_measured} s{of}";
        // An interval narrows as the root of what it is made of.
        double needed = _measured * (share / until.Share) * (share / until.Share);
        return IsKnown ? known : $"{known}: it would take about {Units.Duration(TimeSpan.FromSeconds(needed))} to get there (--duration)";
    }

    /// <summary>
    /// The operation that is known least, and half its interval as a share of the percentile; null where some can't be judged.
    /// </summary>
    private (string Operation, double Share)? Worst()
    {
        (string Operation, double Share)? worst = null;
        foreach ((string operation, List<ReadOnlyMemory<byte>> seconds) in _seconds)
        {
            if (seconds.Count < OperationComparer.LeastSamples)
                return null;
            var joined = JoinedHistograms.Decode(seconds, PercentileBootstrap.MostSeconds);
            Interval interval = PercentileBootstrap.Of(joined, until.Percent).At(0.95);
            double share = (interval.High - interval.Low) / 2 / joined.Percentile(until.Percent);
            if (worst is null || share > worst.Value.Share)
                worst = (operation, share);
        }

        return worst;
    }
}
