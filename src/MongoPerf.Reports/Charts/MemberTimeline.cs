using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>A panel with a line for each shard, or for each member of a replica set.</summary>
/// <param name="Title">What it shows.</param>
/// <param name="File">The name of its data file.</param>
/// <param name="ValueOf">The value from a sample and the one before; NaN for none.</param>
internal sealed record MemberFigure(string Title, string File, Func<MetricSample?, MetricSample, double> ValueOf)
{
    /// <summary>It is shown also when it is 0 throughout.</summary>
    public bool IsAlwaysShown { get; init; }

    /// <summary>It is shown in percent of the sum of all.</summary>
    public bool IsShare { get; init; }

    /// <summary>It is counted in whole numbers.</summary>
    public bool IsWhole { get; init; } = true;

    /// <summary>It is shown only when it changed.</summary>
    public bool IsShownByChange { get; init; }

    /// <summary>Levels as they are, counters per second.</summary>
    /// <param name="title">What it shows.</param>
    /// <param name="catalogue">Where the metric is described.</param>
    /// <param name="metric">The metric.</param>
    /// <param name="factor">From the metric's unit to the axis'.</param>
    public static MemberFigure Of(string title, IReadOnlyList<Metric> catalogue, string metric, double factor = 1)
    {
        int column = MetricCatalogue.IndexOf(catalogue, metric);
        return new MemberFigure(title, metric.Replace('_', '-'), catalogue[column].Kind == MetricKind.Gauge
            ? (_, now) => now.Values[column] * factor
            : (before, now) => PerSecond(before, now, now.Values[column] - (before?.Values[column] ?? double.NaN)) * factor);
    }

    /// <summary>NaN where there is no sample before, or the counter began anew.</summary>
    public static double PerSecond(MetricSample? before, MetricSample now, double difference) =>
        before is not null && now.AtMilliseconds > before.AtMilliseconds && difference >= 0
            ? difference * 1000 / (now.AtMilliseconds - before.AtMilliseconds) : double.NaN;
}

/// <summary>Makes panels of the samples of several members over the time axis: for each figure one with a line for each member.</summary>
internal static class MemberTimeline
{
    /// <summary>Nobody can follow more lines: then there is one of the greatest value, one of the least, and the mean.</summary>
    private const int MostLines = 6;

    private const int Ticks = 4;

    private static readonly string[] Extremes = ["largest", "mean", "smallest"];

    /// <param name="read">Reads the samples.</param>
    /// <param name="figures">What is shown.</param>
    /// <param name="titleOf">The title of a panel.</param>
    /// <param name="longestGap">The seconds after which a line ends.</param>
    /// <param name="axis">The axis of time.</param>
    /// <param name="builderOf">Makes a builder for so many lines and a longest gap.</param>
    /// <param name="since">The second on the axis from which it is wanted.</param>
    /// <returns>The panels; none for fewer than two members.</returns>
    public static IEnumerable<Panel> Panels(
        Func<IEnumerable<MetricSample>> read, IReadOnlyList<MemberFigure> figures, Func<MemberFigure, string> titleOf, double longestGap,
        TimeAxis axis, Func<int, double, PanelBuilder> builderOf, double since)
    {
        string[] members = [.. read().Select(static sample => sample.Member).Distinct().Order(StringComparer.Ordinal)];
        if (members.Length < 2)
            yield break;
        string[] lines = members.Length <= MostLines ? members : [.. Extremes.Select(static extreme => Words.Of(extreme))];
        PanelBuilder[] builders = [.. figures.Select(_ => builderOf(lines.Length, longestGap))];
        foreach ((double at, Dictionary<string, double[]> last) in MemberRounds.Of(Values(read(), figures, axis), longestGap)
            .Where(round => round.At >= since))
        {
            for (int figure = 0; figure < figures.Count; figure++)
            {
                double[] values = [.. members.Select(member => last.TryGetValue(member, out double[]? its) ? its[figure] : double.NaN)];
                foreach ((int line, double value) in Condensed(figures[figure].IsShare ? Shares(values) : values).Index())
                {
                    // A member that did not answer has a sample without values.
                    if (double.IsNaN(value))
                        builders[figure].End(line);
                    else
                        builders[figure].Add(at, line, value);
                }
            }
        }

        foreach ((MemberFigure figure, PanelBuilder builder) in figures.Zip(builders))
        {
            ChartTable table = builder.Build($"{figure.File}.csv", lines);
            Series[] series = [.. lines.Select((line, i) => new Series(table, i + 1, line, $"shard{i + 1}")).Where(one => one.HasValues)];
            double largest = series.Select(static one => one.Largest).DefaultIfEmpty(0).Max();
            if (figure.IsShownByChange ? Changes(series) : largest > 0 || (figure.IsAlwaysShown && series.Length > 0))
                yield return new Panel(titleOf(figure), ScaleOf(figure, largest), series) { IsState = true };
        }
    }

    private static bool Changes(IEnumerable<Series> series) =>
        series.SelectMany(static one => one.Values).Where(double.IsFinite).Distinct().Skip(1).Any();

    private static IEnumerable<(double At, string Member, double[] Values)> Values(
        IEnumerable<MetricSample> samples, IReadOnlyList<MemberFigure> figures, TimeAxis axis)
    {
        var last = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in samples)
        {
            MetricSample? before = last.GetValueOrDefault(sample.Member);
            yield return (axis.At(sample.AtMilliseconds), sample.Member, [.. figures.Select(figure => figure.ValueOf(before, sample))]);
            last[sample.Member] = sample;
        }
    }

    /// <summary>The values in percent of their sum.</summary>
    private static double[] Shares(double[] values)
    {
        double sum = values.Where(double.IsFinite).Sum();
        return [.. values.Select(value => sum > 0 ? value * 100 / sum : double.NaN)];
    }

    private static double[] Condensed(double[] values)
    {
        if (values.Length <= MostLines)
            return values;
        double[] known = [.. values.Where(double.IsFinite)];
        return known.Length == 0 ? [] : [known.Max(), known.Average(), known.Min()];
    }

    /// <summary>Chooses the axis: a share can't be more than all.</summary>
    private static AxisScale ScaleOf(MemberFigure figure, double largest) =>
        figure.IsShare
            ? new AxisScale(100, [new(0, "0"), new(25, "25"), new(50, "50"), new(75, "75"), new(100, "100")])
            : figure.IsWhole ? AxisScale.OfWholeCount(largest, Ticks) : AxisScale.OfCount(largest, Ticks);
}
