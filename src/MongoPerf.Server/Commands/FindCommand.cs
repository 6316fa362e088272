using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class FindCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        session.Server.Counters.CountQuery(isGetMore: false);
        FindQuery query = session.Query;
        query.Parse(request.Body);
        var first = new BsonReader(request.Body);
        first.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(first);
        Collection? collection = session.FindCollection(name);
        Cursor? cursor = null;
        reply.Body.StartDocument("cursor"u8);
        reply.Body.StartArray("firstBatch"u8);
        if (collection != null && Read(session, collection, query, reply) && !query.IsSingleBatch)
            cursor = session.Server.Cursors.Add(collection.Namespace, collection, session.ReleaseQuery(), session.Operation);
        reply.Body.End();
        reply.Body.WriteInt64("id"u8, cursor?.Id ?? 0);
        WriteNamespace(reply.Body, session.Database, name);
        reply.Body.End();
        reply.Succeed();
    }

    public static void WriteNamespace(BsonWriter body, string database, ReadOnlySpan<byte> collection)
    {
        int length = System.Text.Encoding.UTF8.GetByteCount(database) + 1 + collection.Length;
        body.WriteName(BsonType.String, "ns"u8);
        body.WriteRawInt32(length + 1);
        System.Text.Encoding.UTF8.GetBytes(database, body.Grow(length - 1 - collection.Length));
        body.WriteRawByte((byte)'.');
        body.WriteRaw(collection);
        body.WriteRawByte(0);
    }

    private static bool Read(CommandSession session, Collection collection, FindQuery query, ReplyWriter reply)
    {
        ServerCounters counters = session.Server.Counters;
        using var use = CollectionUse.ToRead(session, collection);
        query.Open(collection.IsDropped ? null : collection);
        bool hasMore = query.WriteBatch(reply.Body, FirstBatchSize(query));
        if (query.Runner is { } runner)
        {
            counters.CountScan(runner.KeysExamined, runner.DocumentsExamined, query.Returned);
            counters.CountPlan(runner.Plan.Index == null, query.UsesBlockingSort);
        }

        return hasMore && query.Runner != null;
    }

    private static long FirstBatchSize(FindQuery query) =>
        query.BatchSize ?? (query.IsSingleBatch && query.Limit > 0 ? query.Limit : ProtocolLimits.DefaultFirstBatch);
}
