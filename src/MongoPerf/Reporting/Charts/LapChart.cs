using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Phases;
using MongoPerf.Reporting.Plots;

namespace MongoPerf.Reporting.Charts;

/// <summary>How long each lap of a phase's tasks took: a line is the tasks' median, its band reaches from the fastest task to the slowest.</summary>
internal static class LapChart
{
    private const int MostLines = 8;
    private const int MostRows = 1900;
    private const double Microseconds = 1e6;

    /// <summary>One for each phase of the run that noted laps, a line for each value of its parameters.</summary>
    public static IEnumerable<Chart> Build(StoredRun run, PlotInfo plot) =>
        LapFigures.Of(run).GroupBy(l => (l.Phase.Phase, l.LengthText)).Select((phase, i) => Build(
            $"{plot.Name}-{i + 1}", plot.TitleWith(("phase", phase.Key.Phase), ("length", phase.Key.LengthText)), ChartText.Subtitle(run), plot.Reading,
            [.. phase.Take(MostLines).Select(l => (TitleOf(l, [.. phase]), l))]));

    /// <param name="name">The chart's.</param>
    /// <param name="title">The chart's.</param>
    /// <param name="subtitle">The chart's; may be empty.</param>
    /// <param name="howToRead">A sentence for the report.</param>
    /// <param name="lines">What each line is called, and its laps; all of one length.</param>
    public static Chart Build(string name, string title, string subtitle, string howToRead, IReadOnlyList<(string Title, LapFigures Laps)> lines)
    {
        var table = new ChartTable($"{name}.csv", ["lap", .. lines.SelectMany(l => (string[])[$"{l.Title} median_us", "fastest_us", "slowest_us"])]);
        long last = lines.Max(l => l.Laps.All.Max(lap => lap.Number));
        long width = 1 + ((last - 1) / MostRows);
        ILookup<long, double>[] places = [.. lines.Select(l => l.Laps.All.ToLookup(lap => (lap.Number - 1) / width, lap => lap.Seconds * Microseconds))];
        for (long place = 0; place * width < last; place++)
            table.Add([Math.Min(last, (place + 1) * width), .. places.SelectMany(line => Values([.. line[place]]))]);
        return new Chart(
            name, title, howToRead,
            AxisScale.OfWhole(last) with { Label = Words.Of($"lap: each is {lines[0].Laps.LengthText} of one task") },
            [new Panel(Words.Of("time per lap"), AxisScale.OfMicroseconds(table.Largest()), [.. lines.Select((line, i) => new Series(table, 1 + (3 * i), line.Title, Palette.OfLine(i)) { HasSpread = true })])])
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
