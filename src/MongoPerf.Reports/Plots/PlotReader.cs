using MongoPerf.Reports.Figures;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Reports.Plots;

/// <summary>Reads a plot file and checks the names in it.</summary>
public static class PlotReader
{
    /// <summary>More panels than a picture has room for.</summary>
    private const int MostPanels = 20;

    private const string What = "plot";
    private const string Start = "'mongoperf new --plot my.yaml' writes a file to start from";

    /// <exception cref="UserException">Says where, what was found and what is allowed.</exception>
    public static PlotInfo Read(PlotFile file)
    {
        MappingNode root = ScenarioYaml.Read(file.ShownPath, file.Text, "expected a mapping with 'title', 'x' and 'panels'", Start);
        var top = new MappingReader(root, What, PlotLanguage.File);
        string title = FigureKeys.Title(top, What);
        string x = top.ScalarOf("x", top.Require("x", "such as x: time")).Text;
        bool hasY = HasY(top);
        var plot = new PlotInfo
        {
            Name = file.Name, Description = top.Text("description") ?? title, Title = title, HowToRead = top.Text("read") ?? "", X = x,
            Place = top.Number("place", 0, 1e6) ?? double.MaxValue, HasMarks = top.Flag("marks", usual: true), Bands = [.. Bands(top)],
        };
        plot = hasY ? plot with { Figure = Figure(top, plot) } : WithPanels(top, plot);
        return plot with { Runs = Runs(top, plot) };
    }

    private static bool HasY(MappingReader top)
    {
        (bool hasY, bool hasPanels) = (top.Find("y") is not null, top.Find("panels") is not null);
        if (hasY && hasPanels)
            throw MappingReader.Wrong(top.Node, "both y and panels are given; a plot has one of them",
                "y draws metrics of results, panels what is drawn in every report");
        if (!hasY && !hasPanels)
            throw MappingReader.Wrong(top.Node, "neither y nor panels is given", Start);
        return hasY;
    }

    private static IEnumerable<string> Bands(MappingReader top)
    {
        IReadOnlyList<string> named = top.Find("bands") is null ? PlotLanguage.BandNames : top.Texts("bands", PlotLanguage.BandNames);
        return named.SelectMany(static name => PlotLanguage.Bands.First(band => band.Name == name).Kinds);
    }

    private static PlotRuns Runs(MappingReader top, PlotInfo plot)
    {
        bool isOfSeveral = plot.IsOfComparison || plot.IsOfHistory;
        PlotRuns usual = isOfSeveral ? PlotRuns.Several : plot.Figure is null ? PlotRuns.One : PlotRuns.Any;
        if (top.OneOf("runs", PlotLanguage.Runs) is not { } named)
            return usual;
        var runs = (PlotRuns)PlotLanguage.Runs.ToList().IndexOf(named);
        return isOfSeveral && runs != PlotRuns.Several
            ? throw MappingReader.Wrong(top.Find("runs")!, $"runs is '{named}'; over {plot.X} it can only be 'several'",
                "one run has nothing to compare with")
            : runs;
    }

    private static PlotInfo WithPanels(MappingReader top, PlotInfo plot)
    {
        Refuse(top, PlotLanguage.KeysOfY, "with panels", "it belongs to a plot with y");
        top.OneOf("x", [.. PlotLanguage.Axes.Select(static axis => axis.Name)]);
        PlotPanel[] panels = [.. top.List("panels").Select((node, i) => Panel(top, node, $"panel {i + 1}", plot.X))];
        if (panels.Length is 0 or > MostPanels)
            throw MappingReader.Wrong(top.Find("panels")!, $"panels has {panels.Length} panels; allowed: 1 to {MostPanels}");
        if (panels.Length > 1 && panels.Any(static panel => panel.Show == PlotLanguage.Percentiles))
            throw MappingReader.Wrong(top.Find("panels")!, $"{PlotLanguage.Percentiles} has a panel for each operation and stands alone");
        return plot with { Panels = panels, Needs = top.Texts("needs", PlotLanguage.ShowsOn(plot.X)) };
    }

    private static PlotPanel Panel(MappingReader top, ScenarioNode node, string what, string x)
    {
        AllowedNames shows = PlotLanguage.ShowsOn(x);
        if (node is ScalarNode)
            return new PlotPanel(top.OneOf("panels", top.ScalarOf("panels", node), shows));
        var reader = new MappingReader(node, what, PlotLanguage.Panel);
        reader.Require("show", $"one of {shows}");
        string show = reader.OneOf("show", shows)!;
        foreach (string key in (string[])["y", "megabytes"])
        {
            if (!(x == PlotLanguage.Documents && show is "inserts" or "queries") && reader.Find(key) is { } wrong)
                throw MappingReader.Wrong(wrong, $"{what}: {key} is for inserts and queries over documents only");
        }

        if ((show is PlotLanguage.Percentiles or PlotLanguage.Rates || x == PlotLanguage.History) && reader.Find("title") is { } title)
            throw MappingReader.Wrong(title, $"{what}: title is not allowed for {show}, which has a panel for each operation");
        if (x == PlotLanguage.Ratio && reader.Find("lines") is { } lines)
            throw MappingReader.Wrong(lines, $"{what}: lines is not allowed over ratio, which has a line for each candidate");
        return new PlotPanel(show)
        {
            Y = reader.OneOf("y", PlotLanguage.GrowthMetrics), HasMegabytes = reader.Flag("megabytes"), Title = reader.Text("title"),
            Lines = reader.Texts("lines", LinesOf(x, show)),
        };
    }

    /// <summary>Lines that are known before a run is; null where a run's operations name them.</summary>
    internal static AllowedNames? LinesOf(string x, string show) => (x, show) switch
    {
        (PlotLanguage.Window, PlotLanguage.Latency) => PlotLanguage.WindowLines,
        (PlotLanguage.Documents, PlotLanguage.Percentiles) => PlotLanguage.PercentileLines,
        _ => null,
    };

    private static FigureInfo Figure(MappingReader top, PlotInfo plot)
    {
        Refuse(top, ["needs", "bands"], "with y", "it belongs to a plot with panels");
        return new FigureInfo
        {
            Title = plot.Title, X = plot.X, Y = FigureKeys.Metrics(top, What, plot.X), Lines = top.Text("lines"),
            To = FigureKeys.To(top, What, plot.X), IsLogarithmic = top.Flag("logarithmic"),
            Of = new ResultChoice { Phases = top.Texts("phases"), Operations = top.Texts("operation"), Where = [.. FigureKeys.Where(top)] },
        };
    }

    private static void Refuse(MappingReader top, IEnumerable<string> keys, string where, string hint)
    {
        foreach (string key in keys)
        {
            if (top.Find(key) is { } node)
                throw MappingReader.Wrong(node, $"{key} is not allowed {where}", hint);
        }
    }
}
