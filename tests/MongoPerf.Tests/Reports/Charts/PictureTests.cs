using System.Runtime.CompilerServices;
using System.Xml.Linq;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Charts.Drawing;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using SkiaSharp;

namespace MongoPerf.Tests.Reports.Charts;

/// <summary>
/// What pictures look like: a few are compared with approved ones. UPDATE_APPROVED=1 rewrites those: look at them before committing.
/// </summary>
public sealed class PictureTests : IDisposable
{
    /// <summary>Of the layout's pixels: letters and lines are there, and files are small.</summary>
    private const double Scale = 0.4;

    /// <summary>A pixel of another processor may differ by so much, of 255.</summary>
    private const int SameColor = 48;

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("insert-rate", true)]
    [InlineData("latency", false)]
    [InlineData("timeline", false)]
    [InlineData("shards", true)]
    public void Pictures_look_as_approved(string name, bool isDark)
    {
        using StoredRun run =
            StoredRun.Open(FrozenRun.Build(_folder.Path, new FrozenShape { Steps = 3, WindowSeconds = 2, Shards = ["s0", "s1"] }));
        Chart chart = ChartCatalogue.Build(run).Single(chart => chart.Name == name);
        byte[] png = PictureFile.Png(chart, isDark ? ChartTheme.Dark : ChartTheme.Light, Scale);
        string file = Approved($"{name}{(isDark ? "-dark" : "")}.png");
        if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
            File.WriteAllBytes(file, png);
        using SKBitmap expected = SKBitmap.Decode(file);
        using SKBitmap actual = SKBitmap.Decode(png);
        Assert.Equal((expected.Width, expected.Height), (actual.Width, actual.Height));
        int different = expected.Pixels.Zip(actual.Pixels).Count(static pair => Distance(pair.First, pair.Second) > SameColor);
        Assert.True(different < expected.Pixels.Length / 500,
            $"{different} of {expected.Pixels.Length} pixels differ from {file}; UPDATE_APPROVED=1 rewrites it");
    }

    [Fact]
    public void The_same_chart_gives_the_same_bytes_each_time()
    {
        using StoredRun run = new GrowingRun { Steps = 3 }.Write(_folder.At("run"));
        Chart chart = ChartCatalogue.Build(run).Single(static chart => chart.Name == "latency");
        Assert.Equal(PictureFile.Png(chart, ChartTheme.Light), PictureFile.Png(chart, ChartTheme.Light));
        Assert.Equal(PictureFile.Svg(chart, ChartTheme.Light), PictureFile.Svg(chart, ChartTheme.Light));
    }

    [Fact]
    public void A_line_ends_where_values_are_missing_and_goes_on_where_only_other_lines_have_any()
    {
        Assert.Equal(2, PiecesOf(ChartTable.Gap));
        Assert.Equal(1, PiecesOf(ChartTable.None));

        static int PiecesOf(double missing)
        {
            string path = Assert.Single(Paths(Line([[0, 1], [1, 2], [2, missing], [3, 2], [4, 1]])));
            return path.Count(static c => c == 'M');
        }
    }

    [Fact]
    public void Dashes_are_in_the_svg_too()
    {
        Chart solid = Line([[0, 1], [4, 2]]);
        Chart dashed = Line([[0, 1], [4, 2]], series => series with { Dash = 2 });
        Assert.Equal(1, Assert.Single(Paths(solid)).Count(static c => c == 'M'));
        Assert.True(Assert.Single(Paths(dashed)).Count(static c => c == 'M') > 20);
    }

    [Fact]
    public void Ticks_beyond_the_axis_are_not_drawn()
    {
        Chart chart = Line([[0, 1], [4, 2]]);
        chart = chart with { X = new AxisScale(4, [new Tick(0, "first"), new Tick(4, "last"), new Tick(5, "beyond")]) };
        string text = XDocument.Parse(PictureFile.Svg(chart, ChartTheme.Light)).Root!.Value;
        Assert.Contains("last", text, StringComparison.Ordinal);
        Assert.DoesNotContain("beyond", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_font_without_chinese_characters_is_not_taken_for_one_with_them()
    {
        using Stream own = typeof(ChartFonts).Assembly.GetManifestResourceStream("DejaVuSans.ttf")!;
        using (FileStream file = File.Create(_folder.At("a.ttf")))
            own.CopyTo(file);
        File.WriteAllText(_folder.At("b.ttf"), "no font");
        Assert.Null(ChartFonts.Find(null, [_folder.Path, _folder.At("nowhere")]));
        Assert.Null(ChartFonts.Find(_folder.At("a.ttf"), []));
        Assert.Null(ChartFonts.Find(_folder.At("b.ttf"), []));
        Assert.Null(ChartFonts.Find(_folder.At("nowhere"), []));
    }

    [Fact]
    public void The_program_brings_a_font_for_all_its_english_texts() =>
        Assert.Equal("DejaVu Sans", ChartFonts.Of("Rates: 5 µs × 2 – ±1 … ≥ é ß ").FamilyName);

    private static Chart Line(double[][] rows, Func<Series, Series>? changed = null)
    {
        var table = new ChartTable("x.csv", ["at", "value"]);
        foreach (double[] row in rows)
            table.Add(row);
        var series = new Series(table, 1, "", "o1");
        return new Chart("x", "X", "", new AxisScale(4, [new Tick(0, "0")]),
            [new Panel("value", AxisScale.OfCount(2), [changed is null ? series : changed(series)]) { IsState = true }]);
    }

    /// <summary>Of the line.</summary>
    private static IEnumerable<string> Paths(Chart chart) => XDocument.Parse(PictureFile.Svg(chart, ChartTheme.Light)).Descendants()
        .Where(static element => element.Name.LocalName == "path"
            && element.Attributes().Any(static one => one.Name.LocalName is "fill" or "stroke" && one.Value == Palette.Of("o1").Light))
        .Select(static element => element.Attribute("d")!.Value);

    private static int Distance(SKColor one, SKColor other) =>
        Math.Max(Math.Abs(one.Red - other.Red), Math.Max(Math.Abs(one.Green - other.Green), Math.Abs(one.Blue - other.Blue)));

    private static string Approved(string name, [CallerFilePath] string testFile = "") =>
        Path.Combine(Path.GetDirectoryName(testFile)!, "Approved", name);
}
