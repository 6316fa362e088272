using System.Text.RegularExpressions;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Plots;

/// <summary>A chart as a file of plots describes it.</summary>
internal sealed partial record PlotInfo
{
    /// <summary>Of its file, without the ending; charts are named after it.</summary>
    public required string Name { get; init; }

    /// <summary>A sentence for lists.</summary>
    public required string Description { get; init; }

    /// <summary>English, with the names of <see cref="Names"/> in braces.</summary>
    public required string Title { get; init; }

    /// <summary>How to read it; may be empty.</summary>
    public string HowToRead { get; init; } = "";

    /// <summary>An axis of <see cref="PlotLanguage.Axes"/>; of one with <see cref="Figure"/> a dimension.</summary>
    public required string X { get; init; }

    /// <summary>From the top; none where there is a figure.</summary>
    public IReadOnlyList<PlotPanel> Panels { get; init; } = [];

    /// <summary>One of these panels must be there, or nothing is drawn; empty for any.</summary>
    public IReadOnlyList<string> Needs { get; init; } = [];

    /// <summary>Events, pauses, and where data outgrow the cache.</summary>
    public bool HasMarks { get; init; } = true;

    /// <summary>Kinds of <see cref="PlotLanguage.Bands"/>.</summary>
    public IReadOnlyList<string> Bands { get; init; } = [];

    /// <summary>What it shows of results, as figures of scenarios do; null for one of panels.</summary>
    public FigureInfo? Figure { get; init; }

    /// <summary>Its place in a report: lower ones come first.</summary>
    public double Place { get; init; } = double.MaxValue;

    /// <summary>What a title may have in braces, and what stands there then.</summary>
    public static IReadOnlyList<string> Names { get; } = ["growth", "collection", "phase", "length"];

    /// <summary>Of a translation: names in braces are numbered.</summary>
    public static string KeyOf(string text)
    {
        int number = 0;
        return NameInBraces().Replace(text, _ => $"{{{number++}}}");
    }

    /// <summary>In the report's language.</summary>
    /// <param name="values">By name.</param>
    public string TitleWith(params (string Name, string Value)[] values)
    {
        string title = Words.Of(KeyOf(Title));
        foreach ((int number, Match name) in NameInBraces().Matches(Title).Index())
            title = title.Replace($"{{{number}}}", values.FirstOrDefault(one => one.Name == name.Groups[1].Value).Value ?? "", StringComparison.Ordinal);
        return title;
    }

    /// <summary>In the report's language.</summary>
    public string Reading => HowToRead.Length == 0 ? "" : Words.Of(HowToRead);

    [GeneratedRegex(@"\{(growth|collection|phase|length)\}")]
    private static partial Regex NameInBraces();
}

/// <summary>A panel of a plot.</summary>
/// <param name="Show">What it takes its lines from.</param>
internal sealed record PlotPanel(string Show)
{
    /// <summary>A metric, where its source has several; null for the usual one.</summary>
    public string? Y { get; init; }

    /// <summary>Bytes of documents per second along the right.</summary>
    public bool HasMegabytes { get; init; }

    /// <summary>Beside the axis, in place of its own; null for that.</summary>
    public string? Title { get; init; }

    /// <summary>Titles of the lines that are drawn; empty for the usual ones.</summary>
    public IReadOnlyList<string> Lines { get; init; } = [];
}
