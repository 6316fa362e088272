using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>
/// Draws a figure over the seconds since a phase began, from the stored samples; phases, parameters and runs are laid over each other.
/// </summary>
internal static class TimeFigure
{
    private const int Ticks = 5;

    /// <summary>
    /// The data of a line: tables of its operations, of the servers and of the machine, whose columns are the figure's metrics.
    /// </summary>
    private sealed record Line(string Title, double Seconds, IReadOnlyList<ChartTable> Tables);

    /// <returns>Null when the runs have no such samples.</returns>
    public static Chart? Build(IReadOnlyList<FigureRun> runs, FigureInfo figure, string name)
    {
        IReadOnlyList<Observation> chosen = Observations.Of(runs, figure, out IReadOnlyList<string> dimensions);
        // Only phases that did something in some second have a course.
        IGrouping<string, Observation>[] groups = [.. chosen.GroupBy(o => Observations.Key(o, dimensions))];
        IGrouping<string, Observation>[] drawn = [.. groups.Take(FigureChart.MostLines)];
        ILookup<(StoredRun, int), Sample> samples = ReadSamples(
            drawn.SelectMany(group => group), TimeMetric.NeedsHistograms(figure.Y));
        Line[] lines = [.. drawn.Select((group, i) => LineOf([.. group], samples, figure, dimensions, $"{name}-{i + 1}")).OfType<Line>()];
        bool hasRate = drawn.Any(group => group.Any(o => o.Results.Any(r => r.HasRate)));
        Panel[] panels = [.. figure.Y.Select(metric => PanelOf(metric, hasRate, lines)).OfType<Panel>()];
        if (panels.Length == 0)
            return null;
        (AxisScale time, string unit) = AxisScale.OfTime(lines.Max(line => line.Seconds));
        string howToRead = Words.Of($"{string.Join("; ", figure.Y.Select(metric => TimeMetric.TitleOf(metric, hasRate)))} against the time "
            + $"since the phase began, from one-second samples.");
        return new Chart(name, figure.Title, howToRead + FigureChart.LeftOut(groups.Length),
            time with { Label = Words.Of($"time since the phase began ({unit})") }, panels)
        {
            Subtitle = FigureChart.Subtitle(chosen),
        };
    }

    /// <summary>Reads the samples by run and phase; each run is read once.</summary>
    private static ILookup<(StoredRun Run, int Phase), Sample> ReadSamples(
        IEnumerable<Observation> observations, bool withHistograms) => observations
        .GroupBy(o => o.Run.Stored, o => o.Phase.Number)
        .SelectMany(run =>
        {
            HashSet<int> phases = [.. run];
            return run.Key.ReadSamples(withHistograms).Where(s => phases.Contains(s.Phase)).Select(s => (Run: run.Key, Sample: s));
        })
        .ToLookup(one => (one.Run, one.Sample.Phase), one => one.Sample);

    /// <summary>Makes a line; null without samples.</summary>
    private static Line? LineOf(
        IReadOnlyList<Observation> observations, ILookup<(StoredRun, int), Sample> stored, FigureInfo figure,
        IReadOnlyList<string> dimensions, string file)
    {
        List<(Observation Of, Sample[] Samples, TimeAxis Axis)> parts = [];
        foreach (Observation one in observations)
        {
            HashSet<string> names = [.. one.OperationNames];
            Sample[] samples = [.. stored[(one.Run.Stored, one.Phase.Number)].Where(s => names.Contains(s.Operation))];
            if (samples.Length == 0)
                continue;
            var axis = new TimeAxis(samples.Select(s => s.AtMilliseconds));
            if (figure.To is { } to)
                samples = [.. samples.Where(s => axis.At(s.AtMilliseconds) <= to)];
            if (samples.Length > 0)
                parts.Add((one, samples, axis));
        }

        if (parts.Count == 0)
            return null;
        double seconds = parts.Max(part => Math.Min(part.Axis.Seconds, figure.To ?? double.MaxValue));
        ChartTable operations = Operations(file, [.. parts.Select(part => (part.Samples, part.Axis))],
            [.. figure.Y.Where(TimeMetric.IsOfOperations)], seconds,
            parts.SelectMany(part => Happenings.Ends(part.Of.Run.Stored, part.Axis)));
        // State of servers and machine is that of the first of several repeats: a mean would be nobody's.
        (Observation first, Sample[] firstSamples, TimeAxis firstAxis) = parts[0];
        ChartTable[] states =
        [
            State($"{file}-server.csv", first.Run.Stored.ReadServerSamples, TimeMetric.IsOfServer),
            State($"{file}-host.csv", first.Run.Stored.ReadHostSamples, metric => !TimeMetric.IsOfServer(metric)),
        ];
        return new Line(FigureChart.LineTitle(first, dimensions), seconds, [operations, .. states.Where(t => t.Columns.Count > 1)]);

        ChartTable State(string name, Func<IEnumerable<MetricSample>> read, Func<string, bool> isOfIt)
        {
            ServerTimeline.Line[] shown = [.. figure.Y.Where(metric => !TimeMetric.IsOfOperations(metric) && isOfIt(metric))
                .Select(TimeMetric.LineOf)];
            return shown.Length == 0 ? new ChartTable(name, ["seconds"]) : Thinned(
                name, [.. shown.Select(line => line.Key)], firstAxis.Seconds, Happenings.Ends(first.Run.Stored, firstAxis),
                ServerTimeline.Read(shown, Within(read(), firstSamples), firstAxis));
        }
    }

