using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>One-second samples of servers and host, turned into levels and rates over the time axis.</summary>
internal static class ServerTimeline
{
    /// <summary>A line of a state panel.</summary>
    /// <param name="Key">Column in the data file.</param>
    /// <param name="Color">Name of a colour of <see cref="Palette"/>.</param>
    /// <param name="Title">In the legend.</param>
    /// <param name="Catalogue">Where the metrics are described.</param>
    /// <param name="Metrics">Added together.</param>
    /// <param name="Factor">From the metrics' unit (per second, where they are counters) to the axis'.</param>
    public sealed record Line(string Key, string Color, string Title, IReadOnlyList<Metric> Catalogue, IReadOnlyList<string> Metrics, double Factor = 1)
    {
        /// <summary>A bound of the panel's other lines.</summary>
        public bool IsLimit { get; init; }

        public bool IsCounter => Catalogue[MetricCatalogue.IndexOf(Catalogue, Metrics[0])].Kind == MetricKind.Counter;
    }

    public static IReadOnlyList<Line> ServerLines { get; } =
    [
        new("cache_used", "server", "cache used", MetricCatalogue.Server, ["cache_used"]),
        new("cache_dirty", "written", "dirty", MetricCatalogue.Server, ["cache_dirty"]),
        new("cache_max", "limit", "limit", MetricCatalogue.Server, ["cache_max"]) { IsLimit = true },
        new("cache_read", "read", "read into cache", MetricCatalogue.Server, ["cache_read"], 1e-6),
        new("cache_written", "written", "written from cache", MetricCatalogue.Server, ["cache_written"], 1e-6),
        new("page_faults", "limit", "page faults", MetricCatalogue.Server, ["page_faults"]),
        new("server_cpu", "server", "server", MetricCatalogue.Server, ["server_user_time", "server_system_time"], 1e-6),
        new("server_resident", "server", "server", MetricCatalogue.Server, ["mem_resident"], 1024 * 1024),
        new("queued", "limit", "queued", MetricCatalogue.Server, ["queue_readers", "queue_writers"]),
        new("tickets_read", "read", "read tickets in use", MetricCatalogue.Server, ["tickets_read_out"]),
        new("tickets_write", "written", "write tickets in use", MetricCatalogue.Server, ["tickets_write_out"]),
    ];

    public static IReadOnlyList<Line> HostLines { get; } =
    [
        new("host_cpu", "host", "whole machine", MetricCatalogue.Host, ["cpu_user", "cpu_system"], 1e-6),
        new("client_cpu", "client", "client", MetricCatalogue.Host, ["client_cpu_user", "client_cpu_system"], 1e-6),
        new("disk_read", "read", "read from disk", MetricCatalogue.Host, ["disk_read"], 1e-6),
        new("disk_written", "written", "written to disk", MetricCatalogue.Host, ["disk_written"], 1e-6),
        new("client_resident", "client", "client", MetricCatalogue.Host, ["client_resident"]),
    ];

    /// <summary>What is drawn together.</summary>
    private static readonly (string Title, string Unit, Func<double, int, AxisScale> Scale, string[] Keys)[] States =
    [
        ("Cache", Panel.Bytes, AxisScale.OfMemory, ["cache_used", "cache_dirty", "cache_max"]),
        ("Disk", "MB/s", AxisScale.OfCount, [Disk, "disk_written"]),
        ("Cache, read and written", "MB/s", AxisScale.OfCount, [CacheRead, "cache_written"]),
        ("Page faults", "per second", AxisScale.OfCount, [PageFaults]),
        ("CPU", "cores", AxisScale.OfCount, [Cpu, "client_cpu", "host_cpu"]),
        ("Memory", Panel.Bytes, AxisScale.OfMemory, ["server_resident", "client_resident"]),
        ("In progress", "operations", AxisScale.OfCount, ["queued", "tickets_read", "tickets_write"]),
    ];

    /// <summary>Keys of the first lines of panels that not everybody shows.</summary>
    public const string Disk = "disk_read";
    public const string CacheRead = "cache_read";
    public const string PageFaults = "page_faults";
    public const string Cpu = "server_cpu";

    private const int Ticks = 4;

    /// <summary>The state of servers and host: a panel for whatever of it is known.</summary>
    /// <param name="run">Its samples are read.</param>
    /// <param name="axis">Of time.</param>
    /// <param name="name">Before its data files' names.</param>
    /// <param name="mostRows">Of a data file.</param>
    /// <param name="keepsZeros">Otherwise a panel that would have nothing but zeros is left out.</param>
    /// <returns>With the key of its first line.</returns>
    public static IEnumerable<(string Key, Panel Panel)> Panels(StoredRun run, TimeAxis axis, string name, int mostRows, bool keepsZeros = false)
    {
        ChartTable server = Read($"{name}-server.dat", ServerLines, run.ReadServerSamples, axis, mostRows);
        ChartTable host = Read($"{name}-host.dat", HostLines, run.ReadHostSamples, axis, mostRows);
        Dictionary<string, Series> lines = SeriesOf(ServerLines, server).Concat(SeriesOf(HostLines, host)).ToDictionary(static line => line.Key, static line => line.Series);
        foreach ((string title, string unit, var scale, string[] keys) in States)
        {
            // Another machine's disk says nothing of the server's.
            if (keys[0] == Disk && run.Environment?.ServerOnSameMachine != true)
                continue;
            if (Panel.Of(Words.Of(title), largest => scale(largest, Ticks), keys.Select(key => lines[key])) is { } panel && (keepsZeros || panel.Series.Any(static line => line.Largest > 0)))
                yield return (keys[0], panel with { Unit = unit == Panel.Bytes ? unit : Words.Of(unit), IsState = true });
        }
    }

