using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>The parts of schema mongoperf/1 that tell of shards: <c>collStats</c> and <c>sharding</c>.</summary>
internal static class ShardJson
{
    /// <summary>Events that are listed one by one; the sums have them all.</summary>
    private const int MostEvents = 1000;

    /// <summary>
    /// The last sizes in the form of collStats, which a router answers with a document for each shard; null without sizes.
    /// </summary>
    public static object? CollStats(StoredRun run)
    {
        if (run.Phases.SelectMany(static phase => phase.Sizes).LastOrDefault() is not { } sizes)
            return null;
        var stats = new Dictionary<string, object?>
        {
            ["sharded"] = sizes.Shards.Count > 1, ["ns"] = CollectionStatistics.NamespaceOf(run, sizes),
        };
        AddFields(stats, CollectionStatistics.Of(sizes));
        stats["shards"] = sizes.Shards.Where(_ => sizes.Shards.Count > 1).ToDictionary(shard => shard.Shard, shard =>
        {
            var part = new Dictionary<string, object?>();
            AddFields(part, CollectionStatistics.Of(sizes, shard));
            return part;
        });
        return stats;
    }

    /// <summary>
    /// How the data of the collection that the run is about are spread, what moved, and how many shards operations asked; null for
    /// anything but several shards.
    /// </summary>
    public static object? Sharding(StoredRun run)
    {
        IReadOnlyList<Distribution> all = Distribution.Of(run);
        ChunkMoves moves = ChunkMoves.Of(run);
        IReadOnlyList<ShardsAsked> asked = ShardsAsked.Of(run);
        if (all.Count == 0 && moves.All == MoveSum.None && moves.Reshardings.Count == 0 && asked.Count == 0)
            return null;
        Distribution? of = all.FirstOrDefault(one => one.Collection == Distribution.WatchedIn(run)) ?? (all.Count > 0 ? all[0] : null);
        IReadOnlyList<ShardHolding> shards = of?.Shards ?? [];
        Balance? balance = Balance.Of(shards);
        var operations = ShardOperations.Of(run);
        return new
        {
            of?.Collection,
            evenDocuments = balance?.Even,
            worstFromEven = balance?.Worst,
            balance?.MaxToMin,
            shards = shards.Select(shard => ShardOf(shard, balance, operations)),
            asked = asked.ToDictionary(static one => one.Command, static one => MetricCatalogue.ShardsAsked.Zip(one.Counts)
                .ToDictionary(static part => part.First.Name, static part => (long)part.Second)),
            indexes = run.Deployment?.Collections.FirstOrDefault(one => one.Collection == of?.Collection)?.Indexes
                .ToDictionary(static one => one.Index, static one => one.Operations) ?? [],
            moves.Splits,
            moves.Merges,
            migrations = new
            {
                moves.All.Done, moves.All.Failed, moves.All.Running, moves.All.Documents, moves.All.Bytes,
                moves.All.Seconds, moves.All.LongestSeconds,
                routes = moves.Routes.Select(route => new
                {
                    route.Route.From, route.Route.To,
                    route.Sum.Done, route.Sum.Failed, route.Sum.Running, route.Sum.Documents, route.Sum.Bytes,
                    route.Sum.Seconds, route.Sum.LongestSeconds,
                }),
            },
            chunkEventsLeftOut = Math.Max(0, run.ReadChunkEvents().Count() - MostEvents),
            chunkEvents = run.ReadChunkEvents().Take(MostEvents).Select(e => new
            {
                at = JsonReport.Time(e.AtMilliseconds), e.Seconds, kind = e.Kind.ToString().ToLowerInvariant(),
                outcome = e.Outcome.ToString().ToLowerInvariant(),
                e.Collection, e.From, e.To, e.Documents, e.Bytes, e.BlockedSeconds, e.KeyBefore, e.KeyAfter, e.Note,
            }),
        };
    }

    private static void AddFields(Dictionary<string, object?> stats, CollectionStatistics part)
    {
        foreach ((string name, double? value) in part.Fields.Where(static field => !IsIndex(field.Name)))
            stats[name] = value;
        stats["indexSizes"] = part.Fields.Where(static field => IsIndex(field.Name))
            .ToDictionary(field => field.Name[CollectionStatistics.IndexPrefix.Length..], field => field.Value);
    }

    private static bool IsIndex(string name) => name.StartsWith(CollectionStatistics.IndexPrefix, StringComparison.Ordinal);

    private static Dictionary<string, object?> ShardOf(ShardHolding shard, Balance? balance, ShardOperations operations)
    {
        var fields = new Dictionary<string, object?>
        {
            ["shard"] = shard.Shard, ["documents"] = shard.Documents, ["orphans"] = shard.Orphans,
            ["ownedBytes"] = shard.OwnedBytes, ["orphanedBytes"] = shard.OrphanedBytes, ["fromEven"] = balance?.FromEven(shard),
            ["shareOfOperations"] = operations.Share(shard.Shard),
        };
        foreach (string metric in ShardOperations.Metrics)
            fields[metric] = operations.Count(shard.Shard, metric);
        return fields;
    }
}
