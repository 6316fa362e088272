using System.Globalization;
using System.Text.RegularExpressions;

namespace MongoPerf.Deployments.Installing;

/// <summary>A release of MongoDB, such as 8.0.4 or 8.0.0-rc3.</summary>
/// <param name="Major">8 of 8.0.4.</param>
/// <param name="Minor">0 of 8.0.4.</param>
/// <param name="Patch">4 of 8.0.4.</param>
/// <param name="Suffix">"rc3"; empty for a release that is meant for use.</param>
public readonly partial record struct ReleaseNumber(int Major, int Minor, int Patch, string Suffix) : IComparable<ReleaseNumber>
{
    public override string ToString() => $"{Major}.{Minor}.{Patch}{(Suffix.Length > 0 ? "-" + Suffix : "")}";

    public int CompareTo(ReleaseNumber other)
    {
        int order = (Major, Minor, Patch).CompareTo((other.Major, other.Minor, other.Patch));
        if (order != 0)
            return order;
        // 8.0.0 comes after its candidates.
        return (Suffix.Length == 0).CompareTo(other.Suffix.Length == 0) is var released and not 0
            ? released
            : string.CompareOrdinal(Suffix, other.Suffix);
    }

    /// <summary>Whether this is the requested version: a whole number such as 8.0.4, or one of a series such as 8.0 or 8.</summary>
    public bool IsOf(string asked) => asked == ToString() || (Suffix.Length == 0 && (asked == $"{Major}.{Minor}" || asked == $"{Major}"));

    /// <returns>Null for what is no whole number of a release.</returns>
    public static ReleaseNumber? Parse(string text) => Whole().Match(text) is { Success: true } match
        ? new ReleaseNumber(Part(match, 1), Part(match, 2), Part(match, 3), match.Groups[4].Value)
        : null;

    /// <summary>8, 8.0, 8.0.4 or 8.0.4-rc3: something that <see cref="IsOf"/> may meet.</summary>
    public static bool CanBeAsked(string text) => Asked().IsMatch(text);

    private static int Part(Match match, int group) => int.Parse(match.Groups[group].Value, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:-([\w.-]{1,40}))?$")]
    private static partial Regex Whole();

    [GeneratedRegex(@"^\d{1,4}(\.\d{1,4}(\.\d{1,4}(-[\w.-]{1,40})?)?)?$")]
    private static partial Regex Asked();
}
