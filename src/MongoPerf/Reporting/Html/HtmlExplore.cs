using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Explore;

namespace MongoPerf.Reporting.Html;

/// <summary>The part of a run's page that people explore: data, the chart library and explore.js, all within the page.</summary>
internal sealed class HtmlExplore
{
    private static readonly string Program = Resource("explore.js");

    private readonly Plot? _plot;
    private readonly string _title;
    private readonly ChartLibrary? _library;
    private readonly string _whyNot;
    private readonly bool _isLive;

    private HtmlExplore(Plot? plot, string title, ChartLibrary? library, string whyNot, bool isLive = false)
    {
        _plot = plot;
        _isLive = isLive;
        _title = title;
        _library = library;
        _whyNot = whyNot;
    }

    /// <param name="run">What to explore.</param>
    /// <param name="library">Null when there is none: then the page says what to install.</param>
    /// <param name="whyNot">The reason then.</param>
    public static HtmlExplore Of(StoredRun run, ChartLibrary? library, string whyNot) =>
        new(library is null ? null : RunPlot.Of(run), run.Run.Id, library, $"{whyNot}: install {ChartLibrary.Package}, or name its dygraph.min.js in {ChartLibrary.Variable}, and run 'mongoperf report {run.Run.Id}' again");

    /// <summary>For a page whose data come while it is looked at.</summary>
    public static HtmlExplore Live(ChartLibrary library) => new(null, "", library, "", isLive: true);

    private bool IsShown => _plot is not null || _isLive;

    /// <summary>That the page runs; nothing else may run in it.</summary>
    public IReadOnlyList<string> Scripts => !IsShown ? [] : [_library!.Script, Program];

    /// <summary>Beside <see cref="HtmlStyle"/>.</summary>
    public string Css => !IsShown ? "" : Resource("explore.css") + Colors();

    /// <summary>What is there without JavaScript, which then fills it.</summary>
    public void Section(HtmlWriter html)
    {
        if (_library is null)
            html.Element("h2", "Explore").Element("p", $"The interactive charts are missing: {_whyNot}.", "class", "warn");
        if (!IsShown)
            return;
        html.Open("section", "id", "explore", "aria-label", "Charts to explore", "data-live", _isLive ? "events" : "").Element("h2", "Explore")
            .Open("noscript").Paragraph("The interactive charts need JavaScript; the charts and tables below show the same run.").Close().Close();
    }

    /// <summary>The last of the body.</summary>
    public void Data(HtmlWriter html)
    {
        if (_plot is not null)
            html.Json("explore-data", PlotEncoding.Write(_plot, _title));
        foreach (string script in Scripts)
            html.Script(script);
    }

    private static string Colors()
    {
        string light = string.Concat(Palette.Colors.Select(static color => $" --c-{color.Name}: {color.Light};"));
        string dark = string.Concat(Palette.Colors.Select(static color => $" --c-{color.Name}: {color.Dark};"));
        return $":root {{{light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{dark} }} }}\n";
    }

    private static string Resource(string name)
    {
        using Stream stream = typeof(HtmlExplore).Assembly.GetManifestResourceStream(name) ?? throw new InvalidOperationException($"{name} is not built in");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd().ReplaceLineEndings("\n");
    }
}
