using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>The size of the collection at which something outgrew the server's cache.</summary>
/// <param name="What">"data" or "indexes".</param>
/// <param name="Documents">Interpolated between the two sizes around it.</param>
internal sealed record CacheCrossing(string What, double Documents)
{
    /// <summary>Where data and indexes outgrew the cache, if they did.</summary>
    /// <remarks>Straight lines between the sizes, the first from the empty collection. Data are counted as they lie in the cache: uncompressed.</remarks>
    public static IReadOnlyList<CacheCrossing> Find(IReadOnlyList<(long Documents, SizeResult Sizes)> sizes, long? cacheBytes)
    {
        if (cacheBytes is not > 0)
            return [];

        var crossings = new List<CacheCrossing>();
        if (FirstAbove(sizes, static size => size.DataBytes, cacheBytes.Value) is { } data)
            crossings.Add(new CacheCrossing("data", data));
        if (FirstAbove(sizes, static size => size.IndexBytes, cacheBytes.Value) is { } index)
            crossings.Add(new CacheCrossing("indexes", index));
        return crossings;
    }

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
