using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>What YCSB calls a zipfian request distribution: few keys are very popular, and they are spread over all keys.</summary>
/// <remarks>
/// A zipfian rank among 10^10 + 1 is hashed (FNV-1a, 64 bits) and taken modulo the keys that are expected by the end of the run. Ranks,
/// modulus and thus the popular keys stay the same while keys are inserted; a key that does not exist yet is drawn again.
/// </remarks>
public sealed class ScrambledZipfianKeys : KeyChooser
{
    /// <summary>YCSB's ranks: 0 to 10^10.</summary>
    public const long Ranks = 10_000_000_001;

    private readonly long _expectedKeys;
    private readonly double _theta;
    private Zipfian _ranks;

    /// <param name="keys">Those that exist.</param>
    /// <param name="expectedKeys">
    /// Those at the end of the run, 1 or more; keys beyond it are never drawn. YCSB adds twice the inserts that it expects.
    /// </param>
    /// <param name="theta">The theta, above 0 and below 1.</param>
    public ScrambledZipfianKeys(KeySpace keys, long expectedKeys, double theta = ZipfianKeys.UsualTheta)
        : base(keys)
    {
        if (expectedKeys < 1)
            throw new ArgumentOutOfRangeException(nameof(expectedKeys), expectedKeys, "at least one key is expected");
        (_expectedKeys, _theta, _ranks) = (expectedKeys, theta, new Zipfian(theta));
    }

    private protected override long Draw(ref RandomStream random)
    {
        long count = Count;
        while (count > 1)
        {
            long key = FowlerNollVo.Hash(_ranks.Next(Ranks, ref random)) % _expectedKeys;
            if (key < count)
                return key;
        }

        return 0;
    }

    public override KeyChooser ForWorker() => new ScrambledZipfianKeys(Keys, _expectedKeys, _theta);
}
