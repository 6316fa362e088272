using MongoPerf.Load.Documents;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Phases;

/// <summary>Several prepared operations of one worker; each draw picks one of them by its weight.</summary>
internal sealed class MixedOperation : IChoosingOperation
{
    private readonly IPreparedOperation[] _operations;
    private readonly int[] _parts;
    private readonly double[] _ends;
    private RandomStream _choice;
    private int _drawn;

    public MixedOperation(IOperationExecutor executor, GroupPlan plan, OperationContext context)
    {
        _operations = [.. plan.Operations.Select(item => executor.Prepare(item.Operation, context.Of(item.Operation)))];
        string[] names = [.. plan.Parts.Select(part => part.Name)];
        _parts = [.. plan.Operations.Select(item => Array.IndexOf(names, item.Operation.Name))];
        _ends = WeightedChoice.Ends([.. plan.Operations.Select(item => item.Weight)]);
        _choice = RandomStream.For(context.Seed, RandomPurpose.Choice, context.Worker);
    }

    public IReadOnlyList<IPreparedOperation> Operations => _operations;

    public IReadOnlyList<int> Parts => _parts;

    public int Drawn => _drawn;

    public int Part => _parts[_drawn];

    public ServerError? LastError => _operations[_drawn].LastError;

    public StepLog? Steps => _operations[_drawn].Steps;

    public bool Draw()
    {
        _drawn = WeightedChoice.Pick(_ends, _choice.Next());
        return _operations[_drawn].Draw();
    }

    public OperationOutcome Execute() => _operations[_drawn].Execute();

    public void Track(int documents, long ticks) => _operations[_drawn].Track(documents, ticks);

    public VerificationOutcome Verify() => _operations[_drawn].Verify();

    public void Complete()
    {
        foreach (IPreparedOperation operation in _operations)
            operation.Complete();
    }
}
