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
        BsonDocument filter = BsonDocument.Empty;
        long skip = 0;
        long limit = 0;
        IndexHint hint = default;
        CollationOption collation = default;
        foreach ((string field, BsonValue value) in new BsonDocument(request.Body.ToArray()).Skip(1))
        {
            switch (field)
            {
                case "query": filter = value.Type == BsonType.Null ? filter : CommandFields.Document("count", field, value); break;
                case "skip": skip = CommandFields.Count("count", field, value); break;
                // A negative limit means the same as a positive one.
                case "limit": limit = value.IsNumber
                    ? Math.Abs(Math.Max(-long.MaxValue, value.ToInt64()))
                    : CommandFields.Count("count", field, value); break;
                case "hint": hint = IndexHint.Parse(value); break;
                case "fields": break;
                case "collation": collation = CollationOption.Parse(value); break;
                default: CommandFields.RequireGeneric("count", field); break;
            }
        }

        session.Query.Parse(filter.Bytes, skip, limit, hint, variables: null, collation);
        Numbers.Write(reply.Body, "n"u8, session.FindCollection(name) is { } collection ? Count(session, collection) : 0);
        reply.Succeed();
    }

    /// <summary>Counts the matches of the session's query; without a filter from the counter, which is exact.</summary>
    public static long Count(CommandSession session, Collection collection)
    {
        FindQuery query = session.Query;
        using var use = CollectionUse.ToRead(session, collection);
        if (collection.IsDropped)
            return 0;
        if (query.IsOfAll(collection))
        {
            long rest = Math.Max(0, collection.DocumentCount - query.Skip);
            return query.Limit > 0 ? Math.Min(query.Limit, rest) : rest;
        }

        query.Open(collection);
        while (query.MoveNext())
        {
            // Counting is all.
        }

        session.Server.Counters.CountScan(query.Runner!.KeysExamined, query.Runner.DocumentsExamined, 0);
        return query.Returned;
    }
}
