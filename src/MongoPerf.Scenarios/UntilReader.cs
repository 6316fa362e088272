using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads the precision that a percentile must reach, such as <c>p99 ±2 %</c>.</summary>
internal static partial class UntilReader
{
    private const double Least = 0.001;
    private const double Most = 0.5;

    /// <returns>Null where the phase has none.</returns>
    /// <exception cref="UserException">It is no such text.</exception>
    public static Until? Find(MappingReader reader, string phase)
    {
        if (reader.Text("until") is not { } text)
            return null;
        try
        {
            return Parse(text);
        }
        catch (FormatException e)
        {
            throw MappingReader.Wrong(reader.Find("until")!, $"phase '{phase}': until: {e.Message}");
        }
    }

    /// <param name="text">"p99 ±2 %", "p99 +-2%" or "p99 2%".</param>
    /// <exception cref="FormatException">It is no such text.</exception>
    public static Until Parse(string text)
    {
        Match match = Form().Match(text);
        if (!match.Success || !Percentile.TryParse(match.Groups["name"].Value, out double percent))
            throw new FormatException(
                $"'{text}' is not a precision such as 'p99 ±2 %'; {Percentile.Rule}");
        double share = double.Parse(match.Groups["percent"].Value, CultureInfo.InvariantCulture) / 100;
        if (share is < Least or > Most)
            throw new FormatException($"'{text}' is out of range; allowed: ±0.1 % to ±50 %");
        return new Until(
            $"{match.Groups["name"].Value} ±{(share * 100).ToString("0.###", CultureInfo.InvariantCulture)} %", percent, share);
    }

    [GeneratedRegex(@"^\s*(?<name>p[0-9]{1,6})\s*(±|\+-|\+/-)?\s*(?<percent>[0-9]{1,3}(\.[0-9]{1,3})?)\s*%\s*$",
        RegexOptions.CultureInvariant)]
    private static partial Regex Form();
}
