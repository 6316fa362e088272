using MongoPerf.Storage;

namespace MongoPerf.Reports.Restarts;

/// <summary>What counters of server and host grew by in a time.</summary>
/// <param name="From">Unix milliseconds.</param>
/// <param name="To">Unix milliseconds; a sample that is due then may come up to a second later.</param>
internal sealed record MetricWindow(long From, long To)
{
    private const long SampleMilliseconds = 1000;

    /// <summary>Of a server that started within the time: what its counter had reached at the end. Null when no sample has it.</summary>
    public double? ServerGrowth(StoredRun run, string metric)
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Server, metric);
        double last = run.ReadServerSamples().Where(s => s.AtMilliseconds >= From && s.AtMilliseconds <= To + SampleMilliseconds)
            .Select(s => s.Values[column]).LastOrDefault(double.IsFinite, double.NaN);
        return double.IsFinite(last) ? last : null;
    }

    /// <summary>Of a counter of the machine, which keeps counting: last minus first.</summary>
    public double? HostGrowth(StoredRun run, string metric)
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Host, metric);
        double[] values = [.. run.ReadHostSamples()
            .Where(s => s.AtMilliseconds >= From - SampleMilliseconds && s.AtMilliseconds <= To + SampleMilliseconds)
            .Select(s => s.Values[column]).Where(double.IsFinite)];
        return values.Length > 1 ? values[^1] - values[0] : null;
    }
}
