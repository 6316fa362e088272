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

/// <summary>
/// A projection with nested fields, computed ones or array operators: of find, $project, $addFields and $unset. Immutable.
/// </summary>
internal sealed class ProjectionTree
{
    private readonly ProjectionKind _kind;
    private readonly ProjectionNode _root;

    private ProjectionTree(ProjectionKind kind, ProjectionNode root)
    {
        _kind = kind;
        _root = root;
    }

    /// <summary>The path whose first array is cut to the element that met the query; null without a positional <c>$</c>.</summary>
    public string? Positional { get; private init; }

    /// <summary>Parses the projection of find, findAndModify and $project.</summary>
    /// <param name="specification">The specification as the client gave it.</param>
    /// <param name="variables">The variables for expressions.</param>
    /// <param name="isFind">$slice and $elemMatch are array operators there, and not expressions.</param>
    public static ProjectionTree Parse(BsonDocument specification, Variables? variables, bool isFind)
    {
        var parser = new ProjectionParser(variables, isFind);
        (ProjectionKind kind, ProjectionNode root) = parser.Parse(specification);
        return new ProjectionTree(kind, root) { Positional = parser.Positional };
    }

    /// <summary>Parses the fields of $addFields and $set.</summary>
    public static ProjectionTree ParseAddition(BsonDocument specification, Variables? variables) =>
        new(ProjectionKind.Addition, new ProjectionParser(variables, isFind: false).ParseAddition(specification));

    public BsonDocument Apply(BsonDocument document, Variables? variables)
    {
        long held = ActiveOperation.Held;
        (BsonValue value, FieldGaps? gaps) = Apply(_root, document, FieldGaps.Of(document), new Scope(document, variables));
        ActiveOperation.Release(held);
        return FieldGaps.Keep(gaps, value.ToDocument());
    }

    private (BsonValue Value, FieldGaps? Gaps) Apply(ProjectionNode node, BsonDocument document, FieldGaps? gaps, Scope scope)
    {
        var fields = new List<FieldSlot>();
        foreach (FieldSlot field in FieldGaps.Slots(document, gaps))
        {
            ActiveOperation.Check();
            FieldSlot picked = field.Value is { } value ? Pick(node.Find(field.Name), field, value, scope) : field;
            // What an inclusion leaves out has no place in the new document.
            if (picked.Value != null || _kind != ProjectionKind.Inclusion)
                fields.Add(picked);
        }

        return Finish(node, fields, scope);
    }

    /// <summary>Sets the computed fields and makes the document.</summary>
    private (BsonValue Value, FieldGaps? Gaps) Finish(ProjectionNode node, List<FieldSlot> fields, Scope scope)
    {
        AddComputed(node, fields, scope);
        BsonValue document = Values.Document(fields.Where(field => field.Value != null).Select(field => (field.Name, field.Value!.Value)));
        return (document, FieldGaps.Between(fields));
    }

    /// <returns>What stays of a field that is there; without a value when nothing does.</returns>
    private FieldSlot Pick(ProjectionNode? child, FieldSlot field, BsonValue value, Scope scope)
    {
        FieldSlot nothing = new(field.Name, null, null);
        if (child == null)
            return _kind == ProjectionKind.Inclusion ? nothing : field;
        if (child.Transform != null)
            return field with { Value = child.Transform(value) };
        // Computed fields are set afterwards, so that they may read what was there.
        if (child.Computed != null)
            return _kind == ProjectionKind.Inclusion ? nothing : field;
        if (child.Children.Count == 0)
            return child.IsKept ? field : nothing;
        return PickNested(child, value, field.Gaps, scope) is { } nested ? new FieldSlot(field.Name, nested.Value, nested.Gaps) : nothing;
    }

    private (BsonValue Value, FieldGaps? Gaps)? PickNested(ProjectionNode child, BsonValue value, FieldGaps? gaps, Scope scope)
    {
        // Arrays in arrays, which expressions may nest without bounds.
        RuntimeHelpers.EnsureSufficientExecutionStack();
        return PickInside(child, value, gaps, scope);
    }

    private (BsonValue Value, FieldGaps? Gaps)? PickInside(
        ProjectionNode child, BsonValue value, FieldGaps? gaps, Scope scope) => value.Type switch
        {
            BsonType.Document => Apply(child, value.ToDocument(), gaps, scope),
            BsonType.Array when _kind == ProjectionKind.Addition => (value, gaps),
            BsonType.Array => OverElements(value, gaps, (item, inner) => PickNested(child, item, inner, scope)),
            _ when _kind != ProjectionKind.Inclusion => (value, gaps),
            // Keeps the place of the document that the computed fields will make of it.
            _ => child.HasComputed ? (Values.Null, null) : null,
        };

    private void AddComputed(ProjectionNode node, List<FieldSlot> fields, Scope scope)
    {
        foreach (ProjectionNode child in node.Children)
        {
            if (!child.HasComputed)
                continue;
            ActiveOperation.Check();
            int at = fields.FindIndex(field => field.Name == child.Name);
            FieldSlot slot = new(child.Name, null, null);
            if (child.Computed != null)
            {
                slot = slot with { Value = child.Computed.Evaluate(scope) };
            }
            else
            {
                (BsonValue nested, FieldGaps? gaps) = SetNested(child, at >= 0 ? fields[at].Value : null,
                    at >= 0 ? fields[at].Gaps : null, scope);
                slot = slot with { Value = nested, Gaps = gaps };
            }

            Values.Hold(slot.Value);
            // One that is missing has its place all the same.
            if (at >= 0)
                fields[at] = slot;
            else
                fields.Add(slot);
        }
    }

    /// <summary>Sets computed fields inside a value: in each element of an array; what is no document becomes one.</summary>
    private (BsonValue Value, FieldGaps? Gaps) SetNested(ProjectionNode node, BsonValue? value, FieldGaps? gaps, Scope scope)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (value is { Type: BsonType.Array } array)
            return OverElements(array, gaps, (item, inner) => SetNested(node, item, inner, scope));
        return Finish(node, value is { Type: BsonType.Document } document ? FieldGaps.Slots(document.ToDocument(), gaps) : [], scope);
    }

    /// <summary>What is left out of an array leaves no place behind.</summary>
    private static (BsonValue Value, FieldGaps? Gaps) OverElements(
        BsonValue array, FieldGaps? gaps, Func<BsonValue, FieldGaps?, (BsonValue Value, FieldGaps? Gaps)?> change)
    {
        var slots = new List<FieldSlot>();
        foreach ((string index, BsonValue item) in array.ToDocument())
        {
            if (change(item, gaps?.Inner.GetValueOrDefault(index)) is { } changed)
                slots.Add(new FieldSlot(slots.Count.ToString(System.Globalization.CultureInfo.InvariantCulture),
                    changed.Value, changed.Gaps));
        }

        return (Values.Array(slots.Select(slot => slot.Value!.Value)), FieldGaps.Between(slots));
    }
}

/// <summary>One name of a projection, with the names below it.</summary>
internal sealed class ProjectionNode(string name)
{
    public string Name { get; } = name;

    public List<ProjectionNode> Children { get; } = [];

    /// <summary>Whether the field stays, for a name without children.</summary>
    public bool IsKept { get; set; }

    public Expression? Computed { get; set; }

    /// <summary>$slice of find.</summary>
    public Func<BsonValue, BsonValue?>? Transform { get; set; }

    public bool HasComputed => Computed != null || Children.Any(child => child.HasComputed);

    public ProjectionNode? Find(string child) => Children.Find(node => node.Name == child);
}
