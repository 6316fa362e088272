using System.Buffers.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>find, getMore, count and explain. A series' query is answered by a finished message that is only readdressed.</summary>
internal sealed class NullQueries(NullSession session)
{
    private const int DefaultFirstBatch = 101;
    private const int LargestIdBatch = 100_000;
    private const int MaximumFinished = 16;

    private readonly List<FinishedReply> _finished = [];

    public ReadOnlySpan<byte> Find(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        session.Counters.Queries++;
        FindRequest find = FindRequest.Read(body);
        if (session.Resolve(body, name, create: false) is not { } collection)
            return Empty(body, name, requestId);
        if (!collection.HasNumbered)
            return AnswerSmall(collection, find, requestId);
        if (NullFilter.IsEmpty(find.Filter))
            return AnswerSamples(collection, find, withCondition: false, requestId);
        if (NullFilter.TryReadIdRange(find.Filter, out ObjectId from, out ObjectId to))
            return AnswerIds(collection, find, from, to, requestId);
        var id = new BsonReader(find.Filter);
        if (!id.Find("_id"u8))
            return AnswerSamples(collection, find, withCondition: true, requestId);
        return id.Type == BsonType.ObjectId
            ? AnswerIds(collection, find, id.ObjectId, NullFilter.Next(id.ObjectId), requestId)
            : AnswerSmall(collection, find, requestId);
    }

    public ReadOnlySpan<byte> GetMore(ReadOnlySpan<byte> body, long id, int requestId)
    {
        session.Counters.GetMores++;
        if (session.Store.FindCursor(id) is not { } cursor)
            return session.Fail(requestId, 43, "CursorNotFound", $"cursor id {id} not found");
        var reader = new BsonReader(body);
        long wanted = reader.Find("batchSize"u8) ? reader.ToInt64() : LargestIdBatch;
        BsonWriter reply = session.Begin(requestId);
        reply.StartDocument("cursor"u8);
        WriteIds(reply, "nextBatch"u8, cursor, Math.Min(wanted, LargestIdBatch));
        bool isDone = cursor.Left == 0;
        if (isDone)
            session.Store.CloseCursor(id);
        return EndCursor(reply, isDone ? 0 : id, cursor.Collection.Namespace);
    }

    public ReadOnlySpan<byte> KillCursors(ReadOnlySpan<byte> body, int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.StartArray("cursorsKilled"u8);
        var reader = new BsonReader(body);
        if (reader.Find("cursors"u8))
        {
            var ids = new BsonReader(reader.DocumentBytes);
            while (ids.Read())
            {
                if (session.Store.CloseCursor(ids.ToInt64()))
                    reply.WriteInt64(ids.Name, ids.ToInt64());
            }
        }

        reply.End();
        return session.Finish();
    }

    public ReadOnlySpan<byte> Count(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        session.Counters.Commands++;
        long count = session.Resolve(body, name, create: false) is { } collection ? CountIn(collection, body) : 0;
        BsonWriter reply = session.Begin(requestId);
        if (count <= int.MaxValue)
            reply.WriteInt32("n"u8, (int)count);
        else
            reply.WriteInt64("n"u8, count);
        return session.Finish();
    }

    /// <summary>No plan: stage "NULL", nothing examined.</summary>
    public ReadOnlySpan<byte> Explain(ReadOnlySpan<byte> command, int requestId)
    {
        session.Counters.Commands++;
        var reader = new BsonReader(command);
        reader.Read();
        int returned = reader.NameIs("find"u8) ? FindRequest.Read(command).Limit : 0;
        BsonWriter reply = session.Begin(requestId);
        reply.WriteString("explainVersion"u8, "1"u8);
        reply.StartDocument("queryPlanner"u8);
        reply.StartDocument("winningPlan"u8);
        reply.WriteString("stage"u8, "NULL"u8);
        reply.End();
        reply.StartArray("rejectedPlans"u8);
        reply.End();
        reply.End();
        reply.StartDocument("executionStats"u8);
        reply.WriteBoolean("executionSuccess"u8, true);
        WriteExecution(reply, returned);
        reply.StartDocument("executionStages"u8);
        reply.WriteString("stage"u8, "NULL"u8);
        reply.WriteInt32("nReturned"u8, returned);
        reply.End();
        reply.End();
        return session.Finish();
    }

    private static void WriteExecution(BsonWriter reply, int returned)
    {
        reply.WriteInt32("nReturned"u8, returned);
        reply.WriteInt32("executionTimeMillis"u8, 0);
        reply.WriteInt32("totalKeysExamined"u8, 0);
        reply.WriteInt32("totalDocsExamined"u8, 0);
    }

    private static long CountIn(NullCollection collection, ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        if (!reader.Find("query"u8) || NullFilter.IsEmpty(reader.DocumentBytes))
            return collection.Count;
        return NullFilter.TryReadIdRange(reader.DocumentBytes, out ObjectId from, out ObjectId to)
            ? collection.CountIn(from, to)
            : collection.FindSmall(reader.DocumentBytes).Count;
    }

    private ReadOnlySpan<byte> AnswerSamples(NullCollection collection, scoped in FindRequest find, bool withCondition, int requestId)
    {
        int limit = find.Limit > 0 ? find.Limit : DefaultFirstBatch;
        long version = collection.SampleVersion;
        FinishedReply? known = null;
        foreach (FinishedReply reply in _finished)
        {
            if (reply.Collection == collection && reply.WithCondition == withCondition && reply.Limit == limit
                && find.Projection.SequenceEqual(reply.Projection) && find.Sort.SequenceEqual(reply.Sort))
            {
                known = reply;
                break;
            }
        }

        if (known is null || known.Version != version)
        {
            _finished.Remove(known!);
            known = FinishReply(collection, find, withCondition, limit, version);
        }

        session.Counters.Returned += known.Documents;
        NullSession.Readdress(known.Message, requestId);
        return known.Message;
    }

