using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>What an operator does to the one field that its path leads to. Immutable.</summary>
/// <param name="MakesPath">Documents on the way are made where they are missing; else nothing happens then.</param>
/// <param name="NeedsViablePath">A value on the way that is no document is an error; else nothing happens then.</param>
internal abstract record UpdateAction(bool MakesPath, bool NeedsViablePath)
{
    /// <param name="parent">Holds the field.</param>
    /// <param name="name">The field, or an element's index.</param>
    /// <param name="path">The whole path, for messages.</param>
    /// <exception cref="CommandException">A present value that the operator does not take.</exception>
    public abstract void Apply(EditNode parent, string name, string path);
}

/// <summary>Puts the result of a function in the field's place.</summary>
/// <param name="Function">The function from the present value, null when it is missing, to the new one, null to leave it as it is.</param>
/// <param name="MakesPath">It makes the path, as in <see cref="UpdateAction"/>.</param>
/// <param name="CountsAlways">A result counts as a modification even where it is the value that was there.</param>
internal sealed record ChangeAction(Func<EditNode?, string, BsonValue?> Function, bool MakesPath = true, bool CountsAlways = false)
    : UpdateAction(MakesPath, NeedsViablePath: true)
{
    public override void Apply(EditNode parent, string name, string path)
    {
        if (Function(parent.Child(name), path) is not { } changed)
            return;
        parent.Set(name, changed);
        if (CountsAlways)
            parent.Mark();
    }
}

internal sealed record UnsetAction() : UpdateAction(MakesPath: false, NeedsViablePath: false)
{
    public override void Apply(EditNode parent, string name, string path) => parent.Unset(name);
}

/// <summary>
/// A path that is part of the update and changes nothing by itself: the source of a $rename; $setOnInsert where nothing is inserted.
/// </summary>
internal sealed record NoAction() : UpdateAction(MakesPath: false, NeedsViablePath: false)
{
    public override void Apply(EditNode parent, string name, string path)
    {
    }
}

/// <summary>$setOnInsert.</summary>
internal sealed record InsertOnlyAction(BsonValue Value) : UpdateAction(MakesPath: true, NeedsViablePath: true)
{
    public override void Apply(EditNode parent, string name, string path) => parent.Set(name, Value);
}

/// <summary>Moves a field. At the target's path, with the root in hand.</summary>
internal sealed record RenameAction(string Source) : UpdateAction(MakesPath: true, NeedsViablePath: true)
{
    public override void Apply(EditNode parent, string name, string path) =>
        throw new InvalidOperationException("a rename is carried out over the whole document");

    public void Apply(EditNode root, UpdatePath target)
    {
        string[] source = Source.Split('.');
        EditNode? parent = root;
        bool isBelowArray = false;
        foreach (string step in source[..^1])
        {
            RequireViable(parent, step);
            isBelowArray |= parent.IsArray;
            if ((parent = parent.Child(step)) == null)
                return;
        }

        RequireViable(parent, source[^1]);
        if (parent.Child(source[^1]) is not { } moved)
            return;
        if (isBelowArray || parent.IsArray)
            throw CommandException.BadValue($"The source field cannot be an array element, '{Source}'");
        RequireNoArray(root, target);
        BsonValue value = moved.Value;
        target.Apply(root, new ChangeAction((_, _) => value), null);
        parent.Unset(source[^1]);
    }

    private void RequireViable(EditNode at, string step)
    {
        if (!at.IsContainer || (at.IsArray && !EditNode.TryIndex(step, out _)))
            throw new CommandException(28, "PathNotViable",
                $"cannot use the part ({step} of {Source}) to traverse the element ({{{Expressions.Values.Text(at.Value)}}})");
    }

    private static void RequireNoArray(EditNode root, UpdatePath target)
    {
        EditNode? at = root;
        foreach (string step in target.Steps[..^1])
        {
            at = at is { IsContainer: true } ? at.Child(step) : null;
            if (at is { IsArray: true })
                throw CommandException.BadValue($"The destination field cannot be an array element, '{target.Text}'");
        }
    }
}
