using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Forecasts;

/// <summary>Something that grows with the documents: data, storage, an index, the disk.</summary>
/// <param name="What">"data", "index _id_".</param>
/// <param name="Fit">Of its bytes per document.</param>
/// <param name="Measured">Bytes at the largest size where they were taken.</param>
internal sealed record SizeForecast(string What, GrowthFit Fit, double Measured)
{
    public const string Data = "data";
    public const string Storage = "storage";
    public const string Indexes = "indexes";
    public const string Files = "storage and indexes";
    public const string Uncompressed = "data and indexes";
    public const string Disk = "disk";

    private const int Steps = 20;

    /// <summary>
    /// A B-tree's pages are half full after they were split and fill up again, with random keys all at about the same time (A. C. Yao, "On random 2-3 trees",
    /// 1978), and a checkpoint writes changed pages anew before it frees the old ones. Twelve indexes of real growths were
    /// 11 % off at twice the size (root mean square; docs/forecast.md).
    /// </summary>
    private const double WavesOfIndexes = 0.12;

    /// <summary>Bytes at a size of the collection.</summary>
    public Prediction At(double documents) => Fit.At(documents).Times(documents);

    /// <summary>Documents from which on it is larger.</summary>
    /// <param name="bytes">Greater than 0.</param>
    public Prediction Crossing(double bytes) =>
        new(Solve(bytes, one => one.Value), Solve(bytes, one => one.High), Solve(bytes, one => one.Low));

    /// <summary>All that the sizes of a growth tell; what is missing at a size is left out.</summary>
    public static IReadOnlyList<SizeForecast> Of(IReadOnlyList<(long Documents, SizeResult Sizes)> sizes)
    {
        string[] indexes = [.. sizes.SelectMany(one => one.Sizes.Indexes.Keys).Distinct().Order(StringComparer.Ordinal)];
        IEnumerable<(string What, double Waves, Func<SizeResult, long?> Of)> all =
        [
            (Data, 0, size => size.DataBytes),
            (Storage, 0, size => size.StorageBytes),
            .. indexes.Select(name => (Words.Of($"index {name}"), WavesOfIndexes, (Func<SizeResult, long?>)(size => size.Indexes.TryGetValue(name, out long bytes) ? bytes : null))),
            (Indexes, WavesOfIndexes, size => size.IndexBytes),
            (Uncompressed, 0, size => size.DataBytes + size.IndexBytes),
            (Files, 0, size => size.StorageBytes + size.IndexBytes),
            (Disk, 0, size => size.DiskBytes),
        ];
        return
        [
            .. all.Select(one => Fitted(one.What, one.Waves, [.. sizes.Select(size => ((double)size.Documents, (double?)one.Of(size.Sizes) ?? 0)).Where(point => point.Item1 > 0 && point.Item2 > 0)]))
                .OfType<SizeForecast>(),
        ];
    }

    /// <summary>Of the data folder alone; null for fewer than four sizes.</summary>
    public static SizeForecast? OfDisk(IReadOnlyList<(long Documents, long Bytes)> sizes) => Fitted(Disk, 0, [.. sizes.Where(size => size is { Documents: > 0, Bytes: > 0 }).Select(size => ((double)size.Documents, (double)size.Bytes))]);

    private static SizeForecast? Fitted(string what, double waves, (double Documents, double Bytes)[] points)
    {
        if (points.Length < GrowthFit.LeastSizes)
            return null;
        double first = points.Min(point => point.Documents);
        // A journal takes up many times what the first documents do; the first blocks of a file, or what a compression learns, far less.
        double[] shares = [-0.5, -0.2, -0.1, -0.05, -0.02, .. Enumerable.Range(0, 25).Select(i => 0.01 * Math.Pow(10, i / 6.0))];
        GrowthFit? fit = GrowthFit.Of(
            [.. points.Select(point => point.Documents)], [.. points.Select(point => point.Bytes / point.Documents)],
            new FitRequest(0.005, 0.05, 0.005, [[.. shares.Select(share => new Offset(share * first))]]) { Waves = waves });
        return fit is null ? null : new SizeForecast(what, fit, points.MaxBy(point => point.Documents).Bytes);
    }

    /// <summary>Bytes per document change little from one size to the next, so a few steps get there.</summary>
    private double Solve(double bytes, Func<Prediction, double> choose)
    {
        double documents = bytes / choose(Fit.At(1e6));
        for (int i = 0; i < Steps; i++)
        {
            double next = bytes / choose(Fit.At(Math.Max(1, documents)));
            if (Math.Abs(next - documents) < documents * 1e-4)
                return next;
            // Half way: with a journal that is larger than the limit the steps would never meet.
            documents = (documents + next) / 2;
        }

        return documents;
    }
}
