using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>The size of the collection at which something outgrew the server's cache, or its memory.</summary>
/// <param name="What">What outgrew it: "data", "indexes" or "files".</param>
/// <param name="Documents">The size in documents, interpolated between the two sizes around it.</param>
/// <param name="Limit">What was outgrown: "cache" or "memory limit".</param>
internal sealed record CacheCrossing(string What, double Documents, string Limit = CacheCrossing.Cache)
{
    public const string Cache = "cache";
    public const string Memory = "memory limit";

    /// <summary>Finds where data and indexes outgrew the cache, and the files of both the memory limit, if they did.</summary>
    /// <remarks>Straight lines between the sizes, the first from the empty collection. Data are counted as they lie in the cache:
    /// uncompressed. What the cache can't hold
    /// is read from the system's file cache, which holds files as they are and counts towards the limit: beyond that, reads go to the
    /// disk.</remarks>
    public static IReadOnlyList<CacheCrossing> Find(
        IReadOnlyList<(long Documents, SizeResult Sizes)> sizes, long? cacheBytes, long? memoryBytes = null)
    {
        var crossings = new List<CacheCrossing>();
        Add("data", static size => size.DataBytes, cacheBytes, Cache);
        Add("indexes", static size => size.IndexBytes, cacheBytes, Cache);
        Add("files", static size => size.StorageBytes + size.IndexBytes, memoryBytes, Memory);
        return crossings;

        void Add(string what, Func<SizeResult, long> bytesOf, long? limit, string name)
        {
            if (limit is > 0 && FirstAbove(sizes, bytesOf, limit.Value) is { } documents)
                crossings.Add(new CacheCrossing(what, documents, name));
        }
    }

    /// <summary>Finds the crossings of a growth; where its files outgrew the memory limit is the last.</summary>
    public static IReadOnlyList<CacheCrossing> OfSizes(GrowthFigures growth, StoredRun run) =>
        Find(growth.Sizes, run.Deployment?.AllCacheBytes, MemoryOf(run));

    /// <summary>The memory limit of all servers of a run that hold data, together; null where none is limited.</summary>
    public static long? MemoryOf(StoredRun run) => MemoryOfEach(run) * (run.Deployment?.ShardCount ?? 1);

    /// <summary>The memory limit of each server that holds data, by request or default; null where it is not limited.</summary>
    public static long? MemoryOfEach(StoredRun run) =>
        run.Deployment?.MemoryLimitBytes ?? (run.Settings.Deployment.MemoryLimitBytes is > 0 and { } asked ? asked : null);

    private static double? FirstAbove(IEnumerable<(long Documents, SizeResult Sizes)> sizes, Func<SizeResult, long> bytesOf, long limit)
    {
        double documentsBefore = 0;
        double bytesBefore = 0;
        foreach ((long documents, SizeResult size) in sizes.OrderBy(one => one.Documents))
        {
            double bytes = bytesOf(size);
            if (bytes > limit)
                return documentsBefore + ((documents - documentsBefore) * (limit - bytesBefore) / (bytes - bytesBefore));
            documentsBefore = documents;
            bytesBefore = bytes;
        }

        return null;
    }
}
