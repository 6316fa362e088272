using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>Puts documents: one by the table's put, several by putlist, unacknowledged ones by putnr.</summary>
/// <remarks>
/// A put replaces what is there under the same key, where MongoDB's insert would be refused. One thread. Order of calls:
/// <see cref="Start"/>, <see cref="Add"/> for each document, <see cref="Execute"/>.
/// </remarks>
internal sealed class TyrantPut
{
    private static readonly byte[] RecordCount = TyrantRequest.Plain(TyrantCommand.RecordCount);

    private readonly TyrantExecutor _executor;
    private readonly int _batchSize;
    private readonly bool _isAcknowledged;
    private readonly TyrantRequest _request = new();
    private readonly TyrantRecord _record = new();
    private int _count;
    private long _bytes;

    /// <param name="executor">Has the connection.</param>
    /// <param name="batchSize">Documents per request at most, 1 or more.</param>
    /// <param name="isAcknowledged">False waits for nothing.</param>
    /// <exception cref="OperationLimitException">Tokyo Tyrant can't do that.</exception>
    public TyrantPut(TyrantExecutor executor, int batchSize, bool isAcknowledged)
    {
        _executor = executor;
        _batchSize = batchSize;
        _isAcknowledged = isAcknowledged;
        if (!isAcknowledged && batchSize > 1)
            throw new OperationLimitException(
                $"unacknowledged inserts of {batchSize} documents are not possible with Tokyo Tyrant; allowed: a batch of 1");
    }

    public ServerError? LastError { get; private set; }

    public void Start()
    {
        (_count, _bytes) = (0, 0);
        if (_batchSize > 1)
            _request.StartFunction("putlist"u8, changes: true);
        else if (_isAcknowledged)
            _request.StartFunction("put"u8, changes: true);
    }

    /// <exception cref="OperationLimitException">The table can't hold such a document.</exception>
    public void Add(ReadOnlySpan<byte> document)
    {
        _record.Read(document);
        _count++;
        _bytes += _record.Key.Length + _record.Columns.Length;
        if (_batchSize > 1)
            _record.AddAsPairTo(_request);
        else if (_isAcknowledged)
            _record.AddTo(_request);
        else
            _request.StartRecord(TyrantCommand.PutUnacknowledged, _record.Key, _record.Columns);
    }

    public OperationOutcome Execute()
    {
        TyrantConnection connection = _executor.Connection;
        if (!_isAcknowledged)
        {
            connection.Send(_request.Written);
            return new OperationOutcome(true, _count, _bytes);
        }

        int code = connection.Call(_request.Written).Code;
        if (code == 0)
            return new OperationOutcome(true, _count, _bytes);
        // How many of a list got in before that, the server does not say.
        LastError = TyrantExecutor.Refusal(code);
        return default;
    }

    /// <summary>Waits until the server has seen every put before: it works through one connection in order.</summary>
    public void Fence()
    {
        if (!_isAcknowledged)
            _executor.Connection.CallForNumber(RecordCount);
    }
}
