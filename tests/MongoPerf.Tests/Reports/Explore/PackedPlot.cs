using System.Text.Json;
using Jint;
using Jint.Native;
using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Reports.Explore;

/// <param name="At">Seconds on the axis.</param>
/// <param name="Values">A column for each line.</param>
internal sealed record PackedColumns(double[] At, IReadOnlyList<double[]> Values);

/// <summary>What a page holds, as its own script reads it.</summary>
internal sealed class PackedPlot
{
    private readonly PageScript _script = new();
    private readonly JsValue _plot;

    public PackedPlot(string json)
    {
        Json = JsonDocument.Parse(json).RootElement;
        _script.Ask("""
            globalThis.readers = [];
            Words = class extends Words {
              constructor(bytes, at) {
                super(bytes, at);
                if (at === undefined) readers.push(this);
              }
            };
            """);
        _plot = _script.Ask("read(given[0])", json);
        IsReadWhole = _script.Ask("readers.length === 2 && readers.every(one => one.at === one.bytes.length)").AsBoolean();
    }

    /// <param name="From">Seconds.</param>
    /// <param name="To">Seconds.</param>
    /// <param name="Counts">By index.</param>
    internal sealed record Block(double From, double To, IReadOnlyList<(int Index, long Count)> Counts);

    /// <param name="Operations">How many the blocks of the range have.</param>
    /// <param name="From">Where the first of them begins, seconds.</param>
    /// <param name="To">Where the last of them ends, seconds.</param>
    /// <param name="Figures">Mean, median, 90, 95, 99, 99.9 % and maximum in microseconds.</param>
    internal sealed record Summary(long Operations, double From, double To, double[] Figures);

    public JsonElement Json { get; }

    /// <summary>Whether the script took every byte of both streams.</summary>
    public bool IsReadWhole { get; }

    public IReadOnlyList<PackedColumns> Columns =>
        [.. Of(_plot, "panels").Select(panel => new PackedColumns(
            Numbers(panel.Get("at")), [.. Of(panel, "series").Select(static series => Numbers(series.Get("values")))]))];

    public PackedColumns? Documents => _plot.Get("growth") is { } growth && growth.IsObject()
        ? new PackedColumns(Numbers(growth.Get("at")), [Numbers(growth.Get("count"))])
        : null;

    public IReadOnlyList<string> Ranges => [.. Of(_plot, "ranges").Select(static range => range.Get("title").AsString())];

    public IReadOnlyList<Block> Blocks(int range) => [.. _script.Ask("""
        given[0].ranges[given[1]].blocks.map(block => {
          const counts = [];
          countsOf(block, (index, count) => counts.push(index, count));
          return { from: block.from, to: block.to, counts };
        })
        """, _plot, range).AsArray().Select(static block => new Block(
            block.Get("from").AsNumber(), block.Get("to").AsNumber(),
            [.. Numbers(block.Get("counts")).Chunk(2).Select(static pair => ((int)pair[0], (long)pair[1]))]))];

    /// <returns>The page's line of the table for a range of time; null where nothing was measured.</returns>
    public Summary? Summarise(int range, double from = 0, double to = double.MaxValue) =>
        _script.Ask("summarise(given[0].ranges[given[1]], given[2], given[3])", _plot, range, from, to) is { } summary && summary.IsObject()
            ? new Summary((long)summary.Get("total").AsNumber(), summary.Get("begin").AsNumber(), summary.Get("end").AsNumber(),
                Numbers(summary.Get("figures")))
            : null;

    /// <returns>A block as the page saves it in an .hlog file: base64, and its longest duration in nanoseconds.</returns>
    public (string Base64, double Max) Encode(int range, int block)
    {
        JsValue saved = _script.Ask("encode(given[0].ranges[given[1]].blocks[given[2]])", _plot, range, block);
        return (saved.Get("base64").AsString(), saved.Get("max").AsNumber());
    }

    /// <summary>Adds what a live page is sent while it is looked at.</summary>
    public void Append(string tail) => _script.Ask("read(given[1]).then(tail => append(given[0], tail))", _plot, tail);

    private static JsArray Of(JsValue value, string name) => value.Get(name).AsArray();

    private static double[] Numbers(JsValue array) =>
        [.. array.AsArray().Select(static value => value.IsNull() ? ChartTable.None : value.AsNumber())];
}
