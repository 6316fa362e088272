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
    private RandomStream _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);

    public ValueContext Next()
    {
        long number = NextKey();
        return new ValueContext(number, _random.Next());
    }

    /// <summary>The number of a document alone; 0 for an operation that is about none.</summary>
    public long NextKey() => _chooser?.Next(ref _random) ?? 0;
}
