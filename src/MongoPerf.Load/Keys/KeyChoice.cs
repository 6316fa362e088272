namespace MongoPerf.Load.Keys;

/// <summary>
/// Which documents operations are about, as a scenario says it; <see cref="Open"/> makes the chooser for the keys that are there then.
/// </summary>
public abstract record KeyChoice
{
    public static KeyChoice Uniform { get; } = new UniformChoice();

    /// <param name="keys">The keys of the collection.</param>
    /// <param name="expectedInserts">How many keys the phase may add, as far as that is known.</param>
    public abstract KeyChooser Open(KeySpace keys, long expectedInserts);
}

public sealed record UniformChoice : KeyChoice
{
    public override KeyChooser Open(KeySpace keys, long expectedInserts) => new UniformKeys(keys);
}

/// <param name="Theta">Skew, above 0 and below 1.</param>
/// <param name="IsScrambled">Popular keys lie all over the collection, as in YCSB; otherwise the first are the most popular.</param>
public sealed record ZipfianChoice(double Theta, bool IsScrambled) : KeyChoice
{
    // YCSB expects twice as many inserts as the mix makes likely, since nobody knows how many there will be.
    public override KeyChooser Open(KeySpace keys, long expectedInserts) =>
        IsScrambled ? new ScrambledZipfianKeys(keys, Math.Max(1, keys.Count + (2 * expectedInserts)), Theta) : new ZipfianKeys(keys, Theta);
}

public sealed record LatestChoice(double Theta) : KeyChoice
{
    public override KeyChooser Open(KeySpace keys, long expectedInserts) => new LatestKeys(keys, Theta);
}

/// <param name="Data">The hot part's share of the keys, 0 to 1.</param>
/// <param name="Operations">The share of operations that goes to it, 0 to 1.</param>
public sealed record HotspotChoice(double Data, double Operations) : KeyChoice
{
    public override KeyChooser Open(KeySpace keys, long expectedInserts) => new HotspotKeys(keys, Data, Operations);
}

public sealed record ExponentialChoice(double Percentile, double Fraction) : KeyChoice
{
    public override KeyChooser Open(KeySpace keys, long expectedInserts) => new ExponentialKeys(keys, Percentile, Fraction);
}

public sealed record SequentialChoice : KeyChoice
{
    public override KeyChooser Open(KeySpace keys, long expectedInserts) => new SequentialKeys(keys);
}

/// <param name="Count">Size of the hot set, 1 or more.</param>
public sealed record FirstChoice(long Count) : KeyChoice
{
    public override KeyChooser Open(KeySpace keys, long expectedInserts) => new FirstKeys(keys, Count);
}
