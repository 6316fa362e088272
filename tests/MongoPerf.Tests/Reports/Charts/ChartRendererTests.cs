using MongoPerf.Reports.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class ChartRendererTests
{
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

    [Fact]
    public void Charts_of_the_frozen_run_are_as_approved()
    {
        using var folder = new TemporaryFolder();
        using var run = MongoPerf.Storage.StoredRun.Open(FrozenRun.Build(folder.Path));
        Approved.Check("charts-of-the-frozen-run.txt", ChartDump.Of(ChartCatalogue.Build(run)));
    }

    /// <summary>Named "37% reads", as is its only tick.</summary>
    private static Chart OfShares(string name)
    {
        var table = new ChartTable(name + ".csv", ["share", "rate"]);
        table.Add([0.5, 2]);
        var names = new AxisScale(1, [new Tick(0.5, "37% reads")]) { IsOfNames = true };
        return new Chart(name, "37% reads", "", names, [new Panel("rate", AxisScale.OfCount(2), [new Series(table, 1, "a", "o1")])]);
    }
}
