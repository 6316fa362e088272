using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Comparison;

/// <summary>One test's rates over the repeats of a run, in the order in which they ran.</summary>
/// <param name="Test">Which.</param>
/// <param name="Threads">Of the test.</param>
/// <param name="Rates">Per second, the geometric mean over the sizes; one per run.</param>
internal sealed record TestSpread(string Test, int Threads, IReadOnlyList<double> Rates)
{
    public double Lowest => Rates.Min();

    public double Highest => Rates.Max();

    public double Median
    {
        get
        {
            double[] sorted = [.. Rates.Order()];
            return (sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2;
        }
    }

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
/// <param name="Tests">In the order of the series.</param>
/// <param name="NoiseThreshold">From which share on a slower first run is worth a warning.</param>
internal sealed record RepeatSpread(ComparedSide Side, IReadOnlyList<TestSpread> Tests, double NoiseThreshold)
{
    /// <summary>Sentences about tests whose first run was slower than every other.</summary>
    public IEnumerable<string> SlowStarts => Tests.Where(t => t.FirstIsSlowerBy > NoiseThreshold).Select(t =>
        $"the first run of {t.Test} was {Units.Percent(t.FirstIsSlowerBy)} slower than the slowest of the others: caches may have been cold; "
        + "give one more repeat and leave the first out, or a longer --warmup");

    public static RepeatSpread Of(ComparedSide side, double noiseThreshold) => new(
        side,
        [
            .. side.Windows.Keys
                .GroupBy(key => (key.Test, key.Threads))
                .OrderBy(group => TestOrder.Of(group.Key.Test)).ThenBy(group => group.Key.Threads)
                .Select(group => new TestSpread(
                    group.Key.Test, group.Key.Threads,
                    [.. side.Windows.Runs.Select(run => Math.Exp(group.Average(key => Math.Log(run.Find(key)!.Rate))))])),
        ],
        noiseThreshold);
}
