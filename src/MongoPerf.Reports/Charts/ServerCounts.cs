using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>What the servers counted of writes, sample by sample.</summary>
internal sealed class ServerCounts
{
    public const string Inserts = "opcounters_insert";

    /// <summary>The longest distance of samples in milliseconds; between samples that are farther apart nobody looked.</summary>
    private const long LongestMilliseconds = 5000;

    private static readonly int Inserted = MetricCatalogue.IndexOf(MetricCatalogue.Server, "documents_inserted");
    private static readonly int Cache = MetricCatalogue.IndexOf(MetricCatalogue.Server, "cache_max");

    private readonly IReadOnlyList<MetricSample[]> _members;

    public ServerCounts(StoredRun run)
    {
        MetricSample[][] members = [.. run.ReadServerSamples().GroupBy(sample => sample.Member).Select(member => member.ToArray())];
        // A router counts what its shards count again, and has no cache.
        MetricSample[][] holders = [.. members.Where(member => member.Any(sample => double.IsFinite(ValueOf(sample, Cache))))];
        _members = holders.Length > 0 ? holders : members;
    }

    /// <summary>Counts between the samples of the first member that lie within a time, for all members together.</summary>
    /// <param name="metric">An opcounter; of inserts, <c>metrics.document.inserted</c> is preferred, which counts no migrations.</param>
    /// <param name="from">The beginning in Unix milliseconds.</param>
    /// <param name="to">The end in Unix milliseconds.</param>
    public IEnumerable<Stretch> Of(string metric, long from, long to)
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Server, metric);
        if (metric == Inserts && _members.All(member => member.Any(sample => double.IsFinite(ValueOf(sample, Inserted)))))
            column = Inserted;
        Stretch[][] members = [.. _members.Select(member => Steps(member, column, from, to).ToArray())];
        Stretches[] others = [.. members.Skip(1).Select(member => new Stretches(member))];
        return members.Take(1).SelectMany(steps => steps).Where(step => step.From >= from && step.To <= to)
            .Select(step => step with { Count = step.Count + others.Sum(other => other.Between(step.From, step.To)) });
    }

    private static IEnumerable<Stretch> Steps(MetricSample[] member, int column, long from, long to)
    {
        for (int i = 1; i < member.Length; i++)
        {
            (MetricSample before, MetricSample after) = (member[i - 1], member[i]);
            double count = ValueOf(after, column) - ValueOf(before, column);
            // A counter that fell belongs to a server that was started anew.
            if (after.AtMilliseconds > from && before.AtMilliseconds < to && count >= 0
                && after.AtMilliseconds - before.AtMilliseconds is > 0 and < LongestMilliseconds)
                yield return new Stretch(before.AtMilliseconds, after.AtMilliseconds, count);
        }
    }

    private static double ValueOf(MetricSample sample, int column) => column < sample.Values.Length ? sample.Values[column] : double.NaN;
}
