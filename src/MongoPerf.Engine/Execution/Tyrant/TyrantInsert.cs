using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Puts the series' documents.</summary>
internal sealed class TyrantInsert : IPreparedOperation
{
    private readonly InsertSpecification _specification;
    private readonly DocumentGenerator _generator;
    private readonly NumberSource _numbers;
    private readonly TyrantPut _put;
    private readonly byte[] _document = new byte[DocumentGenerator.DocumentLength];

    /// <exception cref="OperationLimitException">Tokyo Tyrant can't do that.</exception>
    public TyrantInsert(TyrantExecutor executor, InsertSpecification specification, DocumentGenerator generator, OperationContext context)
    {
        _specification = specification;
        _generator = generator;
        _numbers = context.Numbers ?? throw new ArgumentException("an insert needs a source of numbers", nameof(context));
        if (specification.Journal)
            throw new OperationLimitException("journal: Tokyo Tyrant has none, and acknowledges before anything is on disk; leave it out");
        _put = new TyrantPut(executor, specification.BatchSize, specification.Acknowledged);
    }

    public ServerError? LastError => _put.LastError;

    public bool Draw()
    {
        int count = _numbers.Take(_specification.BatchSize, out long number);
        if (count == 0)
            return false;
        _put.Start();
        for (int i = 0; i < count; i++)
        {
            _generator.Fill(number + i, _document);
            _put.Add(_document);
        }

        return true;
    }

    public OperationOutcome Execute() => _put.Execute();

    /// <summary>A put brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete() => _put.Fence();
}
