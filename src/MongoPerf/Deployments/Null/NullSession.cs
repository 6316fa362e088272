using System.Buffers.Binary;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Null;

/// <summary>Answers the messages of one connection. Not thread-safe; nothing is allocated for an insert or a query that was asked before.</summary>
internal sealed class NullSession : IDisposable
{
    private readonly NullStore _store;
    private readonly NullWrites _writes;
    private readonly NullQueries _queries;
    private readonly NullAdministration _administration;
    private readonly OpMsgWriter _reply = new();
    private NullCollection? _last;

    public NullSession(NullStore store)
    {
        _store = store;
        Counters = store.OpenSession(out int connectionId);
        _writes = new NullWrites(this);
        _queries = new NullQueries(this);
        _administration = new NullAdministration(this, connectionId);
    }

    public NullStore Store => _store;

    public NullCounters Counters { get; }

    /// <param name="message">One whole OP_MSG.</param>
    /// <returns>The whole reply, valid until the next call; empty when none is wanted.</returns>
    /// <exception cref="IOException">The message is not OP_MSG; the connection can't go on.</exception>
    /// <exception cref="BsonFormatException">The same for its BSON.</exception>
    public ReadOnlySpan<byte> Answer(ReadOnlySpan<byte> message)
    {
        MessageHeader header = MessageHeader.Read(message);
        if (header.OpCode != OpCode.Msg)
            throw new WireProtocolException($"opcode {(int)header.OpCode}, the null server takes OP_MSG ({(int)OpCode.Msg}) only");
        OpMsg request = OpMsg.Parse(message);
        ReadOnlySpan<byte> reply = Dispatch(request, header.RequestId);
        Counters.Requests++;
        Counters.BytesIn += message.Length;
        if ((request.Flags & OpMsgFlags.MoreToCome) != 0)
            return default;
        Counters.BytesOut += reply.Length;
        return reply;
    }

    public void Dispose() => _store.CloseSession(Counters);

    /// <summary>The collection that a command names; the last one is found again without a look-up.</summary>
    public NullCollection? Resolve(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, bool create)
    {
        ReadOnlySpan<byte> database = DatabaseOf(body);
        if (_last is { IsDropped: false } last && last.NameBytes.SequenceEqual(name) && last.DatabaseBytes.SequenceEqual(database))
            return last;
        NullCollection? found = _store.Find(database, name, create);
        if (found is not null)
            _last = found;
        return found;
    }

    public static ReadOnlySpan<byte> DatabaseOf(ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        return reader.Find("$db"u8) && reader.Type == BsonType.String ? reader.StringBytes : "test"u8;
    }

    /// <summary>Starts a reply; the caller writes its fields and ends with <see cref="Finish"/>.</summary>
    public BsonWriter Begin(int responseTo)
    {
        _reply.Begin(OpMsgFlags.None, responseTo, responseTo);
        return _reply.Body;
    }

    public ReadOnlySpan<byte> Finish()
    {
        _reply.Body.WriteDouble("ok"u8, 1);
        _reply.EndBody();
        return _reply.Finish();
    }

    public ReadOnlySpan<byte> Fail(int responseTo, int code, string name, string message)
    {
        BsonWriter body = Begin(responseTo);
        body.WriteDouble("ok"u8, 0);
        body.WriteString("errmsg"u8, message);
        body.WriteInt32("code"u8, code);
        body.WriteString("codeName"u8, name);
        _reply.EndBody();
        return _reply.Finish();
    }

    private ReadOnlySpan<byte> Dispatch(scoped in OpMsg request, int requestId)
    {
        var command = new BsonReader(request.Body);
        if (!command.Read())
            return Fail(requestId, 59, "CommandNotFound", "no such command: ''");
        try
        {
            if (command.NameIs("insert"u8))
                return _writes.Insert(request, command.StringBytes, requestId);
            if (command.NameIs("find"u8))
                return _queries.Find(request.Body, command.StringBytes, requestId);
            return command.NameText switch
            {
                "getMore" => _queries.GetMore(request.Body, command.ToInt64(), requestId),
                "killCursors" => _queries.KillCursors(request.Body, requestId),
                "count" => _queries.Count(request.Body, command.StringBytes, requestId),
                "explain" => _queries.Explain(command.DocumentBytes, requestId),
                "update" => _writes.Update(request, command.StringBytes, requestId),
                "delete" => _writes.Delete(request, command.StringBytes, requestId),
                string other => _administration.Answer(other, request.Body, command, requestId),
            };
        }
        catch (InvalidOperationException e)
        {
            return Fail(requestId, 146, "ExceededMemoryLimit", e.Message);
        }
        catch (BsonFormatException e)
        {
            return Fail(requestId, 9, "FailedToParse", e.Message);
        }
    }

    /// <summary>Makes a finished reply the answer to another request.</summary>
    public static void Readdress(Span<byte> message, int responseTo) => BinaryPrimitives.WriteInt32LittleEndian(message[8..], responseTo);
}
