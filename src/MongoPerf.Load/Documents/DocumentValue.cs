using System.Globalization;
using System.Text;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A document, or an array that is written out element by element, with values of any kind in it.</summary>
/// <param name="elements">The elements in their order.</param>
/// <param name="isArray">The names are 0, 1, 2 then.</param>
public sealed class DocumentValue(IReadOnlyList<KeyValuePair<string, TemplateValue>> elements, bool isArray = false) : TemplateValue
{
    private readonly byte[][] _names = [.. elements.Select(e => Encoding.UTF8.GetBytes(e.Key))];
    private readonly TemplateValue[] _values = [.. elements.Select(e => e.Value)];

    public static DocumentValue Empty { get; } = new([]);

    public IReadOnlyList<KeyValuePair<string, TemplateValue>> Elements { get; } = elements;

    public bool IsArray { get; } = isArray;

    public override bool IsConstant { get; } = elements.All(e => e.Value.IsConstant);

    public override IEnumerable<TemplateValue> Parts => _values;

    public static DocumentValue Of(params ReadOnlySpan<(string Name, TemplateValue Value)> elements)
    {
        var list = new List<KeyValuePair<string, TemplateValue>>();
        foreach ((string name, TemplateValue value) in elements)
            list.Add(new(name, value));
        return new DocumentValue(list);
    }

    /// <summary>A document whose values never change.</summary>
    public static DocumentValue Of(BsonDocument literal) =>
        new([.. literal.Select(e => KeyValuePair.Create(e.Key, (TemplateValue)new LiteralValue(e.Value)))]);

    public static DocumentValue Array(IEnumerable<TemplateValue> items) =>
        new([.. items.Select((item, i) => KeyValuePair.Create(i.ToString(CultureInfo.InvariantCulture), item))], isArray: true);

    /// <summary>Its fields' names; those that a file's row gives are the ones of all rows together.</summary>
    public IEnumerable<string> Names => Elements.SelectMany(e =>
        e.Value is RowValue { IsSpread: true } row ? row.Paths.Where(path => !path.Contains('.', StringComparison.Ordinal)) : [e.Key]);

    /// <summary>A field that every document has; null for none.</summary>
    public TemplateValue? Find(string name) => Elements.FirstOrDefault(e => e.Key == name
        && e.Value is not RowValue { IsSpread: true }).Value
        is { } value ? (value is OptionalValue ? null : value) : Row?.Find(name);

    /// <summary>The row of a file that gives it fields; null for none.</summary>
    public RowValue? Row => Elements.Select(e => e.Value).OfType<RowValue>().FirstOrDefault(row => row.IsSpread);

    /// <summary>The same with other values of some fields, or with fields that it has not.</summary>
    public DocumentValue With(params IReadOnlyList<KeyValuePair<string, TemplateValue>> fields)
    {
        DocumentValue rest = Without([.. fields.Select(field => field.Key).Where(name => Elements.All(e => e.Key != name))]);
        return new(
        [
            .. rest.Elements.Select(e => fields.FirstOrDefault(field => field.Key == e.Key) is { Key: not null } field ? field : e),
            .. fields.Where(field => Elements.All(e => e.Key != field.Key)),
        ]);
    }

    /// <summary>The same without some fields.</summary>
    public DocumentValue Without(params IReadOnlyCollection<string> names) => names.Count == 0 ? this : new(
    [
        .. Elements.Where(e => !names.Contains(e.Key) || e.Value is RowValue { IsSpread: true })
            .Select(e => e.Value is RowValue { IsSpread: true } row ? KeyValuePair.Create(e.Key, (TemplateValue)row.Except(names)) : e),
    ]);

    public override TemplateValue Bind(StepValues values)
    {
        TemplateValue[] bound = [.. _values.Select(value => value.Bind(values))];
        return bound.Zip(_values).All(pair => ReferenceEquals(pair.First, pair.Second))
            ? this
            : new DocumentValue([.. Elements.Zip(bound, (element, value) => KeyValuePair.Create(element.Key, value))], IsArray);
    }

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        if (IsArray)
            writer.StartArray(name);
        else
            writer.StartDocument(name);
        WriteElements(writer, context);
        writer.End();
    }

    /// <summary>Writes it as a document that is no element.</summary>
    public void WriteRoot(BsonWriter writer, in ValueContext context)
    {
        writer.StartDocument();
        WriteElements(writer, context);
        writer.End();
    }

    /// <summary>Writes the elements alone, into a document that is already open.</summary>
    public void WriteElements(BsonWriter writer, in ValueContext context)
    {
        for (int i = 0; i < _values.Length; i++)
            _values[i].Write(writer, _names[i], context);
    }

    /// <summary>One document for a context; for what is no hot path.</summary>
    public BsonDocument ToDocument(in ValueContext context)
    {
        var writer = new BsonWriter(512);
        WriteRoot(writer, context);
        return new BsonDocument(writer.ToArray());
    }
}
