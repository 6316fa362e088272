using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml;
using Jint;
using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Explore;

/// <summary>What a page holds to be explored. What a browser makes of it is tested by scripts/page-tests.</summary>
public sealed partial class ExploreTests : IClassFixture<ApprovedReportTests.Fixture>
{
    private const string Hostile = "</script><script>alert(1)</script><!-- ]]> & \" ' \u2028";

    private readonly StoredRun _run;

    public ExploreTests(ApprovedReportTests.Fixture fixture) => _run = fixture.Run;

    [Fact]
    public void Model_of_the_frozen_run_is_approved() => Approved.Check("explore.txt", Text(RunPlot.Of(_run)!));

    [Fact]
    public void What_is_packed_is_read_back_to_five_digits()
    {
        Plot plot = RunPlot.Of(_run)!;
        var packed = new PackedPlot(PlotEncoding.Write(plot, "x"));

        Assert.True(packed.IsReadWhole);
        Assert.Equal(plot.Panels.Count, packed.Columns.Count);
        foreach ((Panel panel, PackedColumns read) in plot.Panels.Zip(packed.Columns))
        {
            AssertClose(Times(panel.Table), read.At, 0.051);
            Assert.Equal(panel.Series.Count, read.Values.Count);
            foreach ((Series written, double[] back) in panel.Series.Zip(read.Values))
            {
                double[] known = [.. written.Values.Where(double.IsFinite)];
                // Durations by the least of them, to a tenth of a microsecond at best.
                AssertClose(
                    [.. written.Values], back, panel.Y.IsLogarithmic ? Math.Max(0.051, known.Min() * 1e-3) : known.Max(Math.Abs) * 1e-4);
            }
        }

        AssertClose([.. plot.Documents!.Rows.Select(row => row[1])], packed.Documents!.Values[0], 0.1);
    }

    [Fact]
    public void Percentiles_of_a_range_are_those_of_its_seconds()
    {
        Plot plot = RunPlot.Of(_run)!;
        var packed = new PackedPlot(PlotEncoding.Write(plot, "x"));
        Assert.Equal(1, plot.Ranges!.BlockSeconds);
        Assert.NotEmpty(packed.Ranges);
        var measured = new MeasuredRanges(_run);
        foreach ((double from, double to) in MeasuredRanges.Random(plot.Seconds).Take(3))
        {
            foreach ((int range, string title) in packed.Ranges.Index())
            {
                LatencySummary expected = measured.Of(title, from, to);
                double?[] figures =
                    [expected.Mean, expected.P50, expected.P90, expected.P95, expected.P99, expected.P999, expected.Max];
                Assert.Equal(
                    expected.Mean is null ? null : figures, packed.Summarise(range, from, to)?.Figures.Select(one => (double?)one));
            }
        }
    }

    /// <summary>Nothing of the program's or the page's has a part in what is expected.</summary>
    [Fact]
    public void Percentiles_of_a_range_are_those_of_the_sorted_durations()
    {
        var random = new Random(11);
        // Of 100 ns to half an hour; some seconds have a single one.
        long[][] durations = [.. Enumerable.Range(0, 30).Select(second => Enumerable.Range(0, second % 7 == 3 ? 1 : random.Next(1, 300))
            .Select(_ => (long)(100 * Math.Exp(random.NextDouble() * Math.Log(1.8e10)))).ToArray())];
        using var runs = new TemporaryFolder();
        var packed = new PackedPlot(PlotEncoding.Write(RunPlot.Of(Measured(runs, durations))!, "x"));
        IReadOnlyList<PackedPlot.Block> blocks = packed.Blocks(0);
        Assert.Equal(durations.Length, blocks.Count);
        Assert.Equal(durations.Select(static second => (long)second.Length),
            blocks.Select(static block => block.Counts.Sum(static one => one.Count)));

        for (int i = 0; i < 20; i++)
        {
            int first = random.Next(durations.Length), last = random.Next(first, durations.Length);
            long[] sorted = [.. durations[first..(last + 1)].SelectMany(static second => second).Order()];
            decimal[] expected =
            [
                .. new[] { 0.5m, 0.9m, 0.95m, 0.99m, 0.999m, 1m }
                    .Select(share => EndOfBucket(sorted[(int)Math.Ceiling(share * sorted.Length) - 1])),
            ];

            // A tenth of a second beyond either end, and as much short of it: a block belongs to where its middle lies.
            double beyond = i % 2 == 0 ? 0.1 : -0.1;
            PackedPlot.Summary summary = packed.Summarise(0, blocks[first].From - beyond, blocks[last].To + beyond)!;

            Assert.Equal((sorted.Length, blocks[first].From, blocks[last].To), (summary.Operations, summary.From, summary.To));
            Assert.Equal(expected, summary.Figures[1..].Select(static figure => (decimal)figure));
            Assert.Equal(sorted.Average() / 1000, summary.Figures[0], (sorted.Average() / 1000 * 0.001) + 0.1);
        }

        Assert.Null(packed.Summarise(0, blocks[^1].To + 1));
        Assert.Equal(durations.Sum(static second => second.Length), packed.Summarise(0)!.Operations);
    }

