using System.Buffers.Binary;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>What part of the data a request reads and writes, under the names of the target.</summary>
/// <param name="databases">Names that stand in place of recorded ones.</param>
internal sealed class RequestParts(IReadOnlyDictionary<string, string> databases)
{
    /// <summary>Two documents of one group seem to be the same, so that a few requests wait that need not.</summary>
    private const int Groups = 4096;

    /// <summary>What names more counts as a use of the whole collection.</summary>
    private const int MostDocuments = 16;

    /// <param name="message">The request.</param>
    /// <param name="command">Its name.</param>
    /// <param name="database">The database that it was sent to.</param>
    /// <param name="writes">What it writes.</param>
    public DataPart[] Of(in OpMsg message, string command, string database, IReadOnlyList<WriteTarget> writes)
    {
        string renamed = databases.GetValueOrDefault(database, database);
        var parts = new HashSet<DataPart>();
        string? own = CollectionOf(message.Body, command);
        foreach (WriteTarget write in writes)
        {
            if (own is null || write.Name != $"{renamed}.{own}")
                parts.Add(Written(write.Name));
        }

        bool isWritten = own is not null && writes.Any(write => write.Name == $"{renamed}.{own}");
        if (own is not null)
        {
            HashSet<int>? documents = DocumentsOf(message, command);
            foreach (int document in documents ?? [-1])
                parts.Add(new DataPart(renamed, own, document, isWritten));
        }
        else if (command is "listCollections" or "dbStats" or "dbstats" or "dbHash" or "dbhash" or "aggregate")
        {
            parts.Add(new DataPart(renamed, "", -1, false));
        }

        if (command == "aggregate")
            AddJoined(parts, message.Body, renamed);
        return [.. parts];
    }

    /// <summary>From a name such as shop.audit, shop.* or server.</summary>
    private static DataPart Written(string? name)
    {
        int dot = name?.IndexOf('.', StringComparison.Ordinal) ?? -1;
        return dot < 0 ? new DataPart("", "", -1, true)
            : new DataPart(name![..dot], name.EndsWith(".*", StringComparison.Ordinal) ? "" : name[(dot + 1)..], -1, true);
    }

    /// <summary>The collection that a request names; null for none, or where its database stands before it.</summary>
    public static string? CollectionOf(ReadOnlySpan<byte> body, string command)
    {
        var reader = new BsonReader(body);
        bool isThere = command == "getMore" ? reader.Find("collection"u8) : command != "killCursors" && reader.Read();
        // What names its collection with the database before it is among the writes.
        return isThere && reader.Type == BsonType.String && command is not "renameCollection" ? reader.StringText : null;
    }

    /// <summary>Collections that stages such as $lookup read.</summary>
    private static void AddJoined(HashSet<DataPart> parts, ReadOnlySpan<byte> document, string database)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.Type is BsonType.Document or BsonType.Array)
                AddJoined(parts, reader.Value, database);
            else if (reader.Type == BsonType.String
                && (reader.NameIs("from"u8) || reader.NameIs("coll"u8) || reader.NameIs("$unionWith"u8)))
                parts.Add(new DataPart(database, reader.StringText, -1, false));
        }
    }

    /// <summary>The groups of the documents that a request names by their <c>_id</c>.</summary>
    /// <returns>Null for one that may touch any document of its collection.</returns>
    private static HashSet<int>? DocumentsOf(in OpMsg message, string command)
    {
        ReadOnlySpan<byte> statements = command switch
        {
            "insert" => "documents"u8,
            "update" => "updates"u8,
            "delete" => "deletes"u8,
            _ => default,
        };
        ReadOnlySpan<byte> filter = command switch
        {
            "update" or "delete" => "q"u8,
            "find" => "filter"u8,
            "count" or "distinct" or "findAndModify" or "findandmodify" => "query"u8,
            _ => default,
        };
        var groups = new HashSet<int>();
        try
        {
            bool isNamed = statements.Length == 0
                ? filter.Length > 0 && AddFiltered(groups, message.Body, filter)
                : AddStatements(groups, message, statements, filter);
            return isNamed && groups.Count is > 0 and <= MostDocuments ? groups : null;
        }
        catch (BsonFormatException)
        {
            return null;
        }
    }

    private static bool AddStatements(HashSet<int> groups, in OpMsg message, ReadOnlySpan<byte> name, ReadOnlySpan<byte> filter)
    {
        foreach (DocumentSequence sequence in message.Sequences)
        {
            if (!sequence.Name.SequenceEqual(name))
                continue;
            for (ReadOnlySpan<byte> left = sequence.Documents; left.Length > 0;)
            {
                ReadOnlySpan<byte> document = new BsonReader(left).Document;
                if (groups.Count > MostDocuments || !AddStatement(groups, document, filter))
                    return false;
                left = left[document.Length..];
            }
        }

        var body = new BsonReader(message.Body);
        if (!body.Find(name) || body.Type != BsonType.Array)
            return true;
        var items = new BsonReader(body.Value);
        while (items.Read())
        {
            if (groups.Count > MostDocuments || items.Type != BsonType.Document || !AddStatement(groups, items.Value, filter))
                return false;
        }

        return true;
    }

    private static bool AddStatement(HashSet<int> groups, ReadOnlySpan<byte> statement, ReadOnlySpan<byte> filter) =>
        filter.Length > 0 ? AddFiltered(groups, statement, filter) : AddId(groups, statement);

    /// <param name="groups">Gets those of the named documents.</param>
    /// <param name="holder">The command or the statement.</param>
    /// <param name="filter">The name of the filter in it.</param>
    private static bool AddFiltered(HashSet<int> groups, ReadOnlySpan<byte> holder, ReadOnlySpan<byte> filter)
    {
        var reader = new BsonReader(holder);
        // A collation may make two texts equal.
        if (reader.Find("collation"u8))
            return false;
        reader = new BsonReader(holder);
        return reader.Find(filter) && reader.Type == BsonType.Document && AddId(groups, reader.Value);
    }

    /// <summary>One value, or those of $eq and $in.</summary>
    private static bool AddId(HashSet<int> groups, ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        if (!reader.Find("_id"u8))
            return false;
        if (reader.Type != BsonType.Document)
            return AddValue(groups, reader);
        var condition = new BsonReader(reader.Value);
        if (!condition.Read())
            return false;
        if (condition.NameIs("$eq"u8))
            return AddValue(groups, condition);
        if (!condition.NameIs("$in"u8) || condition.Type != BsonType.Array)
            return false;
        var items = new BsonReader(condition.Value);
        while (items.Read())
        {
            if (groups.Count > MostDocuments || !AddValue(groups, items))
                return false;
        }

        return true;
    }

    /// <summary>Values that a server takes for equal are in one group: 1 and 1.0.</summary>
    private static bool AddValue(HashSet<int> groups, in BsonReader value)
    {
        Span<byte> number = stackalloc byte[8];
        scoped ReadOnlySpan<byte> bytes = value.Value;
        if (value.Type is BsonType.Int32 or BsonType.Int64 or BsonType.Double)
        {
            // Zero has two signs.
            BinaryPrimitives.WriteDoubleLittleEndian(number, value.ToDouble() + 0.0);
            bytes = number;
        }
        else if (value.Type is not (BsonType.ObjectId or BsonType.String or BsonType.Binary or BsonType.DateTime or BsonType.Boolean))
        {
            return false;
        }

        // FNV-1a, the same in each run.
        uint hash = 2166136261;
        foreach (byte one in bytes)
            hash = (hash ^ one) * 16777619;
        groups.Add((int)(hash % Groups));
        return true;
    }
}
