using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>
/// The newest key is the most popular, then the one before it: zipfian from the end of the keys, which moves as keys are inserted.
/// </summary>
/// <param name="keys">Those that exist.</param>
/// <param name="theta">The theta, above 0 and below 1.</param>
public sealed class LatestKeys(KeySpace keys, double theta = ZipfianKeys.UsualTheta) : KeyChooser(keys)
{
    private Zipfian _distances = new(theta);

    private protected override long Draw(ref RandomStream random)
    {
        long count = Count;
        return count - 1 - _distances.Next(count, ref random);
    }

    public override KeyChooser ForWorker() => new LatestKeys(Keys, theta);
}
