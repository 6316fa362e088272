namespace MongoPerf.Engine.Plans;

/// <summary>Which plans several clients can carry out together.</summary>
/// <remarks>
/// Loads and growths are divided by the documents' numbers, counts and rates by their number. Threads are each client's own. What each inserts beside
/// other work has numbers of its own (<see cref="Keys.PlanShare.FirstOwn"/>). Reads, updates and deletes draw from all documents that were there when the
/// phase began and from the client's own, as those of independent clients do.
/// </remarks>
public static class PlanDivision
{
    /// <returns>What can't be divided, in a sentence; null when all can.</returns>
    public static string? FindFault(Plan plan)
    {
        foreach (Phase phase in plan.Phases.SelectMany(phase => phase.Growth?.Each.Prepend(phase) ?? [phase]))
        {
            if (phase.Groups.SelectMany(group => group.Operations).FirstOrDefault(operation => operation.Operation.IsForCluster) is { } control)
                return $"phase '{phase.Name}': operation '{control.Operation.Name}' changes the cluster, which only one client may do";
            if (phase.Restart != ServerRestart.None)
                return $"phase '{phase.Name}' restarts the server";
            if (phase.Groups.Any(group => group.Until is not null))
                return $"phase '{phase.Name}' measures until a percentile is known, which each client would know at another time";
        }

        return plan.Collections.FirstOrDefault(collection => collection.Files is not null) is { } bucket ? $"'{bucket.Name}' holds GridFS files, which can't be found again by their numbers" : null;
    }
}
