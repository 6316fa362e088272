using System.Buffers.Binary;
using System.Xml.Linq;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

/// <summary>Pictures are really drawn. MONGOPERF_KEEP_CHARTS names a folder that keeps the pictures, to look at.</summary>
public sealed class ChartDrawingTests
{
    private static readonly string[] All = ["insert-rate", "query-rate", "query-throughput", "latency", "size", "timeline"];

    [Fact]
    public void A_run_of_ten_steps_gets_every_chart() =>
        Assert.Equal(All, NamesDrawn(
            "ten-steps", new GrowingRun { Events = [(50, "reconnect"), (51, "reconnect"), (200, "outage"), (204, "reconnect")] }));

    [Fact]
    public void A_single_step_gets_every_chart() => Assert.Equal(All, NamesDrawn("one-step", new GrowingRun { Steps = 1 }));

    [Fact]
    public void Two_steps_get_every_chart() =>
        Assert.Equal(All, NamesDrawn("two-steps", new GrowingRun { Steps = 2, DocumentsPerStep = 5000 }));

    [Fact]
    public void A_hundred_steps_with_10_000_samples_get_every_chart() =>
        Assert.Equal(All, NamesDrawn("hundred-steps", new GrowingRun { Steps = 100, DocumentsPerStep = 5_000_000, SecondsPerPhase = 15 }));

    [Fact]
    public void Several_thread_counts_get_a_line_each() =>
        Assert.Equal(All, NamesDrawn("threads", new GrowingRun { Threads = [1, 8, 32] }));

    [Fact]
    public void Only_phases_that_ran_are_drawn() =>
        Assert.Equal(
            ["query-rate", "query-throughput", "latency", "timeline"],
            NamesDrawn("only-q4-q6", new GrowingRun { Phases = ["q4", "q6"] }));

    [Fact]
    public void Inserts_alone_need_no_query_charts() =>
        Assert.Equal(
            ["insert-rate", "latency", "size", "timeline"], NamesDrawn("only-batch", new GrowingRun { Phases = ["batch", "size"] }));

    [Fact]
    public void Zero_everywhere_still_draws() => Assert.Equal(All, NamesDrawn("zeros", new GrowingRun { IsAllZero = true }));

    [Fact]
    public void A_resumed_run_of_an_embedded_server_draws() =>
        Assert.Equal(All, NamesDrawn("embedded-resumed", new GrowingRun
        {
            Deployment = RunParts.Deployment() with
            {
                Kind = DeploymentKind.Embedded, Topology = Topology.Embedded, IsEmbedded = true, CacheBytes = null,
            },
            HasServerSamples = false,
            PauseAfterStep = 4,
            IsFinished = false,
            Events = [(168, "interrupted"), (168 + 10800, "resumed")],
        }));

    [Fact]
    public void A_run_on_three_shards_gets_charts_of_them() =>
        Assert.Equal([.. All, "shards", "migrations"], NamesDrawn("shards", Sharded(3)));

    [Fact]
    public void A_run_on_forty_shards_draws() => Assert.Equal([.. All, "shards", "migrations"], NamesDrawn("forty-shards", Sharded(40)));

    /// <summary>Names come from other people's files.</summary>
    [Fact]
    public void Signs_that_mean_something_elsewhere_are_drawn_as_they_are()
    {
        const string Text = "37% <b> & \"x\" \u0001\uD800 {0} \\ $1 ]]> made'";
        using var folder = new TemporaryFolder();
        var table = new ChartTable("hostile.csv", ["place", Text]);
        table.Add([0.5, 2]);
        var names = new AxisScale(1, [new Tick(0.5, Text)]) { IsOfNames = true, Label = Text };
        var chart = new Chart("hostile", Text, "", names,
            [new Panel(Text + "\nset title", AxisScale.OfCount(2), [new Series(table, 1, Text, "o1")]) { Limit = (1, Text) }])
        {
            Subtitle = Text, Verdict = Text, Marks = [new Mark(0.2, Text)], Top = names,
        };

        RenderedCharts rendered = ChartRenderer.Render(new ChartSet([chart], []), folder.Path);

        Assert.Empty(rendered.Warnings);
        // A control character and half a character are in no XML.
        Assert.Contains(
            "37% <b> & \"x\" \uFFFD {0} \\ $1 ]]> made'", XDocument.Load(folder.At("hostile.svg")).Root!.Value, StringComparison.Ordinal);
    }

    private static Func<string, StoredRun> Sharded(int shards) => folder => StoredRun.Open(FrozenRun.Build(
        folder, new FrozenShape { Shards = [.. Enumerable.Range(0, shards).Select(static i => $"s{i}")], OutageStep = 0 }));

    private static List<string> NamesDrawn(string name, GrowingRun shape) => NamesDrawn(name, shape.Write);

    private static List<string> NamesDrawn(string name, Func<string, StoredRun> write)
    {
        using var folder = new TemporaryFolder();
        using StoredRun run = write(folder.At("run"));
        string? keep = Environment.GetEnvironmentVariable("MONGOPERF_KEEP_CHARTS");
        string target = keep is null ? folder.At("charts") : Path.Combine(keep, name);

        var rendered = ChartRenderer.Render(run, target);

        Assert.Empty(rendered.Warnings);
        foreach (var chart in rendered.Drawn)
        {
            byte[] png = File.ReadAllBytes(chart.PngPath);
            Assert.Equal(1600u, BinaryPrimitives.ReadUInt32BigEndian(png.AsSpan(16)));
            Assert.True(png.Length > 20_000, $"{chart.PngPath} has only {png.Length} bytes: nearly blank");
            Assert.Contains("</svg>", File.ReadAllText(chart.SvgPath), StringComparison.Ordinal);
        }

        foreach (string data in rendered.Files.Where(static file => file.EndsWith(".csv", StringComparison.Ordinal)))
            Assert.InRange(File.ReadLines(data).Count(), 1, 5000);
        return [.. rendered.Drawn.Select(static chart => chart.Chart.Name)];
    }
}
