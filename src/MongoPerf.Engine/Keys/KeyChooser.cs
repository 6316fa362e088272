using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Keys;

/// <summary>Draws the keys that operations ask for. The distributions are YCSB's (B. Cooper et al., "Benchmarking cloud serving systems with YCSB", 2010).</summary>
/// <remarks>One per worker, made by <see cref="ForWorker"/>: some remember what they computed for the present count of keys. A draw allocates nothing.</remarks>
public abstract class KeyChooser
{
    /// <summary>The next key.</summary>
    /// <param name="random">The worker's own.</param>
    /// <returns>0 ≤ key &lt; the count of keys that exist; 0 while there is none, so that a mix that begins on an empty collection finds nothing at first.</returns>
    public abstract long Next(ref RandomStream random);

    /// <summary>An equal chooser for one more worker; itself where threads may share it.</summary>
    public virtual KeyChooser ForWorker() => this;

    /// <summary>The count of keys, at least 1.</summary>
    private protected static long CountOf(KeySpace keys) => Math.Max(1, keys.Count);
}
