using System.Globalization;

namespace MongoPerf.Reports.Charts;

/// <summary>A text at a place of an axis.</summary>
public readonly record struct Tick(double At, string Text);

/// <summary>How far an axis goes and what stands at its ticks.</summary>
/// <param name="Max">The end of the axis, in its own unit.</param>
/// <param name="Ticks">The ticks, ordered by their places.</param>
public sealed record AxisScale(double Max, IReadOnlyList<Tick> Ticks)
{
    private static readonly double[] TimeSteps =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

    /// <summary>The beginning of the axis; more than <see cref="Max"/> where it runs the other way.</summary>
    public double Min { get; init; }

    public bool IsLogarithmic { get; init; }

    /// <summary>Names stand at the axis, each in a room of 1.</summary>
    public bool IsOfNames { get; init; }

    /// <summary>What it counts.</summary>
    public string Label { get; init; } = "";

    /// <summary>Makes an axis of counts such as 250k and 1.5M: from 0 to a tick at or above <paramref name="largest"/>.</summary>
    public static AxisScale OfCount(double largest, int ticks = 6) => Closed(largest, NiceStep(Usable(largest), ticks), Units.Count);

    /// <summary>Makes an axis as <see cref="OfCount"/> does, for what is counted in whole numbers and may be few.</summary>
    public static AxisScale OfWholeCount(double largest, int ticks = 6) =>
        Closed(largest, Math.Max(1, NiceStep(Usable(largest), ticks)), Units.Count);

    /// <summary>
    /// Makes an axis of documents that ends a little behind <paramref name="largest"/>, so that the last point is not on the frame.
    /// </summary>
    public static AxisScale OfDocuments(double largest)
    {
        double usable = Usable(largest);
        double step = NiceStep(usable, 10);
        return new AxisScale(usable * 1.02, TicksTo(usable * 1.0001, step, Units.Count));
    }

    /// <summary>Makes an axis as <see cref="OfDocuments"/> does, for what is counted in whole numbers and may be few.</summary>
    public static AxisScale OfWhole(double largest)
    {
        double usable = Math.Max(1, Usable(largest));
        double step = Math.Ceiling(NiceStep(usable, 12));
        return new AxisScale(usable * 1.02, TicksTo(usable * 1.0001, step, Units.Count));
    }

    /// <summary>Makes an axis of bytes with their unit at the ticks: 12.5 GB is 12,500,000,000 bytes, as in the tables.</summary>
    public static AxisScale OfBytes(double largest, int ticks = 6) =>
        Closed(largest, NiceStep(Usable(largest), ticks), static value => value > 0 ? Units.Bytes(value) : "0");

    /// <summary>Makes an axis of memory, whose ticks are round in powers of 1,024: 256 MiB, 1.5 GiB.</summary>
    public static AxisScale OfMemory(double largest, int ticks = 6)
    {
        double unit = Math.Pow(1024, Math.Max(0, Math.Floor(Math.Log(Usable(largest), 1024))));
        return Closed(largest, NiceStep(Usable(largest) / unit, ticks) * unit, static value => value > 0 ? Units.BinaryBytes(value) : "0");
    }

    /// <summary>Makes an axis of microseconds from 0, with texts such as 250 µs and 1.5 ms.</summary>
    public static AxisScale OfMicroseconds(double largest, int ticks = 6) =>
        Closed(largest, NiceStep(Usable(largest), ticks), static value => value > 0 ? Units.Latency(value) : "0");

    /// <summary>Makes the axis on the other side of one that ends where this one has <paramref name="max"/>.</summary>
    public static AxisScale OfSecondAxis(double max) => new(max, TicksTo(max * 1.0001, NiceStep(Usable(max), 6), Units.Count));

    /// <summary>Makes an axis of time from 0, and tells the unit of its ticks for its title.</summary>
    public static (AxisScale Scale, string Unit) OfTime(double seconds)
    {
        double largest = Usable(seconds);
        double step = TimeSteps.FirstOrDefault(candidate => largest / candidate <= 14, NiceStep(largest / 86400, 12) * 86400);
        (string unit, Func<double, string> text) = step switch
        {
            >= 86400 => ("days", static value => Plain(value / 86400)),
            >= 3600 => ("hours", static value => Plain(value / 3600)),
            >= 60 when largest >= 3600 => ("hours:minutes", static value => Clock(value / 60)),
            >= 60 => ("minutes", static value => Plain(value / 60)),
            _ when largest >= 120 => ("minutes:seconds", Clock),
            _ => ("seconds", (Func<double, string>)Plain),
        };
        return (new AxisScale(largest, TicksTo(largest * 1.0001, step, text)), Words.Of(unit));
    }

