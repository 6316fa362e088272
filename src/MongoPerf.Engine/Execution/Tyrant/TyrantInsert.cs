using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Puts documents: one by the table's put, several by putlist, unacknowledged ones by putnr.</summary>
/// <remarks>A put replaces what is there under the same key, where MongoDB's insert would be refused. One thread.</remarks>
internal sealed class TyrantInsert : IPreparedOperation
{
    private static readonly byte[] Fence = TyrantRequest.Plain(TyrantCommand.RecordCount);

    private readonly TyrantExecutor _executor;
    private readonly InsertSpecification _specification;
    private readonly DocumentGenerator _generator;
    private readonly NumberSource _numbers;
    private readonly TyrantRequest _request = new();
    private readonly TyrantRecord _record = new();
    private readonly byte[] _document = new byte[DocumentGenerator.DocumentLength];
    private int _count;
    private long _bytes;

    /// <exception cref="OperationLimitException">Tokyo Tyrant can't do that, or can't hold such documents.</exception>
    public TyrantInsert(TyrantExecutor executor, InsertSpecification specification, DocumentGenerator generator, OperationContext context)
    {
        _executor = executor;
        _specification = specification;
        _generator = generator;
        _numbers = context.Numbers ?? throw new ArgumentException("an insert needs a source of numbers", nameof(context));
        if (specification.Journal)
            throw new OperationLimitException("journal: Tokyo Tyrant has none, and acknowledges before anything is on disk; leave it out");
        if (specification is { Acknowledged: false, BatchSize: > 1 })
            throw new OperationLimitException($"unacknowledged inserts of {specification.BatchSize} documents, Tokyo Tyrant takes them one at a time: a batch of 1 is allowed");
        ReadDocument(0);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        _count = _numbers.Take(_specification.BatchSize, out long number);
        if (_count == 0)
            return false;
        _bytes = 0;
        if (!_specification.Acknowledged)
            WriteUnacknowledged(number);
        else if (_specification.BatchSize == 1)
            WriteOne(number);
        else
            WriteList(number);
        return true;
    }

    public OperationOutcome Execute()
    {
        TyrantConnection connection = _executor.Connection;
        if (!_specification.Acknowledged)
        {
            connection.Send(_request.Written);
            return new OperationOutcome(true, _count, _bytes);
        }

        int code = connection.Call(_request.Written).Code;
        if (code == 0)
            return new OperationOutcome(true, _count, _bytes);
        // How many of a list got in before that, the server does not say.
        LastError = TyrantFailure.Of(code);
        return default;
    }

    /// <summary>A put brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        // A server works through one connection in order: once it answers, it has seen every put before.
        if (!_specification.Acknowledged)
            _executor.Connection.CallForNumber(Fence);
    }

    private void WriteUnacknowledged(long number)
    {
        ReadDocument(number);
        _request.StartRecord(TyrantCommand.PutUnacknowledged, _record.Key, _record.Columns);
    }

    private void WriteOne(long number)
    {
        ReadDocument(number);
        _request.StartFunction("put"u8, changes: true);
        _record.AddTo(_request);
    }

    private void WriteList(long number)
    {
        _request.StartFunction("putlist"u8, changes: true);
        for (int i = 0; i < _count; i++)
        {
            ReadDocument(number + i);
            _request.AddArgument(_record.Key);
            _request.AddArgument(_record.Columns);
        }
    }

    private void ReadDocument(long number)
    {
        _generator.Fill(number, _document);
        _record.Read(_document);
        _bytes += _record.Key.Length + _record.Columns.Length;
    }
}
