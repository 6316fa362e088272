using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>$push: appends a value, or with $each several, at a position, sorted and cut.</summary>
internal sealed class PushAction
{
    private readonly BsonValue[] _added;
    private readonly int? _position;
    private readonly int? _slice;
    private readonly Func<IEnumerable<BsonValue>, IEnumerable<BsonValue>>? _sort;

    private PushAction(BsonValue value)
    {
        _added = [value];
        if (value.Type != BsonType.Document || DirectFields.Find(value.ToDocument(), "$each") == null)
            return;
        foreach ((string name, BsonValue operand) in value.ToDocument())
        {
            switch (name)
            {
                case "$each": _added = Each(operand); break;
                case "$position": _position = Integer("$position", operand); break;
                case "$slice": _slice = Integer("$slice", operand); break;
                case "$sort": _sort = Order(operand); break;
                default: throw CommandException.BadValue($"Unrecognized clause in $push: {name}");
            }
        }
    }

    public static UpdateAction Parse(BsonValue value)
    {
        var push = new PushAction(value);
        // Something was put in, or sorted: that counts, even where a slice leaves what was there.
        return new ChangeAction(push.Apply, CountsAlways: push._added.Length > 0 || push._sort != null);
    }

    private BsonValue? Apply(EditNode? present, string path)
    {
        if (present is { IsArray: false })
            throw CommandException.BadValue($"The field '{path}' must be an array but is of type {Values.TypeName(present.Value)}");
        List<BsonValue> items = present == null ? [] : [.. Values.Items(present.Value)];
        // Nothing to sort or to cut: no change.
        if (present != null && items.Count + _added.Length == 0)
            return null;
        int at = _position switch
        {
            null => items.Count,
            < 0 and { } fromEnd => Math.Max(0, items.Count + fromEnd),
            { } fromStart => Math.Min(fromStart, items.Count),
        };
        items.InsertRange(at, _added);
        IEnumerable<BsonValue> result = _sort == null ? items : _sort(items);
        if (_slice is { } slice)
            result = slice < 0 ? result.TakeLast((int)Math.Min(int.MaxValue, -(long)slice)) : result.Take(slice);
        return Values.Array(result);
    }

    private static BsonValue[] Each(BsonValue operand) => operand.Type == BsonType.Array
        ? [.. Values.Items(operand)]
        : throw CommandException.BadValue(
            $"The argument to $each in $push must be an array but it was of type: {Values.TypeName(operand)}");

    private static int Integer(string name, BsonValue operand) => operand.IsNumber && operand.ToDouble() == Math.Floor(operand.ToDouble())
        ? (int)Math.Clamp(operand.ToDouble(), int.MinValue, int.MaxValue)
        : throw CommandException.BadValue($"The value for {name} must be an integer value but was given type: {Values.TypeName(operand)}");

    /// <summary>±1 sorts the elements as they are, a document by their fields.</summary>
    private static Func<IEnumerable<BsonValue>, IEnumerable<BsonValue>> Order(BsonValue operand)
    {
        if (operand.IsNumber)
        {
            if (Math.Abs(operand.ToDouble()) != 1)
                throw CommandException.BadValue("The $sort element value must be either 1 or -1");
            Comparer<BsonValue> comparer = Comparer<BsonValue>.Create((a, b) => Values.Compare(a, b));
            return operand.ToDouble() > 0 ? items => items.Order(comparer) : items => items.OrderDescending(comparer);
        }

        if (operand.Type != BsonType.Document || !operand.ToDocument().Any())
            throw CommandException.BadValue(
                "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields");
        foreach ((_, BsonValue direction) in operand.ToDocument())
        {
            if (!direction.IsNumber || Math.Abs(direction.ToDouble()) != 1)
                throw CommandException.BadValue("The $sort element value must be either 1 or -1");
        }

        (string[] Path, int Sign)[] keys = [.. operand.ToDocument()
            .Select(pair => (pair.Key.Split('.'), Math.Sign(pair.Value.ToDouble())))];
        Comparer<BsonValue> byFields = Comparer<BsonValue>.Create((a, b) => keys
            .Select(key => key.Sign * Values.Compare(Follow(a, key.Path), Follow(b, key.Path))).FirstOrDefault(order => order != 0));
        return items => items.Order(byFields);
    }

    /// <summary>Follows a path through documents only; null where there is nothing, as in an element that is no document.</summary>
    private static BsonValue Follow(BsonValue element, string[] path)
    {
        BsonValue? value = element;
        for (int i = 0; i < path.Length && value is { } known && !(i > 0 && known.Type == BsonType.Array); i++)
            value = known.Type == BsonType.Document ? DirectFields.Find(known.ToDocument(), path[i]) : null;
        return value ?? Values.Null;
    }
}
