using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>What an upsert's new document has before the update: the fields that the filter binds to one value.</summary>
internal static class UpsertSeed
{
    /// <param name="filter">As the client gave it.</param>
    /// <param name="isReplacement">A replacement takes only the _id from the filter.</param>
    /// <exception cref="CommandException">54, where the filter binds a field twice.</exception>
    public static BsonDocument Of(BsonDocument filter, bool isReplacement)
    {
        var bound = new List<(UpdatePath Path, BsonValue Value)>();
        Collect(filter, bound);
        var root = new EditNode(Values.Of(BsonDocument.Empty));
        foreach ((UpdatePath path, BsonValue value) in bound)
        {
            if (!isReplacement || path.Text == "_id")
                path.Apply(root, ScalarActions.Set(value), null);
        }

        return root.Value.ToDocument();
    }

    private static void Collect(BsonDocument filter, List<(UpdatePath Path, BsonValue Value)> bound)
    {
        foreach ((string name, BsonValue value) in filter)
        {
            if (name is "$and" || (name is "$or" && Values.Items(value).Count() == 1))
            {
                foreach (BsonValue branch in Values.Items(value))
                    Collect(branch.ToDocument(), bound);
            }
            else if (!name.StartsWith('$') && EqualTo(value) is { } equal)
            {
                Bind(new UpdatePath(name), equal, bound);
            }
        }
    }

    private static BsonValue? EqualTo(BsonValue value)
    {
        if (value.Type == BsonType.Regex)
            return null;
        if (value.Type != BsonType.Document || value.ToDocument().FirstOrDefault().Key is not ['$', ..] first || first is "$ref" or "$id" or "$db")
            return value;
        foreach ((string name, BsonValue operand) in value.ToDocument())
        {
            if (name == "$eq")
                return operand;
            // One element is an equality; several, or a condition, are not.
            if (name is "$all" or "$in" && operand.Type == BsonType.Array && Values.Items(operand).Count() == 1 && Values.Items(operand).First() is { Type: not (BsonType.Regex or BsonType.Document) } only)
                return only;
        }

        return null;
    }

    private static void Bind(UpdatePath path, BsonValue value, List<(UpdatePath Path, BsonValue Value)> bound)
    {
        foreach ((UpdatePath other, _) in bound)
        {
            if (path.ConflictsWith(other))
                throw new CommandException(54, "NotSingleValueField", $"cannot infer query fields to set, path '{path.Text}' is matched twice");
        }

        bound.Add((path, value));
    }
}
