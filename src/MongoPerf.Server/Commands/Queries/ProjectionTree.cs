using System.Runtime.CompilerServices;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>What a stage or a projection does to each field.</summary>
internal enum ProjectionKind
{
    /// <summary>Only what is named stays; computed fields may be added.</summary>
    Inclusion,

    /// <summary>All but what is named stays.</summary>
    Exclusion,

    /// <summary>All stays, and computed fields are set: $addFields.</summary>
    Addition,
}

/// <summary>A projection with nested fields, computed ones or array operators: of find, $project, $addFields and $unset. Immutable.</summary>
internal sealed class ProjectionTree
{
    private readonly ProjectionKind _kind;
    private readonly ProjectionNode _root;

    private ProjectionTree(ProjectionKind kind, ProjectionNode root)
    {
        _kind = kind;
        _root = root;
    }

    /// <summary>Of find, findAndModify and $project.</summary>
    /// <param name="specification">As the client gave it.</param>
    /// <param name="variables">For expressions.</param>
    /// <param name="isFind">$slice and $elemMatch are array operators there, and not expressions.</param>
    public static ProjectionTree Parse(BsonDocument specification, Variables? variables, bool isFind)
    {
        var parser = new ProjectionParser(variables, isFind);
        (ProjectionKind kind, ProjectionNode root) = parser.Parse(specification);
        return new ProjectionTree(kind, root);
    }

    /// <summary>Of $addFields and $set.</summary>
    public static ProjectionTree ParseAddition(BsonDocument specification, Variables? variables) =>
        new(ProjectionKind.Addition, new ProjectionParser(variables, isFind: false).ParseAddition(specification));

    public BsonDocument Apply(BsonDocument document, Variables? variables)
    {
        long held = Operation.Held;
        BsonDocument result = Apply(_root, document, new Scope(document, variables)).ToDocument();
        Operation.Release(held);
        return result;
    }

    private BsonValue Apply(ProjectionNode node, BsonDocument document, Scope scope)
    {
        var fields = new List<(string Name, BsonValue Value)>();
        foreach ((string name, BsonValue value) in document)
        {
            Operation.Check();
            if (Pick(node.Find(name), value, scope) is { } picked)
                fields.Add((name, picked));
        }

        AddComputed(node, fields, scope);
        return Values.Document(fields);
    }

    /// <returns>What stays of a field that is there; null when nothing does.</returns>
    private BsonValue? Pick(ProjectionNode? child, BsonValue value, Scope scope)
    {
        if (child == null)
            return _kind == ProjectionKind.Inclusion ? null : value;
        if (child.Transform != null)
            return child.Transform(value);
        // Computed fields are set afterwards, so that they may read what was there.
        if (child.Computed != null)
            return _kind == ProjectionKind.Inclusion ? null : value;
        if (child.Children.Count == 0)
            return child.IsKept ? value : null;
        return PickNested(child, value, scope);
    }

    private BsonValue? PickNested(ProjectionNode child, BsonValue value, Scope scope)
    {
        // Arrays in arrays, which expressions may nest without bounds.
        RuntimeHelpers.EnsureSufficientExecutionStack();
        return PickInside(child, value, scope);
    }

    private BsonValue? PickInside(ProjectionNode child, BsonValue value, Scope scope) => value.Type switch
    {
        BsonType.Document => Apply(child, value.ToDocument(), scope),
        BsonType.Array when _kind == ProjectionKind.Addition => value,
        BsonType.Array => Values.Array(Values.Items(value).Select(item => PickNested(child, item, scope)).OfType<BsonValue>()),
        _ when _kind != ProjectionKind.Inclusion => value,
        // Keeps the place of the document that the computed fields will make of it.
        _ => child.HasComputed ? Values.Null : null,
    };

    private void AddComputed(ProjectionNode node, List<(string Name, BsonValue Value)> fields, Scope scope)
    {
        foreach (ProjectionNode child in node.Children)
        {
            if (!child.HasComputed)
                continue;
            Operation.Check();
            int at = fields.FindIndex(field => field.Name == child.Name);
            BsonValue? value = child.Computed != null
                ? child.Computed.Evaluate(scope)
                : SetNested(child, at >= 0 ? fields[at].Value : null, scope);
            Values.Hold(value);
            if (value is not { } known)
                fields.RemoveAll(field => field.Name == child.Name);
            else if (at >= 0)
                fields[at] = (child.Name, known);
            else
                fields.Add((child.Name, known));
        }
    }

    /// <summary>Sets computed fields inside a value: in each element of an array; what is no document becomes one.</summary>
    private BsonValue SetNested(ProjectionNode node, BsonValue? value, Scope scope)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (value is { Type: BsonType.Array } array)
            return Values.Array(Values.Items(array).Select(item => SetNested(node, item, scope)));
        List<(string Name, BsonValue Value)> fields = value is { Type: BsonType.Document } document
            ? [.. document.ToDocument().Select(pair => (pair.Key, pair.Value))]
            : [];
        AddComputed(node, fields, scope);
        return Values.Document(fields);
    }
}

/// <summary>One name of a projection, with the names below it.</summary>
internal sealed class ProjectionNode(string name)
{
    public string Name { get; } = name;

    public List<ProjectionNode> Children { get; } = [];

    /// <summary>For a name without children: whether the field stays.</summary>
    public bool IsKept { get; set; }

    public Expression? Computed { get; set; }

    /// <summary>$slice of find.</summary>
    public Func<BsonValue, BsonValue?>? Transform { get; set; }

    public bool HasComputed => Computed != null || Children.Any(child => child.HasComputed);

    public ProjectionNode? Find(string child) => Children.Find(node => node.Name == child);
}
