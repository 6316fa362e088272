using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>Which servers have the transactions, sessions and change streams that a plan asks for; asked before a run begins.</summary>
public static class SessionLimit
{
    /// <returns>What an operation has that only replica sets and mongos have; null for none.</returns>
    public static string? Find(Operation operation) => operation switch
    {
        StepSequence { Transaction: not null } => "a transaction",
        StepSequence { IsCausal: true } => "a causally consistent session",
        WatchChanges => "a change stream",
        _ => null,
    };

    /// <param name="server">Of the deployment.</param>
    /// <param name="operation">One of the plan's.</param>
    /// <exception cref="OperationLimitException">It has not.</exception>
    public static void Check(HelloReply server, Operation operation) =>
        Check(server.HasSessions, operation);

    /// <param name="hasSessions">The deployment is a replica set, or has a mongos that is not the embedded server.</param>
    /// <param name="operation">One of the plan's.</param>
    /// <exception cref="OperationLimitException">It has not.</exception>
    public static void Check(bool hasSessions, Operation operation)
    {
        if (Find(operation) is not { } what || hasSessions)
            return;
        throw new OperationLimitException($"{operation.Name}: {what} needs a replica set or a real mongos, and this server "
            + "is neither\nhint:  --topology replicaset starts a replica set"
            + (operation is StepSequence ? "; without transaction and session the same steps run anywhere" : ""));
    }
}
