using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

internal static class CountCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        ReadOnlySpan<byte> filter = BsonDocument.Empty.Bytes;
        long skip = 0;
        long limit = 0;
        IndexHint hint = default;
        while (reader.Read())
        {
            switch (reader.NameText)
            {
                case "query": filter = reader.Type == BsonType.Null ? filter : reader.DocumentBytes; break;
                case "skip": skip = reader.ToInt64(); break;
                case "limit": limit = Math.Abs(reader.ToInt64()); break;
                case "hint": hint = IndexHint.Parse(reader); break;
                case "fields": break;
                default:
                    if (!GenericFields.Contains(reader.Name))
                        throw CommandException.UnknownField("count", reader.NameText);
                    break;
            }
        }

        long count = Count(session, session.FindCollection(name), filter, skip, limit, hint);
        Numbers.Write(reply.Body, "n"u8, count);
        reply.Succeed();
    }

    /// <summary>Counts matches; without a filter from the counter, which is exact.</summary>
    public static long Count(CommandSession session, Collection? collection, ReadOnlySpan<byte> filter, long skip, long limit, IndexHint hint)
    {
        FindQuery query = session.Query;
        query.Parse(filter, skip, limit, hint);
        if (collection == null)
            return 0;
        collection.Lock.EnterReadLock();
        try
        {
            if (collection.IsDropped)
                return 0;
            if (query.Filter.IsEmpty)
            {
                long rest = Math.Max(0, collection.DocumentCount - skip);
                return limit > 0 ? Math.Min(limit, rest) : rest;
            }

            query.Open(collection);
            while (query.MoveNext())
            {
                // Counting is all.
            }

            session.Server.Counters.CountScan(query.Runner!.KeysExamined, query.Runner.DocumentsExamined, 0);
            return query.Returned;
        }
        finally
        {
            collection.Lock.ExitReadLock();
        }
    }
}

/// <summary>Numbers as mongod sends them: int32 when they fit, else int64.</summary>
internal static class Numbers
{
    public static BsonValue Of(long value)
    {
        bool isInt32 = value is >= int.MinValue and <= int.MaxValue;
        byte[] bytes = BitConverter.GetBytes(value);
        return new BsonValue(isInt32 ? BsonType.Int32 : BsonType.Int64, bytes.AsMemory(0, isInt32 ? 4 : 8));
    }

    public static void Write(BsonWriter body, ReadOnlySpan<byte> name, long value)
    {
        if (value is >= int.MinValue and <= int.MaxValue)
            body.WriteInt32(name, (int)value);
        else
            body.WriteInt64(name, value);
    }
}
