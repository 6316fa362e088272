using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>How a collection lies on the shards of a deployment as the run left it.</summary>
/// <param name="Collection">Null where the run does not say which.</param>
/// <param name="Shards">Two or more, by their names.</param>
internal sealed record Distribution(string? Collection, IReadOnlyList<ShardHolding> Shards)
{
    public long Documents => Shards.Sum(static shard => shard.Documents);

    /// <summary>All of it is what the shards said when the run ended, without a checkpoint.</summary>
    public bool IsOfEnd { get; init; }

    /// <summary>
    /// Finds the distribution of each collection that shards may share, in the order of the plan. Sizes are taken now and then; what moved
    /// since shows in what the shards were asked at the end.
    /// </summary>
    public static IReadOnlyList<Distribution> Of(StoredRun run)
    {
        IReadOnlyList<CollectionSharding> noted = run.Deployment?.Collections ?? [];
        Dictionary<string, SizeResult> sized = run.Phases.SelectMany(static phase => phase.Sizes)
            .Where(static sizes => sizes.Shards.Count > 0).GroupBy(sizes => sizes.Collection ?? WatchedIn(run) ?? "")
            .ToDictionary(static group => group.Key, static group => group.Last());
        // A bucket is sized as one and asked as two.
        IEnumerable<string> others = sized.Keys
            .Where(name => noted.All(one => one.Collection != name && !one.Collection.StartsWith(name + ".", StringComparison.Ordinal)));
        return
        [
            .. noted.Where(static one => !one.IsPlaced)
                .Select(one => AtEnd(run, one, sized.GetValueOrDefault(one.Collection))).OfType<Distribution>(),
            .. others.Where(name => sized[name].Shards.Count > 1)
                .Select(name => new Distribution(name.Length > 0 ? name : null, [.. sized[name].Shards.Select(ShardHolding.Of)])),
        ];
    }

    /// <summary>The collection of which shards were asked while the run went on; null where it is not known.</summary>
    public static string? WatchedIn(StoredRun run) =>
        run.Deployment?.Namespace is { } ns && ns.IndexOf('.', StringComparison.Ordinal) is > 0 and var dot
        && ns[(dot + 1)..] is { Length: > 0 } name and not "*" ? name : null;

    /// <summary>" of items": what the documents of the shards' samples belong to, where the run has several collections.</summary>
    public static string WatchedText(StoredRun run) => HasSeveral(run) && WatchedIn(run) is { } name ? Words.Of($" of {name}") : "";

    /// <summary>Whether a reader must be told which collection a sentence is about.</summary>
    public static bool HasSeveral(StoredRun run) =>
        run.Deployment?.Collections is { Count: > 1 }
        || run.Phases.SelectMany(static phase => phase.Sizes).Select(static sizes => sizes.Collection).Distinct().Skip(1).Any();

    private static Distribution? AtEnd(StoredRun run, CollectionSharding noted, SizeResult? sizes)
    {
        Dictionary<string, ShardSize> bySize = sizes?.Shards.ToDictionary(static shard => shard.Shard) ?? [];
        if (noted.Parts.Count < 2 || noted.Parts.Any(static part => part.Documents is null))
            return bySize.Count < 2 ? null : new Distribution(noted.Collection, [.. sizes!.Shards.Select(ShardHolding.Of)]);
        // Only those of one moment go together.
        if (noted.Parts.All(static part => part.DataBytes is not null))
            return new Distribution(noted.Collection, [.. noted.Parts.Select(ShardHolding.Of)]) { IsOfEnd = true };
        bool isAsSized = sizes is not null
            && noted.Parts.All(part => (bySize.GetValueOrDefault(part.Shard)?.Documents ?? 0) == part.Documents);
        ILookup<string, MetricSample> samples = isAsSized || noted.Collection != WatchedIn(run)
            ? Array.Empty<MetricSample>().ToLookup(static one => one.Member)
            : run.ReadShardSamples().ToLookup(static sample => sample.Member);
        return new Distribution(noted.Collection, [.. noted.Parts.Select(part =>
            isAsSized && bySize.TryGetValue(part.Shard, out ShardSize? size) ? ShardHolding.Of(size) with
            {
                Chunks = part.Chunks ?? size.Chunks,
            }
            : isAsSized ? new ShardHolding(part.Shard, 0, 0, part.Chunks, 0, 0, 0)
            : ShardHolding.Of(part, samples[part.Shard].LastOrDefault())).Zip(noted.Parts, static (holding, part) => holding with
            {
                Orphans = part.Orphans ?? holding.Orphans, OwnedBytes = part.OwnedBytes, OrphanedBytes = part.OrphanedBytes,
            })]);
    }
}

/// <summary>A shard's part of a collection; null where a figure is not known.</summary>
/// <param name="Shard">Its name.</param>
/// <param name="Documents">Orphans left out.</param>
/// <param name="Orphans">Moved away and not deleted yet.</param>
/// <param name="Chunks">The chunks that it owns.</param>
/// <param name="DataBytes">The data, orphans included, in bytes.</param>
/// <param name="StorageBytes">The bytes of the documents' files.</param>
/// <param name="IndexBytes">The bytes of the indexes' files.</param>
internal sealed record ShardHolding(
    string Shard, long Documents, long? Orphans, long? Chunks, long? DataBytes, long? StorageBytes, long? IndexBytes)
{
    /// <summary>Of the documents, uncompressed.</summary>
    public long? OwnedBytes { get; init; }

    /// <summary>Of the orphans, uncompressed.</summary>
    public long? OrphanedBytes { get; init; }

    public static ShardHolding Of(ShardSize size) =>
        new(size.Shard, size.Documents, size.Orphans, size.Chunks, size.DataBytes, size.StorageBytes, size.IndexBytes);

    /// <param name="part">What the shard said at the end, all of it.</param>
    public static ShardHolding Of(ShardPart part) => new(
        part.Shard, part.Documents!.Value, part.Orphans, part.Chunks, part.DataBytes, part.StorageBytes, part.IndexBytes)
    {
        OwnedBytes = part.OwnedBytes, OrphanedBytes = part.OrphanedBytes,
    };

    /// <param name="part">What the shard said at the end, in a run of an earlier version.</param>
    /// <param name="sample">Its last before; null for none.</param>
    public static ShardHolding Of(ShardPart part, MetricSample? sample)
    {
        return new ShardHolding(
            part.Shard, part.Documents!.Value, Value("orphans"), part.Chunks, Value("data"), Value("storage"), Value("indexes"));

        long? Value(string metric) => sample?.Values[MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric)] is { } value
            && double.IsFinite(value) ? (long)value : null;
    }
}
