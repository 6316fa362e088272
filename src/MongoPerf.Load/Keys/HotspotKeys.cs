using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>
/// A share of the operations goes to a share of the keys, the lowest; within each of the two parts keys are equally likely.
/// </summary>
/// <param name="keys">Those that exist.</param>
/// <param name="hotKeys">The hot part's share of the keys, 0 to 1 (YCSB's hotspotdatafraction, there 0.2). At least one key is hot.</param>
/// <param name="hotOperations">The share of operations that goes to it, 0 to 1 (YCSB's hotspotopnfraction, there 0.8).</param>
public sealed class HotspotKeys(KeySpace keys, double hotKeys, double hotOperations) : KeyChooser(keys)
{
    private readonly double _hotKeys = Share(hotKeys, nameof(hotKeys));
    private readonly double _hotOperations = Share(hotOperations, nameof(hotOperations));

    private static double Share(double share, string name) =>
        share is >= 0 and <= 1 ? share : throw new ArgumentOutOfRangeException(name, share, "a share lies between 0 and 1");

    private protected override long Draw(ref RandomStream random)
    {
        long count = Count;
        long hot = Math.Clamp((long)(count * _hotKeys), 1, count);
        return random.NextDouble() < _hotOperations || hot == count
            ? random.NextLong(hot)
            : hot + random.NextLong(count - hot);
    }
}
