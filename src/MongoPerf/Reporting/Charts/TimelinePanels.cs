using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Which panels the time chart has: those for which the run has figures.</summary>
internal sealed class TimelinePanels(StoredRun run, ChartTable rates, ChartTable latencies, ChartTable server, ChartTable host)
{
    /// <summary>Of a scenario; as many as there are colours, and as fit beside a panel.</summary>
    public const int MostOperations = 7;
    private const int Ticks = 4;

    /// <summary>One plot above the common time axis.</summary>
    internal sealed record Panel(string Title, AxisScale Y, IReadOnlyList<PanelLine> Lines, int Rows, bool IsRate, double Limit = 0, string LimitLabel = "")
    {
        /// <summary>Where a logarithmic axis begins; 0 for a linear one, which begins at 0.</summary>
        public double LogarithmicFrom { get; init; }

        /// <summary>Null chooses by the number of rows: rates come in short pieces that need points, a server's state is one long line.</summary>
        public double? PointSize { get; init; }
    }

    /// <summary>A column of a data file; columns are 1-based, as gnuplot counts.</summary>
    internal sealed record PanelLine(string File, int Column, string Color, string Title, double Largest)
    {
        /// <summary>Among bars, its place from the left: 0 is the first.</summary>
        public int Index { get; init; }
    }

    public IReadOnlyList<Panel> Build()
    {
        bool seesServersDisk = run.Environment?.ServerOnSameMachine == true;
        bool wasStartedAgain = run.Events.Any(e => e.Kind is RunEvent.ColdStart or RunEvent.WarmStart);
        var disk = seesServersDisk ? State("disk, MB/s", false, "disk_read", "disk_written") : null;
        return
        [
            .. run.Scenario is null ? new[] { Rate("documents/s", ChartText.InsertTests), Rate("operations/s", ChartText.QueryTests) }.OfType<Panel>()
                : new[] { Operations("operations/s", rates, _ => true), Operations("p99, ms", latencies, WasRepeated) ?? Operations("p99, ms", latencies, _ => true) }.OfType<Panel>(),
            .. new[]
            {
                State("cache", true, "cache_used", "cache_dirty", "cache_max"),
                disk,
                // Beside the disk only where a server had to fill its cache anew.
                disk is null || wasStartedAgain ? State("cache, MB/s", false, "cache_read", "cache_written") : null,
                wasStartedAgain ? State("page faults/s", false, "page_faults") : null,
                WithCores(State("CPU, cores", false, "server_cpu", "client_cpu", "host_cpu")),
                State("memory", true, "server_resident", "client_resident"),
                State("operations", false, "queued", "tickets_read", "tickets_write"),
            }.OfType<Panel>(),
        ];
    }

    public static void Set(GnuplotSettings settings, IReadOnlyList<Panel> panels)
    {
        var lines = panels.SelectMany(static (panel, i) => panel.Lines.Select((line, j) => (Line: line, Panel: i + 1.0, Place: 1.0 + panel.Lines.Take(j).Sum(above => RowsOf(above.Title))))).ToList();
        settings.Set("panel_count", panels.Count)
            .SetArray("panel_title", panels.Select(static panel => panel.Title).ToList())
            .SetArray("panel_y_max", panels.Select(static panel => panel.Y.Max).ToList())
            .SetArray("panel_y_tics", panels.Select(static panel => panel.Y.Tics).ToList())
            .SetArray("panel_log_from", panels.Select(static panel => panel.LogarithmicFrom).ToList())
            .SetArray("panel_points", panels.Select(static panel => PointSize(panel)).ToList())
            .SetArray("panel_limit", panels.Select(static panel => panel.Limit).ToList())
            .SetArray("panel_limit_label", panels.Select(static panel => panel.LimitLabel).ToList())
            .Set("line_count", lines.Count)
            .SetArray("line_panel", lines.ConvertAll(static line => line.Panel))
            .SetArray("line_place", lines.ConvertAll(static line => line.Place))
            .SetArray("line_index", lines.ConvertAll(static line => (double)line.Line.Index))
            .SetArray("line_file", lines.ConvertAll(static line => line.Line.File))
            .SetArray("line_column", lines.ConvertAll(static line => (double)line.Line.Column))
            .SetArray("line_color", lines.ConvertAll(static line => line.Line.Color))
            .SetArray("line_title", lines.ConvertAll(static line => line.Line.Title));
    }

