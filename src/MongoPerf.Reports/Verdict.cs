using MongoPerf.Reports.Findings;

namespace MongoPerf.Reports;

public enum Grade
{
    Good,

    /// <summary>A reader of the figures must know it.</summary>
    Note,
    Bad,
}

/// <summary>One of the lines that come first in every report.</summary>
public sealed record Verdict(Grade Grade, string Text)
{
    /// <summary>The label that takes the place of the grade's own mark; null for that.</summary>
    public string? Label { get; init; }

    public string Mark => Words.Of(Label ?? GradeMark);

    /// <summary>Something else is wrong, so that what is right in itself is only noted.</summary>
    public Verdict Unsure() => Grade == Grade.Good ? this with { Grade = Grade.Note } : this;

    /// <summary>The finding that the line states; null when it states none.</summary>
    public VerdictFinding? Finding { get; init; }

    /// <summary>Labels of the operations whose figures do not mean what they seem to, as <see cref="Finding.Operations"/>.</summary>
    public IReadOnlyList<string> Operations { get; init; } = [];

    /// <summary>It states a setting and not a result: a comparison lists it among the differences.</summary>
    public bool IsChosen { get; init; }

    /// <summary>The mark by which pages color the grade.</summary>
    public string GradeMark => Grade switch
    {
        Grade.Good => "ok",
        Grade.Note => "note",
        _ => "BAD",
    };
}
