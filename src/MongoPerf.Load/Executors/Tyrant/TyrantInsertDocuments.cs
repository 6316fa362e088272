using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>Puts documents of a template.</summary>
internal sealed class TyrantInsertDocuments : IPreparedOperation
{
    private readonly InsertDocuments _operation;
    private readonly InsertNumbers _numbers;
    private readonly TyrantPut _put;
    private readonly BsonWriter _document = new();

    /// <exception cref="OperationLimitException">Tokyo Tyrant can't do that, or can't hold such documents.</exception>
    public TyrantInsertDocuments(TyrantExecutor executor, InsertDocuments operation, OperationContext context)
    {
        _operation = operation;
        _numbers = new InsertNumbers(operation, context);
        if (operation.Concerns.WriteConcern?.IsTrue("j") == true)
            throw new OperationLimitException("j: true is not possible with Tokyo Tyrant, which has no journal; omit it");
        _put = new TyrantPut(executor, operation.BatchSize, !operation.Concerns.IsUnacknowledged);
        // What no column can hold is said now and not in the middle of a phase.
        _put.Start();
        Add(0);
    }

    public ServerError? LastError => _put.LastError;

    public bool Draw()
    {
        if (!_numbers.Take(_operation.BatchSize))
            return false;
        _put.Start();
        for (int i = 0; i < _numbers.Count; i++)
            Add(_numbers[i]);
        return true;
    }

    public OperationOutcome Execute()
    {
        OperationOutcome outcome = _put.Execute();
        _numbers.Acknowledge();
        return outcome;
    }

    /// <summary>A put brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        _numbers.Acknowledge();
        _put.Fence();
    }

    private void Add(long number)
    {
        _document.Clear();
        _operation.Documents.Write(_document, number);
        _put.Add(_document.Written);
    }
}
