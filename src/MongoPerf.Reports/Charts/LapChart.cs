using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// Draws how long each lap of a phase's tasks took: a line is the tasks' median, its band reaches from the fastest task to the slowest.
/// </summary>
internal static class LapChart
{
    private const int MostLines = 8;
    private const int MostRows = 1900;
    private const double Microseconds = 1e6;

    /// <summary>Makes a chart for each phase of the run that noted laps, with a line for each value of its parameters.</summary>
    public static IEnumerable<Chart> Build(StoredRun run, PlotInfo plot) =>
        LapFigures.Of(run).GroupBy(static laps => (laps.Phase.Phase, laps.LengthText)).Select((phase, i) => Build(
            $"{plot.Name}-{i + 1}", plot, phase.Key.Phase, ChartText.Subtitle(run),
            [.. phase.Take(MostLines).Select(laps => (TitleOf(laps, [.. phase]), laps))])).OfType<Chart>();

    /// <summary>
    /// Lays the laps of several runs over each other, in a chart for each phase and value of its parameters that several have.
    /// </summary>
    /// <param name="runs">What each run's line is called, and the run.</param>
    /// <param name="plot">A plot over laps.</param>
    public static IEnumerable<Chart> Build(IReadOnlyList<(string Title, StoredRun Run)> runs, PlotInfo plot) => runs
        .SelectMany(static run => LapFigures.Of(run.Run).Select(laps => (run.Title, Laps: laps)))
        .GroupBy(static line => (Phase: PhaseLabels.Of(line.Laps.Phase), line.Laps.LengthText))
        .Where(static phase => phase.Count() > 1)
        .Select((phase, i) => Build($"{plot.Name}-{i + 1}", plot, phase.Key.Phase, "", [.. phase.Take(MostLines)])).OfType<Chart>();

    /// <param name="name">The chart's name.</param>
    /// <param name="plot">A plot over laps.</param>
    /// <param name="phase">The phase in the chart's title.</param>
    /// <param name="subtitle">The chart's subtitle; may be empty.</param>
    /// <param name="lines">What each line is called, and its laps; all of one length.</param>
    private static Chart? Build(
        string name, PlotInfo plot, string phase, string subtitle, IReadOnlyList<(string Title, LapFigures Laps)> lines)
    {
        string length = lines[0].Laps.LengthText;
        var table = new ChartTable(
            $"{name}.csv", ["lap", .. lines.SelectMany(l => (string[])[$"{l.Title} median_us", "fastest_us", "slowest_us"])]);
        long last = lines.Max(l => l.Laps.All.Max(lap => lap.Number));
        long width = 1 + ((last - 1) / MostRows);
        ILookup<long, double>[] places =
            [.. lines.Select(l => l.Laps.All.ToLookup(lap => (lap.Number - 1) / width, lap => lap.Seconds * Microseconds))];
        for (long place = 0; place * width < last; place++)
            table.Add([Math.Min(last, (place + 1) * width), .. places.SelectMany(line => Values([.. line[place]]))]);
        IEnumerable<Series> series =
            lines.Select((line, i) => new Series(table, 1 + (3 * i), line.Title, Palette.OfLine(i)) { HasSpread = true });
        var own = Panel.Of(Words.Of("time per lap"), static largest => AxisScale.OfMicroseconds(largest), series);
        Panel[] panels = own is null ? [] : [.. plot.Panels.Select(one => one.Of(own)).OfType<Panel>()];
        AxisScale axis = AxisScale.OfWhole(last) with { Label = Words.Of($"lap: each is {length} of one task") };
        return panels.Length == 0 ? null : new Chart(name, plot.TitleWith(("phase", phase), ("length", length)), plot.Reading, axis, panels)
        {
            Subtitle = subtitle, HasLegendAbove = true,
        };
    }

    private static double[] Values(double[] laps) =>
        laps.Length == 0 ? [double.NaN, double.NaN, double.NaN] : [LapFigures.MedianOf(laps), laps.Min(), laps.Max()];

    private static string TitleOf(LapFigures laps, IReadOnlyList<LapFigures> phase)
    {
        IReadOnlyList<string> parameters = phase.Select(l => l.Phase).ToList().VariedParameters();
        return string.Join(", ", parameters.Select(p => $"{p}={laps.Phase.ValueOf(p)}").Append(Words.Counted(laps.Tasks.Count, "task")));
    }
}
