using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Cli.Live;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Explore;
using MongoPerf.Reporting.Html;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Explore;

/// <summary>The page in a real browser, which MONGOPERF_CHROMIUM names; run by scripts/page-tests.</summary>
public sealed partial class ExplorePageTests : IClassFixture<ApprovedReportTests.Fixture>
{
    private readonly StoredRun _run;

    public ExplorePageTests(ApprovedReportTests.Fixture fixture) => _run = fixture.Run;

    [ChromiumFact]
    public void Percentiles_of_ten_ranges_are_the_programs()
    {
        using var folder = new TemporaryFolder();
        string page = Write(folder);
        var measured = new MeasuredRanges(_run);
        foreach ((double from, double to) in MeasuredRanges.Random(RunPlot.Of(_run)!.Seconds))
        {
            string shown = Shown(page, string.Create(CultureInfo.InvariantCulture, $"#explore&from={from}&to={to}"));
            MatchCollection rows = Rows().Matches(shown);
            Assert.NotEmpty(rows);
            foreach (Match row in rows)
            {
                LatencySummary expected = measured.Of(row.Groups[1].Value, from, to);
                double?[] figures = [.. Values().Matches(row.Value).Select(static value => (double?)double.Parse(value.Groups[1].Value, CultureInfo.InvariantCulture))];
                Assert.Equal([expected.Mean, expected.P50, expected.P90, expected.P95, expected.P99, expected.P999, expected.Max], figures[1..]);
            }
        }
    }

    [ChromiumFact]
    public void All_panels_are_drawn_and_a_link_restores_range_axis_and_toggles()
    {
        using var folder = new TemporaryFolder();
        string shown = Shown(Write(folder), "#explore&from=20&to=50&axis=documents&flip=0.1");

        Assert.Contains("data-drawn=\"true\"", shown, StringComparison.Ordinal);
        Assert.Equal(RunPlot.Of(_run)!.Panels.Count, Regex.Count(shown, "class=\"ex-graph\"[^>]*><div[^>]*><canvas"));
        Assert.Contains("0:20.0 to 0:50.0 of 4:23", shown, StringComparison.Ordinal);
        Assert.Matches("aria-pressed=\"false\"><i[^>]*></i><span>batch</span>", shown);
    }

    /// <summary>The same run twice: each line of the table twice, under its own name, and equal.</summary>
    [ChromiumFact]
    public void Runs_laid_over_each_other_have_their_own_lines_and_percentiles()
    {
        using var folder = new TemporaryFolder();
        string shown = Shown(Write(folder, "first", "second"), "#explore&from=20&to=150");

        string[][] rows = [.. Rows().Matches(shown).Select(static row => new[] { row.Groups[1].Value, string.Join(' ', Values().Matches(row.Value).Select(static value => value.Groups[1].Value)) })];
        Assert.NotEmpty(rows);
        Assert.Equal(rows[..(rows.Length / 2)].Select(static row => row[0].Replace(" · first", " · second", StringComparison.Ordinal)), rows[(rows.Length / 2)..].Select(static row => row[0]));
        Assert.Equal(rows[..(rows.Length / 2)].Select(static row => row[1]), rows[(rows.Length / 2)..].Select(static row => row[1]));
        Assert.Contains("<span>batch · second</span>", shown, StringComparison.Ordinal);
        Assert.Matches("class=\"ex-heat\"[^>]*aria-label=\"Heat map of [^\"]* · first: durations from", shown);
    }

    /// <summary>What the button saves is read back by the program.</summary>
    [ChromiumFact]
    public void Histogram_log_of_a_range_holds_its_operations()
    {
        using var folder = new TemporaryFolder();
        string page = Write(folder);
        const string Saver = "<script>URL.createObjectURL = blob => { blob.text().then(text => { const saved = document.createElement('pre'); saved.id = 'saved'; saved.textContent = text; document.body.append(saved); }); return '#'; };"
            + "setTimeout(() => [...document.querySelectorAll('button')].find(button => button.textContent.startsWith('.hlog')).click(), 2000);</script></body>";
        File.WriteAllText(page, Policy().Replace(File.ReadAllText(page), "").Replace("</body>", Saver, StringComparison.Ordinal));

        Match saved = Saved().Match(Shown(page, "#explore&from=20&to=50"));

        Assert.True(saved.Success);
        var measured = new MeasuredRanges(_run);
        string[][] lines = [.. saved.Groups[1].Value.Split('\n').Where(static line => line.StartsWith("Tag=", StringComparison.Ordinal)).Select(static line => line.Split(','))];
        Assert.NotEmpty(lines);
        foreach (IGrouping<string, string[]> tag in lines.GroupBy(static line => line[0]["Tag=".Length..]))
        {
            var sum = new LatencyHistogram();
            foreach (string[] line in tag)
                HistogramEncoding.DecodeInto(sum, Convert.FromBase64String(line[4]));
            Assert.Equal(measured.Of(tag.Key, 20, 50), LatencySummaries.From(sum));
        }
    }