    [Fact]
    public void What_the_page_saves_of_a_second_the_published_library_reads_as_it_was_measured()
    {
        var random = new Random(12);
        long[][] durations = [.. Enumerable.Range(0, 12)
            .Select(_ => Enumerable.Range(0, 200).Select(_ => random.NextInt64(1L << random.Next(1, 41))).ToArray())];
        using var runs = new TemporaryFolder();
        var packed = new PackedPlot(PlotEncoding.Write(RunPlot.Of(Measured(runs, durations))!, "x"));

        foreach ((int second, long[] of) in durations.Index())
        {
            (string base64, double max) = packed.Encode(0, second);

            using var log = new MemoryStream(Encoding.UTF8.GetBytes($"0.000,1.000,0.000,{base64}\n"));
            using var reader = new HdrHistogram.HistogramLogReader(log);
            HdrHistogram.HistogramBase read = Assert.Single(reader.ReadHistograms());
            Assert.Equal(of.Length, read.TotalCount);
            foreach (IGrouping<(long, long), long> bucket in of.GroupBy(one => (WidthOf(one), one / WidthOf(one))))
                Assert.Equal(bucket.Count(), read.GetCountAtValue(bucket.First()));
            Assert.Equal(of.Max(static one => ((one / WidthOf(one)) + 1) * WidthOf(one)) - 1, max);
        }
    }

    [Fact]
    public void Percentiles_of_the_whole_run_are_those_of_the_results()
    {
        var packed = new PackedPlot(PlotEncoding.Write(RunPlot.Of(_run)!, "x"));
        foreach ((int range, string title) in packed.Ranges.Index())
            Assert.Equal(
                _run.Phases.Where(phase => phase.Phase == title).SelectMany(phase => phase.Operations).Sum(result => result.Operations),
                packed.Summarise(range)!.Operations);
    }

    /// <summary>The bucket rule's vectors: below 2,048 buckets are 64 ns wide, then ever 1,024 twice as wide.</summary>
    [Theory]
    [InlineData(0, 0, 63)]
    [InlineData(1, 64, 127)]
    [InlineData(1023, 65472, 65535)]
    [InlineData(1024, 65536, 65599)]
    [InlineData(2047, 131008, 131071)]
    [InlineData(2048, 131072, 131199)]
    [InlineData(3071, 262016, 262143)]
    [InlineData(3072, 262144, 262399)]
    [InlineData(27647, 4395899027456, 4398046511103)]
    public void Index_of_a_bucket_tells_its_durations(int index, long lowest, long highest)
    {
        var page = new PageScript();

        Assert.Equal(lowest, LatencyHistogram.LowestAt(index));
        Assert.Equal(highest, LatencyHistogram.HighestAt(index));
        Assert.Equal((lowest, highest), (page.Ask("lowest(given[0])", index).AsNumber(), page.Ask("highest(given[0])", index).AsNumber()));
    }

    [Fact]
    public void Names_from_the_run_stay_text()
    {
        var table = new ChartTable("x.csv", ["seconds", Hostile]);
        table.Add([0, 1]);
        var panel = new Panel(Hostile, AxisScale.OfCount(1), [new Series(table, 1, Hostile, "o1")]) { Unit = Hostile };
        var plot = new Plot(1, [panel]) { Marks = [new(0, Hostile, Hostile)], Phases = [new(0, 1, "phase", Hostile)], Remarks = [Hostile] };

        string json = PlotEncoding.Write(plot, Hostile);

        Assert.DoesNotContain('<', json);
        Assert.DoesNotContain('&', json);
        Assert.DoesNotContain('\u2028', json);
        Assert.Equal(Hostile, new PackedPlot(json).Json.GetProperty("panels")[0].GetProperty("series")[0].GetProperty("title").GetString());
        Assert.Throws<ArgumentException>(() => new HtmlWriter().Json("x", "\"<\""));
    }

