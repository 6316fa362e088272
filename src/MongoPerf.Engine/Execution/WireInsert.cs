using System.Buffers.Binary;
using System.Text;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Engine.Execution;

/// <summary>Inserts documents from a message that is written once and patched in place.</summary>
internal sealed class WireInsert : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly InsertSpecification _specification;
    private readonly DocumentGenerator _generator;
    private readonly NumberSource _numbers;
    private readonly byte[] _message;
    private readonly byte[] _fence;
    private readonly int _firstDocument;
    private readonly int _sequenceStart;
    private int _count;
    private int _requestId;

    public WireInsert(
        WireExecutor executor, InsertSpecification specification, string database, string collection, DocumentGenerator generator, OperationContext context)
    {
        _executor = executor;
        _specification = specification;
        _generator = generator;
        _numbers = context.Numbers ?? throw new ArgumentException("an insert needs a source of numbers", nameof(context));
        BatchLimit.Check(executor.Connection.Server, specification.BatchSize);

        var writer = new OpMsgWriter();
        writer.Begin(specification.Acknowledged ? OpMsgFlags.None : OpMsgFlags.MoreToCome);
        writer.Body.WriteString(Encoding.UTF8.GetBytes(executor.Dialect.NameOf("insert")), collection);
        if (!specification.Ordered)
            writer.Body.WriteBoolean("ordered"u8, false);
        WriteConcern(writer.Body, specification, executor.NamesWriteConcern);
        writer.EndBody(database);
        _sequenceStart = writer.Body.Length + 1;
        writer.BeginSequence("documents"u8);
        _firstDocument = writer.Body.Length;
        for (int i = 0; i < specification.BatchSize; i++)
            generator.Fill(0, writer.Body.Grow(DocumentGenerator.DocumentLength));
        writer.EndSequence();
        _message = writer.Finish().ToArray();

        _fence = writer.WriteCommand("admin", BsonDocument.Of(("ping", 1)), requestId: int.MaxValue).ToArray();
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        _count = _numbers.Take(_specification.BatchSize, out long number);
        if (_count == 0)
            return false;
        Span<byte> documents = _message.AsSpan(_firstDocument);
        for (int i = 0; i < _count; i++)
            _generator.Patch(number + i, documents[(i * DocumentGenerator.DocumentLength)..]);
        if (_count < _specification.BatchSize || _requestId == 0)
            SetLength(_count);
        BinaryPrimitives.WriteInt32LittleEndian(_message.AsSpan(4), ++_requestId);
        return true;
    }

    public OperationOutcome Execute()
    {
        MongoConnection connection = _executor.Connection;
        ReadOnlySpan<byte> message = _message.AsSpan(0, _firstDocument + (_count * DocumentGenerator.DocumentLength));
        if (!_specification.Acknowledged)
        {
            connection.Send(message);
            return new OperationOutcome(true, _count, (long)_count * DocumentGenerator.DocumentLength);
        }

        ReadOnlySpan<byte> reply = connection.RoundTrip(message);
        WriteReply result = WriteReply.Parse(reply, _requestId);
        if (result.IsOk && result.Count == _count)
            return new OperationOutcome(true, _count, (long)_count * DocumentGenerator.DocumentLength);
        LastError = result.ReadError(reply, _count);
        // What a server claims beyond what it was sent is no document.
        int count = Math.Clamp(result.Count, 0, _count);
        return new OperationOutcome(false, count, (long)count * DocumentGenerator.DocumentLength);
    }

    /// <summary>An insert brings nothing back to compare; the range is read back when the test is over.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        // A server works through one connection in order: once it answers the ping, it has seen every insert before it.
        if (!_specification.Acknowledged)
            _executor.Connection.RoundTrip(_fence);
    }

    /// <summary>Always said, here or by the connection string: a replica set's own default is w:majority, which waits for the journal too.</summary>
    private static void WriteConcern(BsonWriter body, InsertSpecification specification, bool isNamedByUri)
    {
        if (isNamedByUri && specification is { Acknowledged: true, Journal: false })
            return;
        body.StartDocument("writeConcern"u8);
        body.WriteInt32("w"u8, specification.Acknowledged ? 1 : 0);
        if (specification.Journal)
            body.WriteBoolean("j"u8, true);
        body.End();
    }

    private void SetLength(int count)
    {
        int length = _firstDocument + (count * DocumentGenerator.DocumentLength);
        BinaryPrimitives.WriteInt32LittleEndian(_message, length);
        BinaryPrimitives.WriteInt32LittleEndian(_message.AsSpan(_sequenceStart), length - _sequenceStart);
    }
}

/// <summary>The server's limits don't allow what was asked for. The user's to mend (exit code 2).</summary>
public sealed class OperationLimitException(string message) : Exception(message);
