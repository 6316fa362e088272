using System.Buffers.Binary;
using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Platforms;
using MongoPerf.Reports.Charts;
using MongoPerf.Wire.Files;

namespace MongoPerf.Commands;

/// <summary>
/// Which files beside a picture are its data, so that <c>plot</c> replaces no others: the picture itself names them, in a comment.
/// </summary>
internal static partial class PlotData
{
    private const string Words = "MongoPerf plot, data: ";

    /// <summary>A larger file is no picture that <c>plot</c> has drawn.</summary>
    private const int MostBytes = 256 << 20;

    /// <summary>Characters of a CSV file in which its first line is looked for.</summary>
    private const int MostOfHeader = 1 << 16;

    /// <summary>Length and type of a PNG's chunk in front of its data, and the checksum behind them.</summary>
    private const int ChunkBytes = 12;

    /// <summary>A picture that names its data.</summary>
    public static byte[] Mark(byte[] picture, bool isSvg, IEnumerable<string> names)
    {
        string comment = $"{Words}{string.Join(' ', names.Select(Uri.EscapeDataString))}\n";
        return isSvg ? [.. picture, .. Encoding.ASCII.GetBytes($"<!-- {comment}-->\n")]
            // Before the last chunk, which is empty.
            : [.. picture.AsSpan(..^ChunkBytes), .. Chunk("tEXt", $"Comment\0{comment}"), .. picture.AsSpan(^ChunkBytes..)];
    }

    /// <summary>The names that a picture has, or one of the other format beside it.</summary>
    public static IReadOnlySet<string> NamesIn(string picture) =>
        ((string[])[picture, Path.ChangeExtension(picture, ".png"), Path.ChangeExtension(picture, ".svg")])
            .Where(file => IsFile(file) && new FileInfo(file).Length <= MostBytes)
            .Select(file => Names().Match(Encoding.Latin1.GetString(File.ReadAllBytes(file))).Groups[1].Value)
            .SelectMany(names => names.Split(' ', StringSplitOptions.RemoveEmptyEntries)).Select(Uri.UnescapeDataString).ToHashSet();

    /// <summary>
    /// Whether a file may be replaced by a table: there is none, or it has the same axis and columns. Another run, or the same one later,
    /// may have more of these, or fewer.
    /// </summary>
    public static bool IsOf(ChartTable table, string file)
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
    public static bool IsFile(string path) =>
        Path.Exists(path) && SystemCalls.IsRegularFile(File.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path);

    /// <param name="csv">Its first line, or more of it.</param>
    private static string[] ColumnsOf(string csv) => csv.Split('\n')[0].TrimEnd('\r').Split(',');

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