    [Fact]
    public void Page_is_well_formed_and_lets_only_its_own_scripts_run()
    {
        string page = Page();

        using (var reader = XmlReader.Create(new StringReader(page), new XmlReaderSettings { DtdProcessing = DtdProcessing.Ignore }))
        {
            while (reader.Read())
            {
            }
        }

        string[] scripts = [.. Scripts().Matches(page).Select(static match => match.Groups[1].Value)];
        Assert.Equal(2, scripts.Length);
        string allowed = string.Join(
            ' ', scripts.Select(static script => $"'sha256-{Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(script)))}'"));
        Assert.Contains($"script-src {allowed}\"", page, StringComparison.Ordinal);
        Assert.Contains("default-src 'none'", page, StringComparison.Ordinal);
    }

    /// <summary>The hash is of dist/dygraph.min.js in npm's dygraphs-2.2.1.tgz.</summary>
    [Fact]
    public void Chart_library_is_the_published_file_with_its_licence_and_can_stand_in_a_page()
    {
        using var bytes = new MemoryStream();
        using (Stream resource = typeof(HtmlExplore).Assembly.GetManifestResourceStream("dygraph.min.js")!)
            resource.CopyTo(bytes);
        Assert.Equal(
            "79022073ab2d4276b204339c19131a686c7176c075c68317a46d6073225a6510", Convert.ToHexStringLower(SHA256.HashData(bytes.ToArray())));
        string script = HtmlExplore.Of(_run).Scripts[0];
        Assert.StartsWith("/*! @license https://github.com/danvk/dygraphs/blob/v2.2.1/LICENSE.txt (MIT) */",
            script, StringComparison.Ordinal);
        Assert.DoesNotContain("sourceMappingURL", script, StringComparison.Ordinal);
        // They would end the script within a page, or begin something else.
        Assert.All((string[])["</script", "<!--", "]]>"], part => Assert.DoesNotContain(part, script, StringComparison.OrdinalIgnoreCase));
    }

    [Fact]
    public void Thinning_keeps_every_spike()
    {
        var builder = new PanelBuilder(1, 86_400, 3);
        for (int second = 0; second < 86_400; second++)
            builder.Add(second, 0, second == 4_321 ? 1_000 : second == 77_777 ? 1 : 500);

        ChartTable table = builder.Build("x.csv", ["x"]);
        double piece = builder.PieceSeconds;

        Assert.InRange(piece, 40, 50);
        Assert.InRange(table.Rows.Count, 3_000, PanelBuilder.MostRows + 2);
        Assert.Equal(1_000, table.Rows.Max(row => row[1]));
        Assert.Equal(1, table.Rows.Min(row => row[1]));
        Assert.InRange(table.Rows.Single(row => row[1] == 1_000)[0], 4_321 - piece, 4_321 + piece);
    }

    [Fact]
    public void Lines_sampled_together_share_rows_and_end_where_nothing_was_sampled()
    {
        var builder = new PanelBuilder(2, 10, 3);
        foreach (int second in new[] { 1, 2, 10 })
        {
            builder.Add(second, 0, second);
            builder.Add(second + 0.02, 1, -second);
        }

        ChartTable table = builder.Build("x.csv", ["a", "b"]);

        Assert.Equal(0, builder.PieceSeconds);
        Assert.Equal([[1, 1, -1], [2, 2, -2], [2.1, ChartTable.Gap, ChartTable.Gap], [10, 10, -10]], table.Rows);
    }

    [Fact]
    public void A_line_passes_by_a_row_in_which_it_was_not_sampled()
    {
        var builder = new PanelBuilder(2, 10, 3);
        builder.Add(1, 0, 5);
        builder.Add(1.5, 1, 7);

        ChartTable table = builder.Build("x.csv", ["a", "b"]);
        using var text = new StringWriter();
        table.Write(text);

        Assert.Equal([[1, 5, ChartTable.None], [1.5, ChartTable.None, 7]], table.Rows);
        Assert.Equal("seconds,a,b\r\n1,5,\r\n1.5,,7\r\n", text.ToString());
    }

