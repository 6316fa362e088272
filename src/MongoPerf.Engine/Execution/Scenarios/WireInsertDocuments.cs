using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Keys;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Templates;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Engine.Execution.Scenarios;

/// <summary>Inserts documents of a template, one or a batch per command.</summary>
/// <remarks>Documents of one length are changed in place in the message; others are written anew behind the command, which never changes.</remarks>
internal sealed class WireInsertDocuments : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly InsertDocuments _operation;
    private readonly NumberSource? _numbers;
    private readonly KeySpace? _keys;
    private readonly OpMsgWriter _writer = new();
    private readonly int _sequenceStart;
    private readonly int _firstDocument;
    private readonly PatchPlan? _patches;
    private readonly int _documentLength;
    private readonly bool _isAcknowledged;
    private int _count;
    private int _written;
    private long _first;
    private bool _isTaken;
    private int _requestId;

    public WireInsertDocuments(WireExecutor executor, InsertDocuments operation, string database, OperationContext context)
    {
        _executor = executor;
        _operation = operation;
        _numbers = context.Numbers;
        _keys = context.Numbers is null ? operation.Keys ?? throw new ArgumentException("an insert needs a source of numbers", nameof(operation)) : null;
        _isAcknowledged = !operation.Concerns.IsUnacknowledged;
        HelloReply server = executor.Connection.Server;
        if (operation.BatchSize > server.MaxWriteBatchSize)
            throw new OperationLimitException($"batch is {operation.BatchSize} documents, this server takes 1 to {server.MaxWriteBatchSize}");

        _writer.Begin(_isAcknowledged ? OpMsgFlags.None : OpMsgFlags.MoreToCome);
        WireMessage.Command(operation, executor.Dialect, database).WriteElements(_writer.Body, new ValueContext(0, 0));
        _writer.EndBody();
        _sequenceStart = _writer.Body.Length + 1;
        _writer.BeginSequence("documents"u8);
        _firstDocument = _writer.Body.Length;
        operation.Documents.Write(_writer.Body, 0);
        _documentLength = _writer.Body.Length - _firstDocument;
        _written = 1;
        _patches = PatchPlan.TryMake(operation.Documents.Root, _writer.Body.Written[_firstDocument..]);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        ReleaseUnanswered();
        _count = TakeNumbers();
        if (_count == 0)
            return false;
        if (_patches is null)
            WriteDocuments();
        else
            PatchDocuments();
        BsonWriter message = _writer.Body;
        if (message.Length > MessageHeader.MaximumMessageLength)
            throw new OperationLimitException($"a batch of {_count} documents has {message.Length:N0} bytes, a message may have {MessageHeader.MaximumMessageLength:N0}");
        message.PatchInt32(_sequenceStart, message.Length - _sequenceStart);
        message.PatchInt32(0, message.Length);
        message.PatchInt32(4, ++_requestId);
        return true;
    }

    public OperationOutcome Execute()
    {
        MongoConnection connection = _executor.Connection;
        ReadOnlySpan<byte> message = _writer.Body.Written;
        long bytes = message.Length - _firstDocument;
        if (!_isAcknowledged)
        {
            connection.Send(message);
            Acknowledge();
            return new OperationOutcome(true, _count, bytes);
        }

        ReadOnlySpan<byte> reply = connection.RoundTrip(message);
        WriteReply result = WriteReply.Parse(reply, _requestId);
        Acknowledge();
        if (result.IsOk && result.Count == _count)
            return new OperationOutcome(true, _count, bytes);
        LastError = result.ReadError(reply, _count);
        int count = Math.Clamp(result.Count, 0, _count);
        return new OperationOutcome(false, count, bytes * count / _count);
    }

    /// <summary>An insert brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        ReleaseUnanswered();
        if (!_isAcknowledged)
            WireMessage.Fence(_executor.Connection);
    }

    private int TakeNumbers()
    {
        if (_numbers is not null)
            return _numbers.Take(_operation.BatchSize, out _first);
        _first = _keys!.Take(_operation.BatchSize);
        _isTaken = true;
        return _operation.BatchSize;
    }

    private void PatchDocuments()
    {
        BsonWriter message = _writer.Body;
        // The last batch may be shorter; documents are only added again when one is longer than the one before.
        message.Truncate(_firstDocument + (Math.Min(_count, _written) * _documentLength));
        for (; _written < _count; _written++)
            _operation.Documents.Write(message, 0);
        _written = _count;
        Span<byte> documents = message.WrittenForPatching[_firstDocument..];
        for (int i = 0; i < _count; i++)
            _patches!.Apply(documents.Slice(i * _documentLength, _documentLength), _operation.Documents.ContextOf(_first + i));
    }

    private void WriteDocuments()
    {
        _writer.Body.Truncate(_firstDocument);
        for (int i = 0; i < _count; i++)
            _operation.Documents.Write(_writer.Body, _first + i);
    }

    /// <summary>Readers may ask for these keys now.</summary>
    private void Acknowledge()
    {
        if (_isTaken)
            _keys!.Acknowledge(_first, _count);
        _isTaken = false;
    }

    /// <summary>Keys of an insert whose connection broke: without this no later key would ever be asked for.</summary>
    private void ReleaseUnanswered() => Acknowledge();
}
