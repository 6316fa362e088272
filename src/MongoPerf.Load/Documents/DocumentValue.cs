using System.Globalization;
using System.Text;
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

    public TemplateValue? Find(string name) => Elements.FirstOrDefault(e => e.Key == name).Value;

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
