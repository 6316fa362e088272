using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Rates over time with the server's state below on the same axis: panels for which the run has figures.</summary>
internal static class TimelineChart
{
    private const int Ticks = 4;

    public static Chart? Build(StoredRun run, OperationSeconds seconds)
    {
        TimeAxis axis = seconds.Axis;
        if (axis.IsEmpty || seconds.Lines.Count == 0)
            return null;
        Panel[] panels = [.. Operations(run, seconds), .. States(run, axis)];
        return panels.Length == 0 ? null : OverTime.Chart(
            run, axis, "timeline", Words.Of("Rates over time, and the state of server and client"),
            Words.Of("All panels share one time axis: look straight down from a dip in a rate to see what server, disk and CPU did at that moment.") + LeftOut(seconds.Lines), panels);
    }

    private static IEnumerable<Panel> Operations(StoredRun run, OperationSeconds seconds)
    {
        int[] inserts = [.. Places(seconds, static line => line.IsInsert)];
        int[] others = [.. Places(seconds, static line => !line.IsInsert)];
        ChartTable rates = OverTime.Rates(seconds, "timeline-rates.dat", [.. inserts, .. others], seconds.Axis.At, seconds.Axis.Seconds);
        // Where a rate was set the seconds hold response times.
        string p99 = run.Results.Any(r => r.HasRate) ? run.Results.All(r => r.HasRate) ? Words.Of("response p99, ms") : Words.Of("p99 (of rates: response), ms") : Words.Of("p99, ms");
        return new[]
        {
            PanelOf(Words.Of("documents/s"), inserts.Select((line, i) => RateOf(line, i + 1))),
            PanelOf(Words.Of("operations/s"), others.Select((line, i) => RateOf(line, inserts.Length + i + 1))),
            // What was done once, such as an index build, takes so long that nothing would be seen of the others.
            Durations(static line => line.IsRepeated) ?? Durations(static _ => true),
        }.OfType<Panel>();

        Panel? Durations(Func<OperationLine, bool> isWanted)
        {
            int[] timed = [.. Places(seconds, line => IsTimed(line) && isWanted(line))];
            ChartTable latencies = OverTime.Latencies(seconds, "timeline-latency.dat", timed, seconds.Axis.At, seconds.Axis.Seconds);
            return PanelOf(p99, timed.Select((line, i) => new Series(latencies, i + 1, seconds.Lines[line].TimedTitle, seconds.Lines[line].Color)));
        }

        Series RateOf(int line, int column) => new(rates, column, seconds.Lines[line].Title, seconds.Lines[line].Color);
    }

    private static Panel? PanelOf(string title, IEnumerable<Series> series) => Panel.Of(title, static largest => AxisScale.OfCount(largest, Ticks), series);

    private static IEnumerable<Panel> States(StoredRun run, TimeAxis axis)
    {
        bool wasStartedAgain = run.Events.Any(e => e.Kind is RunEvent.ColdStart or RunEvent.WarmStart or RunEvent.FirstAnswer);
        (string Key, Panel Panel)[] known = [.. ServerTimeline.Panels(run, axis, "timeline", OverTime.MostRows)];
        bool hasDisk = known.Any(static one => one.Key == ServerTimeline.Disk);
        // Beside the disk only where a server had to fill its cache anew.
        return known.Where(one => wasStartedAgain || (one.Key != ServerTimeline.PageFaults && (one.Key != ServerTimeline.CacheRead || !hasDisk)))
            .Select(one => one.Key == ServerTimeline.Cpu ? WithCores(run, one.Panel) : one.Panel);
    }

    /// <summary>The number of cores as a line, where the load comes near it.</summary>
    private static Panel WithCores(StoredRun run, Panel cpu)
    {
        double largest = cpu.Series.Max(static line => line.Largest);
        return run.Environment is not { } machine || largest < machine.CpuCount * 0.4 ? cpu
            : cpu with { Limit = (machine.CpuCount, Words.Of("CPU cores")), Y = AxisScale.OfCount(Math.Max(machine.CpuCount, largest), Ticks) };
    }

    /// <summary>Of the lines that are wanted, as many as can be told apart; totals are never left out.</summary>
    private static IEnumerable<int> Places(OperationSeconds seconds, Func<OperationLine, bool> isWanted) => Enumerable.Range(0, seconds.Lines.Count)
        .Where(i => isWanted(seconds.Lines[i])).OrderBy(i => seconds.Lines[i].IsTotal ? 0 : 1).Take(OverTime.MostLines).Order();

    /// <summary>A growth's latencies are in its own charts.</summary>
    private static bool IsTimed(OperationLine line) => line is { IsOfGrowth: false, IsTotal: false };

    private static string LeftOut(IReadOnlyList<OperationLine> lines)
    {
        int most = new[] { lines.Count(static line => line.IsInsert), lines.Count(static line => !line.IsInsert), lines.Count(static line => IsTimed(line) && line.IsRepeated) }.Max();
        return most <= OverTime.MostLines ? "" : " " + Words.Of($"A panel holds {OverTime.MostLines} lines: the first are drawn; the interactive charts and the tables have the others.");
    }
}
