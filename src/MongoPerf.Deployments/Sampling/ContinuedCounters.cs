using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>
/// Makes one series of a shard's counters, whichever process counts: another primary, or one that was started again, goes on from where the
/// one before was when it was last asked. What was counted in between is left out, since nobody knows it.
/// </summary>
/// <remarks>One thread.</remarks>
internal sealed class ContinuedCounters
{
    /// <summary>Clocks, and replies that are late, account for no more.</summary>
    private const double SlackMilliseconds = 2000;

    private static readonly int[] Columns = [.. MetricCatalogue.Shard.Index()
        .Where(static metric => metric.Item.Kind == MetricKind.Counter).Select(static metric => metric.Index)];

    private readonly double[] _last = ShardColumns.Nothing();
    private readonly double[] _offsets = new double[MetricCatalogue.Shard.Count];
    private string? _address;
    private double _uptime;
    private long _askedAt;

    /// <param name="values">A shard's, as it says; counters are changed.</param>
    /// <param name="address">Of the process that said it.</param>
    /// <param name="uptime">Since that process was started, milliseconds; NaN where it does not say.</param>
    /// <param name="askedAt">When it was asked, milliseconds by any clock that never goes back.</param>
    public void Continue(double[] values, string address, double uptime, long askedAt)
    {
        bool isOther = _address is not null && (_address != address || uptime < _uptime + (askedAt - _askedAt) - SlackMilliseconds);
        (_address, _uptime, _askedAt) = (address, uptime, askedAt);
        foreach (int column in Columns)
        {
            if (!double.IsFinite(values[column]))
                continue;
            if (isOther && double.IsFinite(_last[column]))
                _offsets[column] = _last[column] - values[column];
            _last[column] = values[column] += _offsets[column];
        }
    }
}
