using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Keys;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Executors.Wire;

/// <summary>An operation of a scenario that does not insert: one command, or several on the same document.</summary>
internal sealed class WireOperation : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly WireCommand[] _commands;
    private readonly KeyChooser? _chooser;
    private readonly ReplyVerifier? _verifier;
    private readonly bool _isFenced;
    private RandomStream _random;
    private ValueContext _values;

    public WireOperation(WireExecutor executor, Operation operation, string database, OperationContext context)
    {
        _executor = executor;
        IReadOnlyList<Operation> steps = operation.Steps;
        _commands = [.. steps.Select(step => new WireCommand(executor, step, database))];
        _chooser = operation.Chooser?.ForWorker();
        _verifier = operation is FindDocuments { Expected: { } documents } find ? new ReplyVerifier(find, documents) : null;
        _isFenced = steps.Any(step => step.Concerns.IsUnacknowledged);
        _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        long number = _chooser?.Next(ref _random) ?? 0;
        _values = new ValueContext(number, _random.Next());
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

    public VerificationOutcome Verify() => _verifier?.Verify(_commands[0].LastBatch, _values) ?? default;

    public void Complete()
    {
        if (_isFenced)
            WireMessage.Fence(_executor.Connection);
    }
}
