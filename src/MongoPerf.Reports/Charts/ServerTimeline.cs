using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>Turns one-second samples of servers and host into levels and rates over the time axis.</summary>
internal static class ServerTimeline
{
    /// <summary>A line of a state panel.</summary>
    /// <param name="Key">The column in the data file.</param>
    /// <param name="Color">The name of a color of <see cref="Palette"/>.</param>
    /// <param name="Title">The name in the legend.</param>
    /// <param name="Catalogue">Where the metrics are described.</param>
    /// <param name="Metrics">The metrics, which are added up.</param>
    /// <param name="Factor">The factor from the metrics' unit (per second, where they are counters) to the axis'.</param>
    public sealed record Line(
        string Key, string Color, string Title, IReadOnlyList<Metric> Catalogue, IReadOnlyList<string> Metrics, double Factor = 1)
    {
        /// <summary>It is a bound of the panel's other lines.</summary>
        public bool IsLimit { get; init; }

        /// <summary>Of several servers it is the largest value, not the sum.</summary>
        public bool IsLargest { get; init; }

        public bool IsCounter { get; } = Catalogue[MetricCatalogue.IndexOf(Catalogue, Metrics[0])].Kind == MetricKind.Counter;
    }

    /// <summary>What is drawn together.</summary>
    /// <param name="Name">The name of its data file.</param>
    /// <param name="Title">What the values are.</param>
    /// <param name="Unit">The unit of the values.</param>
    /// <param name="Scale">Makes the axis for the largest value and a number of ticks.</param>
    /// <param name="Lines">The lines in the order of the legend.</param>
    private sealed record State(string Name, string Title, string Unit, Func<double, int, AxisScale> Scale, params Line[] Lines);

    private static readonly State[] States =
    [
        new("cache", "Cache", Panel.Bytes, AxisScale.OfMemory,
            Server("cache_used", "server", "cache used", ["cache_used"]),
            Server("cache_dirty", "written", "dirty", ["cache_dirty"]),
            Server("cache_max", "limit", "limit", ["cache_max"]) with { IsLimit = true }),
        new(Disk, "Disk", "MB/s", AxisScale.OfCount,
            Host("disk_read", "read", "read from disk", ["disk_read"], 1e-6),
            Host("disk_written", "written", "written to disk", ["disk_written"], 1e-6)),
        new("cache-io", "Cache, read and written", "MB/s", AxisScale.OfCount,
            Server("cache_read", "read", "read into cache", ["cache_read"], 1e-6),
            Server("cache_written", "written", "written from cache", ["cache_written"], 1e-6)),
        new("page-faults", "Page faults", "per second", AxisScale.OfCount,
            Server("page_faults", "limit", "page faults", ["page_faults"])),
        new(Cpu, "CPU", "cores", AxisScale.OfCount,
            Server("server_cpu", "server", "server", ["server_user_time", "server_system_time"], 1e-6),
            Host("client_cpu", "client", "client", ["client_cpu_user", "client_cpu_system"], 1e-6),
            Host("host_cpu", "host", "whole machine", ["cpu_user", "cpu_system"], 1e-6)),
        new("memory", "Memory", Panel.Bytes, AxisScale.OfMemory,
            Server("server_resident", "server", "server", ["mem_resident"], 1024 * 1024),
            Host("client_resident", "client", "client", ["client_resident"])),
        new("in-progress", "In progress", "operations", AxisScale.OfWholeCount,
            Server("queued", "limit", "queued", ["queue_readers", "queue_writers"]),
            Server("tickets_read", "read", "read tickets in use", ["tickets_read_out"]),
            Server("tickets_write", "written", "write tickets in use", ["tickets_write_out"])),
        new("flow-control", "Flow control", "% of the time", AxisScale.OfCount,
            Server("flow_control", "limit", "writes throttled", ["flow_control_lagged"], 1e-4) with { IsLargest = true }),
        new("write-conflicts", "Write conflicts", "per second", AxisScale.OfCount,
            Server("write_conflicts", "limit", "write conflicts", ["write_conflicts"])),
        new("shards-asked", "Shards asked by an operation", "operations/s", AxisScale.OfCount,
            [.. MetricCatalogue.ShardsAsked.Zip(["read", "server", "limit", "written"]).Select(asked => Server(
                $"asked_{asked.First.Name}", asked.Second, asked.First.Title,
                [.. MetricCatalogue.RoutedCommands.Select(command => $"asked_{command}_{asked.First.Name}")]))]),
    ];

