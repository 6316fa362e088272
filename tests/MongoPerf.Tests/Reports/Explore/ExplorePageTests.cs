using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.Playwright;
using MongoPerf.Commands.Live;
using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Explore;

/// <summary>
/// The page in a real browser, as its readers use it: nothing it does may raise an error or need a network (<see cref="OpenedPage"/>).
/// </summary>
public sealed partial class ExplorePageTests(
    ApprovedReportTests.Fixture fixture, Browser browser) : IClassFixture<ApprovedReportTests.Fixture>, IClassFixture<Browser>
{
    private const string Cursor = ".ex-over";
    private readonly StoredRun _run = fixture.Run;
    private readonly Plot _plot = RunPlot.Of(fixture.Run)!;

    [ChromiumFact]
    public async Task Percentiles_of_ten_ranges_are_the_programs()
    {
        string page = Written();
        var measured = new MeasuredRanges(_run);
        await using OpenedPage opened = await browser.Keep(page);
        foreach ((double from, double to) in MeasuredRanges.Random(_plot.Seconds))
        {
            await opened.Page.GotoAsync(page + View($"from={from}&to={to}"));

            (string Title, double[] Figures)[] rows = await Percentiles(opened);
            Assert.NotEmpty(rows);
            foreach ((string title, double[] figures) in rows)
            {
                LatencySummary expected = measured.Of(title, from, to);
                Assert.Equal([expected.Mean, expected.P50, expected.P90, expected.P95, expected.P99, expected.P999, expected.Max],
                    figures[1..].Select(static value => (double?)value));
            }
        }
    }

    [ChromiumFact]
    public async Task All_panels_are_drawn_and_a_link_restores_range_axis_and_toggles()
    {
        await using OpenedPage opened = await browser.Open(Written() + "#explore&from=20&to=50&axis=documents&flip=0.1");
        await opened.Drawn();

        Assert.Equal(_plot.Panels.Count,
            await opened.Ask<int>("[...document.querySelectorAll('.ex-graph canvas:first-of-type')].filter(canvas => "
                + "canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte)).length"));
        Assert.Contains("0:20.0 to 0:50.0 of 4:23", await opened.Page.InnerTextAsync(".ex-range"), StringComparison.Ordinal);
        Assert.Equal(["false"], await opened.Ask<string[]>("[...document.querySelectorAll('.ex-legend button')].filter(button => "
            + "button.querySelector('span').textContent === 'batch').slice(0, 1).map(button => button.getAttribute('aria-pressed'))"));
    }

    [ChromiumFact]
    public async Task The_cursor_shows_the_values_that_were_measured_wherever_the_pointer_is()
    {
        await using OpenedPage opened = await browser.Keep(Written());
        ILocator cursor = opened.Page.Locator(Cursor).First;
        LocatorBoundingBoxResult box = await InTheMiddle(cursor);
        int compared = 0;
        foreach (int tenth in Enumerable.Range(1, 9))
        {
            await opened.Page.Mouse.MoveAsync(box.X + (box.Width * tenth / 10), box.Y + 20);

            double at = double.Parse((await cursor.GetAttributeAsync("aria-valuenow"))!, CultureInfo.InvariantCulture);
            Assert.InRange(at, (_plot.Seconds * tenth / 10) - 1, (_plot.Seconds * tenth / 10) + 1);
            string[][] shown = await opened.Ask<string[][]>("[...document.querySelectorAll('.ex-legend')].map(legend => "
                + "[...legend.querySelectorAll('.ex-value')].map(value => value.textContent))");
            foreach ((Panel panel, string[] texts) in _plot.Panels.Zip(shown))
            {
                for (int line = 0; line < texts.Length; line++)
                    compared += RequireMeasured(panel, line, at, texts[line]);
            }
        }

        Assert.True(compared > 9 * _plot.Panels.Count, $"only {compared} values were shown");
    }

    /// <summary>Scrolls to where a pointer reaches it: at the top, the page's bar lies over the charts.</summary>
    private static async Task<LocatorBoundingBoxResult> InTheMiddle(ILocator chart)
    {
        await chart.EvaluateAsync("one => one.scrollIntoView({block: 'center', behavior: 'instant'})");
        return (await chart.BoundingBoxAsync())!;
    }

    [ChromiumFact]
    public async Task Dragging_zooms_all_panels_and_a_double_click_shows_the_whole_run_again()
    {
        await using OpenedPage opened = await browser.Keep(Written());
        LocatorBoundingBoxResult box = await InTheMiddle(opened.Page.Locator(Cursor).First);
        await opened.Page.Mouse.MoveAsync(box.X + (box.Width * 0.3f), box.Y + 30);
        await opened.Page.Mouse.DownAsync();
        await opened.Page.Mouse.MoveAsync(box.X + (box.Width * 0.6f), box.Y + 30, new MouseMoveOptions { Steps = 4 });
        await opened.Page.Mouse.UpAsync();

        (double from, double to) = await Range(opened);
        Assert.Equal(_plot.Seconds * 0.3, from, _plot.Seconds * 0.01);
        Assert.Equal(_plot.Seconds * 0.6, to, _plot.Seconds * 0.01);
        Assert.All((await Percentiles(opened)).SelectMany(static row => row.Figures), static value => Assert.True(value > 0));

        await opened.Page.Locator(Cursor).First.DblClickAsync();
        Assert.Equal("", await opened.View());
    }

    [ChromiumFact]
    public async Task Keys_move_the_cursor_choose_a_range_and_zoom()
    {
        await using OpenedPage opened = await browser.Keep(Written());
        ILocator cursor = opened.Page.Locator(Cursor).First;
        double[] at = [.. _plot.Panels[0].Table.Rows.Select(row => row[0])];
        await cursor.FocusAsync();
        foreach (string key in (string[])["Home", "ArrowRight", "ArrowRight", "Enter", "Shift+ArrowRight", "Enter"])
            await opened.Page.Keyboard.PressAsync(key);
        Assert.Equal((at[2], at[12]), await Range(opened));
        Assert.StartsWith("0:", await cursor.GetAttributeAsync("aria-valuetext"), StringComparison.Ordinal);

        await opened.Page.Keyboard.PressAsync("-");
        (double from, double to) = await Range(opened);
        Assert.Equal(2 * (at[12] - at[2]), to - from, 0.11);

        await opened.Page.Keyboard.PressAsync("Escape");
        Assert.Equal("", await opened.View());
    }

    [ChromiumFact]
    public async Task A_line_of_the_legend_is_switched_off_and_the_link_remembers_it()
    {
        await using OpenedPage opened = await browser.Keep(Written());
        ILocator line = opened.Page.Locator(".ex-legend button").First;
        Assert.Equal("true", await line.GetAttributeAsync("aria-pressed"));

        await line.ClickAsync();

        Assert.Equal("false", await line.GetAttributeAsync("aria-pressed"));
        Assert.Contains("flip=0.0", await opened.View(), StringComparison.Ordinal);
    }

    /// <summary>The same run twice: each line of the table twice, under its own name, and equal.</summary>
    [ChromiumFact]
    public async Task Runs_laid_over_each_other_have_their_own_lines_and_percentiles()
    {
        string page = Written("first", "second");
        await using OpenedPage opened = await browser.Keep(page);
        await opened.Page.GotoAsync(page + View($"from=20&to=150"));

        (string Title, double[] Figures)[] rows = await Percentiles(opened);
        Assert.NotEmpty(rows);
        int half = rows.Length / 2;
        Assert.Equal(rows[..half].Select(static row => row.Title.Replace(" · first", " · second", StringComparison.Ordinal)),
            rows[half..].Select(static row => row.Title));
        Assert.Equal(rows[..half].Select(static row => row.Figures), rows[half..].Select(static row => row.Figures));
        Assert.Contains("batch · second", await opened.Page.Locator(".ex-legend").First.InnerTextAsync(), StringComparison.Ordinal);
        await Assertions.Expect(opened.Page.Locator(".ex-heat")).ToHaveAttributeAsync("aria-label", HeatMapOfFirst());
    }

    /// <summary>
    /// What the buttons save is read back: histograms by the program's own reader, lines as they were measured, a picture as one.
    /// </summary>
    [ChromiumFact]
    public async Task Files_of_a_range_hold_what_was_measured_in_it()
    {
        using var folder = new TemporaryFolder();
        string page = Written();
        await using OpenedPage opened = await browser.Keep(page);
        await opened.Page.GotoAsync(page + View($"from=20&to=50"));

        string log = await File.ReadAllTextAsync(await Save(opened, ".hlog", folder));
        var measured = new MeasuredRanges(_run);
        string[][] lines = [.. log.Split('\n')
            .Where(static line => line.StartsWith("Tag=", StringComparison.Ordinal)).Select(static line => line.Split(','))];
        Assert.NotEmpty(lines);
        foreach (IGrouping<string, string[]> tag in lines.GroupBy(static line => line[0]["Tag=".Length..]))
        {
            var sum = new LatencyHistogram();
            foreach (string[] line in tag)
                HistogramEncoding.DecodeInto(sum, Convert.FromBase64String(line[4]));
            Assert.Equal(measured.Of(tag.Key, 20, 50), LatencySummaries.From(sum));
        }

        string[] rows = await File.ReadAllLinesAsync(await Save(opened, "CSV", folder));
        Assert.Equal("seconds,panel,line,unit,value,not_mongodb", rows[0]);
        Assert.All(rows[1..], static row => Assert.InRange(double.Parse(row.Split(',')[0], CultureInfo.InvariantCulture), 20, 50));
        byte[] picture = await File.ReadAllBytesAsync(await Save(opened, "PNG", folder));
        Assert.Equal([0x89, 0x50, 0x4E, 0x47], picture[..4]);
    }

    [ChromiumFact]
    public async Task In_the_dark_nothing_is_a_white_box()
    {
        await using OpenedPage opened = await browser.Open(Written(), new BrowserNewContextOptions { ColorScheme = ColorScheme.Dark });
        await opened.Drawn();

        int[] back = await opened.Ask<int[]>("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)");
        Assert.All(back, static part => Assert.True(part < 64, "the page is not dark"));
        // Whatever has a background of its own, and what the canvases show behind the lines.
        Assert.Empty(await opened.Ask<string[]>("[...document.querySelectorAll('body *')].filter(one => { const back = "
            + "getComputedStyle(one).backgroundColor.match(/[\\d.]+/g).map(Number); return (back[3] ?? 1) > 0.5 && back[0] + back[1] + "
            + "back[2] > 500 && one.getBoundingClientRect().width > 40 && one.getBoundingClientRect().height > 40; "
            + "}).map(one => one.tagName + '.' + one.className)"));
    }

    [ChromiumFact]
    public async Task On_a_phone_only_tables_and_charts_scroll_sideways()
    {
        await using OpenedPage opened = await browser.Open(Written(), new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = 390, Height = 844 }, HasTouch = true, IsMobile = true,
        });
        await opened.Drawn();

        Assert.Equal(390, await opened.Ask<int>("document.documentElement.scrollWidth"));
        Assert.All(
            await opened.Ask<double[]>("[...document.querySelectorAll('.ex-graph')].map(graph => graph.getBoundingClientRect().width)"),
            static width => Assert.InRange(width, 250, 390));
    }

    [ChromiumFact]
    public async Task One_switch_chooses_the_percentile_of_all_operations_and_the_link_remembers_it()
    {
        await using OpenedPage opened = await browser.Keep(Written());
        string[] before = await Lines(opened);
        Assert.DoesNotContain(before, static name => name.EndsWith(" p99", StringComparison.Ordinal));

        await opened.Page.Locator(".ex-choice button", new PageLocatorOptions { HasTextString = "max" }).First.ClickAsync();

        Assert.Equal(before, await Lines(opened));
        Assert.Contains("percentile=max", await opened.View(), StringComparison.Ordinal);
        Assert.Equal("true", await opened.Page.Locator(".ex-choice button[value=max]").First.GetAttributeAsync("aria-pressed"));
        await opened.Page.Locator(".ex-choice button[value=p99]").First.ClickAsync();
    }

    [ChromiumFact]
    public async Task No_two_lines_of_a_panel_have_one_colour_and_no_legend_is_taller_than_its_chart()
    {
        foreach (int width in (int[])[1366, 390])
        {
            await using OpenedPage opened = await browser.Open(Written(), new BrowserNewContextOptions
            {
                ViewportSize = new ViewportSize { Width = width, Height = 800 },
            });
            await opened.Drawn();
            Assert.Empty(await opened.Ask<string[]>("[...document.querySelectorAll('.ex-panel')].filter(panel => { const colours = "
                + "[...panel.querySelectorAll('.ex-legend button:not([hidden]) i')].map(line => getComputedStyle(line).borderTopColor); "
                + "return new Set(colours).size < colours.length; }).map(panel => panel.innerText)"));
            Assert.Empty(await opened.Ask<string[]>("[...document.querySelectorAll('.ex-panel')].filter(panel => "
                + "panel.querySelector('.ex-legend').offsetHeight > panel.querySelector('.ex-plot').offsetHeight)"
                + ".map(panel => panel.innerText)"));
        }
    }

    [ChromiumFact]
    public async Task A_phase_that_only_reads_is_drawn_over_time_where_documents_are_the_axis()
    {
        Band reads = _plot.Phases.First(static phase => phase.Text.StartsWith("q4", StringComparison.Ordinal));
        string page = Written();
        await using OpenedPage opened = await browser.Keep(page);
        await opened.Page.GotoAsync(page + View($"from={reads.From + 0.5}&to={reads.To - 0.5}&axis=documents"));

        Assert.Contains("drawn over time", await opened.Page.InnerTextAsync(".ex-range"), StringComparison.Ordinal);
    }

    [ChromiumFact]
    public async Task A_slow_second_of_the_list_leads_to_its_place_in_the_charts()
    {
        await using OpenedPage opened = await browser.Keep(Written());

        await opened.Page.Locator("#section-slowest-seconds ~ .wide td a").First.ClickAsync();

        (double from, double to) = await Range(opened);
        Assert.InRange(to - from, 5, 60);
    }

    [ChromiumFact]
    public async Task On_paper_are_verdicts_and_tables_and_no_controls()
    {
        await using OpenedPage opened = await browser.Keep(Written());
        await opened.Page.EmulateMediaAsync(new PageEmulateMediaOptions { Media = Microsoft.Playwright.Media.Print });

        Assert.False(await opened.Page.Locator("#explore").IsVisibleAsync());
        Assert.False(await opened.Page.Locator("nav.contents").IsVisibleAsync());
        Assert.True(await opened.Page.Locator("ul.verdict").First.IsVisibleAsync());
        Assert.True(await opened.Page.Locator("table").Last.IsVisibleAsync());
    }

    [ChromiumFact]
    public async Task Without_scripts_verdicts_and_tables_are_there()
    {
        await using OpenedPage opened = await browser.Open(Written(), new BrowserNewContextOptions { JavaScriptEnabled = false });

        Assert.True(await opened.Page.Locator("ul.verdict li").CountAsync() > 0);
        Assert.True(await opened.Page.Locator("table").CountAsync() > 3);
    }

    [ChromiumFact]
    public async Task Whatever_can_be_used_has_a_name_for_those_who_cannot_see_it()
    {
        await using OpenedPage opened = await browser.Keep(Written("first", "second"));

        Assert.Empty(await opened.Ask<string[]>("[...document.querySelectorAll('button, select, a, [role], "
            + "[tabindex]')].filter(one => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') "
            + "|| one.textContent.trim())).map(one => one.outerHTML)"));
    }

    [ChromiumFact]
    public async Task Live_page_shows_what_comes_while_it_is_looked_at()
    {
        using var runs = new TemporaryFolder();
        using RunStore store = RunStore.Create(runs.At("live"), RunParts.Run("live"), RunParts.Settings());
        store.BeginPhase(RunParts.Phase(1, "q4") with { IsComplete = false }, continues: false);
        // A page has panels before it has percentiles.
        Measure(1, isWarmup: true);
        using var server = new LiveServer(runs.At("live"), 0, "key", LivePage.Of("live"));
        Task served = server.Start();
        await using OpenedPage opened = await browser.Open(server.Url);
        await opened.Page.Locator("#explore[data-ready=true]").WaitForAsync(Attached);
        // Each computation of the table takes 50 ms or more, so a second goes by before the next: the last is not to be left out.
        await opened.Page.EvaluateAsync(
            "() => { const now = performance.now.bind(performance); let shift = 0; performance.now = () => now() + (shift += 50); }");
        for (int second = 2; second <= 5; second++)
        {
            Measure(second);
            await opened.Page.Locator($"#explore[data-seconds='{second}']").WaitForAsync(Attached);
        }

        // The table follows a moment later.
        await opened.Page.Locator("#explore tbody [data-value='2000']").WaitForAsync(Attached);
        store.SetState(RunState.Finished, null, RunParts.Start);
        await opened.Page.Locator("#live-status[data-state=finished]").WaitForAsync(Attached);
        server.Stop();
        await served;

        void Measure(int second, bool isWarmup = false)
        {
            var histogram = new LatencyHistogram();
            for (int i = 0; i < 500; i++)
                histogram.RecordNanoseconds(100_000 + i);
            store.AddSample(
                RunParts.Sample(second) with { IsWarmup = isWarmup, Operations = 500, Histogram = HistogramEncoding.Encode(histogram) });
            store.Flush();
        }
    }

    private static LocatorWaitForOptions Attached => new() { State = WaitForSelectorState.Attached };

    private static string View(FormattableString view) => "#explore&" + view.ToString(CultureInfo.InvariantCulture);

    /// <summary>Of all legends, those that are not hidden.</summary>
    private static Task<string[]> Lines(OpenedPage opened) => opened.Ask<string[]>(
        "[...document.querySelectorAll('.ex-legend button:not([hidden]) > span:first-of-type')].map(name => name.textContent)");

    private static async Task<(double From, double To)> Range(OpenedPage opened)
    {
        string shown = await opened.View();
        Match view = FromTo().Match(shown);
        Assert.True(view.Success, shown);
        return (double.Parse(view.Groups[1].Value, CultureInfo.InvariantCulture),
            double.Parse(view.Groups[2].Value, CultureInfo.InvariantCulture));
    }

    /// <summary>The table below the panels: operations, and their counts, means, percentiles and maxima.</summary>
    private static async Task<(string Title, double[] Figures)[]> Percentiles(OpenedPage opened)
    {
        string[][] rows = await opened.Ask<string[][]>("[...document.querySelectorAll('#explore tbody tr')].map(row => "
            + "[row.cells[0].textContent, ...[...row.querySelectorAll('[data-value]')].map(cell => cell.dataset.value)])");
        return [.. rows.Select(static row =>
            (row[0], row[1..].Select(static value => double.Parse(value, CultureInfo.InvariantCulture)).ToArray()))];
    }

    private static async Task<string> Save(OpenedPage opened, string button, TemporaryFolder folder)
    {
        IDownload download = await opened.Page.RunAndWaitForDownloadAsync(() =>
            opened.Page.Locator("#explore button", new PageLocatorOptions { HasTextString = button }).First.ClickAsync());
        string path = folder.At(download.SuggestedFilename);
        await download.SaveAsAsync(path);
        return path;
    }

    /// <returns>1 when a value is shown, which then is that of the nearest row in which the line has one.</returns>
    private static int RequireMeasured(Panel panel, int line, double at, string text)
    {
        if (text.Length == 0)
            return 0;
        double[] values = [.. panel.Series[line].Values];
        int[] rows = [.. Enumerable.Range(0, values.Length).Where(row => double.IsFinite(values[row]))];
        double nearest = rows.Min(row => Math.Abs(panel.Table.Rows[row][0] - at));
        // The cursor's own time is shown in tenths: two rows may be as near.
        IEnumerable<double> candidates = rows.Where(row => Math.Abs(panel.Table.Rows[row][0] - at) <= nearest + 0.11)
            .Select(row => values[row]);
        Match number = Number().Match(text.Replace(",", "", StringComparison.Ordinal));
        double shown = double.Parse(number.Groups[1].Value, CultureInfo.InvariantCulture)
            * (number.Groups[2].Value switch { "s" => 1e6, "ms" => 1e3, "KiB" => 1L << 10, "MiB" => 1L << 20, "GiB" => 1L << 30, _ => 1 });
        // Three digits are shown, in the unit in which the quantity is read.
        double precision = Math.Max(0.06, Math.Abs(shown) * 6e-3);
        Assert.True(
            candidates.Any(value => Math.Abs(value - shown) <= precision), $"{panel.Title}, {panel.Series[line].Title} at {at}: {text}");
        return 1;
    }

    /// <returns>The address of the run's page, or of the page of several that are the same run.</returns>
    private string Written(params string[] names)
    {
        string page = browser.Folder.At($"page{string.Concat(names)}.html");
        if (File.Exists(page))
            return $"file://{page}";
        HtmlExplore explore = names.Length == 0 ? HtmlExplore.Of(_run) : HtmlExplore.Of(names.Select(name => (_run, name)));
        File.WriteAllText(
            page, HtmlReport.Build(RunReport.Of(_run), new PagePictures(explore, new RenderedCharts([], [], []), browser.Folder.Path)));
        return $"file://{page}";
    }

    [GeneratedRegex("from=([0-9.]+)&to=([0-9.]+)")]
    private static partial Regex FromTo();

    [GeneratedRegex("^(-?[0-9.]+) ?(.*)$")]
    private static partial Regex Number();

    [GeneratedRegex("^Heat map of .* · first: durations from")]
    private static partial Regex HeatMapOfFirst();
}