    private string Page()
    {
        using var folder = new TemporaryFolder();
        return HtmlReport.Build(RunReport.Of(_run), new PagePictures(HtmlExplore.Of(_run), new RenderedCharts([], [], []), folder.Path));
    }

    /// <summary>A run of one operation, with its durations in nanoseconds, a second after the other.</summary>
    private static StoredRun Measured(TemporaryFolder runs, long[][] durations)
    {
        using (RunStore store = RunStore.Create(runs.At("run"), RunParts.Run(), RunParts.Settings()))
        {
            PhaseRecord phase = RunParts.Phase(1, "q4", RunParts.Result("q4"));
            store.BeginPhase(phase with { IsComplete = false }, continues: false);
            foreach ((int second, long[] of) in durations.Index())
            {
                var histogram = new LatencyHistogram();
                foreach (long nanoseconds in of)
                    histogram.RecordNanoseconds(nanoseconds);
                store.AddSample(RunParts.Sample(second) with
                {
                    IsWarmup = false, Seconds = 1, Operations = of.Length, Histogram = HistogramEncoding.Encode(histogram),
                });
            }

            store.EndPhase(phase);
        }

        return StoredRun.Open(runs.At("run"));
    }

    /// <summary>Three digits: as wide a bucket, of 64 ns or more, as a 1,024th to a 2,048th of the duration.</summary>
    private static long WidthOf(long nanoseconds)
    {
        long width = 64;
        while (nanoseconds >= 2048 * width)
            width *= 2;
        return width;
    }

    /// <summary>Microseconds, to a tenth.</summary>
    private static decimal EndOfBucket(long nanoseconds)
    {
        long width = WidthOf(nanoseconds);
        return Math.Round(Math.Max(100, (((nanoseconds / width) + 1) * width) - 1) / 1000m, 1);
    }

    private static readonly string[] Styles = ["", "Solid", "Dashed", "Dotted"];

    private static double[] Times(ChartTable table) => [.. table.Rows.Select(row => row[0])];

    private static void AssertClose(double[] expected, double[] actual, double tolerance)
    {
        Assert.Equal(expected.Length, actual.Length);
        for (int i = 0; i < expected.Length; i++)
            Assert.True(double.IsFinite(expected[i]) ? Math.Abs(expected[i] - actual[i]) <= tolerance : expected[i].Equals(actual[i]),
                $"row {i}: {expected[i]} became {actual[i]}, not within {tolerance}");
    }

    /// <summary>What is drawn, with the figures of each line.</summary>
    private static string Text(Plot plot)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"seconds {plot.Seconds}\n");
        foreach (Panel panel in plot.Panels)
        {
            text.Append(CultureInfo.InvariantCulture,
                $"panel {panel.Title}, {panel.Unit}{(panel.Y.IsLogarithmic ? ", logarithmic" : "")}, {panel.Table.Rows.Count} rows\n");
            foreach (Series series in panel.Series)
            {
                double[] known = [.. series.Values.Where(double.IsFinite)];
                text.Append(CultureInfo.InvariantCulture, $"  {series.Title} {series.Color} {Styles[series.Dash]}"
                    + $"{(series.IsShown ? "" : " hidden")}: {known.Length} points, {series.Values.Count(double.IsNaN)} ends, "
                    + $"{known[0]:0.#} {known.Min():0.#} {known.Max():0.#} {known.Average():0.#}\n");
            }
        }

        foreach (Mark mark in plot.Marks)
            text.Append(CultureInfo.InvariantCulture, $"mark {mark.At:0.0} {mark.Kind}: {mark.Text}\n");
        foreach (Band band in plot.Bands.Concat(plot.Phases.Take(12)))
            text.Append(CultureInfo.InvariantCulture, $"{band.Kind} {band.From:0.0} to {band.To:0.0}: {band.Text}\n");
        foreach (PlotRange range in plot.Ranges!.Series)
            text.Append(CultureInfo.InvariantCulture,
                $"range {range.Title}{(range.IsResponse ? ", response" : "")}: {range.Blocks} blocks of {plot.Ranges.BlockSeconds} s\n");
        text.AppendJoin('\n', plot.Remarks);
        return text.ToString();
    }

    [GeneratedRegex("<script>(.*?)</script>", RegexOptions.Singleline)]
    private static partial Regex Scripts();
}
