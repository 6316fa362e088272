using System.Buffers;
using System.Buffers.Binary;
using System.Buffers.Text;
using System.Globalization;
using System.Text;
using System.Text.Unicode;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>What a file's rows look like. All threads once the header is read.</summary>
internal abstract class RowFormat
{
    private const int MostShown = 40;

    /// <summary>Not the letters of NaN and Infinity, which a cell's number is not.</summary>
    private static readonly SearchValues<byte> OfNumbers = SearchValues.Create("0123456789.eE+-"u8);

    /// <summary>The endings of names that are known, without their point.</summary>
    public static IReadOnlyList<string> Endings { get; } = ["csv", "tsv", "jsonl", "ndjson", "json"];

    /// <summary>The first row names the columns.</summary>
    public virtual bool HasHeader => false;

    /// <summary>How many columns it names; 0 without.</summary>
    public virtual int Columns => 0;

    /// <param name="name">The file's, whose ending decides.</param>
    /// <param name="types">Types of columns.</param>
    /// <exception cref="RowFormatException">No such ending, or types of what has no columns.</exception>
    public static RowFormat Of(string name, IReadOnlyDictionary<string, CellType> types)
    {
        string ending = Path.GetExtension(name).TrimStart('.').ToLowerInvariant();
        if (ending is "csv" or "tsv")
            return new CsvRows(ending == "csv" ? (byte)',' : (byte)'\t', types);
        if (!Endings.Contains(ending))
            throw new RowFormatException($"{name}: unknown file extension; allowed: .{string.Join(", .", Endings)}"
                + (ending is "gz" or "zst" or "zip" or "bz2" or "xz" ? " (unpack it: rows are read in any order)" : ""));
        return types.Count == 0 ? new JsonRows()
            : throw new RowFormatException($"{name}: types are for the columns of CSV files; JSON has types of its own");
    }

    /// <summary>Looks at the beginning of a file.</summary>
    /// <returns>Where its first row begins: behind a byte order mark.</returns>
    /// <exception cref="RowFormatException">It is no text in UTF-8.</exception>
    public virtual int Begin(string name, ReadOnlySpan<byte> beginning) =>
        beginning is [0xEF, 0xBB, 0xBF, ..] ? 3
        : beginning is [0xFF, 0xFE, ..] or [0xFE, 0xFF, ..]
            ? throw new RowFormatException($"{name} is in UTF-16; save it as UTF-8")
        : 0;

    /// <summary>Finds the end of the row that begins a piece of a file.</summary>
    /// <param name="piece">What is there of it.</param>
    /// <param name="isAll">Nothing follows.</param>
    /// <param name="end">Where it ends: at a line break, or with the file.</param>
    /// <returns>False if its end is not in the piece.</returns>
    public abstract bool TryFindEnd(ReadOnlySpan<byte> piece, bool isAll, ref int end);

    /// <summary>Reads the names of columns.</summary>
    /// <returns>True.</returns>
    public virtual bool ReadHeader(string name, ReadOnlySpan<byte> row) => true;

    /// <summary>Writes a row as a whole document that is no element.</summary>
    /// <exception cref="RowFormatException">It is none.</exception>
    public void WriteDocument(BsonWriter writer, ReadOnlySpan<byte> row)
    {
        if (!Utf8.IsValid(row))
            throw new RowFormatException("not text in UTF-8");
        writer.StartDocument();
        WriteFields(writer, row, []);
        writer.End();
    }

    /// <summary>Writes a row's fields into a document that is open.</summary>
    /// <param name="writer">Of the document.</param>
    /// <param name="row">The row.</param>
    /// <param name="except">Names of fields to leave out.</param>
    public abstract void WriteFields(BsonWriter writer, ReadOnlySpan<byte> row, byte[][] except);

    /// <summary>Writes one field of a row as an element.</summary>
    /// <returns>False if it has none.</returns>
    /// <exception cref="RowFormatException">The row is none.</exception>
    public abstract bool TryWriteField(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> row, RowField field);

