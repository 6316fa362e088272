using System.Buffers.Binary;
using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Platforms;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Files;

namespace MongoPerf.Commands;

/// <summary>Writes a picture with its data beside it, and replaces no data of others: a picture names its own, in a comment.</summary>
internal static partial class PlotData
{
    private const string Words = "MongoPerf plot, data: ";

    /// <summary>A larger file is no picture that <c>plot</c> has drawn.</summary>
    private const int MostBytes = 256 << 20;

    /// <summary>Characters of a CSV file in which its first line is looked for.</summary>
    private const int MostOfHeader = 1 << 16;

    /// <summary>Length and type of a PNG's chunk in front of its data, and the checksum behind them.</summary>
    private const int ChunkBytes = 12;

    /// <summary>Writes the picture and, unless it goes to standard output or another device, its data beside it.</summary>
    public static void Write(Chart chart, byte[] picture, bool isSvg, string file)
    {
        if (file == "-")
        {
            using Stream console = Console.OpenStandardOutput();
            console.Write(picture);
            return;
        }

        (ChartTable Table, string File)[] data = Path.Exists(file) && !IsFile(file) ? []
            : [.. chart.Tables.Select(table => (table, DataFile(file, chart.Name, table.FileName)))];
        try
        {
            HashSet<string> former = NamesIn(file);
            if (data.FirstOrDefault(one => !former.Contains(Path.GetFileName(one.File)) && !IsOf(one.Table, one.File)).File
                is { } foreign)
                throw new UserException(
                    ExitCode.WrongUsage, $"{foreign} exists, and 'plot' did not write it; nothing was written",
                    "the data of a chart are written beside its picture: name another picture with -o, or remove that file");
            File.WriteAllBytes(file, Mark(picture, isSvg, data.Select(static one => Path.GetFileName(one.File)).Union(former)));
            foreach ((ChartTable table, string name) in data)
            {
                using var writer = new StreamWriter(name);
                table.Write(writer, chart.NotMongoDb);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserException(ExitCode.WrongUsage, $"{file}: can't be written: {e.Message}", "-o names another file");
        }

        if (data.Length > 0)
            Console.WriteLine(
                $"{file} written, with its data in {string.Join(", ", data.Select(static one => Path.GetFileName(one.File)))}");
    }

    /// <summary>A picture that names its data.</summary>
    private static byte[] Mark(byte[] picture, bool isSvg, IEnumerable<string> names)
    {
        // Two hyphens would end XML's comment.
        string comment = $"{Words}{string.Join(' ', names.Select(Uri.EscapeDataString)).Replace("--", "-%2D")}\n";
        return isSvg ? [.. picture, .. Encoding.ASCII.GetBytes($"<!-- {comment}-->\n")]
            // Before the last chunk, which is empty.
            : [.. picture.AsSpan(..^ChunkBytes), .. Chunk("tEXt", $"Comment\0{comment}"), .. picture.AsSpan(^ChunkBytes..)];
    }

    /// <summary>The names that a picture has, or one of the other format beside it.</summary>
    private static HashSet<string> NamesIn(string picture) =>
        ((string[])[picture, Path.ChangeExtension(picture, ".png"), Path.ChangeExtension(picture, ".svg")])
            .Where(file => IsFile(file) && new FileInfo(file).Length <= MostBytes)
            .Select(file => Names().Match(Encoding.Latin1.GetString(File.ReadAllBytes(file))).Groups[1].Value)
            .SelectMany(names => names.Split(' ', StringSplitOptions.RemoveEmptyEntries)).Select(Uri.UnescapeDataString).ToHashSet();

    /// <summary>
    /// Whether a file may be replaced by a table: there is none, or it has the same axis and columns. Another run, or the same one later,
    /// may have more of these, or fewer.
    /// </summary>
    private static bool IsOf(ChartTable table, string file)
    {
        if (!Path.Exists(file))
            return true;
        if (!IsFile(file))
            return false;
        using var header = new StringWriter();
        new ChartTable(table.FileName, table.Columns).Write(header);
        string[] ours = ColumnsOf(header.ToString()), theirs = ColumnsOf(NamedFile.ReadText(file, MostOfHeader));
        return theirs.Length > 1 && theirs[0] == ours[0] && (theirs.All(ours.Contains) || ours.All(theirs.Contains));
    }

    /// <summary>A regular file, or a link to one.</summary>
    private static bool IsFile(string path) =>
        Path.Exists(path) && SystemCalls.IsRegularFile(File.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path);

    /// <summary>The name of a table's file beside a picture: p.csv beside p.png, or p-cpu.csv of one of several panels.</summary>
    private static string DataFile(string picture, string chart, string table)
    {
        string rest = table.StartsWith(chart, StringComparison.Ordinal) ? table[chart.Length..] : "-" + table;
        return Path.Combine(Path.GetDirectoryName(picture) ?? "", Path.GetFileNameWithoutExtension(picture) + rest);
    }

    /// <summary>Its columns, without the one that any table may have.</summary>
    /// <param name="csv">Its first line, or more of it.</param>
    private static string[] ColumnsOf(string csv) =>
        [.. csv.Split('\n')[0].TrimEnd('\r').Split(',').Where(static column => column != NotMongoDb.Column)];

    private static byte[] Chunk(string type, string text)
    {
        byte[] content = Encoding.Latin1.GetBytes(type + text);
        byte[] chunk = new byte[content.Length + 8];
        BinaryPrimitives.WriteInt32BigEndian(chunk, text.Length);
        content.CopyTo(chunk, 4);
        BinaryPrimitives.WriteUInt32BigEndian(chunk.AsSpan(^4..), Checksum(content));
        return chunk;
    }

    /// <summary>CRC-32, as PNG's specification has it in its annex.</summary>
    private static uint Checksum(ReadOnlySpan<byte> bytes)
    {
        uint crc = uint.MaxValue;
        foreach (byte one in bytes)
        {
            crc ^= one;
            for (int bit = 0; bit < 8; bit++)
                crc = (crc >> 1) ^ ((crc & 1) * 0xEDB88320);
        }

        return ~crc;
    }

    [GeneratedRegex(Words + @"([!-~ ]+)\n")]
    private static partial Regex Names();
}
