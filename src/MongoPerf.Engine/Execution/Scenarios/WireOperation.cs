using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Templates;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution.Scenarios;

/// <summary>An operation of a scenario that does not insert: one command, or several on the same document.</summary>
internal sealed class WireOperation : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly WireCommand[] _commands;
    private readonly Workloads.Keys.KeyChooser? _chooser;
    private readonly DocumentTemplate? _expected;
    private readonly BsonWriter _scratch = new();
    private readonly bool _isFenced;
    private RandomStream _random;
    private long _number;

    public WireOperation(WireExecutor executor, CollectionOperation operation, string database, OperationContext context)
    {
        _executor = executor;
        IReadOnlyList<CollectionOperation> steps = operation.Steps;
        _commands = [.. steps.Select(step => new WireCommand(executor, step, database))];
        _chooser = operation.Chooser?.ForWorker();
        _expected = (operation as FindDocuments)?.Expected;
        _isFenced = steps.Any(step => step.Concerns.IsUnacknowledged);
        _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        if (_chooser is not null)
            _number = _chooser.Next(ref _random);
        var values = new ValueContext(_number, _random.Next());
        foreach (WireCommand command in _commands)
            command.Stage(values);
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

    public VerificationOutcome Verify()
    {
        if (_expected is null)
            return default;
        int seen = 0;
        int right = 0;
        _scratch.Clear();
        _expected.Write(_scratch, _number);
        var items = new BsonReader(_commands[0].LastBatch);
        while (items.Read())
        {
            seen++;
            if (items.Value.SequenceEqual(_scratch.Written))
                right++;
        }

        // The document must be there: none at all is one wrong.
        return new VerificationOutcome(Math.Max(seen, 1), Math.Max(seen, 1) - right);
    }

    public void Complete()
    {
        if (_isFenced)
            WireMessage.Fence(_executor.Connection);
    }
}
