using System.Text.RegularExpressions;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Plots;

/// <summary>What a plot is drawn of.</summary>
public enum PlotRuns
{
    /// <summary>It is drawn in the report of a run.</summary>
    One,

    /// <summary>It is drawn in a comparison of several runs.</summary>
    Several,

    /// <summary>It is drawn in both.</summary>
    Any,
}

/// <summary>A chart as a plot file describes it.</summary>
public sealed partial record PlotInfo
{
    /// <summary>The name of its file without the extension; charts are named after it.</summary>
    public required string Name { get; init; }

    /// <summary>A sentence for lists.</summary>
    public required string Description { get; init; }

    /// <summary>The title in English, with the names of <see cref="Names"/> in braces.</summary>
    public required string Title { get; init; }

    /// <summary>How to read it, in English; may be empty.</summary>
    public string HowToRead { get; init; } = "";

    /// <summary>An axis of <see cref="PlotLanguage.Axes"/>; of a plot with <see cref="Figure"/> a dimension.</summary>
    public required string X { get; init; }

    /// <summary>The panels from the top; none where there is a figure.</summary>
    public IReadOnlyList<PlotPanel> Panels { get; init; } = [];

    /// <summary>One of these panels must be there, or nothing is drawn; empty for any.</summary>
    public IReadOnlyList<string> Needs { get; init; } = [];

    public PlotRuns Runs { get; init; }

    /// <summary>Events, pauses, and where data outgrow the cache are marked.</summary>
    public bool HasMarks { get; init; } = true;

    /// <summary>The kinds of bands that are shaded: those of <see cref="PlotLanguage.Bands"/>.</summary>
    public IReadOnlyList<string> Bands { get; init; } = [];

    /// <summary>What it shows of results, as figures of scenarios do; null for a plot with panels.</summary>
    public FigureInfo? Figure { get; init; }

    /// <summary>Its place in a report: lower ones come first.</summary>
    public double Place { get; init; } = double.MaxValue;

    public bool IsOfOneRun => Runs != PlotRuns.Several;

    public bool IsOfSeveralRuns => Runs != PlotRuns.One;

    /// <summary>It needs the statistics of a comparison, not just the runs.</summary>
    public bool IsOfComparison => Figure is null && X is PlotLanguage.Ratio or PlotLanguage.Window;

    /// <summary>It is drawn of a history, and in no report or comparison.</summary>
    public bool IsOfHistory => Figure is null && X == PlotLanguage.History;

    /// <summary>What a title may have in braces.</summary>
    public static IReadOnlyList<string> Names { get; } = ["growth", "collection", "phase", "length", "operation", "threads", "scenario"];

    /// <summary>The key of a text's translation, in which names in braces are numbered.</summary>
    public static string KeyOf(string text)
    {
        int number = 0;
        return NameInBraces().Replace(text, _ => $"{{{number++}}}");
    }

    /// <summary>The title in the report's language.</summary>
    /// <param name="values">What stands for names in braces.</param>
    public string TitleWith(params (string Name, string Value)[] values)
    {
        string title = Words.Of(KeyOf(Title));
        foreach ((int number, Match name) in NameInBraces().Matches(Title).Index())
        {
            string value = values.FirstOrDefault(one => one.Name == name.Groups[1].Value).Value ?? "";
            title = title.Replace($"{{{number}}}", value, StringComparison.Ordinal);
        }

        return title;
    }

    /// <summary>How to read it, in the report's language; may be empty.</summary>
    public string Reading => HowToRead.Length == 0 ? "" : Words.Of(HowToRead);

    [GeneratedRegex(@"\{(growth|collection|phase|length|operation|threads|scenario)\}")]
    private static partial Regex NameInBraces();
}

/// <summary>A panel of a plot.</summary>
/// <param name="Show">What it takes its lines from.</param>
public sealed record PlotPanel(string Show)
{
    /// <summary>A metric, where its source has several; null for the usual one.</summary>
    public string? Y { get; init; }

    /// <summary>Bytes of documents per second stand along the right.</summary>
    public bool HasMegabytes { get; init; }

    /// <summary>The title beside the axis, in place of its own; null for that.</summary>
    public string? Title { get; init; }

    /// <summary>The titles of the lines that are drawn; empty for the usual ones.</summary>
    public IReadOnlyList<string> Lines { get; init; } = [];

    /// <summary>Its title in the report's language: the file's, or otherwise its source's.</summary>
    /// <param name="own">The title that its source gives it.</param>
    public string TitleOr(string own) => Title is { } title ? Words.Of(title) : own;

    /// <summary>What its source has, with the title and the lines that the file wants.</summary>
    /// <param name="own">The panel as its source makes it.</param>
    /// <returns>Null when it has none of the lines.</returns>
    public Charts.Panel? Of(Charts.Panel own) => (Title is null ? own : own with { Title = Words.Of(Title), Unit = "" }).Only(Lines);
}
