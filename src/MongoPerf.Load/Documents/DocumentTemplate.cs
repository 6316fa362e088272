using System.Globalization;
using System.Text;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>
/// Makes the documents of one collection: document <c>number</c> is the same bytes on every machine, a function of seed,
/// template and number.
/// </summary>
/// <remarks>Immutable, for all threads.</remarks>
public sealed class DocumentTemplate
{
    private readonly ulong _seed;

    /// <param name="root">What a document holds; an <c>_id</c> is put in front when it has none.</param>
    /// <param name="seed">The run's.</param>
    /// <param name="collection">Its name: two collections of one run hold different values.</param>
    public DocumentTemplate(DocumentValue root, ulong seed, string collection)
    {
        Root = root.Find("_id") is not null ? root
            : new DocumentValue([KeyValuePair.Create("_id", (TemplateValue)new ObjectIdValue(seed)), .. root.Elements]);
        _seed = Mixing.Mix(seed ^ Salt.Of(collection));
        Ids = new DocumentIds(this);
    }

    public DocumentValue Root { get; }

    /// <summary>The <c>_id</c>'s.</summary>
    public TemplateValue Id => Root.Find("_id")!;

    public DocumentIds Ids { get; }

    /// <summary>The same for templates that make the same documents: a hash of some of them.</summary>
    public string Fingerprint
    {
        get
        {
            using var some = new MemoryStream();
            foreach (RowFile file in Files)
                some.Write(Encoding.ASCII.GetBytes(file.Checksum));
            foreach (long number in (long[])[0, 1, 2, 999_999_999])
                some.Write(Make(number).Bytes);
            return Convert.ToHexStringLower(Sha256.Hash(some.ToArray()).AsSpan(0, 8));
        }
    }

    /// <summary>The files that values come from.</summary>
    public IEnumerable<RowFile> Files => FilesOf(Root).Distinct();

    /// <summary>The file, if there is one, from which the _ids come; two documents of one row have the same.</summary>
    public RowChoice? IdRows => Id is RowFieldValue { Rows: var rows } ? rows : null;

    /// <summary>Bytes of a long document: of the first ones, and of the longest row, for whoever puts documents together.</summary>
    public int LongLength
    {
        get
        {
            const int Sample = 32;
            var writer = new BsonWriter();
            int longest = Files.Sum(file => file.LongestDocument);
            for (int number = 0; number < Sample; number++)
            {
                writer.Clear();
                Write(writer, number);
                longest = Math.Max(longest, writer.Length);
            }

            return longest;
        }
    }

    /// <summary>What the values of a document are computed from.</summary>
    public ValueContext ContextOf(long number) => new(number, Mixing.At(_seed, (ulong)number));

    /// <summary>Writes a document that is no element.</summary>
    public void Write(BsonWriter writer, long number) => Root.WriteRoot(writer, ContextOf(number));

    public BsonDocument Make(long number) => Root.ToDocument(ContextOf(number));

    /// <summary>The value at a path such as <c>parameter.size</c>, <c>tags.0</c> or <c>items.0.price</c>.</summary>
    /// <returns>Null when there is none, or not in every document.</returns>
    public TemplateValue? Find(string path) => Find(path, null);

    /// <summary>As <see cref="Find(string)"/>; where some documents lack it, that of the nearest one that has it.</summary>
    /// <returns>Null when there is none, or in fewer than one of 1,000 documents, which would take long to find.</returns>
    public TemplateValue? FindNearest(string path)
    {
        const double LeastShare = 0.001;
        var optional = new List<OptionalValue>();
        return Find(path, optional) is not { } value ? null : optional.Count == 0 ? value
            : optional.Aggregate(1.0, (share, one) => share * one.Share) >= LeastShare ? new NearestValue(this, optional, value) : null;
    }