    /// <summary>
    /// Takes the samples from the one before the phase, which rates begin with, to the last one in it: a later one holds what came after,
    /// such as data being written out before their size is taken.
    /// </summary>
    private static IEnumerable<MetricSample> Within(IEnumerable<MetricSample> samples, Sample[] phase)
    {
        long from = phase.Min(s => s.StartMilliseconds) - 1000;
        long to = phase.Max(s => s.AtMilliseconds);
        return samples.Where(s => s.AtMilliseconds >= from && s.AtMilliseconds <= to);
    }

    /// <summary>
    /// Makes the table of a line's operations. Rates are added up; documents in the collection are what the furthest of them saw.
    /// </summary>
    private static ChartTable Operations(
        string file, IReadOnlyList<(Sample[] Samples, TimeAxis Axis)> parts, string[] metrics, double seconds, IEnumerable<double> ends)
    {
        string[] names = [.. parts.SelectMany(part => part.Samples).Select(s => s.Operation).Distinct()];
        var buckets = new TimeBuckets(names.Length * metrics.Length);
        foreach ((Sample[] samples, TimeAxis axis) in parts)
        {
            foreach (Sample sample in samples)
            {
                for (int i = 0; i < metrics.Length; i++)
                    TimeMetric.Add(buckets, (i * names.Length) + Array.IndexOf(names, sample.Operation), metrics[i], sample,
                        axis.At(sample.AtMilliseconds));
            }
        }

        return Thinned($"{file}.csv", metrics, seconds, ends, buckets.Rows().SelectMany(row =>
            metrics.Select((metric, i) => (row[0], i, Joined(metric, row.AsSpan(1 + (i * names.Length), names.Length))))));
    }

    private static ChartTable Thinned(
        string file, string[] metrics, double seconds, IEnumerable<double> ends, IEnumerable<(double At, int Line, double Value)> values)
    {
        var builder = new PanelBuilder(metrics.Length, seconds, RunPanels.LongestGap, ends);
        foreach ((double at, int line, double value) in values)
            builder.Add(at, line, value);
        return builder.Build(file, metrics);
    }

    private static double Joined(string metric, ReadOnlySpan<double> ofOperations)
    {
        double joined = double.NaN;
        foreach (double value in ofOperations)
        {
            if (double.IsFinite(value))
                joined = double.IsNaN(joined) ? value : metric == Dimension.Documents ? Math.Max(joined, value) : joined + value;
        }

        return joined;
    }

    /// <summary>Makes a metric's panel; null when no line has anything of it.</summary>
    private static Panel? PanelOf(string metric, bool hasRate, Line[] lines)
    {
        IEnumerable<Series> series = lines.SelectMany((line, i) => line.Tables.Where(table => table.Columns.Contains(metric)).Take(1)
            .Select(table => new Series(table, table.Columns.ToList().IndexOf(metric), FigureChart.Legend(line.Title), Palette.OfLine(i))));
        return Panel.Of(TimeMetric.TitleOf(metric, hasRate), largest => TimeMetric.ScaleOf(metric, largest, Ticks), series) is { } panel
            ? panel with { IsState = !TimeMetric.IsOfOperations(metric) } : null;
    }
}
