using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>
/// A part of a command as it was seen: what is alike in all commands of its shape, and counts of the values that are not.
/// </summary>
internal abstract class ShapeNode
{
    /// <summary>Adds what tells it from nodes of another shape.</summary>
    public abstract void Describe(StringBuilder key);

    /// <summary>Takes over what was seen in a node of the same shape.</summary>
    /// <param name="other">It.</param>
    /// <param name="isPart">Both stand in the same command, which is yet to be counted.</param>
    public abstract void Merge(ShapeNode other, bool isPart);

    /// <summary>Writes names in another way.</summary>
    public abstract void Rename(Func<string, string> rename);

    /// <summary>The values in it.</summary>
    public abstract IEnumerable<ValueNode> Values { get; }

    /// <param name="fields">What is known of a field.</param>
    public abstract Shape ToShape(Func<string, KnownField> fields);
}

internal sealed class DocumentNode(bool isArray) : ShapeNode
{
    private readonly List<KeyValuePair<string, ShapeNode>> _fields = [];

    public bool IsEmpty => _fields.Count == 0;

    public void Add(string name, ShapeNode node) => _fields.Add(new(name, node));

    public override void Describe(StringBuilder key)
    {
        key.Append(isArray ? '[' : '{');
        foreach ((string name, ShapeNode node) in _fields)
        {
            key.Append(name).Append('\0');
            node.Describe(key);
            key.Append(',');
        }

        key.Append(isArray ? ']' : '}');
    }

    public override void Merge(ShapeNode other, bool isPart)
    {
        var document = (DocumentNode)other;
        for (int i = 0; i < _fields.Count; i++)
            _fields[i].Value.Merge(document._fields[i].Value, isPart);
    }

    /// <remarks>Of fields that get the same name the first stays.</remarks>
    public override void Rename(Func<string, string> rename)
    {
        KeyValuePair<string, ShapeNode>[] all = [.. _fields.Select(one => new KeyValuePair<string, ShapeNode>(rename(one.Key), one.Value))];
        _fields.Clear();
        _fields.AddRange(all.DistinctBy(one => one.Key));
        foreach ((_, ShapeNode node) in _fields)
            node.Rename(rename);
    }

    public override IEnumerable<ValueNode> Values => _fields.SelectMany(part => part.Value.Values);

    public override DocumentShape ToShape(Func<string, KnownField> fields) =>
        new([.. _fields.Select(field => new KeyValuePair<string, Shape>(field.Key, field.Value.ToShape(fields)))], isArray);
}

internal sealed class ConstantNode(BsonValue value) : ShapeNode
{
    public override void Describe(StringBuilder key) =>
        key.Append((char)value.Type).Append(Convert.ToBase64String(value.Bytes.Span));

    public override void Merge(ShapeNode other, bool isPart)
    {
    }

    public override void Rename(Func<string, string> rename)
    {
    }

    public override IEnumerable<ValueNode> Values => [];

    public override ConstantShape ToShape(Func<string, KnownField> fields) => new(value);
}

/// <param name="field">The dotted path of the field that it is compared with or written to; empty where there is none.</param>
/// <param name="role">What it does there.</param>
internal sealed class ValueNode(string field, ValueRole role) : ShapeNode
{
    private readonly List<BsonValue> _seen = [];
    private string _field = @field;
    private ValueTally? _tally;
    private int? _list;
    private double? _width;
    private bool _isTypeOnly;

    /// <summary>What it is compared with or written to.</summary>
    public string Field => _field;

    /// <summary>Whether it chooses documents.</summary>
    public bool IsKey => _field.Length > 0 && role is ValueRole.Equal or ValueRole.In or ValueRole.Above;

    /// <summary>It must equal a value.</summary>
    public bool IsAsked => _field.Length > 0 && role == ValueRole.Equal;

    /// <summary>It is stored in a field.</summary>
    public bool IsWritten => _field.Length > 0 && role == ValueRole.Written;

    /// <summary>Its value, if it has one and no others were merged into it.</summary>
    public BsonValue? Only => _tally is null && !_isTypeOnly && _list is null && _seen is [var only] ? only : null;

    /// <summary>Which documents came while it was watched, if it is an <c>_id</c>; set before others are merged.</summary>
    public InsertionOrder? Inserted { get; set; }

    /// <summary>All values.</summary>
    public ValueTally Tally
    {
        get
        {
            if (_tally is null)
            {
                _tally = new ValueTally(Inserted);
                AddTo(_tally);
                _seen.Clear();
            }

            return _tally;
        }
    }

    public override IEnumerable<ValueNode> Values => [this];

    /// <param name="values">One, or those of a list.</param>
    /// <param name="isTypeOnly">They only have the types of those that were there.</param>
    /// <param name="isList">They stand in a list.</param>
    public ValueNode Seen(IEnumerable<BsonValue> values, bool isTypeOnly, bool isList = false)
    {
        _isTypeOnly = isTypeOnly;
        _seen.AddRange(values);
        _list = isList && !isTypeOnly ? _seen.Count : null;
        return this;
    }

    /// <param name="lower">The lower bound in the same command.</param>
    public void Above(ValueNode lower)
    {
        if (!_isTypeOnly && _seen is [{ } most] && lower._seen is [{ } least] && ValueTally.NumberOf(most) is { } high
            && ValueTally.NumberOf(least) is { } low)
            _width = high - low;
    }

    public override void Rename(Func<string, string> rename) => _field = rename(_field);

    public override void Describe(StringBuilder key) => key.Append('?').Append((int)role).Append(_list is null ? "" : "[]");

    public override void Merge(ShapeNode other, bool isPart)
    {
        var value = (ValueNode)other;
        if (isPart)
        {
            _seen.AddRange(value._seen);
            return;
        }

        value.AddTo(Tally);
    }

    public override ValueShape ToShape(Func<string, KnownField> fields)
    {
        KnownField known = _field.Length > 0 ? fields(_field) : default;
        return new ValueShape(_field, role, Tally.ToValues(IsKey ? known : known with { Keys = default }));
    }

    private void AddTo(ValueTally tally)
    {
        foreach (BsonValue value in _seen)
        {
            if (_isTypeOnly)
                tally.AddType(value.Type);
            else
                tally.Add(value);
        }

        if (_list is { } length)
            tally.AddList(length);
        if (_width is { } width)
            tally.AddWidth(width);
    }
}
