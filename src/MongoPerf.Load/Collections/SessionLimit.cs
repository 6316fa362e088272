using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>Which servers have the transactions and sessions that a plan asks for; asked before a run begins.</summary>
public static class SessionLimit
{
    /// <param name="server">Of the deployment.</param>
    /// <param name="operation">One of the plan's.</param>
    /// <exception cref="OperationLimitException">It has not.</exception>
    public static void Check(HelloReply server, Operation operation)
    {
        if (operation is not StepSequence { Transaction: var transaction, IsCausal: var isCausal } || (transaction is null && !isCausal)
            || server.ReplicaSetName is not null || server.IsMongos)
            return;
        string what = transaction is not null ? "a transaction" : "a causally consistent session";
        throw new OperationLimitException($"{operation.Name}: {what} is possible on a replica set or behind a mongos only, and this server "
            + "is neither\nhint:  --topology replicaset starts a replica set; without transaction and session the same steps run anywhere");
    }
}
