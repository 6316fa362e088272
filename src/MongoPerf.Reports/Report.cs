using MongoPerf.Reports.Findings;

namespace MongoPerf.Reports;

/// <summary>What shows a report.</summary>
[Flags]
public enum Media
{
    Console = 1,
    Markdown = 2,
    Page = 4,

    /// <summary>What is kept and passed on.</summary>
    Documents = Markdown | Page,
    All = Console | Documents,
}

/// <summary>
/// What is reported, and in which order. Console, Markdown and page show it, each in its form; none adds to it or moves anything.
/// </summary>
/// <param name="Title">The title of a document; the console has none.</param>
/// <param name="Lead">Comes before the table of contents.</param>
/// <param name="Sections">Those with nothing to show in a medium are not there.</param>
public sealed record Report(string Title, IReadOnlyList<Block> Lead, IReadOnlyList<Section> Sections)
{
    /// <summary>
    /// What the reader came for, on one screen: the first of a document, and all that the console shows unless it is asked for the rest.
    /// Empty where the rest is no longer than a screen itself.
    /// </summary>
    public IReadOnlyList<Block> Answer { get; init; } = [];

    /// <summary>Everything but the answer.</summary>
    public IEnumerable<Block> Blocks => Lead.Concat(Sections.SelectMany(section => section.Blocks));

    /// <summary>What one medium shows of it.</summary>
    public Report For(Media medium) => new(
        Title, Shown(Lead, medium), [.. Sections.Select(section => section with { Blocks = Shown(section.Blocks, medium) })
            .Where(section => section.Blocks.Count > 0)]) { Answer = Shown(Answer, medium) };

    private static IReadOnlyList<Block> Shown(IReadOnlyList<Block> blocks, Media medium) =>
        [.. blocks.Where(block => block.In.HasFlag(medium) && !block.IsEmpty)];
}

/// <param name="Title">The title of a document's heading, which translates it; the console has none.</param>
/// <param name="Blocks">The blocks in their order.</param>
public sealed record Section(string Title, IReadOnlyList<Block> Blocks)
{
    public static Section Of(ReportTable table) => new(table.Title, [new Block.Table(table)]);
}

/// <summary>A name, translated where it is shown, and what is known of it.</summary>
public sealed record Fact(string Name, string Text)
{
    /// <summary>Good or bad; null for neither.</summary>
    public Grade? Grade { get; init; }

    /// <summary>What the name leads to on a page: a file relative to it, or "#" and the id of a place in it; null for nothing.</summary>
    public string? Link { get; init; }
}

public enum Tone
{
    Plain,

    /// <summary>It stands beside the point, for those who want to know more.</summary>
    Soft,

    /// <summary>The result in a sentence.</summary>
    Conclusion,
}

/// <summary>A part of a report.</summary>
public abstract record Block
{
    public Media In { get; init; } = Media.All;

    public bool IsEmpty =>
        this is Paragraph { Text.Length: 0 } or Cautions { Lines.Count: 0 } or Findings { All.Count: 0 } or Foremost { All.Count: 0 }
            or Facts { Lines.Count: 0 } or Verdicts { Lines.Count: 0 };

    public sealed record Paragraph(string Text, Tone Tone = Tone.Plain) : Block;

    public sealed record Verdicts(IReadOnlyList<Verdict> Lines) : Block;

    /// <summary>What nobody may overlook who quotes the figures.</summary>
    public sealed record Cautions(IReadOnlyList<string> Lines) : Block;

    /// <summary>The most important first, each with its details.</summary>
    public sealed record Findings(IReadOnlyList<Finding> All) : Block;

    /// <summary>A few findings in a line each, by their places among all of the report, which a page leads to.</summary>
    public sealed record Foremost(IReadOnlyList<(int Place, Finding Finding)> All) : Block;

    public sealed record Facts(IReadOnlyList<Fact> Lines) : Block;

    /// <summary>Its title is left out below a heading that says the same.</summary>
    public sealed record Table(ReportTable Content) : Block
    {
        /// <summary>The console shows each row in one line, without borders, and a page has no heading for it.</summary>
        public bool IsPlain { get; init; }
    }

    /// <summary>A text as it stands in its file.</summary>
    public sealed record Source(string Text) : Block;

    /// <summary>The charts to explore; who writes the page brings them.</summary>
    public sealed record Explore : Block
    {
        public Explore() => In = Media.Page;
    }

    /// <summary>The drawn charts; who writes the page brings them.</summary>
    public sealed record Charts : Block
    {
        public Charts() => In = Media.Page;
    }
}