    /// <param name="path">The path.</param>
    /// <param name="optional">Gets the fields on the path that some documents lack; null if there may be none.</param>
    private TemplateValue? Find(string path, List<OptionalValue>? optional)
    {
        TemplateValue? value = Root;
        foreach (string step in path.Split('.'))
        {
            value = value switch
            {
                DocumentValue document => document.Find(step) ?? Optional(document, step),
                ArrayValue array when int.TryParse(step, NumberStyles.None, CultureInfo.InvariantCulture, out int index) => array.At(index),
                ArrayValue.ElementValue element => element.Find(step),
                RowValue row => row.Find(step),
                RowFieldValue field => field.Find(step),
                _ => null,
            };
        }

        return value;

        TemplateValue? Optional(DocumentValue document, string step)
        {
            if (optional is null || document.Elements.FirstOrDefault(one => one.Key == step).Value is not OptionalValue field)
                return null;
            optional.Add(field);
            return field.Value;
        }
    }

    private static IEnumerable<RowFile> FilesOf(TemplateValue value) => value switch
    {
        RowValue row => [row.Rows.File],
        RowFieldValue field => [field.Rows.File],
        _ => value.Parts.SelectMany(FilesOf),
    };
}

/// <summary>An ObjectId that increases with the document's number.</summary>
public sealed class ObjectIdValue(ulong seed) : FixedValue(BsonType.ObjectId, ObjectId.Size), INumbered
{
    private readonly DocumentNumbers _numbers = new(seed);

    bool INumbered.IsInvertible => true;

    public override long Limit => DocumentNumbers.Limit;

    long INumbered.OrderedBelow => DocumentNumbers.Limit;

    long INumbered.NumberOf(BsonType type, ReadOnlySpan<byte> value) =>
        type == BsonType.ObjectId ? _numbers.NumberOf(ObjectId.FromBytes(value)) : -1;

    public override void Fill(Span<byte> value, in ValueContext context) => _numbers.IdOf(context.Number).CopyTo(value);
}

/// <summary>An ObjectId that increases with the document's number, and whose time does.</summary>
/// <param name="seed">The run's.</param>
/// <param name="start">The first document's time, seconds since 1970; 0 or more.</param>
/// <param name="step">Seconds from one document to the next, 0 or more. Times end in 2106, where an ObjectId's do.</param>
public sealed class TimedObjectIdValue(ulong seed, long start, double step) : FixedValue(BsonType.ObjectId, ObjectId.Size), INumbered
{
    private readonly DocumentNumbers _numbers = new(seed);

    bool INumbered.IsInvertible => true;

    public override long Limit => DocumentNumbers.Limit;

    long INumbered.OrderedBelow => DocumentNumbers.Limit;

    long INumbered.NumberOf(BsonType type, ReadOnlySpan<byte> value) => type == BsonType.ObjectId
        && ObjectId.FromBytes(value) is var id && _numbers.NumberOf(id with { High = _numbers.IdOf(0).High }) is >= 0 and var number
        && id.High == TimeOf(number) ? number : -1;

    public override void Fill(Span<byte> value, in ValueContext context) =>
        (_numbers.IdOf(context.Number) with { High = TimeOf(context.Number) }).CopyTo(value);

    private uint TimeOf(long number) => (uint)Math.Min(uint.MaxValue, start + Math.Floor(number * step));
}

/// <summary>An ObjectId of a time between two, and otherwise random.</summary>
/// <param name="from">The earliest, seconds since 1970; 0 or more.</param>
/// <param name="to">The latest; fits 32 bits.</param>
/// <param name="salt">The value's own.</param>
public sealed class RandomObjectIdValue(uint from, uint to, ulong salt) : FixedValue(BsonType.ObjectId, ObjectId.Size)
{
    public override void Fill(Span<byte> value, in ValueContext context)
    {
        ulong bits = context.BitsOf(salt);
        new ObjectId(from + (uint)Math.BigMul(bits, (ulong)to - from + 1, out _), Mixing.Mix(bits + Mixing.GoldenGamma)).CopyTo(value);
    }
}
