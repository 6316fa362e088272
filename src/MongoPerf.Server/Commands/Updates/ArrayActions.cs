using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>The operators on arrays: $addToSet, $pop, $pull, $pullAll. $push has its own file.</summary>
internal static class ArrayActions
{
    public static UpdateAction AddToSet(BsonValue value)
    {
        BsonValue[] added = [value];
        if (value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key == "$each")
        {
            KeyValuePair<string, BsonValue>[] fields = [.. value.ToDocument()];
            if (fields[0].Value.Type != BsonType.Array)
                throw CommandException.TypeMismatch(
                    $"The argument to $each in $addToSet must be an array but it was of type {Values.TypeName(fields[0].Value)}");
            if (fields.Length > 1)
                throw CommandException.BadValue($"Found unexpected fields after $each in $addToSet: {Values.Text(value)}");
            added = [.. Values.Items(fields[0].Value)];
        }

        return new ChangeAction((present, path) =>
        {
            List<BsonValue> items = present == null ? [] : [.. Items(present, () => CommandException.BadValue(
                $"Cannot apply $addToSet to non-array field. Field named '{path}' has non-array type {Values.TypeName(present.Value)}"))];
            int before = items.Count;
            foreach (BsonValue item in added)
            {
                if (!items.Exists(there => Values.AreEqual(there, item)))
                    items.Add(item);
            }

            return present == null || items.Count > before ? Values.Array(items) : null;
        });
    }

    public static UpdateAction Pop(string field, BsonValue end)
    {
        if (!end.IsNumber)
            throw CommandException.FailedToParse($"Expected a number in: {field}: {Values.Text(end)}");
        if (Math.Abs(end.ToDouble()) != 1)
            throw CommandException.FailedToParse($"$pop expects 1 or -1, found: {end}");
        bool isFirst = end.ToDouble() < 0;
        return new ChangeAction((present, path) =>
        {
            if (present == null)
                return null;
            BsonValue[] items = [.. Items(present, () =>
                CommandException.TypeMismatch($"Path '{path}' contains an element of non-array type '{Values.TypeName(present.Value)}'"))];
            return items.Length == 0 ? null : Values.Array(isFirst ? items[1..] : items[..^1]);
        }, MakesPath: false);
    }

    public static UpdateAction PullAll(BsonValue values)
    {
        if (values.Type != BsonType.Array)
            throw CommandException.BadValue($"$pullAll requires an array argument but was given a {Values.TypeName(values)}");
        BsonValue[] removed = [.. Values.Items(values)];
        return Removing(item => removed.Any(value => Values.AreEqual(item, value)));
    }

    /// <summary>
    /// A document of operators, or a regular expression, is a condition on the element; another document is one on its fields;
    /// anything else is a value.
    /// </summary>
    public static UpdateAction Pull(BsonValue condition)
    {
        if (condition.Type is not (BsonType.Document or BsonType.Regex))
            return Removing(item => Values.AreEqual(item, condition));
        var filter = new Filter(new PathCache());
        bool isOfFields = condition.Type == BsonType.Document && !(condition.ToDocument().FirstOrDefault().Key is ['$', ..] first
            && first is not ("$and" or "$or" or "$nor" or "$expr" or "$not"));
        filter.Compile(isOfFields ? condition.Bytes.Span : Wrapped(condition));
        return Removing(item => isOfFields
            ? item.Type == BsonType.Document && filter.Matches(item.Bytes.Span)
            : filter.Matches(Wrapped(item)));
    }

    private static ChangeAction Removing(Func<BsonValue, bool> isRemoved) => new ChangeAction((present, _) =>
    {
        if (present == null)
            return null;
        BsonValue[] items = [.. Items(present, () => CommandException.BadValue("Cannot apply $pull to a non-array value"))];
        BsonValue[] kept = [.. items.Where(item => !isRemoved(item))];
        return kept.Length < items.Length ? Values.Array(kept) : null;
    }, MakesPath: false);

    private static ReadOnlySpan<byte> Wrapped(BsonValue value) => Values.Document([("e", value)]).Bytes.Span;

    private static IEnumerable<BsonValue> Items(EditNode present, Func<CommandException> error) =>
        present.IsArray ? Values.Items(present.Value) : throw error();
}
