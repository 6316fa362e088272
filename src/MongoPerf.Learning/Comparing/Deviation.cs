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

    /// <summary>The scenario's against the deployment's, 0 where both are alike; null where one is missing.</summary>
    public double? Share => (Deployment, Scenario) is ({ } one, { } other)
        ? one == other ? 0 : one == 0 ? double.PositiveInfinity : (other / one) - 1 : null;

    public bool IsWithin => Limit is null || (Share is { } share && Math.Abs(share) <= Limit);
}
