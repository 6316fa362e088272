using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>What the shards' primaries did while the run looked, by their own counters.</summary>
internal sealed class ShardOperations
{
    /// <summary>What is told of each shard; an insert counts for each document.</summary>
    public static IReadOnlyList<string> Metrics { get; } =
        ["opcounters_insert", "opcounters_query", "opcounters_update", "opcounters_delete", "opcounters_getmore"];

    private static readonly int[] Columns = [.. Metrics.Select(IndexOf)];

    /// <summary>Secondaries read the oplog with getMore, so it tells nothing of clients: a shard with more members has more.</summary>
    private static readonly int OfReplication = IndexOf("opcounters_getmore");

    /// <summary>What stands in for them where shards can't be asked: what the router tells of the collection.</summary>
    private static readonly int[] OfCollection = [IndexOf("collection_reads"), IndexOf("collection_writes")];

    private readonly Dictionary<string, double[]> _sums = new(StringComparer.Ordinal);
    private double _all;

    private ShardOperations()
    {
    }

    public static ShardOperations Of(StoredRun run)
    {
        var operations = new ShardOperations();
        var last = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in run.ReadShardSamples())
        {
            if (last.TryGetValue(sample.Member, out MetricSample? before))
                operations.Add(before, sample);
            // What a shard that is away did meanwhile shows when it is back, unless its process is another one.
            if (!double.IsNaN(sample.Values[Columns[0]]) || !double.IsNaN(sample.Values[OfCollection[0]]))
                last[sample.Member] = sample;
        }

        return operations;
    }

    /// <summary>The names of the shards that were asked.</summary>
    public IEnumerable<string> Shards => _sums.Keys.Order(StringComparer.Ordinal);

    /// <summary>One of <see cref="Metrics"/> that counts no more than what clients ask for.</summary>
    public static bool IsOfClients(string metric) => IndexOf(metric) != OfReplication;

    /// <summary>Counts one of <see cref="Metrics"/>; null when the shard could never be asked.</summary>
    public long? Count(string shard, string metric) =>
        _sums.TryGetValue(shard, out double[]? sums) && sums[Metrics.ToList().IndexOf(metric)] is var sum && !double.IsNaN(sum)
            ? (long)sum : null;

    /// <summary>0 to 1: of the operations of all shards; null when there were none, or the shard could never be asked.</summary>
    public double? Share(string shard) => _all > 0 && _sums.TryGetValue(shard, out double[]? sums) ? SumOf(sums) / _all : null;

    /// <summary>Operations from one sample to the next, without getMore; NaN where the counters began anew.</summary>
    public static double Between(MetricSample before, MetricSample now) =>
        ColumnsOf(before, now).Where(static column => column != OfReplication).Sum(column => Difference(before, now, column));

    private void Add(MetricSample before, MetricSample now)
    {
        int[] columns = ColumnsOf(before, now);
        if (!_sums.TryGetValue(now.Member, out double[]? sums))
        {
            _sums[now.Member] = sums = new double[Columns.Length + OfCollection.Length];
            Array.Fill(sums, double.NaN);
        }

        foreach (int column in columns)
        {
            double difference = Difference(before, now, column);
            if (double.IsNaN(difference))
                continue;
            int place = Array.IndexOf(Columns, column) is >= 0 and var own ? own : Columns.Length + Array.IndexOf(OfCollection, column);
            sums[place] = (double.IsNaN(sums[place]) ? 0 : sums[place]) + difference;
            _all += column == OfReplication ? 0 : difference;
        }
    }

    private static double SumOf(double[] sums) =>
        sums.Where(static (sum, place) => !double.IsNaN(sum) && (place >= Columns.Length || Columns[place] != OfReplication)).Sum();

    private static int[] ColumnsOf(MetricSample before, MetricSample now) =>
        double.IsNaN(before.Values[Columns[0]]) || double.IsNaN(now.Values[Columns[0]]) ? OfCollection : Columns;

    private static int IndexOf(string metric) => MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric);

    private static double Difference(MetricSample before, MetricSample now, int column)
    {
        double difference = now.Values[column] - before.Values[column];
        return difference >= 0 ? difference : double.NaN;
    }
}
