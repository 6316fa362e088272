using System.Collections.Concurrent;
using System.Text;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>Which row of a file a document takes.</summary>
public enum RowOrder
{
    /// <summary>Row number i is document number i's; after the last row the first comes again.</summary>
    InOrder,
    Random,

    /// <summary>Random, each as often as its weight says.</summary>
    Weighted,
}

/// <summary>Chooses rows of a file: values of one document that come from one file come from one row.</summary>
/// <param name="file">The file.</param>
/// <param name="order">How.</param>
/// <param name="salt">The file's own.</param>
public sealed class RowChoice(RowFile file, RowOrder order, ulong salt)
{
    public RowFile File => file;

    public RowOrder Order => order;

    private readonly ConcurrentDictionary<string, RowFieldValue> _fields = [];

    /// <summary>One of its fields; the same each time.</summary>
    public RowFieldValue Field(string path) => _fields.GetOrAdd(path, static (one, rows) => new RowFieldValue(rows, one), this);

    internal ReadOnlySpan<byte> RowOf(in ValueContext context) => file.RowAt(order switch
    {
        RowOrder.InOrder => context.Number % file.Rows,
        RowOrder.Random => (long)Math.BigMul(context.BitsOf(salt), (ulong)file.Rows, out _),
        _ => file.RowOf((context.BitsOf(salt) >> 11) * (1.0 / (1UL << 53)) * file.TotalWeight),
    });
}

/// <summary>A whole row: a document, or the fields that it gives to the document around it.</summary>
/// <param name="rows">Chooses the row.</param>
/// <param name="isSpread">Its fields stand in the document around it; its own name is not written.</param>
/// <param name="except">Fields that the document around it has itself.</param>
public sealed class RowValue(RowChoice rows, bool isSpread, params IReadOnlyList<string> except) : TemplateValue
{
    private readonly byte[][] _except = [.. except.Select(Encoding.UTF8.GetBytes)];

    public RowChoice Rows => rows;

    public bool IsSpread => isSpread;

    /// <summary>The dotted paths of the fields that it may have.</summary>
    public IEnumerable<string> Paths => rows.File.Fields.Paths.Where(path => !except.Contains(path.Split('.')[0]));

    /// <summary>The fields, without those that something else gives.</summary>
    public RowValue Except(params IEnumerable<string> names) => new(rows, isSpread, [.. except.Concat(names).Distinct()]);

    /// <returns>Null when no row, or not every one, has such a field.</returns>
    public TemplateValue? Find(string path) =>
        !except.Contains(path.Split('.')[0]) && rows.File.Fields.ShareOf(path) == RowShare.All ? rows.Field(path) : null;

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        ReadOnlySpan<byte> row = rows.RowOf(context);
        try
        {
            if (!isSpread)
                writer.StartDocument(name);
            rows.File.Format.WriteFields(writer, row, _except);
            if (!isSpread)
                writer.End();
        }
        catch (RowFormatException)
        {
            throw rows.File.Changed();
        }
    }
}

/// <summary>One field of a row.</summary>
/// <param name="rows">Chooses the row.</param>
/// <param name="path">A column's name, or a dotted path.</param>
public sealed class RowFieldValue(RowChoice rows, string path) : TemplateValue
{
    private readonly RowField _field = new(path);

    public RowChoice Rows => rows;

    /// <summary>The field's own fields.</summary>
    public IEnumerable<string> Paths => rows.File.Fields.Paths
        .Where(other => other.StartsWith(path + ".", StringComparison.Ordinal)).Select(other => other[(path.Length + 1)..]);

    /// <inheritdoc cref="RowValue.Find"/>
    public TemplateValue? Find(string step) =>
        rows.File.Fields.ShareOf($"{path}.{step}") == RowShare.All ? rows.Field($"{path}.{step}") : null;

    /// <remarks>A row without the field gives null.</remarks>
    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        try
        {
            if (!rows.File.Format.TryWriteField(writer, name, rows.RowOf(context), _field))
                writer.WriteNull(name);
        }
        catch (RowFormatException)
        {
            throw rows.File.Changed();
        }
    }
}
