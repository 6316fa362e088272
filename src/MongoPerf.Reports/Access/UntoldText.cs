using MongoPerf.Storage;

namespace MongoPerf.Reports.Access;

/// <summary>Says which figures a server does not tell, and why: charts and findings do without them.</summary>
public static class UntoldText
{
    /// <summary>A line for each reason; none where nothing is missing.</summary>
    public static IEnumerable<string> Of(DeploymentInfo deployment)
    {
        ILookup<bool, Metric> known = Known(deployment);
        if (known[true].Any())
            yield return Words.Of($"{Names(known[true])}: MongoDB {deployment.ServerVersion} does not tell them");
        if (known[false].Any())
            yield return IsNewer(deployment)
                ? Words.Of($"{Names(known[false])}: not found in serverStatus of MongoDB {deployment.ServerVersion}, which is newer than "
                    + $"{MetricCatalogue.NewestVersion}, the newest that MongoPerf knows")
                : Words.Of($"{Names(known[false])}: this server does not tell them where MongoPerf looks");
    }

    /// <summary>What a version that MongoPerf does not know keeps elsewhere: a newer MongoPerf may find it.</summary>
    /// <returns>Null for a version that it knows, and where nothing is missing.</returns>
    public static string? Warning(DeploymentInfo deployment) =>
        IsNewer(deployment) && Known(deployment)[false].Any() ? Of(deployment).Last() : null;

    private static bool IsNewer(DeploymentInfo deployment) => deployment.Release > MetricCatalogue.NewestVersion;

    /// <summary>What it does not tell, by whether that is known of its version.</summary>
    private static ILookup<bool, Metric> Known(DeploymentInfo deployment) =>
        MetricCatalogue.OfStatus.Where(metric => deployment.UntoldMetrics.Contains(metric.Name))
            .ToLookup(metric => deployment.Release is { } release && !metric.IsToldBy(release));

    /// <summary>What routers count is one figure to people.</summary>
    private static string Names(IEnumerable<Metric> metrics) => string.Join(", ", metrics
        .Select(metric => metric.IsOfRouter ? Words.Of("shards that operations asked") : metric.Title.ToLowerInvariant()).Distinct());
}
