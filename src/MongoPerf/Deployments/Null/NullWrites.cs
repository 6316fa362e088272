using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Null;

/// <summary>insert, update and delete. Inserts of a series are counted; small documents (markers) are kept and can be changed.</summary>
internal sealed class NullWrites(NullSession session)
{
    private const int DuplicateKey = 11000;

    private readonly List<int> _duplicates = [];

    public ReadOnlySpan<byte> Insert(scoped in OpMsg request, ReadOnlySpan<byte> name, int requestId)
    {
        NullCollection collection = session.Resolve(request.Body, name, create: true)!;
        _duplicates.Clear();
        bool ordered = IsOrdered(request.Body);
        int taken = 0;
        int index = 0;
        foreach (DocumentSequence sequence in request.Sequences)
        {
            if (sequence.Name.SequenceEqual("documents"u8) && !(ordered && _duplicates.Count > 0))
                taken += collection.Insert(sequence.Documents, ordered, _duplicates, ref index);
        }

        var reader = new BsonReader(request.Body);
        if (reader.Find("documents"u8))
        {
            var documents = new BsonReader(reader.DocumentBytes);
            while (documents.Read() && !(ordered && _duplicates.Count > 0))
                taken += collection.Insert(documents.DocumentBytes, ordered, _duplicates, ref index);
        }

        session.Counters.Inserted += taken;
        BsonWriter reply = session.Begin(requestId);
        reply.WriteInt32("n"u8, taken);
        if (_duplicates.Count > 0)
            WriteDuplicates(reply, collection.Namespace);
        return session.Finish();
    }

    /// <summary>Each statement's filter is an equality; the change a whole document, or $set of whole fields.</summary>
    public ReadOnlySpan<byte> Update(scoped in OpMsg request, ReadOnlySpan<byte> name, int requestId)
    {
        NullCollection collection = session.Resolve(request.Body, name, create: true)!;
        int matched = 0, changed = 0, upserted = 0;
        foreach (byte[] statement in Statements(request, "updates"u8))
        {
            session.Counters.Updates++;
            var reader = new BsonReader(statement);
            byte[] filter = reader.Find("q"u8) ? reader.DocumentBytes.ToArray() : BsonDocument.Empty.Bytes.ToArray();
            reader = new BsonReader(statement);
            byte[] change = reader.Find("u"u8) ? reader.DocumentBytes.ToArray() : BsonDocument.Empty.Bytes.ToArray();
            reader = new BsonReader(statement);
            bool upsert = reader.Find("upsert"u8) && reader.ToBoolean();
            List<byte[]> found = collection.FindSmall(filter);
            if (found.Count == 0 && !upsert)
                continue;
            collection.Replace(Merge(found.Count > 0 ? found[0] : filter, change));
            matched++;
            if (found.Count > 0)
                changed++;
            else
                upserted++;
        }

        BsonWriter reply = session.Begin(requestId);
        reply.WriteInt32("n"u8, matched);
        reply.WriteInt32("nModified"u8, changed);
        if (upserted > 0)
            reply.WriteInt32("nUpserted"u8, upserted);
        return session.Finish();
    }

    public ReadOnlySpan<byte> Delete(scoped in OpMsg request, ReadOnlySpan<byte> name, int requestId)
    {
        NullCollection? collection = session.Resolve(request.Body, name, create: false);
        long deleted = 0;
        foreach (byte[] statement in Statements(request, "deletes"u8))
        {
            session.Counters.Deletes++;
            var reader = new BsonReader(statement);
            if (collection is null || !reader.Find("q"u8))
                continue;
            ReadOnlySpan<byte> filter = reader.DocumentBytes;
            var id = new BsonReader(filter);
            if (NullFilter.IsEmpty(filter))
                deleted += collection.DeleteAll();
            else if (id.Find("_id"u8) && collection.Delete(id.Type, id.Value))
                deleted++;
        }

        BsonWriter reply = session.Begin(requestId);
        reply.WriteInt32("n"u8, (int)Math.Min(int.MaxValue, deleted));
        return session.Finish();
    }

    private static bool IsOrdered(ReadOnlySpan<byte> body)
    {
        var reader = new BsonReader(body);
        return !reader.Find("ordered"u8) || reader.ToBoolean();
    }

    private void WriteDuplicates(BsonWriter reply, string ns)
    {
        reply.StartArray("writeErrors"u8);
        for (int i = 0; i < _duplicates.Count; i++)
        {
            reply.StartDocument(Encoding.ASCII.GetBytes($"{i}"));
            reply.WriteInt32("index"u8, _duplicates[i]);
            reply.WriteInt32("code"u8, DuplicateKey);
            reply.WriteString("errmsg"u8, $"E11000 duplicate key error collection: {ns} index: _id_");
            reply.End();
        }

        reply.End();
    }

    // Statements come in the command's array or in a sequence.
    private static List<byte[]> Statements(scoped in OpMsg request, ReadOnlySpan<byte> field)
    {
        var statements = new List<byte[]>();
        var reader = new BsonReader(request.Body);
        if (reader.Find(field))
        {
            var items = new BsonReader(reader.DocumentBytes);
            while (items.Read())
                statements.Add(items.DocumentBytes.ToArray());
        }

        foreach (DocumentSequence sequence in request.Sequences)
        {
            for (ReadOnlySpan<byte> rest = sequence.Name.SequenceEqual(field) ? sequence.Documents : default; rest.Length > 0;)
            {
                ReadOnlySpan<byte> document = new BsonReader(rest).Document;
                statements.Add(document.ToArray());
                rest = rest[document.Length..];
            }
        }

        return statements;
    }

    // A replacement keeps the _id of what it replaces; $set and $setOnInsert put fields over it; other operators are left out.
    private static byte[] Merge(byte[] old, byte[] change)
    {
        var fields = new Dictionary<string, BsonValue>();
        List<string> order = [];
        void Put(string name, BsonValue value)
        {
            if (!fields.ContainsKey(name))
                order.Add(name);
            fields[name] = value;
        }

        bool isReplacement = !new BsonDocument(change).Any(field => field.Key.StartsWith('$'));
        foreach ((string name, BsonValue value) in new BsonDocument(old))
        {
            if (name == "_id" || !isReplacement)
                Put(name, value);
        }

        foreach ((string name, BsonValue value) in new BsonDocument(change))
        {
            if (isReplacement)
                Put(name, value);
            else if (name is "$set" or "$setOnInsert")
                value.ToDocument().ToList().ForEach(field => Put(field.Key, field.Value));
        }

        return BsonDocument.Of([.. order.Select(name => (name, (object?)fields[name]))]).Bytes.ToArray();
    }
}
