using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>distinct: every value of a field once, elements of arrays each for itself.</summary>
internal static class DistinctCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        string? field = null;
        BsonDocument filter = BsonDocument.Empty;
        IndexHint hint = default;
        foreach ((string option, BsonValue value) in new BsonDocument(request.Body.ToArray()).Skip(1))
        {
            switch (option)
            {
                case "key": field = value.Type == BsonType.String ? value.ToString() : throw CommandFields.Mismatch("distinct", option, value.Type, "string"); break;
                case "query": filter = value.Type == BsonType.Null ? filter : CommandFields.Document("distinct", option, value); break;
                case "hint": hint = IndexHint.Parse(value); break;
                case "collation": throw CommandException.NotSupported("'collation' in distinct");
                default: CommandFields.RequireGeneric("distinct", option); break;
            }
        }

        Limits.RequirePath(field ?? throw CommandException.MissingField("distinct", "key"));
        var path = new FieldPath(field);
        session.Query.Parse(filter.Bytes, 0, 0, hint);
        reply.Body.StartArray("values"u8);
        if (session.FindCollection(name) is { } collection)
            Collect(session, collection, path, reply.Body);
        reply.Body.End();
        reply.Succeed();
    }

    private static void Collect(CommandSession session, Collection collection, FieldPath path, BsonWriter body)
    {
        FindQuery query = session.Query;
        int start = body.Length;
        var collector = new Collector(body);
        collection.Lock.EnterReadLock();
        try
        {
            query.Open(collection.IsDropped ? null : collection);
            while (query.MoveNext())
            {
                path.Visit(query.Current, ref collector);
                if (body.Length - start > Limits.MaximumReplyBytes)
                    throw CommandException.Location(17217, "distinct too big, 16mb cap");
            }

            (long keys, long documents, _) = query.Examined;
            session.Server.Counters.CountScan(keys, documents, 0);
        }
        finally
        {
            collection.Lock.ExitReadLock();
        }
    }

    private readonly struct Collector(BsonWriter body) : IValueVisitor
    {
        private readonly KeyBuffer _key = new();
        private readonly HashSet<string> _seen = [];

        public bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement)
        {
            // The array itself is none of the values; its elements, visited before it, are.
            if (!isElement && type == BsonType.Array)
                return false;
            _key.Clear();
            KeyEncoder.Write(_key, type, value);
            if (_seen.Add(Convert.ToBase64String(_key.Written)))
                body.WriteValue(ArrayNames.Of(_seen.Count - 1), type, value);
            return false;
        }

        public bool VisitMissing() => false;
    }
}
