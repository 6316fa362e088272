using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
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

    private string Write(TemporaryFolder folder)
    {
        ChartLibrary? library = ChartLibrary.Find(out string whyNot);
        Assert.True(library is not null, whyNot);
        string page = folder.At("index.html");
        File.WriteAllText(page, HtmlReport.Build(_run, folder.Path, new RenderedCharts([], [], []), [], HtmlExplore.Of(_run, library, whyNot)));
        return page;
    }

    /// <summary>What became of the page when its scripts were done.</summary>
    private static string Shown(string page, string hash)
    {
        var start = new ProcessStartInfo(ChromiumFactAttribute.Path!,
            ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", $"--user-data-dir={page}.profile", "--dump-dom", $"file://{page}{hash}"])
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
