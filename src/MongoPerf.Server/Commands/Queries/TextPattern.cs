using System.Text;
using System.Text.RegularExpressions;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// A regular expression over code points. .NET's own work on UTF-16 units, so what lies above U+FFFF is put into one unit each before.
/// </summary>
/// <remarks>
/// A pattern can tell only those code points apart that it names; the rest of them between two named ones behave alike. Each such
/// interval above U+FFFF gets one unit of those that no text has alone (surrogates), in pattern and text.
/// </remarks>
/// <param name="pattern">The pattern over the intervals' units; made for <see cref="BoundedRegex"/>.</param>
/// <param name="bounds">Where the intervals above U+FFFF begin, in order; the first is U+10000.</param>
internal sealed class TextPattern(Regex pattern, int[] bounds)
{
    public const int FirstAstral = 0x10000;
    public const int MaximumIntervals = LastUnit - FirstUnit + 1;
    private const char FirstUnit = '\uD800';
    private const char LastUnit = '\uDFFF';

    /// <summary>The unit that stands for the interval of a code point above U+FFFF.</summary>
    public static char UnitOf(int[] bounds, int codePoint)
    {
        int at = Array.BinarySearch(bounds, codePoint);
        return (char)(FirstUnit + (at >= 0 ? at : ~at - 1));
    }

    /// <inheritdoc cref="BoundedRegex.IsMatch"/>
    public bool IsMatch(string text) =>
        BoundedRegex.IsMatch(pattern, text.AsSpan().ContainsAnyInRange(FirstUnit, LastUnit) ? WithUnits(text) : text);

    private string WithUnits(string text)
    {
        var units = new StringBuilder(text.Length);
        foreach (Rune rune in text.EnumerateRunes())
            units.Append(rune.IsBmp ? (char)rune.Value : UnitOf(bounds, rune.Value));
        return units.ToString();
    }
}
