using System.Numerics;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Comparing;

/// <summary>What an index holds of documents, before the server compresses it.</summary>
/// <param name="index">As createIndexes takes it.</param>
internal sealed class IndexKeys(BsonDocument index)
{
    /// <summary>The place of the document, which each entry ends with.</summary>
    private const int Place = 3;

    private const int Number = 9;

    private readonly (string Path, bool IsHashed)[] _fields =
        [.. (index.FindDocument("key") ?? BsonDocument.Empty).Select(one => (one.Key, one.Value.ToString() == "hashed"))];

    /// <summary>Its keys follow from the documents: it is no text index, no wildcard, and no map.</summary>
    public bool IsKnown => (index.FindDocument("key") ?? BsonDocument.Empty)
        .All(one => (one.Value.IsNumber || one.Value.ToString() == "hashed") && !one.Key.EndsWith("$**", StringComparison.Ordinal));

    /// <summary>Bytes of one document's entries.</summary>
    public long BytesOf(BsonDocument document)
    {
        if (index.IsTrue("sparse") && _fields.All(field => ValuesAt(document, field.Path).Count == 0))
            return 0;
        long entries = 1;
        double bytes = 0;
        foreach ((string path, bool isHashed) in _fields)
        {
            List<BsonValue> values = ValuesAt(document, path);
            entries = Math.Max(entries, values.Count);
            bytes += isHashed ? Number : values.Count == 0 ? 1 : values.Average(value => (double)BytesOf(value));
        }

        return (long)(entries * (bytes + Place));
    }

    private static int BytesOf(BsonValue value) => value.Type switch
    {
        BsonType.Null or BsonType.Boolean or BsonType.MinKey or BsonType.MaxKey => 1,
        // Whole numbers take as many bytes as they need.
        BsonType.Int32 or BsonType.Int64 => 2 + (BitOperations.Log2(Size(value.ToInt64())) / 8),
        BsonType.String or BsonType.Symbol => value.Bytes.Length - 3,
        BsonType.Decimal128 => 17,
        BsonType.Double or BsonType.DateTime or BsonType.Timestamp => Number,
        _ => 1 + value.Bytes.Length,
    };

    /// <summary>How far from -1 it is: the greatest and the least of 64 bits have one, too.</summary>
    private static ulong Size(long number) => number < 0 ? (ulong)-(number + 1) : (ulong)number + 1;

    private static List<BsonValue> ValuesAt(BsonDocument document, string path)
    {
        var found = new List<BsonValue>();
        Collect(new BsonValue(BsonType.Document, document.Memory), path.Split('.'), 0, found);
        return found;
    }

    private static void Collect(BsonValue value, string[] path, int at, List<BsonValue> found)
    {
        if (value.Type == BsonType.Array)
        {
            foreach ((string place, BsonValue element) in value.ToDocument())
            {
                if (at < path.Length && place == path[at])
                    Collect(element, path, at + 1, found);
                else if (element.Type == BsonType.Document || at == path.Length)
                    Collect(element, path, at, found);
            }
        }
        else if (at == path.Length)
        {
            found.Add(value);
        }
        else if (value.Type == BsonType.Document)
        {
            foreach ((string name, BsonValue field) in value.ToDocument())
            {
                if (name == path[at])
                    Collect(field, path, at + 1, found);
            }
        }
    }
}
