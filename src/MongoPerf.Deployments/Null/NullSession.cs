using System.Text;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>
/// Answers one connection's commands about documents of the plan's collections; everything else is the embedded server's.
/// </summary>
/// <remarks>
/// To the embedded server these collections are empty; it keeps their indexes. An insert, and a find of any documents, allocate nothing.
/// </remarks>
internal sealed class NullSession(ICommandSession inner, NullStore store, ServerCounters counters) : ICommandSession
{
    private NumberedCollection? _last;
    private (NumberedCollection? Collection, DocumentPool? Pool, long Count) _asked;
    private byte[]? _prepared;
    private int _preparedDocuments;

    public void Handle(in CommandRequest request, ReplyWriter reply)
    {
        try
        {
            if (!TryAnswer(request, reply))
                inner.Handle(request, reply);
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

    /// <inheritdoc/>
    public void ClientLeft() => inner.ClientLeft();

    public void Dispose() => inner.Dispose();

    private bool TryAnswer(in CommandRequest request, ReplyWriter reply)
    {
        if (request.Name.SequenceEqual("getMore"u8))
            return TryGetMore(request, reply);
        if (request.Name.SequenceEqual("dropDatabase"u8))
            return DropDatabase(request, reply);
        if (Resolve(request.Body) is not { } collection)
            return false;
        if (request.Name.SequenceEqual("insert"u8))
            Insert(collection, request, reply.Body);
        else if (request.Name.SequenceEqual("find"u8))
            return Find(collection, request, reply);
        else if (request.Name.SequenceEqual("drop"u8))
            return Drop(collection, request, reply);
        else if (request.Name.SequenceEqual("killCursors"u8))
            KillCursors(request.Body, reply.Body);
        else if (IsOfStatistics(request))
            return Describe(collection, request, reply);
        else if (!NullCommands.TryAnswer(collection, request, reply.Body, counters))
            return false;
        reply.Succeed();
        return true;
    }

    /// <summary>The collection of the plan that the command's first field names; the last one is found again without a look-up.</summary>
    private NumberedCollection? Resolve(ReadOnlySpan<byte> command)
    {
        var reader = new BsonReader(command);
        if (!reader.Read() || reader.Type != BsonType.String)
            return null;
        ReadOnlySpan<byte> name = reader.StringBytes;
        ReadOnlySpan<byte> database = DatabaseOf(command);
        if (_last is { } last && last.Is(database, name))
            return last;
        return store.Find(Encoding.UTF8.GetString(database), Encoding.UTF8.GetString(name)) is { } found ? _last = found : null;
    }

    private static ReadOnlySpan<byte> DatabaseOf(ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        return reader.Find("$db"u8) ? reader.StringBytes : "test"u8;
    }

    /// <summary>
    /// The embedded server says whether the command may be carried out; that it does not know the collection is no objection.
    /// </summary>
    private bool Drop(NumberedCollection collection, in CommandRequest request, ReplyWriter reply)
    {
        const int NamespaceNotFound = 26;
        inner.Handle(request, reply);
        var answer = new BsonDocument(reply.Body.Written[reply.BodyStart..].ToArray());
        if (answer.IsTrue("ok") || answer.FindInt64("code") == NamespaceNotFound)
            collection.Clear();
        return true;
    }

    private bool DropDatabase(in CommandRequest request, ReplyWriter reply)
    {
        inner.Handle(request, reply);
        if (new BsonDocument(reply.Body.Written[reply.BodyStart..].ToArray()).IsTrue("ok"))
            store.Clear(Encoding.UTF8.GetString(DatabaseOf(request.Body)));
        return true;
    }

    private void Insert(NumberedCollection collection, in CommandRequest request, BsonWriter body)
    {
        int count = 0;
        if (request.TryGetSequence("documents"u8, out ReadOnlySpan<byte> documents))
        {
            count = collection.Insert(documents);
        }
        else
        {
            foreach (byte[] document in NullCommands.Statements(request, "documents"))
                count += collection.Insert(document);
        }

        counters.CountInserts(count, count);
        body.WriteInt32("n"u8, count);
    }

    private bool Find(NumberedCollection collection, in CommandRequest request, ReplyWriter reply)
    {
        counters.CountQuery(isGetMore: false);
        FindRequest find = FindRequest.Read(request.Body);
        BeginCursor(reply.Body, "firstBatch"u8);
        FindOutcome found = collection.Find(reply.Body, find);
        if (found.Pool is { } pool)
            return FindInPool(collection, pool, Math.Min(find.OnlyBatch, collection.Count), request.IsLegacyQuery, reply);
        return EndCursor(reply, found.Documents, found.Rest is null ? 0 : store.Open(found.Rest), collection);
    }

    /// <summary>Who asks the same again gets the same message again: copying a hundred documents would be a fifth of the work.</summary>
    private bool FindInPool(NumberedCollection collection, DocumentPool pool, long count, bool isLegacy, ReplyWriter reply)
    {
        bool isSame = _asked == (collection, pool, count);
        if (isSame && _prepared is not null && !isLegacy)
        {
            counters.CountScan(0, 0, _preparedDocuments);
            reply.SendPrepared(_prepared);
            return true;
        }

        int written = pool.Write(reply.Body, count);
        EndCursor(reply, written, 0, collection);
        _asked = (collection, pool, count);
        (_prepared, _preparedDocuments) = isSame && !isLegacy ? (reply.Body.Written.ToArray(), written) : (null, 0);
        return true;
    }

    private bool TryGetMore(in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        long id = reader.ToInt64();
        if (store.FindCursor(id) is not { } cursor)
            return false;
        counters.CountQuery(isGetMore: true);
        long count = reader.Find("batchSize"u8) && reader.ToInt64() is > 0 and var size ? size : long.MaxValue;
        BeginCursor(reply.Body, "nextBatch"u8);
        int written = cursor.Collection.WriteBatch(reply.Body, cursor, count);
        if (cursor.Left == 0)
            store.Close(id);
        return EndCursor(reply, written, cursor.Left == 0 ? 0 : id, cursor.Collection);
    }

    private static void BeginCursor(BsonWriter body, ReadOnlySpan<byte> batch)
    {
        body.StartDocument("cursor"u8);
        body.StartArray(batch);
    }

    private bool EndCursor(ReplyWriter reply, int documents, long id, NumberedCollection collection)
    {
        counters.CountScan(0, 0, documents);
        reply.Body.End();
        reply.Body.WriteInt64("id"u8, id);
        reply.Body.WriteString("ns"u8, collection.Namespace);
        reply.Body.End();
        reply.Succeed();
        return true;
    }

    private void KillCursors(ReadOnlySpan<byte> request, BsonWriter body)
    {
        // All before the first is closed: a command that is refused has closed none.
        var given = new List<long>();
        var reader = new BsonReader(request);
        if (reader.Find("cursors"u8))
        {
            var ids = new BsonReader(reader.DocumentBytes);
            while (ids.Read())
                given.Add(ids.ToInt64());
        }

        long[] closed = [.. given.Where(store.Close)];
        body.StartArray("cursorsKilled"u8);
        for (int i = 0; i < closed.Length; i++)
            body.WriteInt64(Encoding.UTF8.GetBytes($"{i}"), closed[i]);
        body.End();
    }

    private static bool IsOfStatistics(in CommandRequest request) => request.Name.SequenceEqual("collStats"u8)
        || (request.Name.SequenceEqual("aggregate"u8)
            && new BsonDocument(request.Body.ToArray()).Find("pipeline.0.$collStats") is not null);

    /// <summary>What the embedded server says of indexes is true; number and size of documents are put in.</summary>
    private bool Describe(NumberedCollection collection, in CommandRequest request, ReplyWriter reply)
    {
        inner.Handle(request, reply);
        byte[] answer = reply.Body.Written[reply.BodyStart..].ToArray();
        reply.Restart();
        Copy(new BsonReader(answer));
        reply.Body.End();
        return true;

        void Copy(BsonReader source)
        {
            while (source.Read())
            {
                if (source.NameIs("count"u8))
                    reply.Body.WriteInt64(source.Name, collection.Count);
                else if (source.NameIs("size"u8))
                    reply.Body.WriteInt64(source.Name, collection.Bytes);
                else if (source.Type is BsonType.Document or BsonType.Array)
                    CopyWithin(source);
                else
                    reply.Body.WriteValue(source.Name, source.Type, source.Value);
            }
        }

        void CopyWithin(BsonReader source)
        {
            if (source.Type == BsonType.Array)
                reply.Body.StartArray(source.Name);
            else
                reply.Body.StartDocument(source.Name);
            Copy(new BsonReader(source.DocumentBytes));
            reply.Body.End();
        }
    }
}
