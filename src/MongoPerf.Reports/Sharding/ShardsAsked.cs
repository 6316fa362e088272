using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>How many shards the operations of a kind asked, by the routers' own counters, while the run looked.</summary>
/// <param name="Command">One of <see cref="MetricCatalogue.RoutedCommands"/>.</param>
/// <param name="Counts">Operations, in the order of <see cref="MetricCatalogue.ShardsAsked"/>.</param>
internal sealed record ShardsAsked(string Command, IReadOnlyList<double> Counts)
{
    public double Operations => Counts.Sum();

    /// <summary>Those that were counted, in the order of the catalogue; none for a deployment without a mongos.</summary>
    public static IReadOnlyList<ShardsAsked> Of(StoredRun run)
    {
        string[] names = [.. MetricCatalogue.RoutedCommands.SelectMany(MetricsOf)];
        // Mostly there is no router, and one metric takes much less time to read than all.
        IReadOnlyList<Metric> first = MetricCatalogue.Only(MetricCatalogue.Server, names[0]);
        if (!run.ReadServerSamples(first).Any(static sample => double.IsFinite(sample.Values[0])))
            return [];
        double[] sums = new double[names.Length];
        var last = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in run.ReadServerSamples(MetricCatalogue.Only(MetricCatalogue.Server, names))
            .Where(static sample => double.IsFinite(sample.Values[0])))
        {
            if (last.TryGetValue(sample.Member, out MetricSample? before))
            {
                for (int i = 0; i < sums.Length; i++)
                    sums[i] += Math.Max(0, sample.Values[i] - before.Values[i]) is var grown && double.IsFinite(grown) ? grown : 0;
            }

            last[sample.Member] = sample;
        }

        int width = MetricCatalogue.ShardsAsked.Count;
        return [.. MetricCatalogue.RoutedCommands.Select((command, i) => new ShardsAsked(command, sums[(i * width)..((i + 1) * width)]))
            .Where(static asked => asked.Operations > 0)];
    }

    /// <summary>The counters of a command.</summary>
    public static IEnumerable<string> MetricsOf(string command) =>
        MetricCatalogue.ShardsAsked.Select(asked => $"asked_{command}_{asked.Name}");
}