    protected static bool Has(byte[][] names, ReadOnlySpan<byte> name)
    {
        foreach (byte[] one in names)
        {
            if (name.SequenceEqual(one))
                return true;
        }

        return false;
    }

    /// <summary>The beginning of what a file holds, for messages.</summary>
    protected static string Shown(ReadOnlySpan<byte> text) => text.Length <= MostShown ? Encoding.UTF8.GetString(text)
        : Encoding.UTF8.GetString(text[..MostShown]).TrimEnd('\uFFFD') + "…";

    /// <summary>A decimal number that a decimal128 holds without rounding.</summary>
    protected static bool TryReadDecimal(ReadOnlySpan<byte> text, out Decimal128 value)
    {
        value = default;
        bool isNegative = text is [(byte)'-', ..];
        UInt128 coefficient = 0;
        int digits = 0;
        int fraction = -1;
        foreach (byte one in isNegative ? text[1..] : text)
        {
            if (one == '.' && fraction < 0)
            {
                fraction = 0;
                continue;
            }

            // Exponents, and zeros beyond the digits that there is room for, are too rare to be read without allocating.
            if (one is (byte)'e' or (byte)'E' || ++digits > Decimal128.MaximumDigits)
                return !text.ContainsAnyExcept(OfNumbers) && Decimal128.TryParse(Encoding.ASCII.GetString(text), out value);
            if (!char.IsAsciiDigit((char)one))
                return false;
            coefficient = (coefficient * 10) + (uint)(one - '0');
            if (fraction >= 0)
                fraction++;
        }

        if (digits == 0)
            return false;
        value = Decimal128.Of(isNegative, coefficient, -Math.Max(0, fraction));
        return true;
    }

    /// <summary>An ISO 8601 date, with or without a time; without a zone, UTC.</summary>
    protected static bool TryReadDate(ReadOnlySpan<byte> text, out long milliseconds)
    {
        Span<char> wide = stackalloc char[40];
        milliseconds = 0;
        if (text.Length is < 10 or > 40 || text[4] != '-')
            return false;
        wide = wide[..Encoding.UTF8.GetChars(text, wide)];
        if (!DateTimeOffset.TryParse(wide, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out DateTimeOffset date))
            return false;
        milliseconds = date.ToUnixTimeMilliseconds();
        return true;
    }

    protected static bool TryReadWhole(ReadOnlySpan<byte> text, out long value) =>
        Utf8Parser.TryParse(text, out value, out int read) && read == text.Length;

    protected static bool TryReadDouble(ReadOnlySpan<byte> text, out double value) =>
        Utf8Parser.TryParse(text, out value, out int read) && read == text.Length && double.IsFinite(value);
}

/// <summary>A field of rows, by its path.</summary>
/// <param name="path">A column's name, or the dotted path in a JSON document.</param>
public sealed class RowField(string path)
{
    public string Path => path;

    internal byte[] Name { get; } = Encoding.UTF8.GetBytes(path);

    internal byte[][] Steps { get; } = [.. path.Split('.').Select(Encoding.UTF8.GetBytes)];

    /// <returns>Not a number where the row has none there.</returns>
    internal double NumberIn(RowFormat format, ReadOnlySpan<byte> row)
    {
        BsonWriter writer = Scratch.Value!;
        writer.Clear();
        writer.StartDocument();
        bool isThere = format.TryWriteField(writer, "v"u8, row, this);
        writer.End();
        var reader = new BsonReader(writer.Written);
        return isThere && reader.Read() ? reader.Type switch
        {
            BsonType.Int32 => BinaryPrimitives.ReadInt32LittleEndian(reader.Value),
            BsonType.Int64 => BinaryPrimitives.ReadInt64LittleEndian(reader.Value),
            BsonType.Double => BinaryPrimitives.ReadDoubleLittleEndian(reader.Value),
            BsonType.Decimal128 => Decimal128.FromBytes(reader.Value).ToDouble(),
            _ => double.NaN,
        } : double.NaN;
    }

    private static readonly ThreadLocal<BsonWriter> Scratch = new(() => new BsonWriter(256));
}