    private static IEnumerable<(string Key, Series Series)> SeriesOf(IReadOnlyList<Line> lines, ChartTable table) =>
        lines.Select((line, i) => (line.Key, new Series(table, i + 1, Words.Of(line.Title), line.Color) { IsLimit = line.IsLimit, Dash = line.IsLimit ? 2 : 1 }));

    /// <summary>A member that has said nothing for so long is away.</summary>
    private const double LongestGapSeconds = 3;

    /// <summary>Reads one kind of samples. Several servers' values are added up: each bucket has the sum of the members' averages.</summary>
    public static ChartTable Read(
        string fileName, IReadOnlyList<Line> lines, Func<IEnumerable<MetricSample>> read, TimeAxis axis, int mostRows)
    {
        var table = new ChartTable(fileName, ["seconds", .. lines.Select(static line => line.Key)]);
        var columns = lines.Select(static line => line.Metrics.Select(name => MetricCatalogue.IndexOf(line.Catalogue, name)).ToArray()).ToList();
        var members = new Dictionary<string, (MetricSample Last, MetricSample Heard, TimeBuckets Buckets)>();
        foreach (var sample in read())
        {
            bool isKnown = members.TryGetValue(sample.Member, out var member);
            var buckets = isKnown ? member.Buckets : new TimeBuckets(lines.Count, axis.Seconds, mostRows);
            for (int i = 0; i < lines.Count; i++)
            {
                if (!lines[i].IsCounter)
                    buckets.Add(axis.At(sample.AtMilliseconds), i, SumOf(sample, columns[i]) * lines[i].Factor, 1);
                else if (isKnown)
                    AddRate(buckets, i, member.Last, member.Heard, sample, columns[i], lines[i].Factor, axis);
            }

            members[sample.Member] = (sample, isKnown && !sample.Values.Any(double.IsFinite) ? member.Heard : sample, buckets);
        }

        foreach (double[] row in Sum(members.Values.Select(static member => member.Buckets).ToList()))
            table.Add(row);
        return table;
    }

    /// <param name="buckets">Get the rate.</param>
    /// <param name="column">In them.</param>
    /// <param name="before">The sample before, which may hold nothing.</param>
    /// <param name="heard">The last that holds something.</param>
    /// <param name="now">The sample.</param>
    /// <param name="metrics">Added together.</param>
    /// <param name="factor">To the axis' unit.</param>
    /// <param name="axis">Of time.</param>
    private static void AddRate(TimeBuckets buckets, int column, MetricSample before, MetricSample heard, MetricSample now, int[] metrics, double factor, TimeAxis axis)
    {
        double seconds = (now.AtMilliseconds - before.AtMilliseconds) / 1000.0;
        double count = SumOf(now, metrics);
        double difference = count - SumOf(before, metrics);
        // A counter that fell belongs to a server that was started anew. Where it was looked for in vain meanwhile, all of it grew since then.
        if (!before.Values.Any(double.IsFinite) && count < SumOf(heard, metrics))
            difference = count;
        // Over a pause nobody looked.
        if (seconds is > 0 and < 30 && difference >= 0)
            buckets.Add(axis.At(now.AtMilliseconds), column, difference * factor, seconds);
    }

    private static double SumOf(MetricSample sample, int[] metrics)
    {
        double sum = 0;
        foreach (int metric in metrics)
            sum += metric < sample.Values.Length ? sample.Values[metric] : double.NaN;
        return sum;
    }

    /// <summary>Members are not sampled at the same moments: one that has nothing in a bucket counts with what it had just before.</summary>
    private static IEnumerable<double[]> Sum(List<TimeBuckets> members)
    {
        if (members.Count == 0)
            return [];
        if (members.Count == 1)
            return members[0].Rows();
        double width = members[0].Width;
        double longest = Math.Max(LongestGapSeconds, width * 2.5);
        var latest = new double[]?[members.Count];
        return members.SelectMany(static (member, i) => member.Rows().Select(row => (Row: row, Member: i)))
            .GroupBy(one => (long)(one.Row[0] / width))
            .OrderBy(static group => group.Key)
            .Select(group =>
            {
                foreach ((double[] row, int member) in group)
                    latest[member] = row;
                double at = group.Average(static one => one.Row[0]);
                return latest.OfType<double[]>().Where(row => at - row[0] <= longest)
                    .Aggregate((left, right) => [at, .. left.Skip(1).Zip(right.Skip(1), Plus)]);
            });
    }

    private static double Plus(double left, double right) => double.IsNaN(left) ? right : double.IsNaN(right) ? left : left + right;
}
