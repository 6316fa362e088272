using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Plots;
using MongoPerf.Tests.Cli;
using MongoPerf.Tests.Support;
using SkiaSharp;

namespace MongoPerf.Tests.Reporting;

/// <summary>Files say what is drawn: those that come with the program, and a user's own.</summary>
[Collection(ConsoleTests.Name)]
public sealed class PlotTests : IDisposable
{
    private const string Run = "2026-11-21-a";

    private readonly TemporaryFolder _folder = new();

    public PlotTests() => FrozenRun.Build(_folder.Path, new FrozenShape { Steps = 2, WindowSeconds = 1 });

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Every_standard_chart_is_a_file_that_can_be_read_and_described()
    {
        Assert.Equal(
            ["insert-rate", "query-rate", "query-throughput", "latency", "size", "laps", "size-filled", "restart", "timeline", "shards", "migrations"],
            PlotLibrary.Standard.Select(static plot => plot.Name));
        Assert.All(PlotLibrary.Standard, static plot => Assert.True(plot.Description.Length > 10 && plot.HowToRead.Length > 10, plot.Name));
    }

    [Fact]
    public void The_gallery_shows_every_file_as_it_is()
    {
        string gallery = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "plots.md"));
        Assert.All(PlotLibrary.Standard, plot =>
        {
            Assert.Contains($"```yaml\n{File.ReadAllText(Path.Combine(RepositoryPaths.Root, "plots", plot.Name + ".yaml"))}```", gallery, StringComparison.Ordinal);
            Assert.True(File.Exists(Path.Combine(RepositoryPaths.Root, "docs", "images", "plots", plot.Name + ".png")), plot.Name);
        });
    }

    [Theory]
    [InlineData("x: time\npanels: [cpu]", "1: plot: 'title' is missing")]
    [InlineData("title: T\npanels: [cpu]", "1: plot: 'x' is missing")]
    [InlineData("title: T\nx: time", "neither y nor panels is given")]
    [InlineData("title: T\nx: time\ny: rate\npanels: [cpu]", "both y and panels are given")]
    [InlineData("title: T\nx: tim\npanels: [cpu]", "2: plot: x is 'tim'; allowed: time, documents, filled, inserting, lap, restart")]
    [InlineData("title: T\nx: time\npanels: [cup]", "3: plot: panels is 'cup'; allowed: inserts, operations, latency")]
    [InlineData("title: T\nx: time\npanels:\n  - {show: cpu, y: rate}", "4: panel 1: y is for inserts and queries over documents only")]
    [InlineData("title: T\nx: time\npanels:\n  - {shw: cpu}", "4: panel 1: unknown key 'shw'; allowed: show, y, megabytes, title, lines")]
    [InlineData("title: T\nx: documents\npanels: [sizes, percentiles]", "percentiles has a panel for each operation and stands alone")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nlines: operation", "4: lines is not allowed with panels")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nbands: [migration]", "4: plot: bands is 'migration'; allowed: migrations, index-builds, outages, other-programs")]
    [InlineData("title: T\nx: threads\ny: [rat]", "3: plot: y is 'rat'; allowed: rate, documentRate")]
    [InlineData("title: T\nx: threads\ny: rate\nto: x", "4: to is 'x'; expected a number such as 30 or 10M")]
    [InlineData("title: T\nx: time\npanels: []", "panels has 0 panels; allowed: 1 to 20")]
    public void A_wrong_file_is_told_with_its_line_what_was_found_and_what_is_allowed(string text, string says)
    {
        UserException e = Assert.Throws<UserException>(() => Read("my", text));
        Assert.Contains(says, e.Message, StringComparison.Ordinal);
        Assert.StartsWith("my.yaml:", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Panels_lines_and_titles_are_those_that_the_file_names()
    {
        using StoredRun run = Stored();
        Chart chart = Assert.Single(PlotBuilder.Build(run, Read("mine", "title: Mine\nx: time\nmarks: false\npanels:\n  - memory\n  - {show: latency, title: How slow, lines: [q4 p99, q4 p50]}")));
        Assert.Equal(("mine", "Mine"), (chart.Name, chart.Title));
        Assert.Equal(["Memory", "How slow"], chart.Panels.Select(static panel => panel.Title));
        Assert.Equal(["q4 p99", "q4 p50"], chart.Panels[1].Series.Select(static line => line.Title));
        Assert.Empty(chart.Marks);
    }

    [Fact]
    public void A_plot_of_what_a_run_does_not_have_is_not_drawn()
    {
        using StoredRun run = Stored();
        Assert.Empty(PlotBuilder.Build(run, Read("a", "title: T\nx: time\npanels: [shards]")));
        Assert.Empty(PlotBuilder.Build(run, Read("b", "title: T\nx: time\npanels: [cpu]\nneeds: [shards]")));
        Assert.Empty(PlotBuilder.Build(run, Read("c", "title: T\nx: lap\npanels: [laps]")));
    }

    [Fact]
    public void Inserts_and_queries_can_be_drawn_by_another_metric_over_documents()
    {
        using StoredRun run = Stored();
        Chart chart = Assert.Single(PlotBuilder.Build(run, Read("p", "title: P {growth}\nx: documents\npanels:\n  - {show: queries, lines: [q4]}\n  - {show: queries, y: p99, lines: [q4]}")));
        Assert.StartsWith("P as the collection grows", chart.Title, StringComparison.Ordinal);
        Assert.Equal([false, true], chart.Panels.Select(static panel => panel.Y.IsLogarithmic));
        Assert.True(chart.HasLegendAbove);
    }

    [Fact]
    public void A_file_with_y_draws_results_as_a_figure_of_a_scenario_does()
    {
        using StoredRun run = Stored();
        Chart chart = Assert.Single(PlotBuilder.Build(run, Read("y", "title: By size\nx: documents\ny: [rate, p99]\nlines: phase\nphases: [q4, q5]")));
        Assert.Equal(2, chart.Panels.Count);
        Assert.Equal(["q4", "q5"], chart.Panels[0].Series.Select(static line => line.Title));
    }

    [Fact]
    public void A_report_draws_a_folders_plots_beside_and_in_place_of_the_standard_ones()
    {
        Directory.CreateDirectory(_folder.At("my"));
        File.WriteAllText(_folder.At("my/timeline.yaml"), "title: My timeline\nplace: 1\nx: time\npanels: [operations]");
        File.WriteAllText(_folder.At("my/extra.yaml"), "title: Extra\nx: documents\ny: rate");
        (int code, _, string errors) = InProcess.Run("report", Run, "--out", _folder.Path, "--plots", _folder.At("my"), "--format", "json");
        Assert.True(code == 0, errors);
        string page = File.ReadAllText(_folder.At($"{Run}/report/index.html"));
        Assert.Contains("My timeline", page, StringComparison.Ordinal);
        Assert.Contains("Extra", page, StringComparison.Ordinal);
        Assert.DoesNotContain("Rates over time, and the state of server and client", page, StringComparison.Ordinal);
        Assert.True(File.Exists(_folder.At($"{Run}/report/charts/extra.csv")));
        Assert.Equal(2, InProcess.Run("report", Run, "--out", _folder.Path, "--plots", _folder.At("nowhere")).Code);
    }

    [Fact]
    public void A_style_of_a_users_own_changes_what_it_names()
    {
        Directory.CreateDirectory(_folder.At("my"));
        File.WriteAllText(_folder.At("my/style.yaml"), "letters: {title: 30}\nthemes: {light: {ground: '#fffff0'}}\ncolors: {o1: {light: '#123456'}}");
        File.WriteAllText(_folder.At("my/rate.yaml"), "title: R\nx: documents\npanels: [inserts]");
        string file = _folder.At("s.svg");
        (int code, _, string errors) = Plot("--plot", _folder.At("my/rate.yaml"), "-o", file);
        Assert.True(code == 0, errors);
        string svg = File.ReadAllText(file);
        Assert.Contains("#123456", svg, StringComparison.Ordinal);
        Assert.Contains("#FFFFF0", svg, StringComparison.Ordinal);
        Assert.Contains("font-size=\"30\"", svg, StringComparison.Ordinal);
        Assert.Equal(0, InProcess.Run("report", Run, "--out", _folder.Path, "--plots", _folder.At("my"), "--format", "json").Code);
        Assert.Contains("--c-o1: #123456", File.ReadAllText(_folder.At($"{Run}/report/index.html")), StringComparison.Ordinal);
        Assert.Equal("#E69F00", Palette.Of("o1").Light);
        Assert.Contains("valid: a style file for plots", InProcess.Run("validate", _folder.At("my/style.yaml")).Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("colors: {o9: {light: '#123456'}}", "1: colors: unknown color 'o9'; allowed: o1, o2")]
    [InlineData("colors: {o1: {light: red}}", "1: light is 'red'; expected a color such as '#0072B2'")]
    [InlineData("colors: {o1: {light: '#123456', point: star}}", "point is 'star'; allowed: disc, square")]
    [InlineData("colors: {o1: {dark: '#123456'}}", "color 'o1': 'light' is missing")]
    [InlineData("themes: {grey: {ink: '#123456'}}", "themes: unknown theme 'grey'; allowed: light, dark, print")]
    [InlineData("letters: {title: 100}", "letters: title: '100' is not a number from 10 to 40")]
    public void A_wrong_style_is_told_with_its_line(string text, string says)
    {
        UserException e = Assert.Throws<UserException>(() => PlotStyle.Current.With(new PlotFile("style", "style.yaml", text)));
        Assert.Contains(says, e.Message, StringComparison.Ordinal);
        Assert.StartsWith("style.yaml:1", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void One_chart_is_drawn_in_the_size_and_format_that_are_asked_for()
    {
        string file = _folder.At("p.png");
        Assert.Contains("p.png written", Plot("--plot", "latency", "--width", "1200", "--height", "700", "--scale", "0.5", "--theme", "dark", "-o", file).Output, StringComparison.Ordinal);
        using (SKBitmap picture = SKBitmap.Decode(file))
        {
            Assert.Equal((600, 350), (picture.Width, picture.Height));
            Assert.Equal(SKColor.Parse("#181A1D"), picture.GetPixel(0, 0));
        }

        Assert.Equal(0, Plot("--title", "My own title", "-o", _folder.At("p.svg")).Code);
        string svg = File.ReadAllText(_folder.At("p.svg"));
        Assert.Contains("My own title", svg, StringComparison.Ordinal);
        Assert.Contains("documents in the collection", svg, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("no file and no plot 'latancy'", "--plot", "latancy")]
    [InlineData("has no data for plot 'shards' shows", "--plot", "shards")]
    [InlineData("--height is 400, but timeline needs", "--plot", "timeline", "--height", "400")]
    [InlineData("'100' is out of range; allowed: 400 to 8000", "--width", "100")]
    [InlineData("unknown option '--them'", "--them", "dark")]
    [InlineData("can't be written", "-o", "/nonexistent/p.png")]
    public void What_can_not_be_drawn_is_said(string says, params string[] arguments)
    {
        (int code, _, string errors) = Plot(arguments);
        Assert.True(code == 2, $"{code}: {errors}");
        Assert.Contains(says, errors, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Several_runs_are_drawn_as_their_comparison_or_laid_over_each_other()
    {
        FrozenRun.Build(_folder.Path, new FrozenShape { Id = "2026-11-21-b", Steps = 2, WindowSeconds = 1 });
        string file = _folder.At("r.svg");
        Assert.Equal(0, Plot("2026-11-21-b", "-o", file).Code);
        Assert.Contains("Rates relative to the baseline", File.ReadAllText(file), StringComparison.Ordinal);
        File.WriteAllText(_folder.At("over.yaml"), "title: Over\nx: documents\ny: rate\nphases: q4");
        (int code, _, string errors) = Plot("2026-11-21-b", "--plot", _folder.At("over.yaml"), "-o", file);
        Assert.True(code == 0, errors);
        Assert.Contains("2026-11-21-b", File.ReadAllText(file), StringComparison.Ordinal);
    }

    [Fact]
    public void A_new_plot_is_valid_and_draws()
    {
        string file = _folder.At("mine.yaml");
        Assert.Equal(0, InProcess.Run("new", "--plot", file).Code);
        (int code, string output, string errors) = InProcess.Run("validate", file);
        Assert.True(code == 0, errors);
        Assert.Contains("valid: a plot over time with 4 panels", output, StringComparison.Ordinal);
        Assert.Equal(0, Plot("--plot", file, "-o", _folder.At("n.png")).Code);
        Assert.Contains("insert-rate", InProcess.Run("list", "plots").Output, StringComparison.Ordinal);
        Assert.Equal(0, InProcess.Run("validate", "latency").Code);
    }

    private (int Code, string Output, string Errors) Plot(params string[] arguments) => InProcess.Run(["plot", Run, .. arguments, "--out", _folder.Path]);

    private StoredRun Stored() => StoredRun.Open(_folder.At(Run));

    private static PlotInfo Read(string name, string text) => PlotReader.Read(new PlotFile(name, name + ".yaml", text));
}
