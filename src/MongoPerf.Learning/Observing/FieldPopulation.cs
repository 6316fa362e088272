namespace MongoPerf.Learning.Observing;

/// <summary>What is known of a field from the data, without which few requests don't tell from how many keys they were drawn.</summary>
/// <param name="Documents">The collection's documents.</param>
/// <param name="Distinct">The field's different values.</param>
public readonly record struct FieldPopulation(double Documents, double Distinct)
{
    /// <summary>
    /// The shares of the documents that have each value, the most frequent first, as far as they are known; null where each has its own.
    /// </summary>
    public IReadOnlyList<double>? Shares { get; init; }

    /// <summary>The share of the value with a rank, from 1 on; those that aren't known are alike.</summary>
    internal double ShareOf(double rank)
    {
        if (Shares is not { Count: > 0 } known)
            return 1 / Distinct;
        return rank <= known.Count ? known[(int)rank - 1] : known[^1];
    }
}

/// <summary>What is known of a field when an operation's values of it are understood.</summary>
/// <param name="Population">Of the data; null for nothing.</param>
/// <param name="Keys">How all operations together draw it, which few values of one of them can't tell.</param>
internal readonly record struct KnownField(FieldPopulation? Population, KeyDistribution Keys);
