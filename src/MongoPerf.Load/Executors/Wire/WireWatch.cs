using System.Buffers.Binary;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Watch;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>Reads a collection's change stream, and opens it again where it broke off.</summary>
/// <remarks>Source: specifications, change-streams.md. One thread.</remarks>
internal sealed class WireWatch : ChangeWatch
{
    private readonly WireExecutor _executor;
    private readonly WireRoute _route;
    private readonly string _database;
    private readonly GetMoreMessage _getMore;
    private readonly OpMsgWriter _writer = new();
    private MongoConnection? _openedOn;
    private long _cursor;
    private byte[]? _token;

    /// <inheritdoc cref="ChangeWatch.Begin"/>
    public WireWatch(WireExecutor executor, WatchChanges operation, string database, OperationContext context)
        : base(operation, context)
    {
        _executor = executor;
        _database = database;
        _route = executor.RouteOf(operation);
        _getMore = new GetMoreMessage(executor.Dialect, operation.Collection, database);
        Begin(_route.Connection.Server);
    }

    public override string? Member => _route.Member;

    protected override bool Read()
    {
        MongoConnection connection = _route.Connection;
        return ReferenceEquals(connection, _openedOn) && _cursor != 0
            ? Take(connection.RoundTrip(_getMore.Write(_cursor, mostMilliseconds: WatchChanges.AwaitMilliseconds)))
            : Open(connection);
    }

    private bool Open(MongoConnection connection)
    {
        Operation operation = _token is null ? Operation : Operation with { ResumeAfter = new BsonDocument(_token) };
        if (_token is not null)
            Follower.Log.Resumed++;
        _openedOn = connection;
        _writer.Begin();
        WireMessage.Command(operation, _executor, _database).WriteElements(_writer.Body, new ValueContext(0, 0));
        _writer.EndBody();
        return Take(connection.RoundTrip(_writer.Finish()));
    }

    private bool Take(ReadOnlySpan<byte> received)
    {
        long at = Now;
        CursorReply reply = CursorReply.Parse(received);
        _cursor = reply.CursorId;
        if (!reply.IsOk)
            return Refuse(OperationReply.ReadError(received));

        Follower.TakeAll(received.Slice(reply.Batch.Start, reply.Batch.Length), at);
        var body = new BsonReader(OpMsg.Parse(received).Body);
        body.Find("cursor"u8);
        var cursor = new BsonReader(body.DocumentBytes);
        if (cursor.Find("postBatchResumeToken"u8))
            Keep(cursor.DocumentBytes);
        if (_token is not null)
            Follower.Note(_token, ClusterTimeIn(received));
        return true;
    }

    private static ulong? ClusterTimeIn(ReadOnlySpan<byte> received)
    {
        var body = new BsonReader(OpMsg.Parse(received).Body);
        if (!body.Find("$clusterTime"u8) || body.Type != BsonType.Document)
            return null;
        var time = new BsonReader(body.DocumentBytes);
        return time.Find("clusterTime"u8) && time.Type == BsonType.Timestamp
            ? BinaryPrimitives.ReadUInt64LittleEndian(time.Value) : null;
    }

    private void Keep(ReadOnlySpan<byte> token)
    {
        if (_token?.Length != token.Length)
            _token = new byte[token.Length];
        token.CopyTo(_token);
    }
}
