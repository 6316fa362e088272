using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Html;

/// <summary>The part of a run's page that people explore: data, the chart library and explore.js, all within the page.</summary>
internal sealed partial class HtmlExplore
{
    private static readonly string Program = Resource("explore.js");

    /// <summary>
    /// dygraphs 2.2.1, as its authors publish it (2.2.2 warns on the console of each point outside of the view). Without the last line, by
    /// which a browser's tools would look for another file.
    /// </summary>
    private static readonly string Library = string.Join(
        '\n',
        Resource("dygraph.min.js").Split('\n').Where(static line => !line.StartsWith("//# sourceMappingURL", StringComparison.Ordinal)));

    /// <summary>As explore.js counts on; with the palette's enough for a panel of 24 operations and their totals.</summary>
    private const int MoreColors = 24;

    /// <summary>More laid over each other nobody can tell apart.</summary>
    private const int MostRuns = 4;

    private readonly IReadOnlyList<(string Name, Plot Plot)> _plots;
    private readonly bool _isLive;

    private HtmlExplore(IReadOnlyList<(string Name, Plot Plot)> plots, bool isLive = false)
    {
        _plots = plots;
        _isLive = isLive;
    }

    /// <summary>For a page whose data come while it is looked at.</summary>
    public static HtmlExplore Live { get; } = new([], isLive: true);

    public static HtmlExplore Of(StoredRun run) => Of([(run, run.Run.Id)]);

    /// <inheritdoc cref="RunPlot.Of(StoredRun, Action{Action{MergedSample}})"/>
    public static HtmlExplore Of(StoredRun run, Action<Action<MergedSample>> read) =>
        new(RunPlot.Of(run, read) is { } plot ? [(run.Run.Id, plot)] : []);

    /// <summary>Several runs laid over each other, the baseline first.</summary>
    /// <param name="runs">The runs with what they are called.</param>
    public static HtmlExplore Of(IEnumerable<(StoredRun Run, string Name)> runs) =>
        new([.. runs.Take(MostRuns).Select(static run => (run.Name, Plot: RunPlot.Of(run.Run)))
            .Where(static run => run.Plot is not null).Select(static run => (run.Name, run.Plot!))]);

    /// <summary>False for a run with nothing to draw.</summary>
    public bool HasContent => _plots.Count > 0 || _isLive;

    /// <summary>The scripts that the page runs; nothing else may run in it.</summary>
    public IReadOnlyList<string> Scripts => !HasContent ? [] : [Library, Program];

    /// <summary>The style that is added to <see cref="HtmlStyle"/>.</summary>
    public string Css => !HasContent ? "" : Resource("explore.css") + Colors();

    /// <summary>What is there without JavaScript, which then fills it.</summary>
    public void Show(HtmlWriter html)
    {
        if (!HasContent)
            return;
        html.Open("section", "id", "explore", "aria-label", Words.Of("Charts to explore"), "data-live", _isLive ? "events" : "")
            .Open("noscript")
            .Paragraph(Words.Of("The interactive charts need JavaScript; the charts and tables below show the same run.")).Close().Close();
    }

    /// <summary>The last of the body.</summary>
    public void Data(HtmlWriter html)
    {
        foreach ((int i, (string name, Plot plot)) in _plots.Index())
            html.Json(i == 0 ? "explore-data" : $"explore-data-{i + 1}", PlotEncoding.Write(plot, name));
        if (!Words.Language.IsEnglish)
            html.Json("explore-texts", JsonSerializer.Serialize(Texts().ToDictionary(static text => text, static text => Words.Of(text))));
        foreach (string script in Scripts)
            html.Script(script);
    }

    /// <summary>What explore.js shows: English, with {0} for values.</summary>
    public static IEnumerable<string> Texts() => Said().Matches(Program).Select(static said => said.Groups[1].Value).Distinct();

    [GeneratedRegex(@"\bsay\(""([^""]+)""")]
    private static partial Regex Said();

    private static string Colors()
    {
        string light = string.Concat(Palette.Colors.Select(static color => $" --c-{color.Name}: {color.Light};"));
        string dark = string.Concat(Palette.Colors.Select(static color => $" --c-{color.Name}: {color.Dark};"));
        // Beyond the palette's, for more lines than it has colors: hues a golden angle apart are never near each other.
        for (int i = 0; i < MoreColors; i++)
        {
            string hue = (i * 137.508 % 360).ToString("0", CultureInfo.InvariantCulture);
            light += $" --c-x{i}: hsl({hue}, 75%, 36%);";
            dark += $" --c-x{i}: hsl({hue}, 70%, 68%);";
        }

        return $":root {{{light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{dark} }} }}\n";
    }

    private static string Resource(string name)
    {
        using Stream stream =
            typeof(HtmlExplore).Assembly.GetManifestResourceStream(name) ?? throw new InvalidOperationException($"{name} is not built in");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd().ReplaceLineEndings("\n");
    }
}
