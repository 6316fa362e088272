namespace MongoPerf.Learning.Comparing;

/// <summary>A figure of the deployment beside the scenario's.</summary>
/// <param name="Subject">What it is about: a collection, an operation.</param>
/// <param name="What">What it counts, with its unit.</param>
/// <param name="Deployment">Null where it has none.</param>
/// <param name="Scenario">Null where it has none.</param>
/// <param name="Limit">The deviation that is small enough, as a share; null where it is only told.</param>
public sealed record Deviation(string Subject, string What, double? Deployment, double? Scenario, double? Limit)
{
    /// <summary>The limit of sizes, as a share.</summary>
    public const double OfSizes = 0.10;

    /// <summary>The limit of everything else.</summary>
    public const double OfRates = 0.15;

    /// <summary>Standard deviations that chance may take: of a thousand figures it takes more once in sixteen comparisons.</summary>
    public const double Spread = 4;

    /// <summary>
    /// The deviation that chance explains beyond the limit, as a share: both sides are, or could be, other draws of the same.
    /// </summary>
    public double Chance { get; init; }

    /// <summary>The scenario's against the deployment's, 0 where both are alike; null where one is missing.</summary>
    public double? Share => (Deployment, Scenario) is ({ } one, { } other)
        ? one == other ? 0 : one == 0 ? double.PositiveInfinity : (other / one) - 1 : null;

    public bool IsWithin => Limit is null || (Share is { } share && Math.Abs(share) <= Limit + Chance);

    /// <summary>It is within its limit by what chance explains alone, so it says nothing.</summary>
    public bool IsByChance => IsWithin && Share is { } share && Math.Abs(share) > Limit;

    /// <summary>The means of two samples.</summary>
    /// <param name="subject">What it is about.</param>
    /// <param name="what">What it counts.</param>
    /// <param name="deployment">Its mean, standard deviation and number of values.</param>
    /// <param name="scenario">The same of the scenario.</param>
    /// <param name="limit">As a share.</param>
    public static Deviation OfMeans(string subject, string what, (double Mean, double Deviation, double Count) deployment,
        (double Mean, double Deviation, double Count) scenario, double limit)
    {
        double error = Math.Sqrt((Square(deployment.Deviation) / Math.Max(1, deployment.Count))
            + (Square(scenario.Deviation) / Math.Max(1, scenario.Count)));
        return new(subject, what, deployment.Mean, scenario.Mean, limit)
        {
            Chance = deployment.Mean != 0 ? Spread * error / Math.Abs(deployment.Mean)
                // What came never in so many may be as rare as that.
                : Math.Abs(scenario.Mean) <= Rare / Math.Max(1, deployment.Count) ? double.PositiveInfinity : 0,
        };
    }

    /// <summary>Shares of two numbers, in percent.</summary>
    /// <param name="subject">What it is about.</param>
    /// <param name="what">What it counts.</param>
    /// <param name="deployment">The share, 0 to 1, and of how many.</param>
    /// <param name="scenario">The same of the scenario.</param>
    /// <param name="points">The difference that is small enough, 0 to 1.</param>
    public static Deviation OfShares(string subject, string what, (double Share, double Count) deployment,
        (double Share, double Count) scenario, double points)
    {
        double together = ((deployment.Share * deployment.Count) + (scenario.Share * scenario.Count))
            / Math.Max(1, deployment.Count + scenario.Count);
        double fewest = Math.Max(1, Math.Min(deployment.Count, scenario.Count));
        double chance = (Spread * Math.Sqrt(together * (1 - together)
            * ((1 / Math.Max(1, deployment.Count)) + (1 / Math.Max(1, scenario.Count))))) + (1 / fewest);
        bool isNone = deployment.Share == 0;
        double limit = !isNone ? points / deployment.Share : scenario.Share <= points ? double.PositiveInfinity : 0;
        return new(subject, what, 100 * deployment.Share, 100 * scenario.Share, limit)
        {
            Chance = !isNone ? chance / deployment.Share : scenario.Share <= points + chance ? double.PositiveInfinity : 0,
        };
    }

    /// <summary>Of what was never seen among n, chance makes it unlikely (1 in 20,000) that it comes more often than this by n.</summary>
    private const double Rare = 10;

    private static double Square(double value) => value * value;
}
