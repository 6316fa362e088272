using MongoPerf.Reports.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class ChartRendererTests(ApprovedReportTests.Fixture fixture) : IClassFixture<ApprovedReportTests.Fixture>
{
    private readonly IReadOnlyList<Chart> _charts = ChartCatalogue.Build(fixture.Run);

    [Fact]
    public void A_run_without_results_has_no_charts_and_no_note()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 0 }.Write(folder.At("run"));

        var rendered = ChartRenderer.Render(run, folder.At("charts"));

        Assert.Empty(rendered.Warnings);
        Assert.Empty(rendered.Files);
    }

    [Fact]
    public void A_percent_sign_at_a_tick_is_drawn_as_it_is()
    {
        using var folder = new TemporaryFolder();

        RenderedCharts rendered = ChartRenderer.Render(new ChartSet([OfShares("shares") with { Title = "Shares" }], []), folder.Path);

        Assert.Empty(rendered.Warnings);
        Assert.Contains("37% reads", File.ReadAllText(folder.At("shares.svg")), StringComparison.Ordinal);
    }

    [Fact]
    public void A_folder_of_a_pictures_name_is_a_note_and_no_exception()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 1, Phases = ["batch"] }.Write(folder.At("run"));
        Directory.CreateDirectory(Path.Combine(folder.At("charts"), "insert-rate.png"));

        var rendered = ChartRenderer.Render(run, folder.At("charts"));

        Assert.StartsWith("note: chart insert-rate skipped: ", Assert.Single(rendered.Warnings), StringComparison.Ordinal);
        Assert.Equal(["latency", "timeline"], rendered.Drawn.Select(static drawn => drawn.Chart.Name));
    }

    [Fact]
    public void What_is_no_number_is_an_empty_field_of_the_data()
    {
        var table = new ChartTable("x.csv", ["at", "rate"]);
        table.Add([1, double.PositiveInfinity]);
        using var text = new StringWriter();

        table.Write(text);

        Assert.Equal("at,rate\r\n1,\r\n", text.ToString());
    }

    /// <param name="name">The chart.</param>
    /// <param name="purpose">What its approved file is to notice.</param>
    [Theory]
    [InlineData("insert-rate", "Ways of inserting on one axis, with a second scale in megabytes; the mark where data outgrow the cache")]
    [InlineData("query-rate", "Queries on one axis of operations, without a second scale; the legend above a single panel")]
    [InlineData("query-throughput", "The same queries in megabytes of documents: each by the size of what it returns")]
    [InlineData("latency", "A panel for each operation, four beside each other, on one axis of latencies, with fewer ticks")]
    [InlineData("size", "Sizes in binary units, and the names of lines above them; the data folder beside the collection")]
    [InlineData("timeline", "Panels of rates, latencies and states over time, documents along the top, an outage as a band; thinned rows")]
    public void Chart_of_the_frozen_run_is_as_approved(string name, string purpose) =>
        Approved.Check($"{name}.txt", ChartDump.Of(Assert.Single(_charts, chart => chart.Name == name), purpose));

    [Fact]
    public void Frozen_run_has_no_other_charts() =>
        Assert.Equal(
            ["insert-rate", "query-rate", "query-throughput", "latency", "size", "timeline"], _charts.Select(static chart => chart.Name));

    /// <summary>Named "37% reads", as is its only tick.</summary>
    private static Chart OfShares(string name)
    {
        var table = new ChartTable(name + ".csv", ["share", "rate"]);
        table.Add([0.5, 2]);
        var names = new AxisScale(1, [new Tick(0.5, "37% reads")]) { IsOfNames = true };
        return new Chart(name, "37% reads", "", names, [new Panel("rate", AxisScale.OfCount(2), [new Series(table, 1, "a", "o1")])]);
    }
}
