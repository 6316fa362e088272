using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Scenarios;

namespace MongoPerf.Reporting.Charts;

/// <summary>Charts over a scenario's parameters: rate and latency of a phase against the parameter's value, with the knee marked.</summary>
internal static class SweepChart
{
    public const string Template = "sweep.gp";
    public const string NamePrefix = "sweep-";
    private const int MostLines = 8;
    private const double PlotShare = 0.75;

    /// <summary>From this ratio of greatest to least value on the axis is logarithmic.</summary>
    private const double LogarithmicFrom = 20;

    public static IEnumerable<Chart> Build(StoredRun run)
    {
        int number = 0;
        foreach (IGrouping<string, MeasuredPoint> phase in MeasuredPoint.Of(run).Where(p => !p.Point.IsCreate).GroupBy(p => p.Point.Phase))
        {
            MeasuredPoint[] points = [.. phase];
            if (Swept(points) is { } parameter)
                yield return Build(run, $"{NamePrefix}{++number}", phase.Key, parameter, points);
        }
    }

    /// <summary>The parameter along the axis: the one with the most values, numbers before names; null when nothing varies.</summary>
    private static string? Swept(IReadOnlyList<MeasuredPoint> points) => points.SelectMany(p => p.Point.Parameters).Select(p => p.Name).Distinct()
        .Where(name => name != "repeat" && points.Select(p => p.ValueOf(name)).Distinct().Count() > 1)
        .OrderByDescending(name => points.All(p => NumberOf(p.ValueOf(name)) is not null))
        .ThenByDescending(name => points.Select(p => p.ValueOf(name)).Distinct().Count())
        .FirstOrDefault();

    private static Chart Build(StoredRun run, string name, string phase, string parameter, MeasuredPoint[] points)
    {
        string[] values = [.. points.Select(p => p.ValueOf(parameter)).OfType<string>().Distinct()];
        bool isNumeric = values.All(v => NumberOf(v) is not null);
        if (isNumeric)
            values = [.. values.OrderBy(NumberOf)];
        double[] xs = [.. values.Select((v, i) => isNumeric ? NumberOf(v)!.Value : i + 1)];
        List<Line> lines = LinesOf(points, parameter);
        var table = new ChartTable($"{name}.dat", ["x", .. lines.Select(l => $"{l.Title} rate"), .. lines.Select(l => $"{l.Title} p99_us")]);
        foreach ((string value, double x) in values.Zip(xs))
        {
            MeasuredPoint[] here = [.. points.Where(p => p.ValueOf(parameter) == value)];
            table.Add([x, .. lines.Select(l => Average(here, l.Rate)), .. lines.Select(l => Average(here, l.P99))]);
        }

        int? knee = isNumeric ? Knee.Find([.. table.Rows.Select(r => (r[0], r[1]))]) : null;
        string title = $"{phase}: rate and latency by {parameter}";
        return new Chart(name, title, HowToRead(knee is { } at ? values[at] : null, parameter), Settings(run, name, title, parameter, table, lines, values, xs, isNumeric, knee), [table])
        {
            SharedTemplate = Template,
        };
    }

    private static string HowToRead(string? knee, string parameter) => knee is null
        ? $"Above operations per second, below the latency that 99 of 100 operations don't exceed, against {parameter}."
        : $"Above operations per second, below the latency that 99 of 100 operations don't exceed, against {parameter}. The mark at {knee} is the knee: the point farthest "
            + "from the straight line between the ends (V. Satopää et al., \"Finding a kneedle in a haystack\", 2011), where more of the parameter begins to bring less.";

    private static GnuplotSettings Settings(
        StoredRun run, string name, string title, string parameter, ChartTable table, List<Line> lines, string[] values, double[] xs, bool isNumeric, int? knee)
    {
        bool isLogarithmic = isNumeric && xs[0] > 0 && xs[^1] / xs[0] >= LogarithmicFrom;
        double left = isLogarithmic ? xs[0] / 1.2 : isNumeric ? 0 : 0.5;
        double right = isLogarithmic ? xs[^1] * 1.2 : isNumeric ? xs[^1] * 1.03 : xs.Length + 0.5;
        (double least, AxisScale latency) = AxisScale.OfLatency(Least(table, lines.Count), table.Largest(1 + lines.Count));
        (double X, string Text)[] marks = knee is { } at ? [(Place(xs[at], left, right, isLogarithmic), $"knee at {values[at]}")] : [];
        return new GnuplotSettings()
            .Set("kinds", "png svg")
            .Set("chart", name)
            .Set("data", table.FileName)
            .Set("title", title)
            .Set("subtitle", ChartText.Subtitle(run))
            .Set("x_label", parameter)
            .Set("x_logarithmic", isLogarithmic ? 1 : 0)
            .Set("x_min", left)
            .Set("x_max", right)
            .Set("x_tics", Tics(values, xs, isNumeric, isLogarithmic))
            .Set("is_numeric", isNumeric ? 1 : 0)
            .SetAxis("y", AxisScale.OfCount(table.Largest(1, lines.Count)))
            .Set("latency_min", least)
            .SetAxis("latency", latency)
            .Set("series_count", lines.Count)
            .SetArray("series_title", lines.ConvertAll(l => l.Title))
            .SetArray("series_color", lines.Select((_, i) => $"s{i + 1}").ToList())
            .Set("knee", knee is { } k ? xs[k] : -1)
            // Placed in shares of the axis, which may be logarithmic.
            .SetMarks(PlacedMark.Place(marks, 1, PlotShare, 1));
    }

