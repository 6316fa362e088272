using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>
/// Draws the keys that operations ask for. The distributions are YCSB's (B. Cooper et al., "Benchmarking cloud serving
/// systems with YCSB", 2010).
/// </summary>
/// <remarks>
/// One per worker, made by <see cref="ForWorker"/>: some remember what they computed for the present count of keys. A
/// draw allocates nothing.
/// </remarks>
/// <param name="keys">Those that exist.</param>
public abstract class KeyChooser(KeySpace keys)
{
    private protected KeySpace Keys { get; } = keys;

    /// <summary>How many exist, at least 1.</summary>
    private protected long Count => Math.Max(1, Keys.Count);

    /// <summary>The number of the next document.</summary>
    /// <param name="random">The worker's own.</param>
    public long Next(ref RandomStream random) => Keys.NumberOf(Draw(ref random));

    /// <summary>An equal chooser for one more worker; itself where threads may share it.</summary>
    public virtual KeyChooser ForWorker() => this;

    /// <returns>
    /// 0 ≤ key &lt; the count of keys that exist; 0 while there is none, so that a mix that begins on an empty collection
    /// finds nothing at first.
    /// </returns>
    private protected abstract long Draw(ref RandomStream random);
}
