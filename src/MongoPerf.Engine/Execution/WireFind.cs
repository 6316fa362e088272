using System.Buffers.Binary;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Engine.Execution;

/// <summary>Runs a find from a message that is written once; the drawn values are patched at their places.</summary>
internal sealed class WireFind : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly FindSpecification _specification;
    private readonly FindVerifier _verifier;
    private readonly byte[] _message;
    private readonly int[] _places;
    private readonly int[] _ranges;
    private readonly int[] _drawn;
    private RandomStream _random;
    private int _requestId;
    private ReplyRange _lastBatch;

    public WireFind(
        WireExecutor executor, FindSpecification specification, string database, string collection, DocumentGenerator generator, OperationContext context)
    {
        _executor = executor;
        _specification = specification;
        _verifier = new FindVerifier(specification, generator);
        _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
        BsonDocument command = executor.Dialect.Translate(specification.ToCommand(collection));
        _message = new OpMsgWriter().WriteCommand(database, command, requestId: 0).ToArray();
        _places = [.. specification.Parameters.Select(p => BsonPath.ValueOffset(CommandIn(_message), "filter." + p.Path, BsonType.Int32) + CommandOffset)];
        _ranges = [.. specification.Parameters.Select(p => p.Range)];
        _drawn = new int[_places.Length];
    }

    /// <summary>Where the command document starts in an OP_MSG with one section: header, flags, kind.</summary>
    private const int CommandOffset = MessageHeader.Size + 5;

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        for (int i = 0; i < _places.Length; i++)
        {
            int value = _random.Next(_ranges[i]);
            _drawn[i] = value;
            BinaryPrimitives.WriteInt32LittleEndian(_message.AsSpan(_places[i]), value);
        }

        BinaryPrimitives.WriteInt32LittleEndian(_message.AsSpan(4), ++_requestId);
        return true;
    }

    public OperationOutcome Execute()
    {
        ReadOnlySpan<byte> reply = _executor.Connection.RoundTrip(_message);
        WriteReply.RequireResponseTo(reply, _requestId);
        CursorReply cursor = CursorReply.Parse(reply);
        if (cursor.IsOk)
        {
            _lastBatch = cursor.Batch;
            return new OperationOutcome(true, cursor.Documents, cursor.Bytes);
        }

        LastError = ServerError.From(new BsonDocument(OpMsg.Parse(reply).Body.ToArray()));
        return default;
    }

    public VerificationOutcome Verify() => _verifier.Verify(_executor.Connection.LastReceived.Slice(_lastBatch.Start, _lastBatch.Length), _drawn);

    public void Complete()
    {
    }

    private static ReadOnlySpan<byte> CommandIn(ReadOnlySpan<byte> message) => message[CommandOffset..];
}