    /// <summary>All values when there is room for them, otherwise those that are far enough apart.</summary>
    private static string Tics(string[] values, double[] xs, bool isNumeric, bool isLogarithmic)
    {
        double nearest = isNumeric ? 1.0 / 22 : 0;
        double last = double.NegativeInfinity;
        var tics = new List<string>();
        foreach ((string value, double x) in values.Zip(xs))
        {
            double at = Place(x, isLogarithmic ? xs[0] : 0, xs[^1], isLogarithmic);
            if (at - last < nearest)
                continue;
            last = at;
            tics.Add($"{GnuplotSettings.Quote(value)} {AxisScale.Number(x)}");
        }

        return $"({string.Join(", ", tics)})";
    }

    private static double Place(double x, double from, double to, bool isLogarithmic) =>
        to <= from ? 0 : isLogarithmic ? Math.Log(x / from) / Math.Log(to / from) : (x - from) / (to - from);

    private static double Least(ChartTable table, int lines) => table.Rows.SelectMany(row => row.Skip(1 + lines)).Where(double.IsFinite).DefaultIfEmpty(1).Min();

    /// <summary>With one parameter a line for each operation and their sum; with more, the sum for each combination of the others.</summary>
    private static List<Line> LinesOf(MeasuredPoint[] points, string parameter)
    {
        string[] others = [.. points.SelectMany(p => p.Point.Parameters).Select(p => p.Name).Distinct()
            .Where(name => name != parameter && name != "repeat" && points.Select(p => p.ValueOf(name)).Distinct().Count() > 1)];
        if (others.Length > 0)
        {
            return
            [
                .. points.Select(p => string.Join(", ", others.Select(o => $"{o}={p.ValueOf(o)}"))).Distinct().Take(MostLines)
                    .Select(key => new Line(key, p => Matches(p, others, key) ? p.OperationsPerSecond : null, p => Matches(p, others, key) ? WorstP99(p) : null)),
            ];
        }

        string[] operations = [.. points.SelectMany(p => p.Step.Tests).Select(t => t.Test).Distinct()];
        IEnumerable<Line> each = operations.Select(o => new Line(o, p => Test(p, o)?.OperationsPerSecond, p => Test(p, o)?.LatencyMicroseconds.P99));
        return operations.Length == 1 ? [.. each] : [new Line("total", p => p.OperationsPerSecond, _ => null), .. each.Take(MostLines - 1)];
    }

    private static bool Matches(MeasuredPoint point, string[] others, string key) => string.Join(", ", others.Select(o => $"{o}={point.ValueOf(o)}")) == key;

    private static TestResult? Test(MeasuredPoint point, string name) => point.Step.Tests.FirstOrDefault(t => t.Test == name);

    private static double? WorstP99(MeasuredPoint point) => point.Step.Tests.Max(t => t.LatencyMicroseconds.P99);

    private static double Average(IEnumerable<MeasuredPoint> points, Func<MeasuredPoint, double?> valueOf) =>
        points.Select(valueOf).OfType<double>().DefaultIfEmpty(double.NaN).Average();

    /// <summary>12, 1.5, 10k, 1M, 64MB, 10%; null for a name.</summary>
    private static double? NumberOf(string? text)
    {
        if (string.IsNullOrEmpty(text))
            return null;
        string trimmed = text.TrimEnd('%', 'B', 'b', 'i');
        double factor = trimmed.Length == 0 ? 1 : char.ToLowerInvariant(trimmed[^1]) switch { 'k' => 1e3, 'm' => 1e6, 'g' => 1e9, _ => 1 };
        return double.TryParse(factor > 1 ? trimmed[..^1] : trimmed, NumberStyles.Float, CultureInfo.InvariantCulture, out double value) ? value * factor : null;
    }

    private sealed record Line(string Title, Func<MeasuredPoint, double?> Rate, Func<MeasuredPoint, double?> P99);
}

/// <summary>Finds where a curve bends most.</summary>
internal static class Knee
{
    private const int LeastPoints = 4;

    /// <summary>A curve that stays nearer to the straight line than this share of its height has no knee.</summary>
    private const double LeastDistance = 0.1;

    /// <param name="points">By x; at least 4 with finite values, or there is no knee.</param>
    /// <returns>Index of the point farthest from the line between the ends; null when the curve is nearly straight.</returns>
    public static int? Find(IReadOnlyList<(double X, double Y)> points)
    {
        if (points.Count < LeastPoints || points.Any(p => !double.IsFinite(p.Y)))
            return null;
        double low = points.Min(p => p.Y);
        double height = points.Max(p => p.Y) - low;
        if (height <= 0 || points[0].X <= 0 || points[^1].X <= points[0].X)
            return null;
        // In shares of the axis as it is drawn: doublings count alike where values spread over decades.
        bool isLogarithmic = points[^1].X / points[0].X >= 20;
        double Scale(double x) => isLogarithmic ? Math.Log(x / points[0].X) / Math.Log(points[^1].X / points[0].X) : (x - points[0].X) / (points[^1].X - points[0].X);
        double Distance(int i) => Math.Abs(((points[i].Y - low) / height) - ((points[0].Y - low) / height) - (Scale(points[i].X) * (points[^1].Y - points[0].Y) / height));
        int best = Enumerable.Range(1, points.Count - 2).MaxBy(Distance);
        return Distance(best) >= LeastDistance ? best : null;
    }
}
