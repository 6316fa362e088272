using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>An operation of a scenario that does not insert: one command, or several on the same document.</summary>
internal sealed class WireOperation : IPreparedOperation
{
    private readonly WireRoute[] _fenced;
    private readonly WireCommand[] _commands;
    private readonly ReplyVerifier? _verifier;
    private OperationDraws _draws;
    private ValueContext _values;

    public WireOperation(WireExecutor executor, Operation operation, string database, OperationContext context)
    {
        IReadOnlyList<Operation> steps = operation.Steps;
        _commands = [.. steps.Select(step => new WireCommand(executor, step, database))];
        _verifier = operation is FindDocuments { Expected: { } documents } find
            ? new ReplyVerifier(find, documents, mayLag: !executor.RouteOf(find).Preference.IsPrimary)
            : null;
        _fenced = [.. steps.Where(step => step.Concerns.IsUnacknowledged).Select(executor.RouteOf).Distinct()];
        _draws = new OperationDraws(operation, context);
    }

    public ServerError? LastError { get; private set; }

    public string? Member => _commands[0].Member;

    public bool Draw()
    {
        _values = _draws.Next();
        foreach (WireCommand command in _commands)
            command.Stage(_values);
        return true;
    }

    public OperationOutcome Execute()
    {
        OperationOutcome outcome = default;
        long bytes = 0;
        foreach (WireCommand command in _commands)
        {
            outcome = command.Execute();
            bytes += outcome.Bytes;
            if (!outcome.Succeeded)
            {
                LastError = command.LastError;
                return outcome;
            }
        }

        return outcome with { Bytes = bytes };
    }

    public void Track(int documents, long ticks) => _draws.Track(_values, documents, ticks);

    public VerificationOutcome Verify() => _verifier?.Verify(_commands[0].LastBatch, _values) ?? default;

    public void Complete()
    {
        foreach (WireRoute route in _fenced)
            WireMessage.Fence(route.Connection);
    }
}
