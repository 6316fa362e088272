using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>Zipfian over the keys in their own order: key 0 is the most popular, then key 1, and so on.</summary>
/// <param name="keys">Those that exist; the distribution follows their count.</param>
/// <param name="theta">The theta, above 0 and below 1.</param>
public sealed class ZipfianKeys(KeySpace keys, double theta = ZipfianKeys.UsualTheta) : KeyChooser(keys)
{
    /// <summary>YCSB's skew.</summary>
    public const double UsualTheta = Zipfian.UsualTheta;

    private Zipfian _ranks = new(theta);

    private protected override long Draw(ref RandomStream random) => _ranks.Next(Count, ref random);

    public override KeyChooser ForWorker() => new ZipfianKeys(Keys, theta);
}
