using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Comparison;

/// <summary>One operation's rates over the repeats of a run, in the order in which they ran.</summary>
/// <param name="Operation">Which.</param>
/// <param name="Rates">The rates per second of each run: the geometric mean over its windows.</param>
/// <param name="IsIndependent">The rates say something by themselves; otherwise they follow from a mix's.</param>
public sealed record OperationSpread(ComparedOperation Operation, IReadOnlyList<double> Rates, bool IsIndependent)
{
    public double Lowest => Rates.Min();

    public double Highest => Rates.Max();

    public double Median => Quantiles.Median(Rates);

    /// <summary>Standard deviation as a share of the mean; null for one run.</summary>
    public double? Variation
    {
        get
        {
            double mean = Rates.Average();
            return Rates.Count < 2 ? null : Math.Sqrt(Rates.Sum(r => (r - mean) * (r - mean)) / (Rates.Count - 1)) / mean;
        }
    }

    /// <summary>By how much the first run was slower than the slowest of the others, as a share; 0 or less when it was not.</summary>
    public double FirstIsSlowerBy => Rates.Count < 3 ? 0 : 1 - (Rates[0] / Rates.Skip(1).Min());
}

/// <summary>How much the repeats of one run differ.</summary>
/// <param name="Side">The runs.</param>
/// <param name="Operations">The operations in the order of the plan.</param>
/// <param name="NoiseThreshold">The share from which on a slower first run is worth a warning.</param>
public sealed record RepeatSpread(ComparedSide Side, IReadOnlyList<OperationSpread> Operations, double NoiseThreshold)
{
    /// <summary>"batch", or "q4 ×8" where several thread counts were measured.</summary>
    public string TitleOf(OperationSpread spread) => spread.Operation.TitleAmong([.. Operations.Select(o => o.Operation)]);

    /// <summary>Sentences about operations whose first run was slower than every other.</summary>
    public IEnumerable<string> SlowStarts => Operations.Where(o => o.IsIndependent && o.FirstIsSlowerBy > NoiseThreshold).Select(o =>
        Words.Of($"{TitleOf(o)} was {Units.Percent(o.FirstIsSlowerBy)} slower in the first run than in the slowest of the others: "
            + $"caches may have been cold; "
        + $"add a repeat and leave the first out, or use a longer --warmup"));

    public static RepeatSpread Of(ComparedSide side, double noiseThreshold) => new(
        side,
        [
            .. side.Windows.Keys.GroupBy(key => key.Operation).Select(group => new OperationSpread(
                group.Key, [.. side.Windows.Runs.Select(run => Math.Exp(group.Average(key => Math.Log(run.Find(key)!.Rate))))],
                side.Windows.Runs[0].Find(group.First())!.IsIndependent)),
        ],
        noiseThreshold);
}
