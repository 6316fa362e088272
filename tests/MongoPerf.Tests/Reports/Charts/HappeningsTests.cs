using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Html;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports.Charts;

/// <summary>Charts and page show the same marks and bands, under the same names.</summary>
public sealed class HappeningsTests : IDisposable
{
    private static readonly long Start = RunParts.Start.ToUnixTimeMilliseconds();

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Events_and_pauses_are_marked_alike_and_labelled_where_there_is_little_room()
    {
        using StoredRun run = Stored(At(1, RunEvent.Phase, "reads (limit=10)"), At(50, "outage", "a: gone"));

        IReadOnlyList<Mark> marks = RunPlot.Of(run)!.Marks;

        Assert.Equal(marks, Timeline(run).Marks.OrderBy(mark => mark.At));
        Assert.Equal([("phase", "reads (limit=10)"), ("outage", "a: gone"), ("pause", "2 h 44 min")],
            marks.Select(mark => (mark.Kind, mark.Text)));
        Assert.Equal(["reads (limit=10)", "outage", "pause of 2 h 44 min"], marks.Select(mark => mark.Label));
    }

    [Fact]
    public void An_outage_is_shaded_once_however_many_workers_report_it()
    {
        using StoredRun run = Stored(At(50, "outage", "a: gone", 4), At(50.25, "outage", "b: gone", 3.75), At(80, "outage", "no length"));

        Assert.Equal([new Band(46, 50.25, "outage", "a: gone")], Timeline(run).Bands);
        Assert.Equal(Timeline(run).Bands, RunPlot.Of(run)!.Bands);
    }

    [Fact]
    public void Labels_of_a_chart_are_translated_as_the_pages_are()
    {
        using StoredRun run = Stored(At(50, "outage", "a: gone"));
        using IDisposable chinese = Words.In(Language.Chinese);

        Assert.Equal(["中断", "暂停 2 h 44 min"], Timeline(run).Marks.Select(mark => mark.Label));
    }

    [Fact]
    public void Charts_in_another_language_than_the_page_do_not_take_its_panels()
    {
        using StoredRun run = Stored();

        Assert.Equal("Latency", Timeline(run).Panels.Single(panel => panel.Y.IsLogarithmic).Title);
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.Equal("延迟", Timeline(run).Panels.Single(panel => panel.Y.IsLogarithmic).Title);
    }

    [Fact]
    public void Bands_have_a_colour_and_the_names_that_the_page_knows_them_by() => Assert.All(Happenings.BandNames, band =>
    {
        Assert.Equal(band.Kind, Palette.Of(band.Kind).Name);
        Assert.Contains(band.Name, HtmlExplore.Texts());
    });

    [Fact]
    public void A_limit_is_dashed_on_the_page_too_and_what_merely_has_its_colour_is_not()
    {
        using StoredRun run = Stored();
        IReadOnlyList<Panel> panels = RunPanels.Of(run).States;

        Assert.Equal(["limit"], panels.SelectMany(panel => panel.Series).Where(series => series.Dash > 1).Select(series => series.Title));
        Assert.Contains(panels, panel => panel.Title == "Page faults");
    }

    [Theory]
    [InlineData(2e9, true)]
    [InlineData(12e9, false)]
    public void A_limit_far_above_what_was_measured_does_not_press_it_to_the_ground(double limit, bool isDrawn)
    {
        _cacheLimit = limit;
        using StoredRun run = Stored();

        Panel cache = Timeline(run).Panels.Single(panel => panel.Title == "Cache");

        Assert.Equal(isDrawn ? ["cache used", "limit"] : ["cache used"], cache.Series.Select(series => series.Title));
        Assert.InRange(cache.Y.Max, cache.Series.Max(series => series.Largest), cache.Series.Max(series => series.Largest) * 2);
    }

    /// <summary>Pauses are cut out in pieces of ten seconds: the last of one and the first of another lie side by side.</summary>
    [Fact]
    public void All_lines_end_at_a_pause_however_near_to_it_the_samples_are()
    {
        using StoredRun run = Stored([.. Enumerable.Range(1, 109), .. Enumerable.Range(10_000, 100)]);
        Panel[] panels = [.. RunPanels.Of(run).All];
        Assert.Contains(panels, panel => panel.Title == "Cache");
        Assert.All(panels, EndsAtThePause);
    }

    /// <summary>So short a pause is not cut out, nor is it a gap between samples.</summary>
    [Fact]
    public void All_lines_end_where_the_run_was_resumed_however_soon()
    {
        using StoredRun run = Stored([.. Enumerable.Range(1, 109), .. Enumerable.Range(111, 100)],
            At(109.8, RunEvent.Resumed, "after step 1"));
        FigureInfo figure = new() { Title = "T", X = "time", Y = ["rate", "cache_used"] };
        Panel[] panels = [.. RunPanels.Of(run).All, .. TimeFigure.Build(FigureRun.Of(run), figure, "f")!.Panels];
        Assert.Contains(panels, panel => panel.Title == "Cache");
        Assert.All(panels, EndsAtThePause);
    }

    private static void EndsAtThePause(Panel panel) => Assert.All(panel.Series, line =>
    {
        double[] gap = Assert.Single(line.Table.Rows, row => double.IsNaN(row[line.Column]));
        Assert.InRange(gap[0], 109, 110.1);
    });

    /// <summary>A scenario may ask for the same lines in a figure of its own.</summary>
    [Fact]
    public void Lines_of_a_figure_over_time_end_at_a_pause_too()
    {
        using StoredRun run = Stored([.. Enumerable.Range(1, 109), .. Enumerable.Range(10_000, 100)]);
        FigureInfo figure = new() { Title = "T", X = "time", Y = ["rate", "cache_used"] };
        Panel[] panels = [.. TimeFigure.Build(FigureRun.Of(run), figure, "f")!.Panels];
        Assert.Equal(2, panels.Length);
        Assert.All(panels, EndsAtThePause);
    }

    private static Chart Timeline(StoredRun run) => TimeCharts.Build(run, PlotLibrary.TryFind("timeline")!)!;

    private static RunEvent At(double second, string kind, string text, double? seconds = null) =>
        new(Start + (long)(second * 1000), kind, text, seconds);

    /// <summary>A hundred seconds, a pause, and a hundred more.</summary>
    private StoredRun Stored(params RunEvent[] events) =>
        Stored([.. Enumerable.Range(1, 100), .. Enumerable.Range(10_001, 100)], events);

    private StoredRun Stored(int[] seconds, params RunEvent[] events)
    {
        string folder = _runs.At("run");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            foreach (int second in seconds)
            {
                store.AddSample(RunParts.Sample(second, "read") with { Histogram = default });
                store.AddServerSample(new MetricSample(
                    Start + (second * 1000L), "a", [.. MetricCatalogue.Server.Select(metric => ValueOf(metric.Name, second))]));
            }

            foreach (RunEvent happened in events)
                store.AddEvent(happened);
            store.EndPhase(RunParts.Phase(1, "reads", RunParts.Result("read")));
        }

        return StoredRun.Open(folder);
    }

    private double _cacheLimit = 1e9;

    private double ValueOf(string metric, int second) => metric switch
    {
        "cache_used" => 5e8,
        "cache_max" => _cacheLimit,
        "page_faults" => 10.0 * second,
        _ => double.NaN,
    };
}
