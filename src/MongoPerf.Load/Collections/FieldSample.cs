using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Collections;

/// <summary>Values of fields, taken out of documents that a server drew at random.</summary>
/// <param name="paths">Fields, dotted.</param>
internal sealed class FieldSample(IReadOnlyList<string> paths)
{
    /// <summary>A server that has to look at every document to draw some gives up after this.</summary>
    public const int MostMilliseconds = 30_000;

    private const int MostBytes = 64 * 1024 * 1024;

    /// <summary>What a value takes beside its own bytes, of which null has none.</summary>
    private const int BytesOfEach = 48;

    private readonly List<(BsonType Type, byte[] Bytes)>[] _values = [.. paths.Select(_ => new List<(BsonType Type, byte[] Bytes)>())];
    private long _bytes;

    public IReadOnlyList<IReadOnlyList<(BsonType Type, byte[] Bytes)>> Values => _values;

    /// <summary>Draws the documents, with no more of them than the fields.</summary>
    public BsonDocument CommandOn(string collection, int documents)
    {
        // A projection knows no places in arrays, and a field within one that is there already is refused.
        string[] roots = [.. paths.Select(path => string.Join(
            '.', path.Split('.').Index().TakeWhile(part => part.Index == 0 || !part.Item.All(char.IsAsciiDigit)).Select(part => part.Item)))
            .Distinct()];
        (string, object?)[] fields = [.. roots.Where(root => !roots.Any(other => root.StartsWith(other + ".", StringComparison.Ordinal)))
            .Select(root => (root, (object?)1))];
        return BsonDocument.Of(
            ("aggregate", collection),
            ("pipeline", new[]
            {
                BsonDocument.Of(("$sample", BsonDocument.Of(("size", documents)))), BsonDocument.Of(("$project", BsonDocument.Of(fields))),
            }),
            ("cursor", BsonDocument.Empty),
            ("maxTimeMS", MostMilliseconds));
    }

    /// <returns>False when no more fit.</returns>
    public bool Add(BsonDocument document)
    {
        for (int i = 0; i < paths.Count; i++)
            Collect(document, paths[i].Split('.'), 0, isArray: false, _values[i]);
        return _bytes < MostBytes;
    }

    private void Collect(BsonDocument document, string[] path, int at, bool isArray, List<(BsonType Type, byte[] Bytes)> found)
    {
        foreach ((string name, BsonValue value) in document)
        {
            // In an array a place may be named; without it each element counts.
            if (name == path[at])
                Take(value, path, at + 1, found);
            else if (isArray && value.Type == BsonType.Document && !path[at].All(char.IsAsciiDigit))
                Collect(value.ToDocument(), path, at, isArray: false, found);
        }
    }

    private void Take(BsonValue value, string[] path, int at, List<(BsonType Type, byte[] Bytes)> found)
    {
        if (at < path.Length)
        {
            if (value.Type is BsonType.Document or BsonType.Array)
                Collect(value.ToDocument(), path, at, value.Type == BsonType.Array, found);
            return;
        }

        if (value.Type == BsonType.Array)
        {
            foreach ((_, BsonValue element) in value.ToDocument())
                Keep(element, found);
            return;
        }

        Keep(value, found);
    }

    /// <summary>What a filter would not compare, but carry out, is left out.</summary>
    private void Keep(BsonValue value, List<(BsonType Type, byte[] Bytes)> found)
    {
        if (_bytes >= MostBytes || value.Type is BsonType.Regex or BsonType.JavaScript or BsonType.JavaScriptWithScope or BsonType.Array
            || (value.Type == BsonType.Document && value.ToDocument().Any(field => field.Key.StartsWith('$'))))
            return;
        found.Add((value.Type, value.Bytes.ToArray()));
        _bytes += BytesOfEach + value.Bytes.Length;
    }
}
