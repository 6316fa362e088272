using System.Text;
using System.Text.Unicode;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>What a CSV file's cells become.</summary>
public enum CellType
{
    /// <summary>
    /// In quotes a string; otherwise a number, true, false or null (an empty cell) if it is written as one. A number that loses digits as
    /// a double is a decimal, one that no decimal holds a string.
    /// </summary>
    Auto,
    String,
    Int,
    Long,
    Double,
    Decimal,
    Bool,
    Date,
    ObjectId,
}

/// <summary>Rows of comma-separated cells (RFC 4180), the first of which names the columns.</summary>
/// <param name="separator">Between cells.</param>
/// <param name="types">By column; those left out are <see cref="CellType.Auto"/>.</param>
internal sealed class CsvRows(byte separator, IReadOnlyDictionary<string, CellType> types) : RowFormat
{
    private byte[][] _columns = [];
    private CellType[] _types = [];

    public override bool HasHeader => true;

    public override int Columns => _columns.Length;

    public override bool TryFindEnd(ReadOnlySpan<byte> piece, bool isAll, ref int end)
    {
        end = 0;
        while (end < piece.Length)
        {
            if (piece[end] == '"')
            {
                int length = QuotedLength(piece[end..]);
                // Whether a quote at the very end closes the cell, only what follows can tell.
                if (length < 0 || (end + length == piece.Length && !isAll))
                    return false;
                end += length;
            }

            int next = piece[end..].IndexOfAny(separator, (byte)'\n');
            end = next < 0 ? piece.Length : end + next;
            if (next < 0 || piece[end] == '\n')
                return next >= 0 || isAll;
            end++;
        }

        return isAll;
    }

    public override bool ReadHeader(string name, ReadOnlySpan<byte> row)
    {
        if (!Utf8.IsValid(row))
            throw new RowFormatException($"{name}, line 1: not text in UTF-8");
        var columns = new List<string>();
        int at = 0;
        while (NextCell(row, ref at, out ReadOnlySpan<byte> cell, out bool isQuoted))
            columns.Add(Encoding.UTF8.GetString(cell).Replace("\"\"", isQuoted ? "\"" : "\"\"", StringComparison.Ordinal));
        foreach (string column in columns)
        {
            if (column.Length == 0 || column.StartsWith('$') || column.AsSpan().ContainsAny('.', '\0'))
                throw new RowFormatException($"{name}: '{column}' can't name a column; the first line names them all, each with a "
                    + "name that is not empty, has no dot and does not start with $");
        }

        if (columns.GroupBy(column => column).FirstOrDefault(same => same.Count() > 1) is { } twice)
            throw new RowFormatException($"{name}: two columns are called '{twice.Key}'");
        if (types.Keys.FirstOrDefault(column => !columns.Contains(column)) is { } unknown)
            throw new RowFormatException($"{name}: types names a column '{unknown}'; it has {RowFields.Listed(columns)}");
        _columns = [.. columns.Select(Encoding.UTF8.GetBytes)];
        _types = [.. columns.Select(column => types.GetValueOrDefault(column))];
        return true;
    }

    public override void WriteFields(BsonWriter writer, ReadOnlySpan<byte> row, byte[][] except)
    {
        int at = 0;
        int column = 0;
        for (; NextCell(row, ref at, out ReadOnlySpan<byte> cell, out bool isQuoted); column++)
        {
            if (column < _columns.Length && !Has(except, _columns[column]))
                Write(writer, _columns[column], column, cell, isQuoted);
        }

        if (column != _columns.Length)
            throw new RowFormatException($"{column} {(column == 1 ? "cell" : "cells")}; the first line names {_columns.Length} "
                + $"{(_columns.Length == 1 ? "column" : "columns")}");
    }

    public override bool TryWriteField(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> row, RowField field)
    {
        int at = 0;
        for (int column = 0; NextCell(row, ref at, out ReadOnlySpan<byte> cell, out bool isQuoted); column++)
        {
            if (!field.Name.AsSpan().SequenceEqual(_columns[column]))
                continue;
            Write(writer, name, column, cell, isQuoted);
            return true;
        }

        return false;
    }

    /// <summary>Bytes of a cell in quotes, with both of them; below 0 if it does not end.</summary>
    private static int QuotedLength(ReadOnlySpan<byte> text)
    {
        for (int at = 1; ; at += 2)
        {
            int quote = text[at..].IndexOf((byte)'"');
            if (quote < 0)
                return -1;
            at += quote;
            if (at + 1 == text.Length || text[at + 1] != '"')
                return at + 1;
            if (at + 2 == text.Length)
                return -1;
        }
    }

    /// <summary>Takes the next cell; one in quotes comes without them, and with doubled quotes in it as they are.</summary>
    private bool NextCell(ReadOnlySpan<byte> row, ref int at, out ReadOnlySpan<byte> cell, out bool isQuoted)
    {
        cell = default;
        isQuoted = false;
        if (at > row.Length)
            return false;
        ReadOnlySpan<byte> rest = row[at..];
        int end;
        if (rest is [(byte)'"', ..])
        {
            end = QuotedLength(rest);
            if (end < 0)
                throw new RowFormatException("a quote never ends");
            if (end < rest.Length && rest[end] != separator)
                throw new RowFormatException($"'{Shown(rest[end..])}' follows a closing quote; a quote within quotes is written twice");
            cell = rest[1..(end - 1)];
            isQuoted = true;
        }
        else
        {
            end = rest.IndexOf(separator);
            end = end < 0 ? rest.Length : end;
            cell = rest[..end];
        }

        at += end + 1;
        return true;
    }