    /// <summary>The metric of whole seconds since the start: up to one less than there were.</summary>
    private static readonly int Uptime = MetricCatalogue.IndexOf(MetricCatalogue.Server, "uptime");

    private const string Disk = "disk";
    private const string Cpu = "cpu";
    private const int Ticks = 4;

    /// <summary>The seconds without a sample after which a line ends, and a member is away.</summary>
    public const double LongestGap = 3;

    /// <summary>Makes the panels of the state of servers and host, as far as it is known.</summary>
    /// <param name="run">The run whose samples are read.</param>
    /// <param name="axis">The axis of time.</param>
    /// <param name="builderOf">Makes a builder for so many lines.</param>
    /// <param name="since">The second on the axis from which it is wanted.</param>
    /// <param name="keepsZeros">A panel with nothing but zeros is kept; otherwise it is left out.</param>
    public static IEnumerable<Panel> Panels(StoredRun run, TimeAxis axis, Func<int, PanelBuilder> builderOf, double since, bool keepsZeros)
    {
        // Another machine's disk says nothing of the server's.
        (State State, PanelBuilder Builder)[] panels =
            [.. States.Where(state => state.Name != Disk || run.Environment?.ServerOnSameMachine == true)
                .Select(state => (state, builderOf(state.Lines.Length)))];
        Add(MetricCatalogue.Server, run.ReadServerSamples());
        Add(MetricCatalogue.Host, run.ReadHostSamples());
        foreach ((State state, PanelBuilder builder) in panels)
        {
            ChartTable table = builder.Build(state.Name + ".csv", state.Lines.Select(static line => line.Key));
            Series[] series =
                [.. state.Lines
                    .Select((line, i) => new Series(table, i + 1, Words.Of(line.Title), line.Color) { Dash = line.IsLimit ? 2 : 1 })
                    .Where(static one => one.HasValues)];
            if (series.Length == 0 || (!keepsZeros && series.All(static one => one.Largest <= 0)))
                continue;
            series = [.. series.Select(one => one with { IsShown = !IsFarOff(one, series) })];
            var panel = new Panel(
                Words.Of(state.Title), state.Scale(series.Where(static one => one.IsShown).Max(static one => one.Largest), Ticks), series)
            {
                Unit = state.Unit == Panel.Bytes ? state.Unit : Words.Of(state.Unit), IsState = true,
            };
            yield return state.Name == Cpu ? WithCores(run, panel) : panel;
        }

        void Add(IReadOnlyList<Metric> catalogue, IEnumerable<MetricSample> samples)
        {
            var lines = panels.SelectMany(panel => panel.State.Lines.Select((line, i) => (Line: line, panel.Builder, Column: i)))
                .Where(one => one.Line.Catalogue == catalogue).ToList();
            foreach ((double at, int line, double value) in Read([.. lines.Select(static one => one.Line)], samples, axis)
                .Where(one => one.At >= since))
                lines[line].Builder.Add(at, lines[line].Column, value);
        }
    }

    private static Line Server(string key, string color, string title, string[] metrics, double factor = 1) =>
        new(key, color, title, MetricCatalogue.Server, metrics, factor);

    private static Line Host(string key, string color, string title, string[] metrics, double factor = 1) =>
        new(key, color, title, MetricCatalogue.Host, metrics, factor);

    /// <summary>Whether a line is a limit that would press all other lines to the ground.</summary>
    private static bool IsFarOff(Series line, IReadOnlyList<Series> all) =>
        line.Dash > 1 && line.Largest > 4 * all.Where(other => other != line)
            .Select(static other => other.Largest).DefaultIfEmpty(double.PositiveInfinity).Max();

