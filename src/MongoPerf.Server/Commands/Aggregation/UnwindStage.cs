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
        FieldSlot made = Set("", document, FieldGaps.Of(document), path, value);
        return FieldGaps.Keep(made.Gaps, made.Value!.Value.ToDocument());
    }

    private static FieldSlot Set(string name, BsonDocument document, FieldGaps? gaps, ReadOnlySpan<string> path, BsonValue? value)
    {
        List<FieldSlot> slots = FieldGaps.Slots(document, gaps);
        string field = path[0];
        int at = slots.FindIndex(slot => slot.Name == field);
        FieldSlot present = at >= 0 ? slots[at] : default;
        FieldSlot changed = path.Length == 1
            ? new FieldSlot(field, value, null)
            : Set(field, present.Value is { Type: BsonType.Document } inner ? inner.ToDocument() : BsonDocument.Empty, present.Gaps,
                path[1..], value);
        if (at >= 0)
            slots[at] = changed;
        else
            slots.Add(changed);
        return new FieldSlot(name, Values.Document(slots.Where(slot => slot.Value != null).Select(slot => (slot.Name, slot.Value!.Value))),
            FieldGaps.Between(slots));
    }
}
