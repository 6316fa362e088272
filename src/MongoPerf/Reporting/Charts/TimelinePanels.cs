using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>Which panels the time chart has: those for which the run has figures.</summary>
/// <param name="run">Its environment and events.</param>
/// <param name="lines">Its operations.</param>
/// <param name="rates">Of some of them, by their places.</param>
/// <param name="latencies">Of some of them in milliseconds, by their places.</param>
/// <param name="server">Of <see cref="ServerTimeline.ServerLines"/>.</param>
/// <param name="host">Of <see cref="ServerTimeline.HostLines"/>.</param>
internal sealed class TimelinePanels(
    StoredRun run, IReadOnlyList<OperationLine> lines, (ChartTable Table, int[] Places) rates, (ChartTable Table, int[] Places) latencies, ChartTable server, ChartTable host)
{
    /// <summary>Of operations in a panel; as many as fit beside it.</summary>
    public const int MostLines = 7;
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
        bool wasStartedAgain = run.Events.Any(e => e.Kind is RunEvent.ColdStart or RunEvent.WarmStart or RunEvent.FirstAnswer);
        var disk = seesServersDisk ? State(Words.Of("disk, MB/s"), AxisScale.OfCount, "disk_read", "disk_written") : null;
        // Where a rate was set the seconds hold response times.
        string p99 = run.Results.Any(r => r.HasRate) ? run.Results.All(r => r.HasRate) ? Words.Of("response p99, ms") : Words.Of("p99 (of rates: response), ms") : Words.Of("p99, ms");
        return
        [
            .. new[]
            {
                Operations(Words.Of("documents/s"), rates, static line => line.IsInsert, static line => line.Title),
                Operations(Words.Of("operations/s"), rates, static line => !line.IsInsert, static line => line.Title),
                // What was done once, such as an index build, takes so long that nothing would be seen of the others.
                Operations(p99, latencies, static line => line.IsRepeated, static line => line.TimedTitle) ?? Operations(p99, latencies, static _ => true, static line => line.TimedTitle),
            }.OfType<Panel>(),
            .. new[]
            {
                State(Words.Of("cache"), AxisScale.OfMemory, "cache_used", "cache_dirty", "cache_max"),
                disk,
                // Beside the disk only where a server had to fill its cache anew.
                disk is null || wasStartedAgain ? State(Words.Of("cache, MB/s"), AxisScale.OfCount, "cache_read", "cache_written") : null,
                wasStartedAgain ? State(Words.Of("page faults/s"), AxisScale.OfCount, "page_faults") : null,
                WithCores(State(Words.Of("CPU, cores"), AxisScale.OfCount, "server_cpu", "client_cpu", "host_cpu")),
                State(Words.Of("memory"), AxisScale.OfMemory, "server_resident", "client_resident"),
                State(Words.Of("operations"), AxisScale.OfCount, "queued", "tickets_read", "tickets_write"),
            }.OfType<Panel>(),
        ];
    }

    public static void Set(GnuplotSettings settings, IReadOnlyList<Panel> panels)
    {
        var all = panels.SelectMany(static (panel, i) => panel.Lines.Select((line, j) => (Line: line, Panel: i + 1.0, Place: 1.0 + panel.Lines.Take(j).Sum(above => RowsOf(above.Title))))).ToList();
        settings.Set("panel_count", panels.Count)
            .SetArray("panel_title", panels.Select(static panel => panel.Title).ToList())
            .SetArray("panel_y_max", panels.Select(static panel => panel.Y.Max).ToList())
            .SetArray("panel_y_tics", panels.Select(static panel => panel.Y.Tics).ToList())
            .SetArray("panel_log_from", panels.Select(static panel => panel.LogarithmicFrom).ToList())
            .SetArray("panel_points", panels.Select(static panel => PointSize(panel)).ToList())
            .SetArray("panel_limit", panels.Select(static panel => panel.Limit).ToList())
            .SetArray("panel_limit_label", panels.Select(static panel => panel.LimitLabel).ToList())
            .Set("line_count", all.Count)
            .SetArray("line_panel", all.ConvertAll(static line => line.Panel))
            .SetArray("line_place", all.ConvertAll(static line => line.Place))
            .SetArray("line_index", all.ConvertAll(static line => (double)line.Line.Index))
            .SetArray("line_file", all.ConvertAll(static line => line.Line.File))
            .SetArray("line_column", all.ConvertAll(static line => (double)line.Line.Column))
            .SetArray("line_color", all.ConvertAll(static line => line.Line.Color))
            .SetArray("line_title", all.ConvertAll(static line => line.Line.Title));
    }

    /// <summary>That a title takes in the legend; its further rows stand closer.</summary>
    public static double RowsOf(string title) => title.Length == 0 ? 0 : 1 + (0.7 * title.Count(static c => c == '\n'));

    private static double PointSize(Panel panel) => panel.PointSize ?? panel.Rows switch { <= 3 => 1.2, > 400 => panel.IsRate ? 0.35 : 0, _ => panel.IsRate ? 0.6 : 0 };

    private Panel? Operations(string title, (ChartTable Table, int[] Places) source, Func<OperationLine, bool> isShown, Func<OperationLine, string> titleOf)
    {
        PanelLine[] shown =
        [
            .. source.Places.Index().Where(one => isShown(lines[one.Item]) && HasValues(source.Table, one.Index + 1))
                .Select(one => new PanelLine(
                    source.Table.FileName, one.Index + 2, lines[one.Item].Color, titleOf(lines[one.Item]), source.Table.Largest(one.Index + 1, 1))),
        ];
        return shown.Length == 0 ? null : new Panel(title, AxisScale.OfCount(shown.Max(static line => line.Largest), Ticks), shown, source.Table.Rows.Count, true);
    }

    private Panel? State(string title, Func<double, int, AxisScale> scale, params string[] keys)
    {
        var shown = keys.Select(Find).OfType<PanelLine>().ToList();
        // Nothing but zeros would be an empty panel.
        return shown.Exists(static line => line.Largest > 0)
            ? new Panel(title, scale(shown.Max(static line => line.Largest), Ticks), shown, Math.Max(server.Rows.Count, host.Rows.Count), false)
            : null;
    }

    private PanelLine? Find(string key)
    {
        foreach ((var table, var described) in new[] { (server, ServerTimeline.ServerLines), (host, ServerTimeline.HostLines) })
        {
            for (int i = 0; i < described.Count; i++)
            {
                if (described[i].Key == key)
                    return HasValues(table, i + 1) ? new PanelLine(table.FileName, i + 2, described[i].Color, Words.Of(described[i].Title), table.Largest(i + 1, 1)) : null;
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
        return cpu with { Limit = machine.CpuCount, LimitLabel = Words.Of("CPU cores"), Y = AxisScale.OfCount(largest, Ticks) };
    }

    private static bool HasValues(ChartTable table, int column) => table.Rows.Any(row => double.IsFinite(row[column]));
}
