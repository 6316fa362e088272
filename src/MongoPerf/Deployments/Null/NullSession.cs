using System.Text;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>Answers one connection's commands. An insert, and a find of any documents, allocate nothing.</summary>
internal sealed class NullSession : ICommandSession
{
    private readonly NullStore _store;
    private readonly NullWrites _writes;
    private readonly NullCommands _commands;
    private NullCollection? _last;
    private (NullCollection? Collection, DocumentPool? Pool, long Count) _asked;
    private byte[]? _prepared;
    private int _preparedDocuments;

    public NullSession(NullStore store, int connectionId)
    {
        _store = store;
        _writes = new NullWrites(this, store);
        _commands = new NullCommands(this, store);
        ConnectionId = connectionId;
    }

    public int ConnectionId { get; }

    public void Handle(in CommandRequest request, ReplyWriter reply)
    {
        try
        {
            if (request.Name.SequenceEqual("insert"u8))
                Insert(request, reply);
            else if (request.Name.SequenceEqual("find"u8))
                Find(request, reply);
            else
                Other(request, reply);
        }
        catch (NullCommandException e)
        {
            reply.Fail(e.Code, e.CodeName, e.Message);
        }
        catch (BsonFormatException e)
        {
            reply.Fail(9, "FailedToParse", e.Message);
        }
        catch (InvalidOperationException e)
        {
            reply.Fail(146, "ExceededMemoryLimit", e.Message);
        }
    }

    public void Dispose()
    {
    }

    /// <summary>The collection that the command's first field names; the last one is found again without a look-up.</summary>
    public NullCollection? Resolve(ReadOnlySpan<byte> command, bool create)
    {
        var reader = new BsonReader(command);
        reader.Read();
        ReadOnlySpan<byte> name = reader.StringBytes;
        ReadOnlySpan<byte> database = DatabaseOf(command);
        if (_last is { IsDropped: false } last && last.Is(database, name))
            return last;
        return _store.Find(Encoding.UTF8.GetString(database), Encoding.UTF8.GetString(name), create) is { } found ? _last = found : null;
    }

    public static ReadOnlySpan<byte> DatabaseOf(ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        return reader.Find("$db"u8) ? reader.StringBytes : "test"u8;
    }

    private void Insert(in CommandRequest request, ReplyWriter reply)
    {
        NullCollection collection = Resolve(request.Body, create: true)!;
        int count = 0;
        if (request.TryGetSequence("documents"u8, out ReadOnlySpan<byte> documents))
            count = collection.Insert(documents);
        var body = new BsonReader(request.Body);
        if (body.Find("documents"u8))
        {
            var items = new BsonReader(body.DocumentBytes);
            while (items.Read())
                count += collection.Insert(items.DocumentBytes);
        }

        _store.Counters.Add(Counted.Insert, count);
        reply.Body.WriteInt32("n"u8, count);
        reply.Succeed();
    }

    private void Find(in CommandRequest request, ReplyWriter reply)
    {
        _store.Counters.Add(Counted.Query, 1);
        NullCollection? collection = Resolve(request.Body, create: false);
        FindRequest find = FindRequest.Read(request.Body);
        BeginCursor(reply.Body, "firstBatch"u8);
        FindOutcome found = collection?.Find(reply.Body, find) ?? default;
        if (found.Pool is { } pool)
        {
            FindInPool(collection!, pool, Math.Min(find.OnlyBatch, collection!.Count), request.IsLegacyQuery, reply);
            return;
        }

        _store.Counters.Add(Counted.Returned, found.Documents);
        EndCursor(reply, found.Rest is null ? 0 : _store.Open(found.Rest), collection);
    }

    /// <summary>Who asks the same again gets the same message again: copying a hundred documents would be a fifth of the work.</summary>
    private void FindInPool(NullCollection collection, DocumentPool pool, long count, bool isLegacy, ReplyWriter reply)
    {
        bool isSame = _asked == (collection, pool, count);
        if (isSame && _prepared is not null && !isLegacy)
        {
            _store.Counters.Add(Counted.Returned, _preparedDocuments);
            reply.SendPrepared(_prepared);
            return;
        }

        int written = pool.Write(reply.Body, count);
        _store.Counters.Add(Counted.Returned, written);
        EndCursor(reply, 0, collection);
        _asked = (collection, pool, count);
        (_prepared, _preparedDocuments) = isSame && !isLegacy ? (reply.Body.Written.ToArray(), written) : (null, 0);
    }

    private static void BeginCursor(BsonWriter body, ReadOnlySpan<byte> batch)
    {
        body.StartDocument("cursor"u8);
        body.StartArray(batch);
    }

    private static void EndCursor(ReplyWriter reply, long id, NullCollection? collection)
    {
        BsonWriter body = reply.Body;
        body.End();
        body.WriteInt64("id"u8, id);
        body.WriteString("ns"u8, collection is null ? "null.none"u8 : collection.Namespace);
        body.End();
        reply.Succeed();
    }

    private void Other(in CommandRequest request, ReplyWriter reply)
    {
        string name = request.NameText;
        switch (name)
        {
            case "update":
                _writes.Update(request, reply.Body);
                break;
            case "delete":
                _writes.Delete(request, reply.Body);
                break;
            case "findAndModify" or "findandmodify":
                _writes.FindAndModify(request, reply.Body);
                break;
            case "getMore":
                GetMore(request, reply);
                return;
            case "killCursors":
                KillCursors(request, reply.Body);
                break;
            default:
                _store.Counters.Add(Counted.Command, 1);
                BsonDocument answer = _commands.Answer(name, request.Body) ?? throw new NullCommandException(59, "CommandNotFound", $"no such command: '{name}'");
                foreach ((string field, BsonValue value) in answer)
                    reply.Body.WriteValue(Encoding.UTF8.GetBytes(field), value.Type, value.Bytes.Span);
                break;
        }

        reply.Succeed();
    }

    private void GetMore(in CommandRequest request, ReplyWriter reply)
    {
        _store.Counters.Add(Counted.GetMore, 1);
        var reader = new BsonReader(request.Body);
        reader.Read();
        long id = reader.ToInt64();
        NullCursor cursor = _store.FindCursor(id) ?? throw new NullCommandException(43, "CursorNotFound", $"cursor id {id} not found");
        long count = reader.Find("batchSize"u8) && reader.ToInt64() is > 0 and var size ? size : long.MaxValue;
        BeginCursor(reply.Body, "nextBatch"u8);
        _store.Counters.Add(Counted.Returned, cursor.Collection.WriteBatch(reply.Body, cursor, count));
        if (cursor.Left == 0)
            _store.Close(id);
        EndCursor(reply, cursor.Left == 0 ? 0 : id, cursor.Collection);
    }

    private void KillCursors(in CommandRequest request, BsonWriter body)
    {
        body.StartArray("cursorsKilled"u8);
        var reader = new BsonReader(request.Body);
        if (reader.Find("cursors"u8))
        {
            var ids = new BsonReader(reader.DocumentBytes);
            while (ids.Read())
            {
                if (_store.Close(ids.ToInt64()))
                    body.WriteInt64(ids.Name, ids.ToInt64());
            }
        }

        body.End();
    }
}
