using MongoPerf.Load.Plans;

namespace MongoPerf.Scenarios;

/// <summary>What can't be verified because the server does not promise it.</summary>
internal static class ServerPromises
{
    /// <returns>A line for each collection of the plan from which the server removes documents.</returns>
    public static IEnumerable<string> Warnings(IReadOnlyList<PlanRound> rounds) => rounds.SelectMany(round => round.Collections)
        .Where(collection => collection.RemovedBecause is not null)
        .Select(collection => $"collection '{collection.Name}': the server removes documents by itself ({collection.RemovedBecause}), "
            + "so lost documents can't be told from removed ones; those that come back are verified")
        .Distinct();
}