    private FinishedReply FinishReply(NullCollection collection, scoped in FindRequest find, bool withCondition, int limit, long version)
    {
        List<byte[]> documents = collection.TakeSamples(withCondition, limit);
        if (!NullFilter.IsEmpty(find.Sort))
            Sort(documents, find.Sort);
        BsonWriter writer = session.Begin(0);
        writer.StartDocument("cursor"u8);
        WriteDocuments(writer, documents, find.Projection);
        var reply = new FinishedReply(
            collection, withCondition, limit, find.Projection.ToArray(), find.Sort.ToArray(), version, documents.Count,
            EndCursor(writer, 0, collection.Namespace).ToArray());
        if (_finished.Count == MaximumFinished)
            _finished.RemoveAt(0);
        _finished.Add(reply);
        return reply;
    }

    // By the first field of the sort; numbers and dates only, which is what a series sorts by.
    private static void Sort(List<byte[]> documents, ReadOnlySpan<byte> sort)
    {
        var order = new BsonReader(sort);
        order.Read();
        string field = order.NameText;
        int direction = Math.Sign(order.ToDouble());
        documents.Sort((a, b) => direction * ValueOf(a, field).CompareTo(ValueOf(b, field)));
    }

    private static long ValueOf(byte[] document, string field) => new BsonDocument(document).FindInt64(field) ?? 0;

    private ReadOnlySpan<byte> AnswerSmall(NullCollection collection, scoped in FindRequest find, int requestId)
    {
        List<byte[]> documents = collection.FindSmall(find.Filter);
        if (find.Limit > 0 && documents.Count > find.Limit)
            documents.RemoveRange(find.Limit, documents.Count - find.Limit);
        BsonWriter reply = session.Begin(requestId);
        reply.StartDocument("cursor"u8);
        WriteDocuments(reply, documents, find.Projection);
        session.Counters.Returned += documents.Count;
        return EndCursor(reply, 0, collection.Namespace);
    }

    private ReadOnlySpan<byte> AnswerIds(NullCollection collection, scoped in FindRequest find, ObjectId from, ObjectId to, int requestId)
    {
        // One more than can be written in a batch decides whether the cursor lives on.
        NullCursor cursor = session.Store.OpenCursor(collection, from, to, find.Limit > 0 ? find.Limit : long.MaxValue);
        int batch = find.BatchSize ?? DefaultFirstBatch;
        BsonWriter reply = session.Begin(requestId);
        reply.StartDocument("cursor"u8);
        WriteIds(reply, "firstBatch"u8, cursor, Math.Min(find.SingleBatch && find.Limit > 0 ? find.Limit : batch, LargestIdBatch));
        bool isDone = cursor.Left == 0 || find.SingleBatch;
        if (isDone)
            session.Store.CloseCursor(cursor.Id);
        return EndCursor(reply, isDone ? 0 : cursor.Id, collection.Namespace);
    }

    // Sets Left to 0 when nothing is left in the range.
    private void WriteIds(BsonWriter reply, ReadOnlySpan<byte> name, NullCursor cursor, long count)
    {
        Span<byte> key = stackalloc byte[16];
        reply.StartArray(name);
        for (int i = 0; cursor.Left > 0; i++)
        {
            if (!cursor.Collection.TryFindNext(cursor.Next, out ObjectId id) || id >= cursor.To)
            {
                cursor.Left = 0;
                break;
            }

            if (i == count)
                break;
            Utf8Formatter.TryFormat(i, key, out int digits);
            reply.StartDocument(key[..digits]);
            reply.WriteObjectId("_id"u8, id);
            reply.End();
            cursor.Next = NullFilter.Next(id);
            cursor.Left--;
            session.Counters.Returned++;
        }

        reply.End();
    }

    private static void WriteDocuments(BsonWriter reply, List<byte[]> documents, ReadOnlySpan<byte> projection)
    {
        Span<byte> key = stackalloc byte[16];
        reply.StartArray("firstBatch"u8);
        for (int i = 0; i < documents.Count; i++)
        {
            Utf8Formatter.TryFormat(i, key, out int digits);
            reply.WriteName(BsonType.Document, key[..digits]);
            NullFilter.WriteProjected(reply, documents[i], projection);
        }

        reply.End();
    }

    private ReadOnlySpan<byte> Empty(ReadOnlySpan<byte> body, ReadOnlySpan<byte> name, int requestId)
    {
        BsonWriter reply = session.Begin(requestId);
        reply.StartDocument("cursor"u8);
        reply.StartArray("firstBatch"u8);
        reply.End();
        byte[] ns = [.. NullSession.DatabaseOf(body), (byte)'.', .. name];
        return EndCursor(reply, 0, System.Text.Encoding.UTF8.GetString(ns));
    }

    private ReadOnlySpan<byte> EndCursor(BsonWriter reply, long id, string ns)
    {
        reply.WriteInt64("id"u8, id);
        reply.WriteString("ns"u8, ns);
        reply.End();
        return session.Finish();
    }

    private sealed record FinishedReply(
        NullCollection Collection, bool WithCondition, int Limit, byte[] Projection, byte[] Sort, long Version, int Documents, byte[] Message);
}
