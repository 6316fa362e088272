using System.IO.Compression;
using System.Text.Json;
using MongoPerf.Reports.Charts;

namespace MongoPerf.Reports.Explore;

/// <summary>Writes a plot as JSON whose numbers lie in two packed strings, as explore.js reads them.</summary>
/// <remarks>
/// A column is a LEB128 word for each row: 0 for no point, 1 where the line ends, otherwise 2 more than the ZigZag of the difference from
/// the last point. Values are whole multiples of 10 to the power of minus <c>decimals</c>. All columns are a zlib stream in base64, all
/// histograms another.
/// </remarks>
internal static class PlotEncoding
{
    /// <summary>Digits of a column's largest value that are kept; nothing of whole numbers is lost but of bytes.</summary>
    private const int Digits = 5;

    /// <summary>
    /// Digits of a column's least duration that are kept, but never less than a tenth of a microsecond: buckets are told apart by three.
    /// </summary>
    private const int DurationDigits = 4;

    /// <summary>Classes of explore.css, by <see cref="Series.Dash"/>.</summary>
    private static readonly string[] Styles = ["", "solid", "dashed", "dotted"];

    /// <summary>All characters that mean something in HTML are escaped, so that the text may stand in a script element.</summary>
    private static readonly JsonWriterOptions Options = new() { Encoder = System.Text.Encodings.Web.JavaScriptEncoder.Default };

    /// <param name="plot">What it holds.</param>
    /// <param name="title">The title of the run.</param>
    public static string Write(Plot plot, string title)
    {
        using var json = new MemoryStream();
        using var histograms = new MemoryStream();
        using (var writer = new Utf8JsonWriter(json, Options))
        {
            writer.WriteStartObject();
            writer.WriteString("title", title);
            if (plot.NotMongoDb is { } mark)
                writer.WriteString("notMongoDb", mark);
            writer.WriteNumber("seconds", plot.Seconds);
            writer.WriteNumber("since", plot.Since);
            WriteArray(writer, "panels", plot.Panels, panel => WritePanel(writer, panel));
            WriteArray(writer, "marks", plot.Marks, mark => WriteMark(writer, mark));
            WriteArray(writer, "bands", plot.Bands, band => WriteBand(writer, band));
            WriteArray(writer, "phases", plot.Phases, band => WriteBand(writer, band));
            writer.WriteNumber("documents", plot.Documents?.Rows.Count ?? 0);
            writer.WriteNumber("blockSeconds", plot.Ranges?.BlockSeconds ?? 0);
            WriteArray(writer, "ranges", plot.Ranges?.Series ?? [], range => WriteRange(writer, histograms, range));
            WriteArray(writer, "remarks", plot.Remarks, writer.WriteStringValue);
            writer.WriteBase64String("packed", Pack(plot.Panels, plot.Documents));
            writer.WriteBase64String("histograms", Compress(histograms));
            writer.WriteEndObject();
        }

        return System.Text.Encoding.UTF8.GetString(json.ToArray());
    }

    /// <summary>All columns, in a zlib stream.</summary>
    /// <param name="panels">The panels from the top.</param>
    /// <param name="documents">The last; null where there are none.</param>
    public static byte[] Pack(IReadOnlyList<Panel> panels, ChartTable? documents)
    {
        using var bytes = new MemoryStream();
        foreach (Panel panel in panels)
        {
            WriteTimes(bytes, panel.Table);
            foreach (Series series in panel.Series)
                WriteColumn(bytes, series.Values, DecimalsOf(panel, series));
        }

        if (documents is not null)
        {
            WriteTimes(bytes, documents);
            WriteColumn(bytes, documents.Rows.Select(static row => row[1]), 0);
        }

        return Compress(bytes);
    }

    public static void WriteWord(Stream output, ulong value)
    {
        for (; value >= 0x80; value >>= 7)
            output.WriteByte((byte)(value | 0x80));
        output.WriteByte((byte)value);
    }

    /// <param name="bytes">What was written, whole.</param>
    /// <param name="at">Where the word begins; then where the next one does.</param>
    public static ulong ReadWord(byte[] bytes, ref int at)
    {
        ulong word = 0;
        int shift = 0;
        for (; bytes[at] >= 0x80; shift += 7)
            word |= (ulong)(bytes[at++] & 0x7f) << shift;
        return word | ((ulong)bytes[at++] << shift);
    }

