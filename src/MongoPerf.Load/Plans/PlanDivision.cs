using MongoPerf.Measurement;

namespace MongoPerf.Load.Plans;

/// <summary>Which plans several clients can carry out together.</summary>
/// <remarks>
/// Loads and growths are divided by the documents' numbers, counts, rates and connections that are opened at once by their number. Threads
/// are each client's own, and so is the pool that they share. What each inserts beside other work has numbers of its own
/// (<see cref="Keys.PlanShare.FirstOwn"/>). Reads, updates and deletes draw from all documents that were there when the phase began and
/// from the client's own, as those of independent clients do. What changes the cluster the first client does for all.
/// </remarks>
public static class PlanDivision
{
    /// <param name="plan">The whole plan.</param>
    /// <param name="clients">How many clients there are.</param>
    /// <returns>What can't be divided, in a sentence; null when all can.</returns>
    public static string? FindFault(Plan plan, int clients) => plan.Rounds
        .SelectMany(round => round.Phases.SelectMany(phase => phase.Growth?.Each.Prepend(phase) ?? [phase])
            .Select(phase => FindFault(phase, round, clients)))
        .FirstOrDefault(fault => fault is not null);

    private static string? FindFault(Phase phase, PlanRound round, int clients)
    {
        string name = $"phase '{phase.Name}'";
        if (!phase.IsForCluster && phase.Groups.SelectMany(group => group.Operations)
            .FirstOrDefault(operation => operation.Operation.IsForCluster) is { } control)
            return $"{name}: operation '{control.Operation.Name}' changes the cluster beside other work; in a phase of its own the "
                + "first client does it for all";
        if (phase.Restart != ServerRestart.None)
            return $"{name} restarts the server, which no client started";
        if (phase.Groups.Any(group => group.Until is not null))
            return $"{name} measures until a percentile is known, which each client would reach at a different time";
        if (phase.AllGroups.SelectMany(group => group.Operations).FirstOrDefault(one => one.Operation is WatchChanges) is { } watch)
            return $"{name}: operation '{watch.Operation.Name}' would see the writes of all clients, but know only when those of its "
                + "own client were acknowledged";
        if (phase.AllGroups.FirstOrDefault(group => group.Connections is { Kind: ConnectionKind.Storm } && group.Threads < clients)
            is { } few)
            return $"{name} opens {few.Threads:N0} connections at once, fewer than there are clients ({clients:N0})";
        return round.Collections
            .FirstOrDefault(collection => collection.Files is not null && IsAddedTo(phase, collection.Name)) is { } bucket
            ? $"{name} adds files to '{bucket.Name}' while it measures: clients could not close the gaps that they leave, "
                + "as files can't be found again by their numbers; 'load' divides them"
            : null;
    }

    private static bool IsAddedTo(Phase phase, string bucket) => phase.Growth is { } growth
        ? growth.Collections.Any(collection => collection.Name == bucket)
        : phase.Loads is null && phase.Groups.SelectMany(group => group.Operations).Any(item => item.Operation.InsertsInto(bucket));
}
