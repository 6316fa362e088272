using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Keys;

/// <summary>Zipfian over the keys in their own order: key 0 is the most popular, then key 1, and so on.</summary>
/// <param name="keys">Those that exist; the distribution follows their count.</param>
/// <param name="theta">Above 0 and below 1.</param>
public sealed class ZipfianKeys(KeySpace keys, double theta = ZipfianKeys.UsualTheta) : KeyChooser
{
    /// <summary>YCSB's skew.</summary>
    public const double UsualTheta = Zipfian.UsualTheta;

    private Zipfian _ranks = new(theta);

    public override long Next(ref RandomStream random) => _ranks.Next(CountOf(keys), ref random);

    public override KeyChooser ForWorker() => new ZipfianKeys(keys, theta);
}
