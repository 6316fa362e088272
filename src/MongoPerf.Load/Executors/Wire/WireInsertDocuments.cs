using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>Inserts documents of a template, one or a batch per command.</summary>
/// <remarks>
/// Documents of one length are changed in place in the message; others are written anew behind the command, which never changes.
/// </remarks>
internal sealed class WireInsertDocuments : IPreparedOperation
{
    private readonly WireRoute _route;
    private readonly InsertDocuments _operation;
    private readonly InsertNumbers _numbers;
    private readonly OpMsgWriter _writer = new();
    private readonly int _sequenceStart;
    private readonly int _firstDocument;
    private readonly PatchPlan? _patches;
    private readonly int _documentLength;
    private readonly bool _isAcknowledged;
    private int _written;
    private int _requestId;

    public WireInsertDocuments(WireExecutor executor, InsertDocuments operation, string database, OperationContext context)
    {
        _route = executor.RouteOf(operation);
        _operation = operation;
        _numbers = new InsertNumbers(operation, context);
        _isAcknowledged = !operation.Concerns.IsUnacknowledged;
        HelloReply server = _route.Connection.Server;
        if (operation.BatchSize > server.MaxWriteBatchSize)
            throw new OperationLimitException(
                $"batch is {operation.BatchSize} documents; this server allows 1 to {server.MaxWriteBatchSize}");

        _writer.Begin(_isAcknowledged ? OpMsgFlags.None : OpMsgFlags.MoreToCome);
        WireMessage.Command(operation, executor, database).WriteElements(_writer.Body, new ValueContext(0, 0));
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

    public string? Member => _route.Member;

    public bool Draw()
    {
        if (!_numbers.Take(_operation.BatchSize))
            return false;
        if (_patches is null)
            WriteDocuments();
        else
            PatchDocuments();
        BsonWriter message = _writer.Body;
        if (message.Length > MessageHeader.MaximumMessageLength)
            throw new OperationLimitException($"a batch of {_numbers.Count} documents takes {message.Length:N0} bytes; allowed: "
                + $"{MessageHeader.MaximumMessageLength:N0} bytes per message");
        message.PatchInt32(_sequenceStart, message.Length - _sequenceStart);
        message.PatchInt32(0, message.Length);
        message.PatchInt32(4, ++_requestId);
        return true;
    }

    public OperationOutcome Execute()
    {
        MongoConnection connection = _route.Connection;
        ReadOnlySpan<byte> message = _writer.Body.Written;
        long bytes = message.Length - _firstDocument;
        if (!_isAcknowledged)
        {
            connection.Send(message);
            _numbers.Acknowledge();
            return new OperationOutcome(true, _numbers.Count, bytes);
        }

        ReadOnlySpan<byte> reply = connection.RoundTrip(message);
        WriteReply result = WriteReply.Parse(reply);
        _numbers.Acknowledge();
        if (result.IsOk && result.Count == _numbers.Count)
            return new OperationOutcome(true, _numbers.Count, bytes);
        LastError = result.ReadError(reply, _numbers.Count);
        int count = Math.Clamp(result.Count, 0, _numbers.Count);
        return new OperationOutcome(false, count, bytes * count / _numbers.Count);
    }

    public void Track(int documents, long ticks) => _numbers.Track(ticks);

    /// <summary>An insert brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        _numbers.Acknowledge();
        if (!_isAcknowledged)
            WireMessage.Fence(_route.Connection);
    }

    private void PatchDocuments()
    {
        BsonWriter message = _writer.Body;
        // The last batch may be shorter; documents are only added again when one is longer than the one before.
        message.Truncate(_firstDocument + (Math.Min(_numbers.Count, _written) * _documentLength));
        for (; _written < _numbers.Count; _written++)
            _operation.Documents.Write(message, 0);
        _written = _numbers.Count;
        Span<byte> documents = message.WrittenForPatching[_firstDocument..];
        for (int i = 0; i < _numbers.Count; i++)
            _patches!.Apply(documents.Slice(i * _documentLength, _documentLength), _operation.Documents.ContextOf(_numbers[i]));
    }

    private void WriteDocuments()
    {
        _writer.Body.Truncate(_firstDocument);
        for (int i = 0; i < _numbers.Count; i++)
            _operation.Documents.Write(_writer.Body, _numbers[i]);
    }
}
