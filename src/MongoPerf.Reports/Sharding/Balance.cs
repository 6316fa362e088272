namespace MongoPerf.Reports.Sharding;

/// <summary>How evenly documents lie on two or more shards.</summary>
/// <param name="Even">Documents that each shard would have.</param>
/// <param name="Most">The fullest shard.</param>
/// <param name="Least">The emptiest.</param>
internal sealed record Balance(double Even, ShardHolding Most, ShardHolding Least)
{
    /// <summary>Null for fewer than two shards, and while there are no documents.</summary>
    public static Balance? Of(IReadOnlyList<ShardHolding> shards)
    {
        long documents = shards.Sum(static shard => shard.Documents);
        return shards.Count < 2 || documents <= 0
            ? null
            : new Balance((double)documents / shards.Count, shards.MaxBy(static shard => shard.Documents)!,
                shards.MinBy(static shard => shard.Documents)!);
    }

    /// <summary>1 is even; null while the emptiest shard has nothing.</summary>
    public double? MaxToMin => Least.Documents > 0 ? (double)Most.Documents / Least.Documents : null;

    /// <summary>0.1: the shard that is farthest off has 10 % more, or fewer, than even.</summary>
    public double Worst => Math.Max(FromEven(Most), -FromEven(Least));

    /// <summary>0.1 is 10 % more than even, -1 nothing at all.</summary>
    public double FromEven(ShardHolding shard) => (shard.Documents / Even) - 1;
}
