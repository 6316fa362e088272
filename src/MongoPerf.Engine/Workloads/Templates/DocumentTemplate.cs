using System.Globalization;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Workloads.Templates;

/// <summary>Makes the documents of one collection: document <c>number</c> is the same bytes on every machine, a function of seed, template and number.</summary>
/// <remarks>Immutable, for all threads.</remarks>
public sealed class DocumentTemplate
{
    private readonly ulong _seed;

    /// <param name="root">What a document holds; an <c>_id</c> is put in front when it has none.</param>
    /// <param name="seed">The run's.</param>
    /// <param name="collection">Its name: two collections of one run hold different values.</param>
    public DocumentTemplate(DocumentValue root, ulong seed, string collection)
    {
        Root = root.Find("_id") is not null ? root : new DocumentValue([KeyValuePair.Create("_id", (TemplateValue)new ObjectIdValue(seed)), .. root.Elements]);
        _seed = Mixing.Mix(seed ^ Salt.Of(collection));
    }

    public DocumentValue Root { get; }

    /// <summary>The <c>_id</c>'s.</summary>
    public TemplateValue Id => Root.Find("_id")!;

    /// <summary>What the values of a document are computed from.</summary>
    public ValueContext ContextOf(long number) => new(number, Mixing.At(_seed, (ulong)number));

    /// <summary>Writes a document that is no element.</summary>
    public void Write(BsonWriter writer, long number) => Root.WriteRoot(writer, ContextOf(number));

    public BsonDocument Make(long number) => Root.ToDocument(ContextOf(number));

    /// <summary>The value at a path such as <c>parameter.size</c> or <c>tags.0</c>.</summary>
    /// <returns>Null when there is none, or not in every document.</returns>
    public TemplateValue? Find(string path)
    {
        TemplateValue? value = Root;
        foreach (string step in path.Split('.'))
        {
            value = value switch
            {
                DocumentValue document => document.Find(step),
                ArrayValue array when int.TryParse(step, NumberStyles.None, CultureInfo.InvariantCulture, out int index) => array.At(index),
                _ => null,
            };
        }

        return value;
    }
}

/// <summary>An ObjectId that increases with the document's number, as those of the series do.</summary>
public sealed class ObjectIdValue(ulong seed) : FixedValue(BsonType.ObjectId, ObjectId.Size)
{
    private readonly DocumentNumbers _numbers = new(seed);

    public override void Fill(Span<byte> value, in ValueContext context) => _numbers.IdOf(context.Number).CopyTo(value);
}
