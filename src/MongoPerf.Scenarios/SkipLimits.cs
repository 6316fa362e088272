using System.Globalization;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Scenarios;

/// <summary>How many arrivals of a rate may be skipped, as it is typed.</summary>
public static class SkipLimits
{
    /// <param name="text">A count such as 100 or 1k, or a share such as 1%.</param>
    /// <exception cref="FormatException">Neither.</exception>
    public static SkipLimit Parse(string text) =>
        text.EndsWith('%') ? new SkipLimit(0, ParseShare(text)) : new SkipLimit(Quantities.ParseCount(text, 0), 0);

    /// <returns>From 0 to 1.</returns>
    /// <exception cref="FormatException">It is no share.</exception>
    internal static double ParseShare(string text) =>
        double.TryParse(text.TrimEnd('%'), NumberStyles.Float, CultureInfo.InvariantCulture, out double percent)
            && percent is >= 0 and <= 100
            ? percent / 100
            : throw new FormatException($"'{text}' is not a share from 0% to 100%");
}
