using System.Globalization;
using MongoPerf.Reports.Charts;

namespace MongoPerf.Reports.Figures;

/// <summary>The axis below a figure: numbers to scale, over decades by their logarithm; names at equal distances.</summary>
internal sealed class FigureAxis
{
    /// <summary>The ratio of greatest to least value from which an axis is logarithmic.</summary>
    public const double LogarithmicFrom = 20;

    /// <summary>The share of the greatest value that the least one must exceed for the axis to leave out the way from 0.</summary>
    private const double FarFromZero = 0.3;

    private readonly bool _hasZero;

    private FigureAxis(IReadOnlyList<string> values, IReadOnlyList<double> places, bool isNumeric, bool hasZero)
    {
        Values = values;
        Places = places;
        IsNumeric = isNumeric;
        IsLogarithmic = isNumeric && places[0] > 0 && places[^1] / places[0] >= LogarithmicFrom;
        _hasZero = hasZero && isNumeric && !IsLogarithmic;
        double span = places[^1] - places[0];
        Min = IsLogarithmic ? places[0] / 1.2
            : isNumeric && !hasZero && span > 0 && places[0] > places[^1] * FarFromZero ? places[0] - (span * 0.08) : 0;
        Max = IsLogarithmic ? places[^1] * 1.2
            : isNumeric ? Math.Max(places[^1] + ((places[^1] - Min) * 0.03), double.Epsilon) : places.Count;
    }

    /// <summary>The values as the observations have them.</summary>
    public IReadOnlyList<string> Values { get; }

    /// <summary>The place of each value on the axis.</summary>
    public IReadOnlyList<double> Places { get; }

    public bool IsNumeric { get; }

    public bool IsLogarithmic { get; }

    private double Min { get; }

    private double Max { get; }

    /// <param name="values">The values, at least one; each once, in the order in which they were measured.</param>
    /// <param name="hasZero">Numbers begin at 0, however far from it the least is; a logarithmic axis has none.</param>
    public static FigureAxis Of(IReadOnlyList<string> values, bool hasZero = false)
    {
        bool isNumeric = values.All(v => NumberOf(v) is not null);
        string[] ordered = isNumeric ? [.. values.OrderBy(NumberOf)] : [.. values];
        return new FigureAxis(ordered, [.. ordered.Select((v, i) => isNumeric ? NumberOf(v)!.Value : i + 0.5)], isNumeric, hasZero);
    }

    /// <summary>Reads a number such as 12, 1.5, 10k, 1M, 64MB or 10%; null for a name.</summary>
    public static double? NumberOf(string? text)
    {
        if (string.IsNullOrEmpty(text))
            return null;
        string trimmed = text.TrimEnd('%', 'B', 'b', 'i');
        double factor = trimmed.Length == 0 ? 1 : char.ToLowerInvariant(trimmed[^1]) switch { 'k' => 1e3, 'm' => 1e6, 'g' => 1e9, _ => 1 };
        return double.TryParse(factor > 1 ? trimmed[..^1] : trimmed, NumberStyles.Float, CultureInfo.InvariantCulture, out double value)
            && double.IsFinite(value) ? value * factor : null;
    }

    public AxisScale Scale(string label) =>
        new(Max, [.. Ticks()]) { Min = Min, IsLogarithmic = IsLogarithmic, IsOfNames = !IsNumeric, Label = label };

    /// <summary>Chooses all values when there is room for them, otherwise those that are far enough apart.</summary>
    private IEnumerable<Tick> Ticks()
    {
        double nearest = IsNumeric ? 1.0 / 22 : 0;
        double last = double.NegativeInfinity;
        if (_hasZero && Share(Places[0]) >= nearest)
            yield return new Tick(0, "0");
        // A count such as 1234567 is none that somebody wrote; where there is one, 4000 is written as it is.
        bool areCounted = Values.Any(static value => value.Length > 4 && value.All(char.IsAsciiDigit));
        foreach ((string value, double place) in Values.Zip(Places))
        {
            double at = Share(place);
            if (at - last < nearest)
                continue;
            last = at;
            yield return new Tick(
                place, areCounted && value.Length > 3 && value.All(char.IsAsciiDigit) ? AxisScale.AboutText(place, 3) : value);
        }
    }

    /// <summary>Tells where a place lies between the first tick and the last: from 0 to 1.</summary>
    private double Share(double place) =>
        new AxisScale(Places[^1], []) { Min = IsLogarithmic ? Places[0] : Min, IsLogarithmic = IsLogarithmic }.Share(place);
}
