using System.IO.Compression;
using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Reports.Explore;

/// <param name="At">Seconds on the axis.</param>
/// <param name="Values">A column for each line.</param>
internal sealed record PackedColumns(double[] At, IReadOnlyList<double[]> Values);

/// <summary>Reads what a page holds, by the rules that explore.js follows.</summary>
internal sealed class PackedPlot
{
    private readonly byte[] _bytes;
    private int _at;

    public PackedPlot(string json)
    {
        Json = JsonDocument.Parse(json).RootElement;
        _bytes = [.. Plain("packed"), .. Plain("histograms")];
        foreach (JsonElement panel in Json.GetProperty("panels").EnumerateArray())
        {
            int rows = panel.GetProperty("rows").GetInt32();
            Columns.Add(new PackedColumns(Column(rows, 1), [.. panel.GetProperty("series").EnumerateArray()
                .Select(series => Column(rows, series.GetProperty("decimals").GetInt32()))]));
        }

        int documents = Json.GetProperty("documents").GetInt32();
        Documents = documents == 0 ? null : new PackedColumns(Column(documents, 1), [Column(documents, 0)]);
        foreach (JsonElement range in Json.GetProperty("ranges").EnumerateArray())
            Ranges.Add((range.GetProperty("title").GetString()!, Blocks(range.GetProperty("blocks").GetInt32())));
        IsReadWhole = _at == _bytes.Length;
    }

    private byte[] Plain(string name)
    {
        using var packed = new MemoryStream(Json.GetProperty(name).GetBytesFromBase64());
        using var zlib = new ZLibStream(packed, CompressionMode.Decompress);
        using var plain = new MemoryStream();
        zlib.CopyTo(plain);
        return plain.ToArray();
    }

    /// <param name="From">Seconds.</param>
    /// <param name="To">Seconds.</param>
    /// <param name="Counts">By index.</param>
    internal sealed record Block(double From, double To, IReadOnlyList<(int Index, long Count)> Counts);

    public JsonElement Json { get; }

    public List<PackedColumns> Columns { get; } = [];

    public PackedColumns? Documents { get; }

    public List<(string Title, IReadOnlyList<Block> Blocks)> Ranges { get; } = [];

    public bool IsReadWhole { get; }

    /// <summary>Of the blocks whose middle lies in the range.</summary>
    public static LatencyHistogram Sum(IEnumerable<Block> blocks, double from, double to)
    {
        var sum = new LatencyHistogram();
        foreach (Block block in blocks.Where(block => (block.From + block.To) / 2 >= from && (block.From + block.To) / 2 <= to))
        {
            foreach ((int index, long count) in block.Counts)
                sum.AddCount(index, count);
        }

        return sum;
    }

    private double[] Column(int rows, int decimals)
    {
        double[] values = new double[rows];
        long last = 0;
        for (int i = 0; i < rows; i++)
        {
            long word = Word();
            values[i] = word switch
            {
                0 => ChartTable.None,
                1 => ChartTable.Gap,
                _ => (last += Signed(word - 2)) * Math.Pow(10, -decimals),
            };
        }

        return values;
    }

    private Block[] Blocks(int count)
    {
        var blocks = new Block[count];
        long end = 0;
        for (int i = 0; i < count; i++)
        {
            long from = end + Signed(Word());
            end = from + Word();
            var counts = new (int, long)[Word()];
            int index = -1;
            for (int j = 0; j < counts.Length; j++)
            {
                long step = Word();
                index += (int)(step >> 1);
                counts[j] = (index, (step & 1) == 0 ? 1 : Word());
            }

            blocks[i] = new Block(from / 10.0, end / 10.0, counts);
        }

        return blocks;
    }

    private long Word()
    {
        long value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte one = _bytes[_at++];
            value |= (long)(one & 127) << shift;
            if (one < 128)
                return value;
        }
    }

    private static long Signed(long zigZag) => (zigZag >> 1) ^ -(zigZag & 1);
}
