using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>update, delete and findAndModify: each statement finds one document.</summary>
internal sealed class NullWrites(NullSession session, NullStore store)
{
    private delegate long Statement(BsonReader statement, NullCollection collection);

    public void Update(in CommandRequest request, BsonWriter body)
    {
        NullCollection collection = session.Resolve(request.Body, create: true)!;
        long upserted = 0;
        long changed = ForEach(request, "updates"u8, collection, (statement, about) =>
        {
            store.Counters.Add(Counted.Update, 1);
            (byte[] filter, byte[] change, bool isUpsert) = Read(statement.Document, "q"u8, "u"u8);
            int found = about.Update(filter, change, isUpsert);
            upserted += isUpsert ? 1 - found : 0;
            return found;
        });
        body.WriteInt64("n"u8, changed + upserted);
        body.WriteInt64("nModified"u8, changed);
    }

    public void Delete(in CommandRequest request, BsonWriter body)
    {
        long deleted = 0;
        if (session.Resolve(request.Body, create: false) is { } collection)
        {
            deleted = ForEach(request, "deletes"u8, collection, (statement, about) =>
            {
                store.Counters.Add(Counted.Delete, 1);
                var limit = new BsonReader(statement.Document);
                bool isMany = limit.Find("limit"u8) && limit.ToInt64() == 0;
                return about.Delete(Read(statement.Document, "q"u8, "u"u8).Filter, isMany);
            });
        }

        body.WriteInt64("n"u8, deleted);
    }

    public void FindAndModify(in CommandRequest request, BsonWriter body)
    {
        store.Counters.Add(Counted.Command, 1);
        NullCollection collection = session.Resolve(request.Body, create: true)!;
        (byte[] filter, byte[] change, bool isUpsert) = Read(request.Body, "query"u8, "update"u8);
        var found = new BsonWriter();
        found.StartDocument();
        int count = collection.FindOne(found, filter);
        found.End();
        var remove = new BsonReader(request.Body);
        if (remove.Find("remove"u8) && remove.ToBoolean())
            collection.Delete(filter, many: false);
        else
            collection.Update(filter, change, isUpsert);
        body.StartDocument("lastErrorObject"u8);
        body.WriteInt32("n"u8, count > 0 || isUpsert ? 1 : 0);
        body.WriteBoolean("updatedExisting"u8, count > 0);
        body.End();
        var document = new BsonReader(found.Written);
        if (document.Read())
            body.WriteDocument("value"u8, document.DocumentBytes);
        else
            body.WriteNull("value"u8);
    }

    /// <summary>Statements come in the command's array or in a section of their own.</summary>
    private static long ForEach(in CommandRequest request, ReadOnlySpan<byte> field, NullCollection collection, Statement carryOut)
    {
        long sum = 0;
        var reader = new BsonReader(request.Body);
        if (reader.Find(field))
        {
            var items = new BsonReader(reader.DocumentBytes);
            while (items.Read())
                sum += carryOut(new BsonReader(items.DocumentBytes), collection);
        }

        if (request.TryGetSequence(field, out ReadOnlySpan<byte> rest))
        {
            while (rest.Length > 0)
            {
                var statement = new BsonReader(rest);
                sum += carryOut(statement, collection);
                rest = rest[statement.Document.Length..];
            }
        }

        return sum;
    }

    // A pipeline in place of a document is read as one without operators.
    private static (byte[] Filter, byte[] Change, bool IsUpsert) Read(ReadOnlySpan<byte> statement, ReadOnlySpan<byte> filterName, ReadOnlySpan<byte> changeName)
    {
        byte[] filter = BsonDocument.Empty.Bytes.ToArray();
        byte[] change = filter;
        bool isUpsert = false;
        var reader = new BsonReader(statement);
        while (reader.Read())
        {
            if (reader.NameIs(filterName))
                filter = reader.DocumentBytes.ToArray();
            else if (reader.NameIs(changeName))
                change = reader.DocumentBytes.ToArray();
            else if (reader.NameIs("upsert"u8))
                isUpsert = reader.ToBoolean();
        }

        return (filter, change, isUpsert);
    }
}
