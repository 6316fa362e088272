using System.Globalization;
using System.Text;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>
/// A value under change: its bytes as they are, until somebody looks inside; then its fields or elements, each such a node.
/// </summary>
internal sealed class EditNode
{
    private readonly BsonValue _closed;
    private List<(string Name, EditNode Node)>? _children;
    private bool _isMarked;

    public EditNode(BsonValue value) => _closed = value;

    public BsonType Type => _closed.Type;

    public bool IsArray => Type == BsonType.Array;

    public bool IsContainer => Type is BsonType.Document or BsonType.Array;

    /// <summary>Fields or elements; an array's elements have empty names.</summary>
    public List<(string Name, EditNode Node)> Children => _children ??= Open();

    /// <summary>Somebody changed it, or something in it, in a way that counts even where the bytes are the same.</summary>
    public bool IsMarked => _isMarked || (_children?.Exists(child => child.Node.IsMarked) ?? false);

    public void Mark() => _isMarked = true;

    /// <summary>The value as it now is.</summary>
    public BsonValue Value
    {
        get
        {
            if (_children == null)
                return _closed;
            return IsArray
                ? Values.Array(_children.Select(child => child.Node.Value))
                : Values.Document(_children.Select(child => (child.Name, child.Node.Value)));
        }
    }

    /// <summary>Where a field, or the element that a number names, is; −1 where it is not.</summary>
    public int IndexOf(string name)
    {
        if (!IsArray)
            return Children.FindIndex(child => child.Name == name);
        return TryIndex(name, out int index) && index < Children.Count ? index : -1;
    }

    public EditNode? Child(string name) => IndexOf(name) is var at and >= 0 ? Children[at].Node : null;

    /// <summary>Sets a field or element; an array is filled up with nulls before it.</summary>
    /// <exception cref="CommandException">An array has no such element, or would get too many.</exception>
    public void Set(string name, BsonValue value)
    {
        int at = IndexOf(name);
        if (at >= 0)
            Children[at] = (Children[at].Name, new EditNode(value));
        else if (IsArray)
            Fill(name, value);
        else
            Children.Add((name, new EditNode(value)));
    }

    /// <summary>Takes a field out; an element becomes null, so that the others keep their places.</summary>
    public void Unset(string name)
    {
        int at = IndexOf(name);
        if (at < 0)
            return;
        if (IsArray)
        {
            Children[at] = ("", new EditNode(Values.Null));
            // As on mongod: a null that takes a null's place counts too.
            Mark();
        }
        else
        {
            Children.RemoveAt(at);
        }
    }

    public static bool TryIndex(string name, out int index) =>
        int.TryParse(name, NumberStyles.None, CultureInfo.InvariantCulture, out index) && (name.Length == 1 || name[0] != '0');

    private void Fill(string name, BsonValue value)
    {
        const int MostAdded = 1_500_000;
        if (!TryIndex(name, out int index))
            throw Updates.UpdateErrors.NotViable(name, this);
        if (index - Children.Count > MostAdded)
            throw new CommandException(34, "CannotBackfillArray", $"can't backfill more than {MostAdded} elements");
        while (Children.Count < index)
            Children.Add(("", new EditNode(Values.Null)));
        Children.Add(("", new EditNode(value)));
    }

    private List<(string Name, EditNode Node)> Open()
    {
        var children = new List<(string, EditNode)>();
        bool isArray = IsArray;
        var reader = new BsonReader(_closed.Bytes.Span);
        while (reader.Read())
            children.Add((isArray ? "" : Encoding.UTF8.GetString(reader.Name),
                new EditNode(new BsonValue(reader.Type, _closed.Bytes.Slice(reader.ValueOffset, reader.Value.Length)))));
        return children;
    }
}

/// <summary>Failures of updates that several operators share.</summary>
internal static class UpdateErrors
{
    public static CommandException NotViable(string field, EditNode parent) =>
        new(28, "PathNotViable", $"Cannot create field '{field}' in element {{{Values.Text(parent.Value)}}}");

    public static CommandException Conflict(string path, string other) =>
        new(40, "ConflictingUpdateOperators", $"Updating the path '{path}' would create a conflict at '{other}'");

    public static CommandException DollarField(string field) =>
        new(52, "DollarPrefixedFieldName", $"The dollar ($) prefixed field '{field}' is not allowed in the context of an update's "
            + "replacement document. Consider using an aggregation pipeline with $replaceWith.");
}