    /// <summary>Adds the number of cores as a line, where the load comes near it.</summary>
    private static Panel WithCores(StoredRun run, Panel cpu)
    {
        double largest = cpu.Series.Max(static line => line.Largest);
        return run.Environment is not { } machine || largest < machine.CpuCount * 0.4 ? cpu
            : cpu with
            {
                Limit = (machine.CpuCount, Words.Of("CPU cores")), Y = AxisScale.OfCount(Math.Max(machine.CpuCount, largest), Ticks),
            };
    }

    /// <summary>Streams levels and rates over time; several servers' values are one, most of them as their sum.</summary>
    /// <param name="lines">What is read; the result names a line by its place here.</param>
    /// <param name="samples">The samples in time order.</param>
    /// <param name="axis">The axis of time.</param>
    public static IEnumerable<(double At, int Line, double Value)> Read(
        IReadOnlyList<Line> lines, IEnumerable<MetricSample> samples, TimeAxis axis)
    {
        foreach ((double at, Dictionary<string, double[]> members) in MemberRounds.Of(Values(lines, samples, axis), LongestGap))
        {
            for (int line = 0; line < lines.Count; line++)
            {
                double one = double.NaN;
                foreach (double[] its in members.Values)
                    one = lines[line].IsLargest ? Larger(one, its[line]) : Plus(one, its[line]);
                if (double.IsFinite(one))
                    yield return (at, line, one);
            }
        }
    }

    /// <summary>Streams each member's levels and rates; NaN where it has none.</summary>
    private static IEnumerable<(double At, string Member, double[] Values)> Values(
        IReadOnlyList<Line> lines, IEnumerable<MetricSample> samples, TimeAxis axis)
    {
        int[][] metrics =
            [.. lines.Select(static line => line.Metrics.Select(name => MetricCatalogue.IndexOf(line.Catalogue, name)).ToArray())];
        var members = new Dictionary<string, (MetricSample Last, MetricSample Heard)>(StringComparer.Ordinal);
        foreach (MetricSample sample in samples)
        {
            bool isKnown = members.TryGetValue(sample.Member, out var before);
            double[] values = new double[lines.Count];
            for (int i = 0; i < values.Length; i++)
                values[i] = lines[i].Factor * (!lines[i].IsCounter ? SumOf(sample, metrics[i])
                    : isKnown ? RateOf(before.Last, before.Heard, sample, metrics[i]) : double.NaN);
            yield return (axis.At(sample.AtMilliseconds), sample.Member, values);
            members[sample.Member] = (sample, isKnown && !sample.Values.Any(double.IsFinite) ? before.Heard : sample);
        }
    }

    /// <summary>The rate per second; NaN where it is not known.</summary>
    /// <param name="before">The sample before, which may hold nothing.</param>
    /// <param name="heard">The last sample that holds something.</param>
    /// <param name="now">The sample.</param>
    /// <param name="metrics">The metrics, which are added up.</param>
    private static double RateOf(MetricSample before, MetricSample heard, MetricSample now, int[] metrics)
    {
        double seconds = (now.AtMilliseconds - before.AtMilliseconds) / 1000.0;
        double count = SumOf(now, metrics);
        double difference = count - SumOf(before, metrics);
        // A counter that fell belongs to a server that was started anew. Where it was looked for in vain meanwhile, all of it grew since
        // its start, which may be before the last look: after a failure the next attempt waits.
        if (!before.Values.Any(double.IsFinite) && count < SumOf(heard, metrics))
        {
            difference = count;
            double uptime = (Uptime < now.Values.Length ? now.Values[Uptime] : double.NaN) + 1;
            seconds =
                double.IsNaN(uptime) ? seconds : Math.Max(seconds, Math.Min((now.AtMilliseconds - heard.AtMilliseconds) / 1000.0, uptime));
        }

        // Over a pause nobody looked.
        return seconds is > 0 and < 30 && difference >= 0 ? difference / seconds : double.NaN;
    }

    private static double SumOf(MetricSample sample, int[] metrics)
    {
        double sum = 0;
        foreach (int metric in metrics)
            sum += metric < sample.Values.Length ? sample.Values[metric] : double.NaN;
        return sum;
    }

    private static double Larger(double left, double right) => double.IsFinite(right) && !(left >= right) ? right : left;

    private static double Plus(double left, double right) => double.IsNaN(left) ? right : double.IsNaN(right) ? left : left + right;
}
