using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>Sizes under the names of MongoDB's collStats, of the whole collection or of a shard's part.</summary>
/// <param name="Title">"all", or the shard's name.</param>
/// <param name="Fields">
/// The fields, the same names in the same order for each part of a collection; null where a value is not known.
/// </param>
internal sealed record CollectionStatistics(string Title, IReadOnlyList<(string Name, double? Value)> Fields)
{
    /// <summary>What begins the name of an index's field.</summary>
    public const string IndexPrefix = "indexSizes.";

    /// <summary>"database.collection" of the sizes: a scenario has several collections.</summary>
    public static string? NamespaceOf(StoredRun run, SizeResult sizes) =>
        run.Deployment?.Namespace is { } ns && sizes.Collection is { } collection
            ? $"{ns[..ns.IndexOf('.', StringComparison.Ordinal)]}.{collection}"
            : run.Deployment?.Namespace;

    public static CollectionStatistics Of(SizeResult sizes)
    {
        IReadOnlyList<ShardSize> shards = sizes.Shards;
        return new CollectionStatistics("all", Fill(
            sizes.Documents, OrphansOf(shards), sizes.DataBytes, sizes.StorageBytes, sizes.IndexBytes,
            sizes.Indexes, sizes.Indexes, shards.Count > 0 ? shards.Sum(static shard => shard.Chunks) : null));
    }

    /// <param name="sizes">Its indexes are those of the rows; a shard that owns nothing has none.</param>
    /// <param name="shard">One of them.</param>
    public static CollectionStatistics Of(SizeResult sizes, ShardSize shard) => new(shard.Shard, Fill(
        shard.Documents, shard.Orphans, shard.DataBytes, shard.StorageBytes, shard.IndexBytes, sizes.Indexes, shard.Indexes, shard.Chunks));

    /// <summary>Null when a shard does not say.</summary>
    public static long? OrphansOf(IReadOnlyList<ShardSize> shards) =>
        shards.Count > 0 && shards.All(static shard => shard.Orphans is not null) ? shards.Sum(static shard => shard.Orphans) : null;

    private static (string, double?)[] Fill(
        long documents, long? orphans, long data, long storage, long indexBytes, IReadOnlyDictionary<string, long> names,
        IReadOnlyDictionary<string, long> indexes, long? chunks)
    {
        // size counts orphans too, so the average must.
        long stored = documents + (orphans ?? 0);
        return
        [
            ("count", documents),
            ("numOrphanDocs", orphans),
            ("size", data),
            ("avgObjSize", stored > 0 ? (double)data / stored : null),
            ("storageSize", storage),
            ("nindexes", indexes.Count),
            ("totalIndexSize", indexBytes),
            .. names.Keys.Select(name => (IndexPrefix + name, indexes.TryGetValue(name, out long bytes) ? bytes : (double?)null)),
            ("nchunks", chunks),
        ];
    }
}