    [ChromiumFact]
    public void Live_page_shows_what_comes_while_it_is_looked_at()
    {
        using var runs = new TemporaryFolder();
        using RunStore store = RunStore.Create(runs.At("live"), RunParts.Run("live"), RunParts.Settings());
        store.BeginPhase(RunParts.Phase(1, "q4") with { IsComplete = false }, continues: false);
        Measure(1);
        using var server = new LiveServer(runs.At("live"), 0, "key", LivePage.Of("live", ChartLibrary.Find(out _)!));
        Task served = server.Start();
        // A browser without a screen ends when nothing is under way any more: the server goes once it has told everything.
        Task<string> shown = Task.Run(() => Shown(server.Url, "", runs.At("browser")));
        Assert.True(SpinWait.SpinUntil(() => server.HasReaders, TimeSpan.FromMinutes(1)));
        for (int second = 2; second <= 4; second++)
        {
            Measure(second);
            Thread.Sleep(1500);
        }

        store.SetState(RunState.Finished, null, RunParts.Start);
        server.Stop();
        served.Wait();

        Assert.Contains("data-ready=\"true\"", shown.Result, StringComparison.Ordinal);
        Assert.Contains("data-seconds=\"4\"", shown.Result, StringComparison.Ordinal);
        Assert.Contains("data-state=\"finished\"", shown.Result, StringComparison.Ordinal);
        Assert.Matches("data-value=\"2000\"", shown.Result);

        void Measure(int second)
        {
            var histogram = new LatencyHistogram();
            for (int i = 0; i < 500; i++)
                histogram.RecordNanoseconds(100_000 + i);
            store.AddSample(RunParts.Sample(second) with { IsWarmup = false, Operations = 500, Histogram = HistogramEncoding.Encode(histogram) });
            store.Flush();
        }
    }

    private string Write(TemporaryFolder folder, params string[] names)
    {
        ChartLibrary? library = ChartLibrary.Find(out string whyNot);
        Assert.True(library is not null, whyNot);
        string page = folder.At("index.html");
        File.WriteAllText(page, HtmlReport.Build(_run, folder.Path, new RenderedCharts([], [], []), [], names.Length == 0 ? HtmlExplore.Of(_run, library, whyNot) : HtmlExplore.Of(names.Select(name => (_run, name)), library, whyNot, "try")));
        return page;
    }

    /// <summary>What became of the page when its scripts were done.</summary>
    private static string Shown(string page, string hash) => Shown($"file://{page}", hash, page);

    private static string Shown(string address, string hash, string profile)
    {
        var start = new ProcessStartInfo(ChromiumFactAttribute.Path!,
            ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", $"--user-data-dir={profile}.profile", "--dump-dom", address + hash])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process browser = Process.Start(start)!;
        Task<string> errors = browser.StandardError.ReadToEndAsync();
        string shown = browser.StandardOutput.ReadToEnd();
        browser.WaitForExit();
        Assert.True(browser.ExitCode == 0, errors.Result);
        return shown;
    }

    [GeneratedRegex("<tr><td class=\"text\">([^<]*)</td><td class=\"text\">service time</td>.*?</tr>")]
    private static partial Regex Rows();

    [GeneratedRegex("<meta http-equiv=\"Content-Security-Policy\"[^>]*/>")]
    private static partial Regex Policy();

    [GeneratedRegex("<pre id=\"saved\">(.*?)</pre>", RegexOptions.Singleline)]
    private static partial Regex Saved();

    [GeneratedRegex("data-value=\"([^\"]*)\"")]
    private static partial Regex Values();
}

/// <summary>Skipped where MONGOPERF_CHROMIUM names no browser.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ChromiumFactAttribute : FactAttribute
{
    public ChromiumFactAttribute()
    {
        if (string.IsNullOrEmpty(Path))
            Skip = "MONGOPERF_CHROMIUM names no browser; scripts/page-tests brings one";
    }

    internal static string? Path => Environment.GetEnvironmentVariable("MONGOPERF_CHROMIUM");
}
