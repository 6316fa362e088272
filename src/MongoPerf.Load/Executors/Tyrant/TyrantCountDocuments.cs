using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>How many documents the table holds.</summary>
internal sealed class TyrantCountDocuments : IPreparedOperation
{
    private static readonly byte[] RecordCount = TyrantRequest.Plain(TyrantCommand.RecordCount);

    private readonly TyrantExecutor _executor;

    /// <exception cref="OperationLimitException">The count has a filter.</exception>
    public TyrantCountDocuments(TyrantExecutor executor, CountDocuments operation)
    {
        _executor = executor;
        if (operation.Filter.Elements.Count > 0 || operation.Limit is not null || operation.Skip is not null)
            throw new OperationLimitException("Tokyo Tyrant can't count with a filter, limit or skip; allowed: a count of all documents");
    }

    public ServerError? LastError => null;

    public bool Draw() => true;

    /// <summary>The marker, which a scenario's table always has, is no document.</summary>
    public OperationOutcome Execute() =>
        new(true, (int)Math.Clamp(_executor.Connection.CallForNumber(RecordCount) - 1, 0, int.MaxValue), 0);

    public VerificationOutcome Verify() => default;

    public void Complete()
    {
    }
}
