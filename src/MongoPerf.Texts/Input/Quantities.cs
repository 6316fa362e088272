using System.Globalization;

namespace MongoPerf.Texts.Input;

/// <summary>Reads counts (500M, 1e6, 10k), sizes (7GB, 256MB) and durations (90s, 10m, 500us) as people type them.</summary>
public static class Quantities
{
    private static readonly (string Suffix, double Factor)[] CountSuffixes = [("k", 1e3), ("m", 1e6), ("g", 1e9), ("b", 1e9)];

    private static readonly (string Suffix, double Factor)[] SizeSuffixes =
        [
            ("kb", 1L << 10), ("mb", 1L << 20), ("gb", 1L << 30), ("tb", 1L << 40), ("kib", 1L << 10),
            ("mib", 1L << 20), ("gib", 1L << 30), ("b", 1),
        ];

    private static readonly (string Suffix, double Factor)[] DurationSuffixes =
        [("us", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400)];

    private const double MostSeconds = 365 * 86400.0;
    private const long MostCount = 1_000_000_000_000_000;

    /// <summary>A whole number of things.</summary>
    /// <param name="text">The text as typed.</param>
    /// <param name="least">Allowed.</param>
    /// <param name="most">Allowed; no more than 1e15 ever is.</param>
    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static long ParseCount(string text, long least = 1, long most = MostCount)
    {
        double value = Parse(text, CountSuffixes, needsSuffix: false, "a count such as 500M, 1e6, 10k or 20000");
        // Written out, a larger number tells nobody how large it is.
        const double MostShown = 1e18;
        if (value < least || value > Math.Min(most, MostCount))
            throw new FormatException(
                $"'{text}' is {(text == Format(value) || value > MostShown ? "out of range" : Format(value))}; allowed: {least:N0} to "
                + (most < MostCount ? most.ToString("N0", CultureInfo.InvariantCulture) : "1e15"));
        if (Math.Abs(value - Math.Round(value)) > 1e-6)
            throw new FormatException($"'{text}' is not a whole number");
        return (long)Math.Round(value);
    }

    /// <summary>Bytes. KB, MB and GB are powers of 1,024, as in mongod's own options; a plain number is bytes.</summary>
    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static long ParseSize(string text)
    {
        double value = Parse(text, SizeSuffixes, needsSuffix: false, "a size such as 7GB, 256MB or 1.5GB");
        if (value is < 1 or > 1e18)
            throw new FormatException($"'{text}' is out of range; allowed: 1B to 1e18B");
        return (long)value;
    }

    /// <summary>Bytes of a cache, a memory or a disk: a unit that was forgotten makes no sense of one, and is noticed.</summary>
    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static long ParseRoom(string text)
    {
        const long Least = 1 << 20;
        long bytes = ParseSize(text);
        return bytes >= Least ? bytes : throw new FormatException(
            $"'{text}' is {bytes:N0} bytes; allowed: 1MB or more{(HasUnit(text) ? "" : $" (did you mean {text.Trim()}GB?)")}");
    }

    /// <summary>Tells whether a quantity has a unit and is not a plain number.</summary>
    public static bool HasUnit(string text) => !TryNumber(text.Trim(), out _);

    /// <summary>Seconds.</summary>
    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static double ParseDuration(string text)
    {
        double value = Seconds(text);
        return value <= MostSeconds ? value : throw new FormatException($"'{text}' is out of range; allowed: 0s to 8760h");
    }

    /// <summary>Seconds, for what can't take no time at all.</summary>
    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static double ParsePositiveDuration(string text)
    {
        double value = Seconds(text);
        return value is > 0 and <= MostSeconds ? value
            : throw new FormatException($"'{text}' is out of range; allowed: more than 0s, at most 8760h");
    }

    /// <summary>Several values, each of them once.</summary>
    /// <param name="text">The text as typed.</param>
    /// <param name="parse">Makes a value of the text of one.</param>
    /// <param name="separator">The text that stands between them.</param>
    /// <exception cref="FormatException">Says what was found and what is allowed.</exception>
    public static IReadOnlyList<T> ParseList<T>(string text, Func<string, T> parse, char separator = ',')
    {
        T[] values = [.. text.Split(separator, StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).Select(parse)];
        if (values.Length == 0)
            throw new FormatException($"'{text}' is an empty list");
        return values.Distinct().Count() == values.Length ? values : throw new FormatException($"'{text}' lists a value twice");
    }

    private static double Seconds(string text) =>
        Parse(text, DurationSuffixes, needsSuffix: true, "a duration such as 90s, 500ms, 10m or 2h");

    private static double Parse(string text, (string Suffix, double Factor)[] suffixes, bool needsSuffix, string allowed)
    {
        string trimmed = text.Trim().Replace("_", "", StringComparison.Ordinal).ToLowerInvariant();
        // Longest first: "ms" is not "s", "gib" is not "b".
        foreach ((string suffix, double factor) in suffixes.OrderByDescending(s => s.Suffix.Length))
        {
            if (trimmed.EndsWith(suffix, StringComparison.Ordinal) && TryNumber(trimmed[..^suffix.Length], out double number))
                return number * factor;
        }

        if ((!needsSuffix || trimmed == "0") && TryNumber(trimmed, out double plain))
            return plain;
        throw new FormatException($"'{text}' is not {allowed}");
    }

    private static bool TryNumber(string text, out double number) =>
        double.TryParse(text, NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent | NumberStyles.AllowTrailingWhite,
            CultureInfo.InvariantCulture, out number)
        && double.IsFinite(number);

    private static string Format(double value) => value.ToString("0.###", CultureInfo.InvariantCulture);
}