    /// <summary>That a title takes in the legend; its further rows stand closer.</summary>
    public static double RowsOf(string title) => title.Length == 0 ? 0 : 1 + (0.7 * title.Count(static c => c == '\n'));

    private static double PointSize(Panel panel) => panel.PointSize ?? panel.Rows switch { <= 3 => 1.2, > 400 => panel.IsRate ? 0.35 : 0, _ => panel.IsRate ? 0.6 : 0 };

    private Panel? Rate(string title, List<string> tests)
    {
        var lines = new List<PanelLine>();
        for (int column = 1; column < rates.Columns.Count; column++)
        {
            string test = rates.Columns[column];
            if (tests.Contains(test) && HasValues(rates, column))
                lines.Add(new PanelLine(rates.FileName, column + 1, test, test, rates.Largest(column, 1)));
        }

        return lines.Count == 0 ? null : new Panel(title, AxisScale.OfCount(lines.Max(static line => line.Largest), Ticks), lines, rates.Rows.Count, true);
    }

    /// <summary>What was done once, such as an index build, takes so long that nothing would be seen of the others.</summary>
    private bool WasRepeated(string test) => run.Steps.SelectMany(step => step.Tests).Any(t => t.Test == test && t.Operations > 1);

    private static Panel? Operations(string title, ChartTable table, Func<string, bool> isShown)
    {
        PanelLine[] lines =
        [
            .. Enumerable.Range(1, table.Columns.Count - 1).Where(column => HasValues(table, column) && isShown(table.Columns[column]))
                .Select(column => new PanelLine(table.FileName, column + 1, $"s{column}", table.Columns[column], table.Largest(column, 1))),
        ];
        return lines.Length == 0 ? null : new Panel(title, AxisScale.OfCount(lines.Max(static line => line.Largest), Ticks), lines, table.Rows.Count, true);
    }

    private Panel? State(string title, bool isBytes, params string[] keys)
    {
        var lines = keys.Select(Find).OfType<PanelLine>().ToList();
        // Nothing but zeros would be an empty panel.
        if (!lines.Exists(static line => line.Largest > 0))
            return null;
        double largest = lines.Max(static line => line.Largest);
        return new Panel(title, isBytes ? AxisScale.OfBytes(largest, Ticks) : AxisScale.OfCount(largest, Ticks), lines, Math.Max(server.Rows.Count, host.Rows.Count), false);
    }

    private PanelLine? Find(string key)
    {
        foreach ((var table, var described) in new[] { (server, ServerTimeline.ServerLines), (host, ServerTimeline.HostLines) })
        {
            for (int i = 0; i < described.Count; i++)
            {
                if (described[i].Key == key)
                    return HasValues(table, i + 1) ? new PanelLine(table.FileName, i + 2, described[i].Color, described[i].Title, table.Largest(i + 1, 1)) : null;
            }
        }

        return null;
    }

    /// <summary>The number of cores as a line, where the load comes near it.</summary>
    private Panel? WithCores(Panel? cpu)
    {
        if (cpu is null || run.Environment is not { } machine || cpu.Lines.Max(static line => line.Largest) < machine.CpuCount * 0.4)
            return cpu;
        double largest = Math.Max(machine.CpuCount, cpu.Lines.Max(static line => line.Largest));
        return cpu with { Limit = machine.CpuCount, LimitLabel = "cores there are", Y = AxisScale.OfCount(largest, Ticks) };
    }

    private static bool HasValues(ChartTable table, int column) => table.Rows.Any(row => double.IsFinite(row[column]));
}
