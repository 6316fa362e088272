using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using SkiaSharp;

namespace MongoPerf.Tests.Reports;

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
            [
                "insert-rate", "query-rate", "query-throughput", "latency", "size", "ratios", "operation", "size-compared", "laps",
                "size-filled", "restart", "timeline", "shards", "migrations", "history",
            ],
            PlotLibrary.Standard.Select(static plot => plot.Name));
        Assert.All(PlotLibrary.Standard, static plot => Assert.True(plot.Description.Length > 10 && plot.HowToRead.Length > 10, plot.Name));
    }

    [Fact]
    public void The_gallery_shows_every_file_as_it_is()
    {
        string gallery = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "plots.md"));
        Assert.All(PlotLibrary.Standard, plot =>
        {
            Assert.Contains($"```yaml\n{File.ReadAllText(Path.Combine(RepositoryPaths.Root, "plots", plot.Name + ".yaml"))}```",
                gallery, StringComparison.Ordinal);
            Assert.True(File.Exists(Path.Combine(RepositoryPaths.Root, "docs", "images", "plots", plot.Name + ".png")), plot.Name);
        });
    }

    [Theory]
    [InlineData("x: time\npanels: [cpu]", "1: plot: 'title' is missing")]
    [InlineData("title: T\npanels: [cpu]", "1: plot: 'x' is missing")]
    [InlineData("title: T\nx: time", "neither y nor panels is given")]
    [InlineData("title: T\nx: time\ny: rate\npanels: [cpu]", "both y and panels are given")]
    [InlineData(
        "title: T\nx: tim\npanels: [cpu]", "2: plot: x is 'tim'; allowed: time, documents, filled, inserting, lap, restart, ratio, "
        + "window, history")]
    [InlineData("title: T\nx: time\npanels: [cup]", "3: plot: panels is 'cup'; allowed: inserts, operations, latency")]
    [InlineData("title: T\nx: time\npanels:\n  - {show: cpu, y: rate}", "4: panel 1: y is for inserts and queries over documents only")]
    [InlineData("title: T\nx: time\npanels:\n  - {shw: cpu}", "4: panel 1: unknown key 'shw'; allowed: show, y, megabytes, title, lines")]
    [InlineData("title: T\nx: documents\npanels: [sizes, percentiles]", "percentiles has a panel for each operation and stands alone")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nlines: operation", "4: lines is not allowed with panels")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nbands: [migration]",
        "4: plot: bands is 'migration'; allowed: migrations, index-builds, outages, other-programs")]
    [InlineData("title: T\nx: threads\ny: [rat]", "3: plot: y is 'rat'; allowed: rate, perMinute, documentRate")]
    [InlineData("title: T\nx: threads\ny: rate\nto: x", "4: plot: to is 'x'; expected a number such as 30 or 10M")]
    [InlineData("title: T\nx: time\npanels: []", "panels has 0 panels; allowed: 1 to 20")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nruns: two", "4: plot: runs is 'two'; allowed: one, several, any")]
    [InlineData("title: T\nx: ratio\npanels: [rate]\nruns: any", "4: runs is 'any'; over ratio it can only be 'several'")]
    [InlineData("title: T\nx: history\npanels: [rate]\nruns: one", "4: runs is 'one'; over history it can only be 'several'")]
    [InlineData("title: T\nx: history\npanels: [{show: rate, title: R}]", "3: panel 1: title is not allowed for rate")]
    [InlineData("title: T\nx: ratio\npanels: [{show: rate, lines: [q4]}]", "3: panel 1: lines is not allowed over ratio")]
    [InlineData(
        "title: T\nx: window\npanels: [{show: latency, lines: [p980]}]", "3: panel 1: lines is 'p980'; allowed: p50, p95, p99, p999, max")]
    [InlineData("title: T\nx: documents\npanels: [{show: percentiles, lines: [max]}]",
        "3: panel 1: lines is 'max'; allowed: p50, p95, p99, p999, service")]
    [InlineData("title: T\nx: inserting\npanels: [{show: rates, title: R}]", "3: panel 1: title is not allowed for rates")]
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
        Chart chart = Assert.Single(PlotBuilder.Build(run, Read("mine",
            "title: Mine\nx: time\nmarks: false\npanels:\n  - memory\n  - {show: latency, title: How slow, lines: [q4 p99, q4 p50]}")));
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
        Chart chart = Assert.Single(PlotBuilder.Build(run, Read(
            "p", "title: P {growth}\nx: documents\npanels:\n  - {show: queries, lines: [q4]}\n  - {show: queries, y: p99, lines: [q4]}")));
        Assert.StartsWith("P as the collection grows", chart.Title, StringComparison.Ordinal);
        Assert.Equal([false, true], chart.Panels.Select(static panel => panel.Y.IsLogarithmic));
        Assert.True(chart.HasLegendAbove);
    }

    [Fact]
    public void A_file_with_y_draws_results_as_a_figure_of_a_scenario_does()
    {
        using StoredRun run = Stored();
        Chart chart = Assert.Single(
            PlotBuilder.Build(run, Read("y", "title: By size\nx: documents\ny: [rate, p99]\nlines: phase\nphases: [q4, q5]")));
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

    /// <summary>Not at the end of a run that took hours.</summary>
    [Theory]
    [InlineData("title: Mine\nx: nowhere\npanels: [cpu]", "mine.yaml:2: ")]
    [InlineData(null, "--plots: no folder")]
    public void A_users_plots_are_read_before_a_run_begins(string? text, string says)
    {
        if (text is not null)
        {
            Directory.CreateDirectory(_folder.At("my"));
            File.WriteAllText(_folder.At("my/mine.yaml"), text);
        }

        string[] series = ["series", "--target", "1k", "--topology", "null", "--out", _folder.At("runs"), "--plots", _folder.At("my")];
        (int code, _, string errors) = InProcess.Run(series);
        Assert.Equal(2, code);
        Assert.Contains(says, errors, StringComparison.Ordinal);
        Assert.Contains(
            "--plots says what reports draw, and --no-report writes none", InProcess.Run([.. series, "--no-report"]).Errors,
            StringComparison.Ordinal);
        Assert.False(Directory.Exists(_folder.At("runs")));
    }

    [Fact]
    public void A_style_of_a_users_own_changes_what_it_names()
    {
        Directory.CreateDirectory(_folder.At("my"));
        File.WriteAllText(_folder.At("my/style.yaml"),
            "fontSizes: {title: 30}\nthemes: {light: {background: '#fffff0'}}\ncolors: {o1: {light: '#123456'}}");
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
        Assert.Contains(
            "valid: a style file for plots", InProcess.Run("validate", _folder.At("my/style.yaml")).Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("colors: {o9: {light: '#123456'}}", "1: colors: unknown color 'o9'; allowed: o1, o2")]
    [InlineData("colors: {o1: {light: red}}", "1: light is 'red'; expected a color such as '#0072B2'")]
    [InlineData("colors: {o1: {light: '#123456', marker: star}}", "marker is 'star'; allowed: circle, square")]
    [InlineData("colors: {o1: {dark: '#123456'}}", "color 'o1': 'light' is missing")]
    [InlineData("themes: {gray: {text: '#123456'}}", "themes: unknown theme 'gray'; allowed: light, dark, print")]
    [InlineData("fontSizes: {title: 100}", "fontSizes: title: '100' is not a number from 10 to 40")]
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
        (_, string output, string errors) = Plot("--plot", "latency", "--width", "1200", "--height", "700", "--scale", "0.5",
            "--theme", "dark", "-o", file);
        Assert.Contains("p.png written, with its data in p.csv", output + errors, StringComparison.Ordinal);
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
    [InlineData("has no data for plot shards", "--plot", "shards")]
    [InlineData("ratios is a plot of several runs; one is named", "--plot", "ratios")]
    [InlineData("p.csv would be a picture; allowed: .png and .svg", "-o", "p.csv")]
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
        string data = File.ReadAllText(_folder.At("r.csv"));
        Assert.StartsWith($"operation,{Run} ratio,", data, StringComparison.Ordinal);
        Assert.Contains("\nq4,", data, StringComparison.Ordinal);
        Assert.Equal(0, Plot("2026-11-21-b", "--plot", "size-compared", "-o", file).Code);
        Assert.Contains("Size of documents and indexes as stored", File.ReadAllText(file), StringComparison.Ordinal);
        Assert.Equal(0, Plot("2026-11-21-b", "--plot", "operation-q4", "-o", file).Code);
        Assert.Contains("q4: rate and latency, ", File.ReadAllText(file), StringComparison.Ordinal);
        (int refused, _, string why) = Plot("2026-11-21-b", "--plot", "insert-rate", "-o", file);
        Assert.Equal(2, refused);
        Assert.Contains("insert-rate is a plot of one run; 2 are named", why, StringComparison.Ordinal);
        File.WriteAllText(_folder.At("over.yaml"), "title: Over\nx: documents\ny: rate\nphases: q4");
        (int code, _, string errors) = Plot("2026-11-21-b", "--plot", _folder.At("over.yaml"), "-o", file);
        Assert.True(code == 0, errors);
        Assert.Contains("2026-11-21-b", File.ReadAllText(file), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("o.png")]
    [InlineData("o.svg")]
    public void Data_of_somebody_else_stay_and_nothing_is_written(string name)
    {
        string file = _folder.At(name), foreign = _folder.At("o-latencies.csv");
        File.WriteAllText(foreign, "seconds,mine\r\n1,2\r\n");
        (int code, _, string errors) = Plot("--plot", "timeline", "-o", file);
        Assert.Equal(2, code);
        Assert.Contains($"{foreign} exists, and 'plot' did not write it; nothing was written\nhint:  ", errors, StringComparison.Ordinal);
        Assert.Equal(["o-latencies.csv"], Directory.GetFiles(_folder.Path, "o*").Select(Path.GetFileName));
        // A picture of ours that has other data changes nothing.
        Assert.Equal(0, Plot("--plot", "latency", "-o", file).Code);
        Assert.Equal(2, Plot("--plot", "timeline", "-o", file).Code);
        Assert.Equal("seconds,mine\r\n1,2\r\n", File.ReadAllText(foreign));
        File.Delete(foreign);
        Assert.Equal(0, Plot("--plot", "timeline", "-o", file).Code);
        // What the picture names is ours, whatever is drawn next, and once more.
        string[] ours = Directory.GetFiles(_folder.Path, "o-*.csv");
        foreach (string plot in (string[])["timeline", "latency", "timeline", "size", "latency"])
            Assert.Equal(0, Plot("--plot", plot, "-o", file).Code);
        Assert.Equal(ours, Directory.GetFiles(_folder.Path, "o-*.csv"));
        if (name == "o.png")
            SKBitmap.Decode(file).Dispose();
        else
            System.Xml.Linq.XDocument.Load(file);
        // Without its picture it is known by its columns.
        File.Delete(file);
        Assert.Equal(0, Plot("--plot", "latency", "-o", file).Code);
    }

    [Fact]
    public void A_picture_for_no_file_has_no_data_beside_it()
    {
        (int code, string output, string errors) = Plot("--plot", "latency", "-o", "/dev/null");
        Assert.True(code == 0, errors);
        Assert.Equal("", output);
        Assert.False(File.Exists("/dev/null.csv"));
        for (int again = 0; again < 2; again++)
            Assert.Equal(0, Plot("--plot", again == 0 ? "latency" : "timeline", "-o", _folder.At("a---b c.svg")).Code);
        System.Xml.Linq.XDocument.Load(_folder.At("a---b c.svg"));
        Assert.Equal(0, Plot("--plot", "size", "-o", _folder.At("a---b c.svg")).Code);
        System.Diagnostics.Process.Start("mkfifo", _folder.At("q.csv")).WaitForExit();
        Assert.Contains("q.csv exists, and 'plot' did not write it", Plot("--plot", "latency", "-o", _folder.At("q.png")).Errors,
            StringComparison.Ordinal);
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

    [Fact]
    public void A_comparison_draws_a_folders_plots_of_several_runs_and_leaves_those_of_one()
    {
        FrozenRun.Build(_folder.Path, new FrozenShape { Id = "2026-11-21-b", Steps = 2, WindowSeconds = 1 });
        Directory.CreateDirectory(_folder.At("my"));
        File.WriteAllText(_folder.At("my/ratios.yaml"), "title: My ratios\nx: ratio\npanels: [rate, {show: p99, title: Slowest}]");
        File.WriteAllText(
            _folder.At("my/tails.yaml"), "title: 'Tails of {operation}'\nx: window\npanels:\n  - {show: latency, lines: [p95, p999, max]}");
        File.WriteAllText(_folder.At("my/each.yaml"), "title: Each\nruns: any\nx: time\npanels: [cpu]");
        File.WriteAllText(_folder.At("my/one.yaml"), "title: One\nx: time\npanels: [cpu]");
        (int code, _, string errors) = InProcess.Run(
            "compare", Run, "2026-11-21-b", "--force", "--out", _folder.Path, "--plots", _folder.At("my"), "--format", "json");
        Assert.True(code == 0, errors);
        string charts = _folder.At($"compare-{Run}-2026-11-21-b/charts");
        string ratios = File.ReadAllText(Path.Combine(charts, "ratios.svg"));
        Assert.Contains("My ratios", ratios, StringComparison.Ordinal);
        Assert.Contains("Slowest", ratios, StringComparison.Ordinal);
        Assert.Contains("Tails of q4", File.ReadAllText(Path.Combine(charts, "tails-q4.svg")), StringComparison.Ordinal);
        Assert.Contains(
            "p95 solid, p999 dashed, max dotted", File.ReadAllText(Path.Combine(charts, "tails-q4.svg")), StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(charts, $"each-{Run}.svg")));
        Assert.False(File.Exists(Path.Combine(charts, "one.svg")));
    }

    [Fact]
    public void The_data_of_each_panel_lie_beside_a_picture()
    {
        (int code, string output, string errors) = Plot("--plot", "timeline", "-o", _folder.At("t.png"));
        Assert.True(code == 0, errors);
        Assert.Contains("t.png written, with its data in t-inserts.csv, t-operations.csv, t-latencies.csv",
            output, StringComparison.Ordinal);
        Assert.StartsWith("seconds,", File.ReadAllText(_folder.At("t-operations.csv")), StringComparison.Ordinal);
    }

    [Fact]
    public void A_timeline_of_the_size_of_a_slide_is_drawn_with_all_its_panels()
    {
        string file = _folder.At("t.png");
        (int code, _, string errors) = Plot("--plot", "timeline", "--width", "1200", "--height", "600", "--scale", "2", "-o", file);
        Assert.True(code == 0, errors);
        using SKBitmap picture = SKBitmap.Decode(file);
        Assert.Equal((2400, 1200), (picture.Width, picture.Height));
    }

    [Fact]
    public void A_name_that_the_run_does_not_have_is_said_with_those_that_it_has()
    {
        File.WriteAllText(_folder.At("my.yaml"), "title: T\nx: documents\ny: rate\nphases: [qq5]");
        (int code, _, string errors) = Plot("--plot", _folder.At("my.yaml"), "-o", _folder.At("n.png"));
        Assert.Equal(2, code);
        Assert.Contains($"phases is 'qq5', which run {Run} does not have; it has ", errors, StringComparison.Ordinal);
        Assert.Contains("did you mean 'q5'?", errors, StringComparison.Ordinal);
    }

    /// <summary>Found by a review: lists were drawn without the names that the run does not have, and nothing said so.</summary>
    [Theory]
    [InlineData("x: documents\ny: rate\nphases: [q4, qq5]", "phases has 'qq5', which run", "; it has ")]
    [InlineData("x: documents\npanels: [{show: queries, lines: [q4, qq5]}]", "lines has 'qq5', which run", "")]
    [InlineData("x: time\npanels: [{show: latency, lines: [q4 p50, qq5 p50]}]", "lines has 'qq5 p50', which run", "")]
    public void A_list_is_drawn_without_the_names_that_the_run_does_not_have_which_are_said(string plot, string warning, string known)
    {
        File.WriteAllText(_folder.At("my.yaml"), $"title: T\n{plot}");
        (int code, _, string errors) = Plot("--plot", _folder.At("my.yaml"), "-o", _folder.At("n.svg"));
        Assert.Equal(0, code);
        Assert.Contains($"my.yaml: {warning} {Run} does not have{known}", errors, StringComparison.Ordinal);
        using StoredRun run = Stored();
        string read = Assert.Single(PlotBuilder.Build(run, Read("my", $"title: T\n{plot}"))).HowToRead;
        Assert.EndsWith(
            $"Left out, because nothing of that name was measured: '{warning.Split('\'')[1]}'.", read, StringComparison.Ordinal);
        (_, _, string none) = Plot("--plot", "timeline", "-o", _folder.At("t.svg"));
        Assert.DoesNotContain("warning", none, StringComparison.Ordinal);
    }

    [Fact]
    public void Lines_and_titles_of_a_file_are_kept_by_every_source()
    {
        using StoredRun run = Stored();
        Chart sizes = Assert.Single(PlotBuilder.Build(
            run, Read("s", "title: S\nx: documents\npanels:\n  - {show: sizes, title: How large, lines: ['indexes, as stored']}")));
        Assert.Equal(("How large", "indexes, as stored"), (sizes.Panels[0].Title, Assert.Single(sizes.Panels[0].Series).Title));
        Chart latency =
            Assert.Single(PlotBuilder.Build(run, Read("l", "title: L\nx: documents\npanels:\n  - {show: percentiles, lines: [p99]}")));
        Assert.All(latency.Panels, static panel => Assert.Equal("p99", Assert.Single(panel.Series).Title));
        Chart rates = Assert.Single(PlotBuilder.Build(run, Read("r", "title: R\nx: time\npanels:\n  - {show: operations, lines: [q7]}")));
        Assert.InRange(rates.Panels[0].Y.Max / rates.Panels[0].Series[0].Largest, 1, 1.6);
    }

    private (int Code, string Output, string Errors) Plot(params string[] arguments) =>
        InProcess.Run(["plot", Run, .. arguments, "--out", _folder.Path]);

    private StoredRun Stored() => StoredRun.Open(_folder.At(Run));

    private static PlotInfo Read(string name, string text) => PlotReader.Read(new PlotFile(name, name + ".yaml", text));
}
