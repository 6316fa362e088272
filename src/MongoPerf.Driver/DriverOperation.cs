using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>An operation of a scenario that does not insert: one call of the driver, or several on the same document.</summary>
internal sealed class DriverOperation : IPreparedOperation
{
    private readonly DriverExecutor _executor;
    private readonly DriverCall[] _calls;
    private readonly ReplyVerifier? _verifier;
    private readonly bool _isFenced;
    private OperationDraws _draws;
    private ValueContext _values;

    public DriverOperation(DriverExecutor executor, Operation operation, OperationContext context)
    {
        _executor = executor;
        IReadOnlyList<Operation> steps = operation.Steps;
        _calls = [.. steps.Select(step => DriverCall.Of(executor, step))];
        _verifier = operation is FindDocuments { Expected: { } documents } find
            ? new ReplyVerifier(find, documents, mayLag: executor.MayLag(find))
            : null;
        _isFenced = steps.Any(step => step.Concerns.IsUnacknowledged);
        _draws = new OperationDraws(operation, context);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        _values = _draws.Next();
        foreach (DriverCall call in _calls)
            call.Stage(_values);
        return true;
    }

    public OperationOutcome Execute()
    {
        try
        {
            OperationOutcome outcome = default;
            long bytes = 0;
            foreach (DriverCall call in _calls)
            {
                outcome = call.Execute();
                bytes += outcome.Bytes;
                if (!outcome.Succeeded)
                {
                    LastError = call.LastError;
                    return outcome;
                }
            }

            return outcome with { Bytes = bytes };
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            LastError = error;
            return default;
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw _executor.Lost(e);
        }
    }

    public void Track(int documents, long ticks) => _draws.Track(_values, documents, ticks);

    public VerificationOutcome Verify() => _verifier is null ? default : _verifier.Verify(((FindCall)_calls[0]).FirstBatch(), _values);

    public void Complete()
    {
        if (_isFenced)
            _executor.Fence();
    }
}
