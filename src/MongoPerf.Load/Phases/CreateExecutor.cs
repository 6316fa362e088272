using MongoPerf.Load.Collections;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Phases;

/// <summary>Makes one collection anew as a phase's only operation, so that it is timed, sampled and stored as any other.</summary>
/// <remarks>One worker, while nobody else uses the data. A connection that breaks is tried again by the data themselves.</remarks>
internal sealed class CreateExecutor(IDataStore data, PlanCollection collection) : IOperationExecutor, IPreparedOperation
{
    /// <summary>Why there is no such collection now; null when there is. Without it the scenario can't continue.</summary>
    public Exception? Failure { get; private set; }

    public ServerError? LastError => Failure is null ? null : ErrorTally.Describe(Failure);

    public void Connect()
    {
    }

    public IPreparedOperation Prepare(Operation operation, OperationContext context) => this;

    public bool Draw() => true;

    public OperationOutcome Execute()
    {
        try
        {
            data.Drop(collection);
            data.Create(collection, 0);
            return new OperationOutcome(true, 0, 0);
        }
        catch (Exception e)
        {
            Failure = e;
            return default;
        }
    }

    public VerificationOutcome Verify() => default;

    public void Complete()
    {
    }

    /// <summary>The data stop by their own token.</summary>
    public void Abort()
    {
    }

    public void Dispose()
    {
    }
}
