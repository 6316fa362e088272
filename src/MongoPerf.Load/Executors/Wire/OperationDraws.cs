using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>
/// What one worker draws for one operation after another: the document that it is about, and what everything random in it derives from.
/// </summary>
/// <remarks>Belongs to one prepared operation, and is never copied. One thread; nothing allocates.</remarks>
public struct OperationDraws(Operation operation, OperationContext context)
{
    private readonly KeyChooser? _chooser = operation.Chooser?.ForWorker();
    private readonly TrackedWrites? _numbered = operation.Tracked is { } tracked && NumberFields.Of(operation).Any() ? tracked : null;
    private readonly int _thread = context.Thread;
    private readonly bool _isAcknowledged = operation.Steps.All(step => !step.Concerns.IsUnacknowledged);
    private RandomStream _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);

    public ValueContext Next()
    {
        long number = NextKey();
        return new ValueContext(number, _random.Next(), _numbered?.Take() ?? 0);
    }

    /// <summary>Tells those who watch when a write was acknowledged; of a write without a number nothing.</summary>
    /// <param name="context">What was drawn for it.</param>
    /// <param name="documents">How many it changed.</param>
    /// <param name="ticks">When the reply had come.</param>
    public readonly void Track(in ValueContext context, int documents, long ticks)
    {
        if (_numbered is { AreWatched: true } && documents > 0 && _isAcknowledged)
            _numbered.Updates.Add(context.Write, _thread, ticks);
    }

    /// <summary>The number of a document alone; 0 for an operation that is about none.</summary>
    public long NextKey() => _chooser?.Next(ref _random) ?? 0;
}
