using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>Reads update operators. Source: manual, "Update Operators".</summary>
internal static class UpdateParser
{
    /// <param name="update">The operators.</param>
    /// <param name="changes">Takes what is done to a document that is there, in the order in which MongoDB does it.</param>
    /// <param name="insertChanges">The same for an upsert's new document, where $setOnInsert counts.</param>
    /// <exception cref="CommandException">An unknown operator, paths in conflict, or a value that an operator does not take.</exception>
    public static void Parse(BsonDocument update, List<(UpdatePath Path, UpdateAction Action)> changes,
        List<(UpdatePath Path, UpdateAction Action)> insertChanges)
    {
        foreach ((string name, BsonValue fields) in update)
        {
            if (!IsKnown(name))
                throw CommandException.FailedToParse(
                    $"Unknown modifier: {name}. Expected a valid update modifier or pipeline-style update specified as an array");
            if (fields.Type != BsonType.Document)
                throw CommandException.FailedToParse($"Modifiers operate on fields but we found type {Values.TypeName(fields)} instead. "
                    + $"For example: {{$mod: {{<field>: ...}}}} not {{{name}: {Values.Text(fields)}}}");
            foreach ((string field, BsonValue value) in fields.ToDocument())
            {
                if (name == "$rename")
                    AddRename(field, value, changes);
                else
                    Add(changes, new UpdatePath(field), Action(name, field, value));
            }
        }

        changes.Sort((a, b) => a.Path.CompareTo(b.Path));
        insertChanges.AddRange(changes);
        for (int i = 0; i < changes.Count; i++)
        {
            if (changes[i].Action is InsertOnlyAction)
                changes[i] = (changes[i].Path, new NoAction());
        }
    }

    /// <summary>The changes with an element's place where their paths have the positional <c>$</c>, in MongoDB's order.</summary>
    /// <exception cref="CommandException">40: a path has become the same as another, or its beginning.</exception>
    public static List<(UpdatePath Path, UpdateAction Action)> At(string place, List<(UpdatePath Path, UpdateAction Action)> changes)
    {
        List<(UpdatePath Path, UpdateAction Action)> placed = [.. changes.Select(change => (change.Path.At(place), change.Action))];
        placed.Sort((a, b) => a.Path.CompareTo(b.Path));
        for (int i = 1; i < placed.Count; i++)
        {
            if (placed[i].Path.ConflictWith(placed[i - 1].Path) >= 0)
                throw new CommandException(
                    40, "ConflictingUpdateOperators", $"Update created a conflict at '{placed[i - 1].Path.Text}'");
        }

        return placed;
    }

    private static bool IsKnown(string name) =>
        name is "$set" or "$setOnInsert" or "$unset" or "$inc" or "$mul" or "$min" or "$max" or "$rename" or "$currentDate"
            or "$bit" or "$push" or "$addToSet" or "$pop" or "$pull" or "$pullAll";

    private static UpdateAction Action(string name, string field, BsonValue value) => name switch
    {
        "$set" => ScalarActions.Set(value),
        "$setOnInsert" => new InsertOnlyAction(value),
        "$unset" => new UnsetAction(),
        "$inc" => ScalarActions.Increment(field, value),
        "$mul" => ScalarActions.Multiply(field, value),
        "$min" => ScalarActions.Extreme(value, isGreatest: false),
        "$max" => ScalarActions.Extreme(value, isGreatest: true),
        "$currentDate" => ScalarActions.CurrentDate(field, value),
        "$bit" => ScalarActions.Bits(value),
        "$push" => PushAction.Parse(value),
        "$addToSet" => ArrayActions.AddToSet(value),
        "$pop" => ArrayActions.Pop(field, value),
        "$pull" => ArrayActions.Pull(value),
        _ => ArrayActions.PullAll(value),
    };

    private static void AddRename(string source, BsonValue value, List<(UpdatePath Path, UpdateAction Action)> changes)
    {
        if (value.Type != BsonType.String)
            throw CommandException.BadValue($"The 'to' field for $rename must be a string: {source}: {Values.Text(value)}");
        string target = value.ToString();
        if (target.Contains('\0'))
            throw CommandException.BadValue($"The 'to' field for $rename cannot contain an embedded null byte: {source}");
        var from = new UpdatePath(source);
        var to = new UpdatePath(target);
        // The source's place is taken too, so that no other operator can change it.
        Add(changes, from, new NoAction());
        if (source == target)
            throw CommandException.BadValue($"The source and target field for $rename must differ: {source}: \"{target}\"");
        if (from.ConflictWith(to) >= 0)
            throw CommandException.BadValue(
                $"The source and target field for $rename must not be on the same path: {source}: \"{target}\"");
        if (from.IsDynamic || to.IsDynamic)
            throw CommandException.BadValue($"The source and target fields for $rename may not be dynamic: {source}");
        Add(changes, to, new RenameAction(source));
    }

    private static void Add(List<(UpdatePath Path, UpdateAction Action)> changes, UpdatePath path, UpdateAction action)
    {
        ActiveOperation.Check();
        foreach ((UpdatePath other, _) in changes)
        {
            if (path.ConflictWith(other) is var common and >= 0)
                throw UpdateErrors.Conflict(path.Text, string.Join('.', path.Steps[..common]));
        }

        changes.Add((path, action));
    }
}
