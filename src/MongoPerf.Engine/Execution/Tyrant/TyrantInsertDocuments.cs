using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Keys;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Puts documents of a template.</summary>
internal sealed class TyrantInsertDocuments : IPreparedOperation
{
    private readonly InsertDocuments _operation;
    private readonly NumberSource? _numbers;
    private readonly KeySpace? _keys;
    private readonly TyrantPut _put;
    private readonly BsonWriter _document = new();
    private int _count;
    private long _first;
    private bool _isTaken;

    /// <exception cref="OperationLimitException">Tokyo Tyrant can't do that, or can't hold such documents.</exception>
    public TyrantInsertDocuments(TyrantExecutor executor, InsertDocuments operation, OperationContext context)
    {
        _operation = operation;
        _numbers = context.Numbers;
        _keys = context.Numbers is null ? operation.Keys ?? throw new ArgumentException("an insert needs a source of numbers", nameof(operation)) : null;
        if (operation.Concerns.WriteConcern?.IsTrue("j") == true)
            throw new OperationLimitException("j: true: Tokyo Tyrant has no journal, and acknowledges before anything is on disk; leave it out");
        _put = new TyrantPut(executor, operation.BatchSize, !operation.Concerns.IsUnacknowledged);
        // What no column can hold is said now and not in the middle of a phase.
        _put.Start();
        Add(0);
    }

    public ServerError? LastError => _put.LastError;

    public bool Draw()
    {
        Acknowledge();
        _count = TakeNumbers();
        if (_count == 0)
            return false;
        _put.Start();
        for (int i = 0; i < _count; i++)
            Add(_first + i);
        return true;
    }

    public OperationOutcome Execute()
    {
        OperationOutcome outcome = _put.Execute();
        Acknowledge();
        return outcome;
    }

    /// <summary>A put brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        Acknowledge();
        _put.Fence();
    }

    private int TakeNumbers()
    {
        if (_numbers is not null)
            return _numbers.Take(_operation.BatchSize, out _first);
        _first = _keys!.Take(_operation.BatchSize);
        _isTaken = true;
        return _operation.BatchSize;
    }

    private void Add(long number)
    {
        _document.Clear();
        _operation.Documents.Write(_document, number);
        _put.Add(_document.Written);
    }

    /// <summary>Readers may ask for these keys now; also for those of a put whose connection broke, without which no later one would ever be asked for.</summary>
    private void Acknowledge()
    {
        if (_isTaken)
            _keys!.Acknowledge(_first, _count);
        _isTaken = false;
    }
}
