using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$unwind: one document for each element of an array.</summary>
internal sealed class UnwindStage
{
    private readonly string[] _path;
    private readonly string[]? _index;
    private readonly bool _keepsEmpty;

    /// <exception cref="CommandException">A path without $, or an option that is not known.</exception>
    public UnwindStage(BsonValue value)
    {
        BsonValue path = value;
        if (value.Type == BsonType.Document)
        {
            path = DirectFields.Find(value.ToDocument(), "path")
                ?? throw CommandException.Location(28812, "no path specified to $unwind stage");
            foreach ((string name, BsonValue option) in value.ToDocument())
            {
                switch (name)
                {
                    case "path": break;
                    case "preserveNullAndEmptyArrays" when option.Type == BsonType.Boolean: _keepsEmpty = option.ToBoolean(); break;
                    case "preserveNullAndEmptyArrays": throw CommandException.Location(28809,
                        "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage");
                    case "includeArrayIndex" when option.Type == BsonType.String && option.ToString().Length > 0:
                        _index = IndexPath(option.ToString()); break;
                    case "includeArrayIndex": throw CommandException.Location(
                        28810, "expected a non-empty string for the includeArrayIndex option to $unwind stage");
                    default: throw CommandException.Location(28811, $"unrecognized option to $unwind stage: {name}");
                }
            }
        }
        else if (value.Type != BsonType.String)
        {
            throw CommandException.Location(15981, "expected either a string or an object as specification for $unwind stage");
        }

        if (path.Type != BsonType.String)
            throw CommandException.Location(28808, "expected a string as the path for $unwind stage");
        string text = path.ToString();
        if (text.Length == 0)
            throw CommandException.Location(28812, "no path specified to $unwind stage");
        if (text[0] != '$')
            throw CommandException.Location(28818, $"path option to $unwind stage should be prefixed with a '$': {text}");
        ProtocolLimits.RequirePath(text);
        _path = text[1..].Split('.');
    }

    public IEnumerable<BsonDocument> Run(IEnumerable<BsonDocument> documents)
    {
        foreach (BsonDocument document in documents)
        {
            BsonValue? value = Find(document);
            if (value is { Type: BsonType.Array } array)
            {
                long index = 0;
                foreach (BsonValue item in Values.Items(array))
                    yield return WithIndex(Nested.Set(document, _path, item), Values.Int64(index++));
                if (index == 0 && _keepsEmpty)
                    yield return WithIndex(Nested.Set(document, _path, null), Values.Null);
            }
            else if (_keepsEmpty || !Values.IsNullish(value))
            {
                yield return WithIndex(document, Values.Null);
            }
        }
    }

    private static string[] IndexPath(string text)
    {
        ProtocolLimits.RequirePath(text);
        return text[0] != '$'
            ? text.Split('.')
            : throw CommandException.Location(
                28822, $"includeArrayIndex option to $unwind stage should not be prefixed with a '$': {text}");
    }

    private BsonDocument WithIndex(BsonDocument document, BsonValue index) =>
        _index == null ? document : Nested.Set(document, _index, index);

    /// <summary>Finds a value through documents only: an array on the way hides what lies below it.</summary>
    private BsonValue? Find(BsonDocument document)
    {
        BsonValue? value = Values.Of(document);
        foreach (string step in _path)
            value = value is { Type: BsonType.Document } inner ? DirectFields.Find(inner.ToDocument(), step) : null;
        return value;
    }
}

/// <summary>Changes one field below nested documents.</summary>
internal static class Nested
{
    /// <param name="document">Is not changed; a copy is.</param>
    /// <param name="path">Documents on the way are made where they are missing.</param>
    /// <param name="value">Null takes the field out.</param>
    public static BsonDocument Set(BsonDocument document, ReadOnlySpan<string> path, BsonValue? value)
    {
        List<(string Name, BsonValue Value)> fields = [.. document.Select(pair => (pair.Key, pair.Value))];
        string name = path[0];
        int at = fields.FindIndex(field => field.Name == name);
        if (path.Length > 1)
        {
            BsonDocument inner = at >= 0 && fields[at].Value.Type == BsonType.Document ? fields[at].Value.ToDocument() : BsonDocument.Empty;
            value = Values.Of(Set(inner, path[1..], value));
        }

        if (value is not { } known)
            fields.RemoveAll(field => field.Name == name);
        else if (at >= 0)
            fields[at] = (name, known);
        else
            fields.Add((name, known));
        return FieldGaps.Keep(FieldGaps.Of(document), Values.Document(fields).ToDocument());
    }
}
