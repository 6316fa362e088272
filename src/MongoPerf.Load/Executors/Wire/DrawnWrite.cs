using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>What one worker draws for one of the writes of a bulk: numbers of new documents, or the documents that it is about.</summary>
/// <remarks>One thread; nothing allocates.</remarks>
public sealed class DrawnWrite
{
    private readonly InsertNumbers? _numbers;
    private OperationDraws _draws;

    /// <param name="write">One of the bulk's writes, bound to its keys.</param>
    /// <param name="context">The context of the bulk.</param>
    public DrawnWrite(RepeatedWrite write, OperationContext context)
    {
        Operation = write.Operation;
        Times = write.Times;
        Statement = write.ToStatement();
        if (Operation.Inserts)
            _numbers = new InsertNumbers(Operation, context with { Numbers = null });
        else
            _draws = new OperationDraws(Operation, context.Of(Operation));
    }

    public Operation Operation { get; }

    public int Times { get; }

    /// <inheritdoc cref="RepeatedWrite.ToStatement"/>
    public DocumentValue Statement { get; }

    /// <summary>Takes the numbers of the next bulk's new documents.</summary>
    public void Draw() => _numbers?.Take(Times);

    /// <summary>What one of them is computed from; called once for each, in their order.</summary>
    /// <param name="index">0-based, below <see cref="Times"/>.</param>
    public ValueContext Next(int index) => _numbers is null
        ? _draws.Next()
        : ((InsertDocuments)Operation).Documents.ContextOf(_numbers[index]);

    /// <inheritdoc cref="InsertNumbers.Track"/>
    public void Track(long ticks) => _numbers?.Track(ticks);

    /// <inheritdoc cref="InsertNumbers.Acknowledge"/>
    public void Acknowledge() => _numbers?.Acknowledge();
}
