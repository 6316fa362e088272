using System.Globalization;

namespace MongoPerf.Wire.Messages;

/// <summary>
/// Text that the other side wrote, made fit to be shown: nothing of it may break the line, move the cursor or fill the screen.
/// </summary>
public static class ForeignText
{
    /// <summary>The text on one line, with characters that control how others are shown as '?'.</summary>
    /// <param name="text">A text of any length.</param>
    /// <param name="longest">Characters that are kept of a longer one, before an ellipsis.</param>
    public static string OneLine(string text, int longest)
    {
        string line = string.Concat(text.Take(longest + 1).Select(c => Controls(c) ? '?' : c));
        return line.Length <= longest ? line : line[..longest] + "…";
    }

    /// <summary>It moves the cursor, breaks the line or turns the direction of writing.</summary>
    private static bool Controls(char c) =>
        char.GetUnicodeCategory(c) is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator
            or UnicodeCategory.ParagraphSeparator;
}
