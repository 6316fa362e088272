using System.Globalization;

namespace MongoPerf.Texts;

/// <summary>
/// Numbers for people: 10M, 25 MB/s, 1.2 ms, 3.4 GB. Three digits that count; the invariant culture; decimal powers but for MiB.
/// </summary>
public static class Units
{
    /// <summary>Stands where there is no value.</summary>
    public const string None = "-";

    /// <summary>Three thousand years.</summary>
    private const double MostSeconds = 1e11;

    private static readonly string[] CountSuffixes = ["", "k", "M", "G", "T"];
    private static readonly string[] ByteSuffixes = [" B", " kB", " MB", " GB", " TB", " PB"];
    private static readonly string[] BinarySuffixes = [" B", " KiB", " MiB", " GiB", " TiB", " PiB"];
    private static readonly string[] TimeSuffixes = [" µs", " ms", " s"];

    /// <summary>1M, 1.25M, 250k, 999.</summary>
    public static string Count(double count) => Scale(count, 1000, CountSuffixes);

    /// <summary>1,234,567.</summary>
    public static string Exact(long count) => count.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>3.4 GB; 1 GB is 10^9 bytes.</summary>
    public static string Bytes(double? bytes) => bytes is { } value ? Scale(value, 1000, ByteSuffixes) : None;

    /// <summary>
    /// 256 MiB: memory, caches and their limits, as the options of servers count them. Whatever lies on disk or is sent is in
    /// <see cref="Bytes"/>.
    /// </summary>
    public static string BinaryBytes(double? bytes) => bytes is { } value ? Scale(value, 1024, BinarySuffixes) : None;

    /// <summary>"1 chart", "2 charts", "1,234 charts".</summary>
    public static string Counted(long count, string one, string? many = null) => $"{Exact(count)} {(count == 1 ? one : many ?? one + "s")}";

    /// <summary>25 MB/s.</summary>
    public static string BytesPerSecond(double bytes) => Bytes(bytes) + "/s";

    /// <summary>2.4 µs, 850 µs, 1.2 ms, 2.35 s. Microseconds as far as they are measured: a tenth below ten of them.</summary>
    public static string Latency(double? microseconds) => microseconds is not { } value || !double.IsFinite(value) ? None
        : value is > 0 and < 999.5 ? value.ToString(value < 9.95 ? "F1" : "F0", CultureInfo.InvariantCulture) + TimeSuffixes[0]
        : Scale(value, 1000, TimeSuffixes);

    /// <summary>44,123 from a hundred on, three digits that count below.</summary>
    public static string Rate(double? perSecond) => perSecond is not { } value || !double.IsFinite(value)
        ? None
        : Math.Abs(value) >= 99.95 ? value.ToString("N0", CultureInfo.InvariantCulture) : Significant(value);

    /// <summary>12.3 s, 5 min 12 s, 1 h 02 min, 3 d 04 h.</summary>
    public static string Duration(TimeSpan duration)
    {
        if (duration.TotalSeconds < 59.95)
            return Significant(duration.TotalSeconds) + " s";
        TimeSpan rounded = TimeSpan.FromSeconds(Math.Round(duration.TotalSeconds));
        if (rounded.TotalHours < 1)
            return $"{rounded.Minutes} min {rounded.Seconds:00} s";
        return rounded.TotalDays < 1
            ? $"{rounded.Hours} h {rounded.Minutes:00} min"
            : $"{(int)rounded.TotalDays} d {rounded.Hours:00} h";
    }

    /// <summary>The same for seconds that a server or a file told, which may be more than a <see cref="TimeSpan"/> holds.</summary>
    public static string Duration(double seconds) =>
        double.IsNaN(seconds) ? None : Duration(TimeSpan.FromSeconds(Math.Clamp(seconds, 0, MostSeconds)));

    /// <summary>97 %, 0.5 %.</summary>
    public static string Percent(double share) => double.IsFinite(share) ? Significant(share * 100) + " %" : None;

    /// <summary>"-57 %", "+4 %", from twice as much on "× 2.6".</summary>
    /// <param name="ratio">What it became to what it was.</param>
    public static string Change(double ratio)
    {
        double change = Math.Round(ratio - 1, 2);
        return ratio >= 2 ? $"× {Significant(ratio)}" : $"{(change > 0 ? "+" : change < 0 ? "-" : "")}{Percent(Math.Abs(change))}";
    }

    /// <summary>Rounds up to two digits: 1,234 to 1,300.</summary>
    /// <param name="value">Greater than 0.</param>
    public static long TwoDigits(double value)
    {
        double unit = Math.Pow(10, Math.Max(0, Math.Floor(Math.Log10(value)) - 1));
        return (long)(Math.Ceiling(value / unit) * unit);
    }

    /// <summary>"960MB", as options and files take a size, in powers of 1,024 and never less.</summary>
    public static string Megabytes(double bytes) => string.Create(CultureInfo.InvariantCulture, $"{Math.Ceiling(bytes / (1 << 20)):0}MB");

    /// <summary>Three digits that count, without zeros at the end: 123, 12.3, 1.23, 0.5.</summary>
    public static string Significant(double value)
    {
        if (!double.IsFinite(value))
            return None;
        double size = Math.Abs(value);
        string text = value.ToString(size >= 99.95 ? "F0" : size >= 9.995 ? "F1" : size >= 0.0995 ? "F2" : "F4",
            CultureInfo.InvariantCulture);
        text = text.Contains('.') ? text.TrimEnd('0').TrimEnd('.') : text;
        return text == "-0" ? "0" : text;
    }

    private static string Scale(double value, double by, string[] suffixes)
    {
        if (!double.IsFinite(value))
            return None;
        int step = 0;
        // 999.6 would be written as 1000, so it is one of the next unit.
        for (; Math.Abs(value) >= by - 0.5 && step < suffixes.Length - 1; step++)
            value /= by;
        return Significant(value) + suffixes[step];
    }
}
