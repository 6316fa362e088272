using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Forecasts;

/// <summary>Something that grows with the documents: data, storage, an index, the disk.</summary>
/// <param name="What">"data", "index _id_".</param>
/// <param name="Fit">The fit of its bytes per document.</param>
/// <param name="Measured">Bytes at the largest size where they were taken.</param>
public sealed record SizeForecast(string What, GrowthFit Fit, double Measured)
{
    public const string Data = "data";
    public const string Storage = "storage";
    public const string Indexes = "indexes";
    public const string Files = "storage and indexes";
    public const string Uncompressed = "data and indexes";
    public const string Disk = "disk";

    private const int Steps = 20;

    /// <summary>
    /// A B-tree's pages are half full after they were split and fill up again, with random keys all at about the same time (A. C. Yao, "On
    /// random 2-3 trees", 1978), and a checkpoint writes changed pages anew before it frees the old ones. Twelve indexes of real growths
    /// were 11 % off at twice the size (root mean square; docs/forecast.md).
    /// </summary>
    private const double WavesOfIndexes = 0.12;

    /// <summary>Bytes beside those of <see cref="Fit"/>, however many documents there are: a journal.</summary>
    public Prediction Constant { get; init; }

    /// <summary>Bytes at a size of the collection.</summary>
    public Prediction At(double documents) => Fit.At(documents).Times(documents).Plus(Constant);

    /// <summary>Bytes at a size of the collection, by document.</summary>
    public Prediction EachAt(double documents) => At(documents).Times(1 / documents);

    /// <summary>Documents from which on it is larger.</summary>
    /// <param name="bytes">Greater than 0.</param>
    public Prediction Crossing(double bytes) =>
        new(Solve(bytes, static one => one.Value), Solve(bytes, static one => one.High), Solve(bytes, static one => one.Low));

    /// <summary>All that the sizes of a growth tell; what is missing at a size is left out.</summary>
    public static IReadOnlyList<SizeForecast> Of(IReadOnlyList<(long Documents, SizeResult Sizes)> sizes)
    {
        string[] indexes = [.. sizes.SelectMany(one => one.Sizes.Indexes.Keys).Distinct().Order(StringComparer.Ordinal)];
        IEnumerable<(string What, double Waves, Func<SizeResult, long?> Of)> all =
        [
            (Data, 0, size => size.DataBytes),
            (Storage, 0, size => size.StorageBytes),
            .. indexes.Select(name => (Words.Of($"index {name}"), WavesOfIndexes,
                (Func<SizeResult, long?>)(size => size.Indexes.TryGetValue(name, out long bytes) ? bytes : null))),
            (Indexes, WavesOfIndexes, size => size.IndexBytes),
            (Uncompressed, 0, size => size.DataBytes + size.IndexBytes),
            (Files, 0, size => size.StorageBytes + size.IndexBytes),
        ];
        return
        [
            .. all.Select(one => Fitted(one.What, one.Waves,
                [.. sizes.Select(size => ((double)size.Documents, (double?)one.Of(size.Sizes) ?? 0))
                    .Where(point => point.Item1 > 0 && point.Item2 > 0)]))
                .Append(OfDisk(sizes)).OfType<SizeForecast>(),
        ];
    }

    /// <summary>Makes the forecast of the data folder alone; null for fewer than four sizes.</summary>
    public static SizeForecast? OfDisk(IReadOnlyList<(long Documents, SizeResult Sizes)> sizes)
    {
        (long Documents, SizeResult Sizes)[] known = [.. sizes.Where(one => one is { Documents: > 0, Sizes.DiskBytes: > 0 })];
        // mongod makes its journal at once, in files of 100 MB: beside the first documents it is nearly all that there is, and would be
        // all that a fit sees.
        double[] journal = known.Any(one => one.Sizes.JournalBytes is null)
            ? [.. known.Select(_ => 0.0)]
            : [.. known.Select(one => (double)one.Sizes.JournalBytes!.Value)];
        SizeForecast? rest = Fitted(Disk, 0,
            [.. known.Zip(journal, (one, bytes) => ((double)one.Documents, one.Sizes.DiskBytes!.Value - bytes))
                .Where(point => point.Item2 > 0)]);
        return rest is null ? null : rest with
        {
            Measured = known.MaxBy(one => one.Documents).Sizes.DiskBytes!.Value,
            Constant = new Prediction(Quantiles.Median(journal), journal.Min(), journal.Max()),
        };
    }

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
        bytes = Math.Max(0, bytes - choose(Constant));
        double documents = bytes / choose(Fit.At(1e6));
        for (int i = 0; i < Steps; i++)
        {
            double next = bytes / choose(Fit.At(Math.Max(1, documents)));
            if (Math.Abs(next - documents) < documents * 1e-4)
                return next;
            // Half way: with an overhead that is larger than the limit the steps would never meet.
            documents = (documents + next) / 2;
        }

        return documents;
    }
}
