using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Reporting.Figures;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Reporting.Plots;

/// <summary>Reads a plot file and checks the names in it.</summary>
internal static class PlotReader
{
    /// <summary>A picture has room for so much.</summary>
    private const int LongestTitle = 150;
    private const int MostPanels = 20;
    private const int MostMetrics = 8;
    private const string Start = "'mongoperf new --plot my.yaml' writes a file to start from";

    /// <exception cref="UserException">Says where, what was found and what is allowed.</exception>
    public static PlotInfo Read(PlotFile file)
    {
        var top = new MappingReader(ScenarioYaml.Read(file.ShownPath, file.Text, "expected a mapping with 'title', 'x' and 'panels'", Start), "plot", PlotLanguage.File);
        ScenarioNode titleNode = top.Require("title", "such as title: Reads per second");
        string title = top.ScalarOf("title", titleNode).Text;
        if (title.Length > LongestTitle)
            throw MappingReader.Wrong(titleNode, $"title has {title.Length} characters; at most {LongestTitle} are allowed");
        ScenarioNode x = top.Require("x", "such as x: time");
        (bool hasY, bool hasPanels) = (top.Find("y") is not null, top.Find("panels") is not null);
        if (hasY == hasPanels)
            throw MappingReader.Wrong(top.Node, hasY ? "both y and panels are given; a plot has one of them" : "neither y nor panels is given", hasY ? "y draws metrics of results, panels what is drawn in every report" : Start);
        var plot = new PlotInfo
        {
            Name = file.Name, Description = top.Text("description") ?? title, Title = title, HowToRead = top.Text("read") ?? "", X = top.ScalarOf("x", x).Text,
            Place = top.Number("place", 0, 1e6) ?? double.MaxValue, HasMarks = top.Flag("marks", usual: true),
            Bands = [.. (top.Find("bands") is null ? PlotLanguage.Bands.Select(band => band.Name) : top.Texts("bands", [.. PlotLanguage.Bands.Select(band => band.Name)])).SelectMany(name => PlotLanguage.Bands.First(band => band.Name == name).Kinds)],
        };
        return hasY ? plot with { Figure = Figure(top, plot) } : WithPanels(top, plot);
    }

    private static PlotInfo WithPanels(MappingReader top, PlotInfo plot)
    {
        foreach (string key in (string[])["lines", "to", "logarithmic", "phases", "operation", "where"])
        {
            if (top.Find(key) is { } node)
                throw MappingReader.Wrong(node, $"{key} is not allowed with panels", "it belongs to a plot with y");
        }

        top.OneOf("x", [.. PlotLanguage.Axes.Select(axis => axis.Name)]);
        IReadOnlyList<string> shows = PlotLanguage.ShowsOn(plot.X);
        PlotPanel[] panels = [.. top.List("panels").Select((node, i) => Panel(top, node, $"panel {i + 1}", shows))];
        if (panels.Length is 0 or > MostPanels)
            throw MappingReader.Wrong(top.Find("panels")!, $"panels has {panels.Length} panels; allowed: 1 to {MostPanels}");
        if (panels.Length > 1 && panels.Any(panel => panel.Show == PlotLanguage.Percentiles))
            throw MappingReader.Wrong(top.Find("panels")!, $"{PlotLanguage.Percentiles} has a panel for each operation and stands alone");
        return plot with { Panels = panels, Needs = top.Texts("needs", shows) };
    }

    private static PlotPanel Panel(MappingReader top, ScenarioNode node, string what, IReadOnlyList<string> shows)
    {
        if (node is ScalarNode)
            return new PlotPanel(top.OneOf("panels", top.ScalarOf("panels", node), shows));
        var reader = new MappingReader(node, what, PlotLanguage.Panel);
        reader.Require("show", $"one of {string.Join(", ", shows)}");
        string show = reader.OneOf("show", shows)!;
        bool isOverDocuments = shows.Contains(PlotLanguage.Percentiles) && show is "inserts" or "queries";
        foreach (string key in (string[])["y", "megabytes"])
        {
            if (!isOverDocuments && reader.Find(key) is { } wrong)
                throw MappingReader.Wrong(wrong, $"{what}: {key} is for inserts and queries over documents only");
        }

        return new PlotPanel(show) { Y = reader.OneOf("y", PlotLanguage.GrowthMetrics), HasMegabytes = reader.Flag("megabytes"), Title = reader.Text("title"), Lines = reader.Texts("lines") };
    }

    private static FigureInfo Figure(MappingReader top, PlotInfo plot)
    {
        foreach (string key in (string[])["needs", "bands"])
        {
            if (top.Find(key) is { } node)
                throw MappingReader.Wrong(node, $"{key} is not allowed with y", "it belongs to a plot with panels");
        }

        IReadOnlyList<string> metrics = top.Texts("y", plot.X == Dimension.Time ? TimeMetric.Names : FigureMetric.Names);
        if (metrics.Count is 0 or > MostMetrics)
            throw MappingReader.Wrong(top.Find("y")!, $"y has {metrics.Count} metrics; allowed: 1 to {MostMetrics}");
        double? to = plot.X == Dimension.Time ? top.Duration("to")
            : top.Text("to") is not { } text ? null
            : FigureAxis.NumberOf(text) ?? throw MappingReader.Wrong(top.Find("to")!, $"to is '{text}'; expected a number such as 30 or 10M");
        return new FigureInfo
        {
            Title = plot.Title, X = plot.X, Y = metrics, Lines = top.Text("lines"), To = to, IsLogarithmic = top.Flag("logarithmic"),
            Of = new ResultChoice { Phases = top.Texts("phases"), Operations = top.Texts("operation"), Where = [.. Where(top)] },
        };
    }

    private static IEnumerable<ParameterValue> Where(MappingReader top)
    {
        if (top.Find("where") is not { } node)
            yield break;
        if (node is not MappingNode mapping)
            throw MappingReader.Wrong(node, $"where is {node.Describe()}; expected names with values");
        foreach (MappingEntry entry in mapping.Entries)
        {
            foreach (ScenarioNode item in entry.Value is SequenceNode list ? list.Items : [entry.Value])
                yield return new ParameterValue(entry.Name, top.ScalarOf($"where.{entry.Name}", item).Text);
        }
    }
}
