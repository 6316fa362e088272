using MongoPerf.Reports.Plots;
using MongoPerf.Reports.Restarts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Draws a server's rate and state over the time since it was started again, with a line for each way to end it.</summary>
internal static class RestartChart
{
    private const int Ticks = 4;

    /// <summary>The panels below the rate, by the columns of <see cref="ServerTimeline"/>.</summary>
    private static readonly (string Show, string Title, Func<double, int, AxisScale> Scale, ServerTimeline.Line Line)[] States =
    [
        ("cache", "cache used", AxisScale.OfMemory, new("cache_used", "", "", MetricCatalogue.Server, ["cache_used"])),
        ("cache-read", "into cache, MB/s", AxisScale.OfCount, new("cache_read", "", "", MetricCatalogue.Server, ["cache_read"], 1e-6)),
        ("page-faults", "page faults/s", AxisScale.OfCount, new("page_faults", "", "", MetricCatalogue.Server, ["page_faults"])),
    ];

    public static Chart? Build(StoredRun run, PlotInfo plot)
    {
        IReadOnlyList<RestartFigures> restarts = RestartFigures.Of(run);
        if (restarts.Count == 0)
            return null;
        List<ChartTable> rates = [.. restarts.Select((restart, i) => Rates(restart, $"{plot.Name}-{i + 1}-rates.csv"))];
        List<ChartTable> states = [.. restarts.Select((restart, i) => ServerStates(run, restart, $"{plot.Name}-{i + 1}-server.csv"))];
        (AxisScale time, string unit) =
            AxisScale.OfTime(rates.Concat(states).SelectMany(t => t.Rows).Select(r => r[0]).DefaultIfEmpty(1).Max());
        Panel[] panels =
        [
            .. plot.Panels.Select(one => (Wanted: one, Own: one.Show == "operations" ? RatePanel(restarts, rates)
                    : StatePanel(restarts, states, Array.FindIndex(States, state => state.Show == one.Show))))
                .Select(static one => one.Own is null ? null : one.Wanted.Of(one.Own)).OfType<Panel>(),
        ];
        return panels.Length == 0 ? null : new Chart(
            plot.Name, plot.TitleWith(), plot.Reading,
            time with { Label = Words.Of($"time since the server was started again ({unit})") },
            panels) { Subtitle = ChartText.Subtitle(run) };
    }

    private static ChartTable Rates(RestartFigures restart, string file)
    {
        var table = new ChartTable(file, ["seconds", "operations/s"]);
        foreach ((double at, double rate) in restart.Rates)
            table.Add([at, rate]);
        return table;
    }

    private static ChartTable ServerStates(StoredRun run, RestartFigures restart, string file)
    {
        // A server's counters begin at nothing with it: its first sample is what grew since its start.
        MetricSample[] samples = [.. run.ReadServerSamples()
            .Where(s => s.AtMilliseconds >= restart.StartedAt && s.AtMilliseconds <= restart.EndedAt)];
        int[] columns = [.. States.Select(s => MetricCatalogue.IndexOf(MetricCatalogue.Server, s.Line.Metrics[0]))];
        var table = new ChartTable(file, ["seconds", .. States.Select(s => s.Line.Key)]);
        double[] before = new double[columns.Length];
        double beforeAt = 0;
        foreach (MetricSample sample in samples.Where(s => columns.Any(c => double.IsFinite(s.Values[c]))))
        {
            double at = (sample.AtMilliseconds - restart.StartedAt) / 1000.0;
            table.Add([at, .. States.Select((state, i) =>
                state.Line.Factor * (state.Line.IsCounter
                    ? (sample.Values[columns[i]] - before[i]) / Math.Max(0.1, at - beforeAt)
                    : sample.Values[columns[i]]))]);
            (before, beforeAt) = ([.. columns.Select(c => sample.Values[c])], at);
        }

        return table;
    }

    private static Panel RatePanel(IReadOnlyList<RestartFigures> restarts, List<ChartTable> tables)
    {
        double limit = restarts[0].BackRate;
        return new Panel(Words.Of("operations/s"), AxisScale.OfCount(Math.Max(limit, tables.Max(t => t.Largest())), Ticks),
            Lines(restarts, tables, 0)) { Limit = (limit, Words.Of("90 % of the rate before")) };
    }

    private static Panel? StatePanel(IReadOnlyList<RestartFigures> restarts, List<ChartTable> tables, int state) =>
        tables.Max(t => t.Largest(state + 1, 1)) <= 0 ? null
            : Panel.Of(Words.Of(States[state].Title), largest => States[state].Scale(largest, Ticks), Lines(restarts, tables, state));

    private static IReadOnlyList<Series> Lines(IReadOnlyList<RestartFigures> restarts, List<ChartTable> tables, int state) =>
        [.. restarts.Select((restart, i) =>
            new Series(tables[i], state + 1, Words.Of($"after {Words.Of(restart.End)}"), Palette.OfLine(i)))];
}
