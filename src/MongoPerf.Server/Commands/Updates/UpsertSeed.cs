using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>What an upsert's new document has before the update: the fields that the filter binds to one value.</summary>
internal static class UpsertSeed
{
    /// <param name="filter">The filter as the client gave it.</param>
    /// <param name="isReplacement">A replacement takes only the _id from the filter.</param>
    /// <exception cref="CommandException">54, where the filter binds a field twice.</exception>
    public static BsonDocument Of(BsonDocument filter, bool isReplacement)
    {
        var bound = new List<(UpdatePath Path, BsonValue Value)>();
        if (!IsNever(filter))
            Collect(filter, bound);
        bound.Sort((a, b) => string.CompareOrdinal(a.Path.Text, b.Path.Text));
        var root = new EditNode(Values.Of(BsonDocument.Empty));
        foreach ((UpdatePath path, BsonValue value) in bound)
        {
            if (!isReplacement || path.Text == "_id")
                path.Apply(root, ScalarActions.Set(value), null);
        }

        return root.Value.ToDocument();
    }

    /// <exception cref="CommandException">224: an $expr, which cannot be met by a document that is not there yet.</exception>
    public static void RequireNoExpression(Filter filter)
    {
        if (filter.HasExpressions)
            throw new CommandException(224, "QueryFeatureNotAllowed", "$expr is not allowed in the query predicate for an upsert");
    }

    /// <summary>An {$all: []} makes the whole filter one that nothing meets, and that binds nothing.</summary>
    private static bool IsNever(BsonDocument filter) => filter.Any(field => field.Key switch
    {
        "$and" => Values.Items(field.Value).Any(branch => IsNever(branch.ToDocument())),
        "$or" => Values.Items(field.Value).All(branch => IsNever(branch.ToDocument())),
        ['$', ..] => false,
        _ => field.Value.Type == BsonType.Document
            && field.Value.ToDocument().Any(pair => pair.Key == "$all" && !Values.Items(pair.Value).Any()),
    });

    private static void Collect(BsonDocument filter, List<(UpdatePath Path, BsonValue Value)> bound)
    {
        foreach ((string name, BsonValue value) in filter)
        {
            if (name is "$and" || (name is "$or" && Values.Items(value).Count() == 1))
            {
                foreach (BsonValue branch in Values.Items(value))
                    Collect(branch.ToDocument(), bound);
            }
            else if (!name.StartsWith('$'))
            {
                foreach (BsonValue equal in EqualTo(value))
                    Bind(new UpdatePath(name), equal, bound);
            }
        }
    }

    /// <summary>The values that a condition binds its field to; of several items only $all means each.</summary>
    private static IEnumerable<BsonValue> EqualTo(BsonValue value)
    {
        if (value.Type == BsonType.Regex)
            return [];
        if (value.Type != BsonType.Document || value.ToDocument().FirstOrDefault().Key is not ['$', ..] first
            || first is "$ref" or "$id" or "$db")
            return [value];
        return value.ToDocument().SelectMany(pair => pair.Key switch
        {
            "$eq" => [pair.Value],
            "$all" => Values.Items(pair.Value).Where(IsValue),
            "$in" when Values.Items(pair.Value).Count() == 1 => Values.Items(pair.Value).Where(IsValue),
            _ => Enumerable.Empty<BsonValue>(),
        });
    }

    private static bool IsValue(BsonValue item) =>
        item.Type != BsonType.Regex && !(item.Type == BsonType.Document && item.ToDocument().FirstOrDefault().Key is ['$', ..]);

    private static void Bind(UpdatePath path, BsonValue value, List<(UpdatePath Path, BsonValue Value)> bound)
    {
        foreach ((UpdatePath other, _) in bound)
        {
            if (path.ConflictWith(other) >= 0)
                throw new CommandException(
                    54, "NotSingleValueField", $"cannot infer query fields to set, path '{path.Text}' is matched twice");
        }

        bound.Add((path, value));
    }
}
