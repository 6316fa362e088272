using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>A collection that phases outside of growths fill, and its sizes by its documents.</summary>
/// <param name="Name">The collection's name; null for the run's own.</param>
/// <param name="Sizes">Its sizes, by rising numbers of documents.</param>
internal sealed record FilledCollection(string? Name, IReadOnlyList<(long Documents, SizeResult Sizes)> Sizes)
{
    /// <summary>More sizes are too close to be told apart.</summary>
    private const int MostSampled = 200;

    /// <summary>
    /// Finds the sizes that phases took at their ends; of the only collection of a run on shards also those that were sampled while
    /// documents were inserted.
    /// </summary>
    public static IReadOnlyList<FilledCollection> Of(StoredRun run, OperationSeconds seconds)
    {
        var taken = run.Phases.Where(static phase => phase.Growth is null)
            .SelectMany(static phase => phase.Sizes).GroupBy(static sizes => sizes.Collection).ToList();
        // Shards are asked of one collection, which need not be the one whose sizes were taken.
        bool isSampled = taken.Count == 0 || (taken.Count == 1 && (taken[0].Key is null || taken[0].Key == Distribution.WatchedIn(run)));
        IReadOnlyList<SizeResult> sampled = isSampled && run.GrowthSteps.Count == 0 ? Sampled(run, seconds) : [];
        if (taken.Count == 0)
            return sampled.Count == 0 ? [] : [new FilledCollection(null, [.. sampled.Select(static sizes => (sizes.Documents, sizes))])];
        return [.. taken.Select(collection => new FilledCollection(collection.Key, Rising(sampled.Concat(collection))))];
    }

    /// <summary>Keeps the last size of those with as many documents, and none of an empty collection.</summary>
    private static IReadOnlyList<(long Documents, SizeResult Sizes)> Rising(IEnumerable<SizeResult> sizes) =>
        [.. sizes.Where(static one => one.Documents > 0)
            .GroupBy(static one => one.Documents).OrderBy(static same => same.Key).Select(static same => (same.Key, same.Last()))];

    private static IReadOnlyList<SizeResult> Sampled(StoredRun run, OperationSeconds seconds)
    {
        (long From, long To)[] inserting =
        [
            .. seconds.All.Where(second => seconds.Lines[second.Line].IsInsert).GroupBy(static second => second.Phase)
                .Select(static phase =>
                    (phase.Min(static second => second.StartMilliseconds), phase.Max(static second => second.AtMilliseconds))),
        ];
        var all = new List<SizeResult>();
        foreach (var look in run.ReadShardSamples().GroupBy(static sample => sample.AtMilliseconds))
        {
            if (!inserting.Any(phase => phase.From <= look.Key && look.Key <= phase.To))
                continue;
            MetricSample[] shards = [.. look];
            (double documents, double data, double storage, double index) = (Sum("documents"), Sum("data"), Sum("storage"), Sum("indexes"));
            // A shard that did not answer leaves the sum unknown.
            if (double.IsFinite(documents + data + storage + index) && documents > (all.Count == 0 ? 0 : all[^1].Documents))
                all.Add(new SizeResult
                {
                    Documents = (long)documents,
                    DataBytes = (long)data,
                    StorageBytes = (long)storage,
                    IndexBytes = (long)index,
                    Indexes = new Dictionary<string, long>(),
                });

            double Sum(string metric) => shards.Sum(shard => shard.Values[MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric)]);
        }

        int every = Math.Max(1, all.Count / MostSampled);
        return [.. all.Where((_, i) => i % every == 0)];
    }
}
