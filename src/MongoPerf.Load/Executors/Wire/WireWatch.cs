using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Watch;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>Reads a collection's change stream, and opens it again where it broke off.</summary>
/// <remarks>Source: specifications, change-streams.md. One thread.</remarks>
internal sealed class WireWatch : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly WireRoute _route;
    private readonly WatchChanges _operation;
    private readonly string _database;
    private readonly IClock _clock;
    private readonly ChangeFollower _follower;
    private readonly GetMoreMessage _getMore;
    private readonly OpMsgWriter _writer = new();
    private MongoConnection? _openedOn;
    private long _cursor;
    private byte[]? _token;

    /// <exception cref="ServerCommandException">The server has no change streams, or refuses this one.</exception>
    /// <exception cref="OperationLimitException">The server is one that can have none.</exception>
    public WireWatch(WireExecutor executor, WatchChanges operation, string database, OperationContext context)
    {
        _executor = executor;
        _operation = operation;
        _database = database;
        _route = executor.RouteOf(operation);
        _clock = context.Clock;
        _follower = new ChangeFollower(operation);
        _getMore = new GetMoreMessage(executor.Dialect, operation.Collection, database);
        SessionLimit.Check(_route.Connection.Server, operation);
        if (!Open(_route.Connection))
            throw new ServerCommandException("aggregate", LastError!);
    }

    public ServerError? LastError { get; private set; }

    public string? Member => _route.Member;

    public ChangeLog Changes => _follower.Log;

    public bool Draw() => true;

    public OperationOutcome Execute()
    {
        _follower.Log.Clear();
        return new OperationOutcome(Read(), 0, 0);
    }

    /// <summary>What comes is compared as it comes.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete() => _follower.Drain(_clock, Read);

    private bool Read()
    {
        MongoConnection connection = _route.Connection;
        return ReferenceEquals(connection, _openedOn) && _cursor != 0
            ? Take(connection.RoundTrip(_getMore.Write(_cursor, mostMilliseconds: WatchChanges.AwaitMilliseconds)))
            : Open(connection);
    }

    private bool Open(MongoConnection connection)
    {
        Operation operation = _token is null ? _operation : _operation with { ResumeAfter = new BsonDocument(_token) };
        if (_token is not null)
            _follower.Log.Resumed++;
        _openedOn = connection;
        _writer.Begin();
        WireMessage.Command(operation, _executor, _database).WriteElements(_writer.Body, new ValueContext(0, 0));
        _writer.EndBody();
        return Take(connection.RoundTrip(_writer.Finish()));
    }

    /// <returns>False when the server refused; the stream is then opened again.</returns>
    /// <exception cref="ServerCommandException">It can't be: the server no longer knows where it broke off.</exception>
    private bool Take(ReadOnlySpan<byte> received)
    {
        long at = _clock.Now;
        CursorReply reply = CursorReply.Parse(received);
        _cursor = reply.CursorId;
        if (!reply.IsOk)
        {
            LastError = OperationReply.ReadError(received);
            return !LastError.MeansStreamLost ? false : throw new ServerCommandException("getMore", LastError);
        }

        _follower.TakeAll(received.Slice(reply.Batch.Start, reply.Batch.Length), at);
        var body = new BsonReader(OpMsg.Parse(received).Body);
        body.Find("cursor"u8);
        var cursor = new BsonReader(body.DocumentBytes);
        if (cursor.Find("postBatchResumeToken"u8))
            Keep(cursor.DocumentBytes);
        return true;
    }

    private void Keep(ReadOnlySpan<byte> token)
    {
        if (_token?.Length != token.Length)
            _token = new byte[token.Length];
        token.CopyTo(_token);
    }
}
