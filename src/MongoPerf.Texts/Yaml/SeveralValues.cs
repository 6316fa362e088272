using System.Text.RegularExpressions;

namespace MongoPerf.Texts.Yaml;

/// <summary>Ways of other tools to write several values where this program takes a list.</summary>
internal static partial class SeveralValues
{
    /// <summary>Such as 1..32, 1-32, 1,8 and ramp.</summary>
    public static bool IsMeant(string text) => Pattern().IsMatch(text);

    [GeneratedRegex(@"^\s*([0-9][0-9_.]*[a-z]*\s*(\.\.+|…|-|–|,|;|\s|to)\s*[0-9].*|ramp.*)$", RegexOptions.IgnoreCase)]
    private static partial Regex Pattern();
}