    private void Write(BsonWriter writer, ReadOnlySpan<byte> name, int column, ReadOnlySpan<byte> cell, bool isQuoted)
    {
        CellType type = _types[column];
        if (type == CellType.String || isQuoted && type == CellType.Auto)
            WriteText(writer, name, cell, isQuoted);
        else if (cell.IsEmpty)
            writer.WriteNull(name);
        else if (type == CellType.Auto)
            WriteAsWritten(writer, name, cell);
        else if (!TryWrite(writer, name, cell, type))
            throw new RowFormatException(
                $"{Encoding.UTF8.GetString(_columns[column])} is '{Shown(cell)}'; expected {Expected(type)}");
    }

    /// <summary>A number that begins with 0, as postcodes do, is a string.</summary>
    private static void WriteAsWritten(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> cell)
    {
        // So few characters have no more digits than a double keeps.
        const int Short = 16;
        bool isNumber = cell[0] is >= (byte)'0' and <= (byte)'9' or (byte)'-' && cell[^1] is >= (byte)'0' and <= (byte)'9'
            && cell is not ([(byte)'0', >= (byte)'0' and <= (byte)'9', ..] or [(byte)'-', (byte)'0', >= (byte)'0' and <= (byte)'9', ..]);
        if (isNumber && TryReadWhole(cell, out long whole))
        {
            if (whole is >= int.MinValue and <= int.MaxValue)
                writer.WriteInt32(name, (int)whole);
            else
                writer.WriteInt64(name, whole);
        }
        else if (isNumber && !NumberText.IsWhole(cell) && TryReadDouble(cell, out double number)
            && ((cell.Length <= Short && double.IsNormal(number)) || NumberText.KeepsDigits(number, cell)))
        {
            writer.WriteDouble(name, number);
        }
        else if (isNumber && TryReadDecimal(cell, out Decimal128 precise))
        {
            writer.WriteName(BsonType.Decimal128, name);
            precise.CopyTo(writer.Grow(Decimal128.Size));
        }
        else if (cell.SequenceEqual("true"u8) || cell.SequenceEqual("false"u8))
        {
            writer.WriteBoolean(name, cell[0] == 't');
        }
        else
        {
            writer.WriteString(name, cell);
        }
    }

    private static bool TryWrite(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> cell, CellType type)
    {
        switch (type)
        {
            case CellType.Int when TryReadWhole(cell, out long whole) && whole == (int)whole:
                writer.WriteInt32(name, (int)whole);
                return true;
            case CellType.Long when TryReadWhole(cell, out long whole):
                writer.WriteInt64(name, whole);
                return true;
            case CellType.Double when TryReadDouble(cell, out double number)
                && (NumberText.IsWhole(cell) || NumberText.IsHeldBy(number, cell)):
                writer.WriteDouble(name, number);
                return true;
            case CellType.Decimal when TryReadDecimal(cell, out Decimal128 precise):
                writer.WriteName(BsonType.Decimal128, name);
                precise.CopyTo(writer.Grow(Decimal128.Size));
                return true;
            case CellType.Bool when cell.SequenceEqual("true"u8) || cell.SequenceEqual("false"u8)
                || cell.SequenceEqual("1"u8) || cell.SequenceEqual("0"u8):
                writer.WriteBoolean(name, cell[0] is (byte)'t' or (byte)'1');
                return true;
            case CellType.Date when TryReadDate(cell, out long milliseconds):
                writer.WriteDateTime(name, milliseconds);
                return true;
            case CellType.ObjectId when cell.Length == 2 * ObjectId.Size:
                Span<byte> id = stackalloc byte[ObjectId.Size];
                if (Convert.FromHexString(cell, id, out _, out _) != System.Buffers.OperationStatus.Done)
                    return false;
                writer.WriteObjectId(name, ObjectId.FromBytes(id));
                return true;
            default:
                return false;
        }
    }

    private static void WriteText(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> cell, bool isQuoted)
    {
        if (!isQuoted || !cell.Contains((byte)'"'))
        {
            writer.WriteString(name, cell);
            return;
        }

        writer.WriteName(BsonType.String, name);
        int start = writer.Length;
        writer.WriteRawInt32(0);
        while (cell.IndexOf((byte)'"') is >= 0 and var quote)
        {
            writer.WriteRaw(cell[..(quote + 1)]);
            cell = cell[(quote + 2)..];
        }

        writer.WriteRaw(cell);
        writer.WriteRawByte(0);
        writer.PatchInt32(start, writer.Length - start - 4);
    }

    private static string Expected(CellType type) => type switch
    {
        CellType.Int => "a whole number of 32 bits",
        CellType.Long => "a whole number of 64 bits",
        CellType.Double => "a number within the range of a double",
        CellType.Decimal => "a decimal number of at most 34 digits",
        CellType.Bool => "true, false, 1 or 0",
        CellType.Date => "a date such as 2011-03-13 or 2011-03-13T07:06:40Z",
        _ => "24 hexadecimal digits",
    };
}
