using System.Globalization;

namespace MongoPerf.Learning.Writing;

/// <summary>Ends of ranges, rounded outward: no value of the deployment stands in the file for being the least or the greatest.</summary>
internal static class Rounding
{
    private const long Second = 1000;
    private const long Minute = 60 * Second;
    private const long Hour = 60 * Minute;
    private const long Day = 24 * Hour;

    private static readonly long FirstDate = new DateTimeOffset(1, 1, 1, 0, 0, 0, TimeSpan.Zero).ToUnixTimeMilliseconds();
    private static readonly long LastDate = new DateTimeOffset(9999, 12, 31, 0, 0, 0, TimeSpan.Zero).ToUnixTimeMilliseconds();

    /// <summary>To a tenth to a hundredth of the range; a single value to two digits.</summary>
    public static (double Low, double High) Outward(double low, double high)
    {
        double size = high > low ? high - low : Math.Abs(low);
        if (size == 0 || !double.IsFinite(size))
            return (low, high);
        double unit = Math.Pow(10, Math.Floor(Math.Log10(size)) - 1);
        return (Snap(Math.Floor(low / unit), unit), Snap(Math.Ceiling(high / unit), unit));
    }

    /// <summary>The same, as whole numbers within those of a type.</summary>
    public static (long Low, long High) OutwardWhole(double low, double high, long least, long most)
    {
        (double from, double to) = Outward(low, high);
        return (Clamp(Math.Floor(from)), Clamp(Math.Ceiling(to)));

        long Clamp(double value) => value <= least ? least : value >= most ? most : (long)value;
    }

    /// <summary>To the day, hour, minute or second, by the length of time.</summary>
    public static (long Low, long High) OutwardDates(double low, double high)
    {
        double length = high - low;
        long unit = length >= 60 * Day ? Day : length >= 2 * Day ? Hour : length >= 2 * Hour ? Minute : Second;
        return (Clamp(Math.Floor(low / unit) * unit), Clamp(Math.Ceiling(high / unit) * unit));

        static long Clamp(double value) => (long)Math.Clamp(value, FirstDate, LastDate);
    }

    public static string Date(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds)
        .ToString(milliseconds % Day == 0 ? "yyyy-MM-dd" : "yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);

    /// <summary>To two digits.</summary>
    public static double Rough(double number)
    {
        if (number == 0 || !double.IsFinite(number))
            return number;
        double unit = Math.Pow(10, Math.Floor(Math.Log10(Math.Abs(number))) - 1);
        return Snap(Math.Round(number / unit), unit);
    }

    /// <summary>A duration that a scenario reads; at least a millisecond and at most a year.</summary>
    public static string Duration(double milliseconds) =>
        $"{Math.Clamp(Math.Round(milliseconds), 1, 365.0 * Day).ToString("0", CultureInfo.InvariantCulture)}ms";

    /// <summary>Without the noise of a binary fraction.</summary>
    private static double Snap(double units, double unit) => unit >= 1 ? units * unit : units / Math.Round(1 / unit);
}
