using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>A hot set: the first keys only, each as likely as any other; the rest are never drawn.</summary>
/// <param name="keys">Those that exist.</param>
/// <param name="hotKeys">Size of the hot set, 1 or more; as long as fewer exist, those that do.</param>
public sealed class FirstKeys(KeySpace keys, long hotKeys) : KeyChooser(keys)
{
    private readonly long _hotKeys =
        hotKeys > 0 ? hotKeys : throw new ArgumentOutOfRangeException(nameof(hotKeys), hotKeys, "a hot set has at least one key");

    private protected override long Draw(ref RandomStream random) => random.NextLong(Math.Min(_hotKeys, Count));
}
