using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>An <c>_id</c> that a server made for a document.</summary>
/// <param name="Statement">0-based: which statement of its request inserted the document.</param>
/// <param name="Id">As the reply has it.</param>
public readonly record struct GeneratedId(int Statement, ObjectId Id);

/// <summary>
/// Goes through the ObjectIds of upserts that a reply names: to update, findAndModify, or bulkWrite (and the getMore of its results).
/// Allocates nothing.
/// </summary>
internal ref struct GeneratedIds
{
    private readonly bool _isList;
    private readonly bool _isEmpty;
    private BsonReader _items;

    /// <param name="message">The reply, unpacked.</param>
    /// <exception cref="BsonFormatException">It is no BSON.</exception>
    /// <exception cref="WireProtocolException">It is no OP_MSG.</exception>
    public GeneratedIds(ReadOnlySpan<byte> message)
    {
        _isEmpty = true;
        var body = new BsonReader(OpMsg.Parse(message).Body);
        while (body.Read() && _isEmpty)
        {
            ReadOnlySpan<byte> items = body.NameIs("upserted"u8) && body.Type == BsonType.Array ? body.Value
                : body.NameIs("cursor"u8) && body.Type == BsonType.Document ? ResultsOf(body.Value)
                : default;
            _isList = !items.IsEmpty;
            if (!_isList && body.NameIs("lastErrorObject"u8) && body.Type == BsonType.Document)
                items = body.Value;
            if (items.IsEmpty)
                continue;
            _items = new BsonReader(items);
            _isEmpty = false;
        }
    }

    /// <summary>Goes to the next one.</summary>
    /// <returns>False after the last one.</returns>
    public bool Read(out GeneratedId id)
    {
        id = default;
        while (!_isEmpty && _items.Read())
        {
            if (!_isList && _items.NameIs("upserted"u8) && _items.Type == BsonType.ObjectId)
            {
                id = new GeneratedId(0, _items.ObjectId);
                return true;
            }

            if (!_isList || _items.Type != BsonType.Document)
                continue;
            var reader = new BsonReader(_items.Value);
            ObjectId? found = null;
            int statement = 0;
            while (reader.Read())
            {
                if ((reader.NameIs("index"u8) || reader.NameIs("idx"u8)) && reader.Type == BsonType.Int32)
                    statement = reader.Int32;
                else if (reader.NameIs("_id"u8) && reader.Type == BsonType.ObjectId)
                    found = reader.ObjectId;
                else if (reader.NameIs("upserted"u8) && reader.Type == BsonType.Document
                    && new BsonReader(reader.Value) is var upserted && upserted.Find("_id"u8) && upserted.Type == BsonType.ObjectId)
                    found = upserted.ObjectId;
            }

            if (found is not { } one)
                continue;
            id = new GeneratedId(statement, one);
            return true;
        }

        return false;
    }

    /// <summary>The results of a bulkWrite, one for each operation, such as <c>{ok: 1, idx: 3, n: 1, upserted: {_id: …}}</c>.</summary>
    /// <returns>Empty for any other cursor: its documents are data, whatever they look like.</returns>
    private static ReadOnlySpan<byte> ResultsOf(ReadOnlySpan<byte> cursor)
    {
        ReadOnlySpan<byte> batch = default;
        bool isOfBulkWrite = false;
        var reader = new BsonReader(cursor);
        while (reader.Read())
        {
            if ((reader.NameIs("firstBatch"u8) || reader.NameIs("nextBatch"u8)) && reader.Type == BsonType.Array)
                batch = reader.Value;
            else if (reader.NameIs("ns"u8) && reader.Type == BsonType.String)
                isOfBulkWrite = reader.StringBytes.SequenceEqual("admin.$cmd.bulkWrite"u8);
        }

        return isOfBulkWrite ? batch : default;
    }

    /// <inheritdoc cref="GeneratedIds(ReadOnlySpan{byte})"/>
    /// <returns>Null for none.</returns>
    public static GeneratedId[]? Of(ReadOnlySpan<byte> message)
    {
        var ids = new GeneratedIds(message);
        List<GeneratedId>? all = null;
        while (ids.Read(out GeneratedId id))
            (all ??= []).Add(id);
        return all?.ToArray();
    }
}
