using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>An operation that is done to a cluster and not through its router's connection of the worker.</summary>
/// <param name="operation">The operation with <see cref="Operation.IsForCluster"/>.</param>
/// <param name="cluster">Does it.</param>
/// <param name="stop">Ends it early.</param>
public sealed class WireClusterOperation(Operation operation, ClusterControl cluster, CancellationToken stop) : IPreparedOperation
{
    public ServerError? LastError { get; private set; }

    public bool Draw() => true;

    public OperationOutcome Execute()
    {
        try
        {
            if (operation is SetBalancer balancer)
                cluster.Do(balancer, stop);
            else
                cluster.RunOnOwners(operation.Collection, operation.ToCommand().ToDocument(new ValueContext(0, 0)), stop);
            return new OperationOutcome(true, 0, 0);
        }
        catch (Exception e) when (ServerErrorOf(e) is { } error)
        {
            LastError = error;
            return default;
        }
        catch (AggregateException e)
        {
            // A shard that is away, as a connection that broke.
            throw e.InnerExceptions[0];
        }
    }

    /// <summary>It brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
    }

    private static ServerError? ServerErrorOf(Exception e) =>
        ((e as AggregateException)?.InnerExceptions[0] ?? e) is ServerCommandException refused ? refused.Error : null;
}