    public static ulong ZigZag(long value) => (ulong)((value << 1) ^ (value >> 63));

    private static void WritePanel(Utf8JsonWriter writer, Panel panel)
    {
        writer.WriteStartObject();
        writer.WriteString("title", panel.Title);
        writer.WriteString("unit", panel.Unit);
        writer.WriteBoolean("log", panel.Y.IsLogarithmic);
        writer.WriteBoolean("again", panel.IsAgain);
        writer.WriteNumber("rows", panel.Table.Rows.Count);
        WriteArray(writer, "series", panel.Series, series =>
        {
            writer.WriteStartObject();
            writer.WriteString("title", series.Title);
            writer.WriteString("color", series.Color);
            writer.WriteString("style", Styles[series.Dash]);
            writer.WriteBoolean("shown", series.IsShown);
            if (series.Percentile is not null)
                writer.WriteString("percentile", series.Percentile);
            writer.WriteNumber("decimals", DecimalsOf(panel, series));
            writer.WriteEndObject();
        });
        writer.WriteEndObject();
    }

    private static void WriteTimes(Stream bytes, ChartTable table) => WriteColumn(bytes, table.Rows.Select(static row => row[0]), 1);

    private static void WriteColumn(Stream bytes, IEnumerable<double> values, int decimals)
    {
        double factor = Math.Pow(10, decimals);
        long last = 0;
        foreach (double value in values)
        {
            if (!double.IsFinite(value))
            {
                WriteWord(bytes, value == ChartTable.None ? 0UL : 1UL);
                continue;
            }

            long now = (long)Math.Round(value * factor);
            WriteWord(bytes, 2 + ZigZag(now - last));
            last = now;
        }
    }

    private static int DecimalsOf(Panel panel, Series series)
    {
        double[] sizes = [.. series.Values.Where(static value => double.IsFinite(value) && value != 0).Select(Math.Abs)];
        if (sizes.Length == 0)
            return 0;
        if (panel.Y.IsLogarithmic)
            return Math.Clamp(DurationDigits - 1 - PowerOf(sizes.Min()), -15, 1);
        return Math.Clamp(Digits - 1 - PowerOf(sizes.Max()), panel.Unit == Panel.Bytes ? -15 : 0, 9);
    }

    private static int PowerOf(double value) => (int)Math.Floor(Math.Log10(value));

    private static void WriteMark(Utf8JsonWriter writer, Mark mark)
    {
        writer.WriteStartObject();
        writer.WriteNumber("at", Math.Round(mark.At, 1));
        writer.WriteString("kind", mark.Kind);
        writer.WriteString("text", mark.Text);
        writer.WriteEndObject();
    }

    private static void WriteBand(Utf8JsonWriter writer, Band band)
    {
        writer.WriteStartObject();
        writer.WriteNumber("from", Math.Round(band.From, 1));
        writer.WriteNumber("to", Math.Round(band.To, 1));
        writer.WriteString("kind", band.Kind);
        writer.WriteString("text", band.Text);
        writer.WriteEndObject();
    }

    private static void WriteRange(Utf8JsonWriter writer, Stream bytes, PlotRange range)
    {
        writer.WriteStartObject();
        writer.WriteString("title", range.Title);
        writer.WriteString("color", range.Color);
        writer.WriteBoolean("response", range.IsResponse);
        writer.WriteNumber("blocks", range.Blocks);
        writer.WriteEndObject();
        bytes.Write(range.Bytes);
    }

    private static void WriteArray<T>(Utf8JsonWriter writer, string name, IEnumerable<T> items, Action<T> write)
    {
        writer.WriteStartArray(name);
        foreach (T item in items)
            write(item);
        writer.WriteEndArray();
    }

    private static byte[] Compress(MemoryStream bytes)
    {
        using var packed = new MemoryStream();
        using (var zlib = new ZLibStream(packed, CompressionLevel.SmallestSize, leaveOpen: true))
            zlib.Write(bytes.GetBuffer(), 0, (int)bytes.Length);
        return packed.ToArray();
    }
}