    /// <summary>
    /// Makes a logarithmic axis of whole decades of microseconds around two values; one or two decades have ticks between them.
    /// </summary>
    public static AxisScale OfLatency(double least, double largest)
    {
        // Nothing is measured below a tenth of a microsecond.
        int low = (int)Math.Floor(Math.Log10(Math.Max(least, 0.1)));
        int high = Math.Max(low + 1, (int)Math.Ceiling(Math.Log10(Math.Max(largest, 0.1))));
        double[] leads = high - low > 2 ? [1] : high - low > 1 ? [1, 3] : [1, 2, 5];
        IEnumerable<double> ticks = Enumerable.Range(low, high - low)
            .SelectMany(power => leads, static (power, lead) => Math.Round(lead * Math.Pow(10, power), 1)).Append(Math.Pow(10, high));
        return new AxisScale(Math.Pow(10, high),
            [.. ticks.Select(static value => new Tick(value, LatencyText(value)))]) { Min = Math.Pow(10, low), IsLogarithmic = true };
    }

    /// <summary>
    /// Makes a logarithmic axis of ratios with 1 among its ticks: 0.9, 0.95, 1 … where it is short, 0.5, 1, 2, 5 … where it is long.
    /// </summary>
    public static AxisScale OfRatios(double low, double high)
    {
        double step = NiceStep(high - low, 8);
        IEnumerable<double> values = high / low < 3
            ? Enumerable.Range((int)Math.Ceiling((low - 1) / step), (int)Math.Ceiling((high - low) / step) + 1).Select(i => 1 + (i * step))
            : Enumerable.Range(-9, 19).SelectMany(power => high / low < 12 ? (double[])[1, 1.5, 2, 3, 5, 7] : [1, 2, 5],
                (power, lead) => lead * Math.Pow(10, power));
        if (high / low > 1000)
            values = Enumerable.Range(-9, 19).Select(power => Math.Pow(10, power));
        return new AxisScale(high, [.. values.Where(v => v >= low && v <= high).Select(static v => new Tick(v, Units.Significant(v)))])
        {
            Min = low, IsLogarithmic = true,
        };
    }

    /// <summary>Tells where a place lies between the ends: from 0 to 1.</summary>
    public double Share(double at) => Max == Min ? 0 : IsLogarithmic ? Math.Log(at / Min) / Math.Log(Max / Min) : (at - Min) / (Max - Min);

    /// <summary>Writes a count in few digits, for a place that was interpolated.</summary>
    public static string AboutText(double value, int digits = 2)
    {
        if (value <= 0)
            return "0";
        double step = Math.Pow(10, Math.Floor(Math.Log10(value)) - digits + 1);
        return Units.Count(Math.Round(value / step) * step);
    }

    private static string LatencyText(double microseconds) => microseconds switch
    {
        >= 1e6 => Plain(microseconds / 1e6) + " s",
        >= 1e3 => Plain(microseconds / 1e3) + " ms",
        _ => Plain(microseconds) + " µs",
    };

    private static double Usable(double largest) => double.IsFinite(largest) && largest > 0 ? largest : 1;

    /// <summary>Chooses 1, 2, 2.5 or 5 times a power of ten, so that about that many ticks fit.</summary>
    private static double NiceStep(double largest, int ticks)
    {
        double rough = largest / ticks;
        double power = Math.Pow(10, Math.Floor(Math.Log10(rough)));
        double factor = (rough / power) switch
        {
            <= 1 => 1,
            <= 2 => 2,
            <= 2.5 => 2.5,
            <= 5 => 5,
            _ => 10,
        };
        return factor * power;
    }

    private static AxisScale Closed(double largest, double step, Func<double, string> text)
    {
        double max = Math.Ceiling(Usable(largest) * 1.03 / step) * step;
        return new AxisScale(max, TicksTo(max * 1.0001, step, text));
    }

    private static Tick[] TicksTo(double end, double step, Func<double, string> text) =>
        [.. Enumerable.Range(0, (int)Math.Floor(end / step) + 1).Select(i => new Tick(i * step, text(i * step)))];

    private static string Plain(double value) => Math.Round(value, 6).ToString("0.######", CultureInfo.InvariantCulture);

    private static string Clock(double parts)
    {
        long whole = (long)Math.Round(parts);
        return $"{whole / 60}:{whole % 60:00}";
    }
}
