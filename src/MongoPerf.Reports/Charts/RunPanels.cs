using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// What there is to see of a run over time: rates, latencies, the state of servers and host, shards. Charts and page show the same panels.
/// </summary>
internal sealed class RunPanels
{
    /// <summary>More operations could not be told apart.</summary>
    public const int MostOperations = 24;

    /// <summary>With more operations than this, only the 99th percentiles are shown at first.</summary>
    private const int MostWithAllPercentiles = 2;

    private const int Ticks = 4;

    private static readonly (string Name, int Dash, Func<OperationSecond, double> Of)[] Percentiles =
    [
        ("p50", 2, static second => second.P50), ("p99", 1, static second => second.P99), ("max", 3, static second => second.Max),
    ];

    private static readonly OncePerRun<RunPanels> Known = new(Read, hasTexts: true);

    private readonly List<PanelBuilder> _builders = [];
    private readonly double _length;
    private readonly double[] _ends;

    private RunPanels(StoredRun run, OperationSeconds seconds, TimeAxis axis, double? since)
    {
        _length = since is null ? axis.Seconds : 0;
        _ends = [.. Happenings.Ends(run, axis)];
        int[] lines = [.. Enumerable.Range(0, seconds.Lines.Count).Where(line => !seconds.Lines[line].IsTotal).Take(MostOperations)];
        // First, so that they are never among those that find no room.
        int[] totals = [.. Enumerable.Range(0, seconds.Lines.Count).Where(line => seconds.Lines[line].IsTotal)];
        int[] rated = [.. totals, .. lines];
        Inserts = Rates(seconds, axis.At, "inserts", Words.Of("Rate of inserts"), Words.Of("documents/s"),
            [.. rated.Where(line => seconds.Lines[line].IsInsert)]);
        Operations = Rates(seconds, axis.At, "operations", Words.Of("Rate of operations"), Words.Of("per second"),
            [.. rated.Where(line => !seconds.Lines[line].IsInsert)]);
        Latencies = LatenciesOf(run, seconds, axis,
            [.. totals.Where(total => seconds.Timed.Any(second => second.Line == total && double.IsFinite(second.P99))), .. lines]);
        States =
        [
            .. ServerTimeline.Panels(run, axis, lines => Builder(lines, ServerTimeline.LongestGap), since ?? 0,
                keepsZeros: since is not null).Concat(ReplicaTimeline.Panels(run, axis, Builder, since ?? 0)).Select(Again),
        ];
        Shards = [.. ShardTimeline.Panels(run, axis, Builder, since ?? 0).Select(Again)];
        PieceSeconds = _builders.Max(static builder => builder.PieceSeconds);

        Panel Again(Panel panel) => panel with { IsAgain = since is not null };
    }

    /// <summary>The rates of inserts; null where nothing was inserted.</summary>
    public Panel? Inserts { get; }

    /// <summary>The rates of other operations; null where there was nothing but inserts.</summary>
    public Panel? Operations { get; }

    /// <summary>The latencies; null where none were measured.</summary>
    public Panel? Latencies { get; }

    /// <summary>The state of servers, host and replica sets.</summary>
    public IReadOnlyList<Panel> States { get; }

    /// <summary>What shards hold and do; none unless several shards were looked at.</summary>
    public IReadOnlyList<Panel> Shards { get; }

    /// <summary>The longest pieces of time that show their least and greatest value; 0 where all points are there.</summary>
    public double PieceSeconds { get; }

    public IReadOnlyList<Panel> All => [.. new[] { Inserts, Operations, Latencies }.OfType<Panel>(), .. States, .. Shards];

    /// <summary>Reads the run's samples at the first call in a language. May be called from several threads.</summary>
    public static RunPanels Of(StoredRun run) => Known.Of(run);

    private static RunPanels Read(StoredRun run)
    {
        OperationSeconds seconds = OperationSeconds.Of(run);
        return new RunPanels(run, seconds, seconds.Axis, null);
    }

    /// <summary>Makes the panels of a run that goes on.</summary>
    /// <param name="run">The run, opened where the samples of the last panels ended.</param>
    /// <param name="seconds">The seconds of the run.</param>
    /// <param name="axis">The axis of time.</param>
    /// <param name="since">The second on the axis from which they continue others; null where they begin anew.</param>
    public static RunPanels Live(StoredRun run, OperationSeconds seconds, TimeAxis axis, double? since) => new(run, seconds, axis, since);

    /// <summary>Makes lines of documents per second for inserts, and of operations per second for anything else.</summary>
    /// <param name="seconds">The seconds of the run.</param>
    /// <param name="lines">The places of the lines in <see cref="OperationSeconds.Lines"/>.</param>
    /// <param name="at">Turns Unix milliseconds into seconds on the axis.</param>
    /// <param name="builder">The builder that gets them, in the order of <paramref name="lines"/>.</param>
    /// <param name="file">The table's file.</param>
    public static IReadOnlyList<Series> Rates(
        OperationSeconds seconds, IReadOnlyList<int> lines, Func<long, double> at, PanelBuilder builder, string file)
    {
        int[] columns = [.. Enumerable.Range(0, seconds.Lines.Count).Select(line => lines.ToList().IndexOf(line))];
        foreach (OperationSecond second in seconds.Counted
            .Where(second => columns[second.Line] >= 0 && (second.Count > 0 || second.Seconds > LeastStill)))
            builder.Add(at(second.AtMilliseconds), columns[second.Line], second.Count / second.Seconds);
        ChartTable table = builder.Build(file, lines.Select(line => seconds.Lines[line].Title));
        return [.. lines.Select((line, i) => new Series(table, i + 1, seconds.Lines[line].Title, seconds.Lines[line].Color))];
    }

    /// <summary>
    /// The least seconds in which nothing was done that make a rate 0: a phase may end with a sample of a few milliseconds.
    /// </summary>
    private const double LeastStill = 0.1;

    /// <summary>The seconds without a sample after which a line of operations ends.</summary>
    public const double LongestGap = 3;

    private PanelBuilder Builder(int lines, double longestGap)
    {
        var builder = new PanelBuilder(lines, _length, longestGap, _ends);
        _builders.Add(builder);
        return builder;
    }

    private Panel? Rates(OperationSeconds seconds, Func<long, double> at, string name, string title, string unit, int[] lines) =>
        Panel.Of(title, static largest => AxisScale.OfCount(largest, Ticks),
            Rates(seconds, lines, at, Builder(lines.Length, LongestGap), name + ".csv")) is { } panel ? panel with { Unit = unit } : null;

    private Panel? LatenciesOf(StoredRun run, OperationSeconds seconds, TimeAxis axis, int[] lines)
    {
        PanelBuilder builder = Builder(lines.Length * Percentiles.Length, LongestGap);
        Dictionary<int, int> places = lines.Index().ToDictionary(line => line.Item, line => line.Index);
        foreach (OperationSecond second in seconds.Timed)
        {
            if (!places.TryGetValue(second.Line, out int place))
                continue;
            foreach ((int i, var percentile) in Percentiles.Index())
            {
                if (second.HasOutage && double.IsNaN(percentile.Of(second)))
                    builder.End((place * Percentiles.Length) + i);
                builder.Add(axis.At(second.AtMilliseconds), (place * Percentiles.Length) + i, percentile.Of(second));
            }
        }

        bool showsAll = lines.Count(line => !seconds.Lines[line].IsTotal) <= MostWithAllPercentiles;
        (OperationLine Line, string Name, string Title, int Dash)[] all = [.. lines.SelectMany(line =>
            Percentiles.Select(one => (seconds.Lines[line], one.Name, $"{seconds.Lines[line].TimedTitle} {one.Name}", one.Dash)))];
        ChartTable table = builder.Build("latencies.csv", all.Select(static one => one.Title));
        Series[] series =
        [
            .. all.Select((one, i) => new Series(table, i + 1, one.Title, one.Line.Color)
            {
                Dash = one.Dash, Percentile = one.Name, IsShown = one.Dash == 1 || (showsAll && !one.Line.IsTotal),
            }),
        ];
        double least = series.Where(static one => one.IsShown)
            .SelectMany(static one => one.Values).Where(double.IsFinite).DefaultIfEmpty(1).Min();
        // Of the whole run: what comes later to a live page has the same panel, also where the phase of now has no rate.
        bool isResponse = run.Phases.Any(static phase => phase.Rate is not null) || seconds.All.Any(static second => second.IsResponse);
        return Panel.Of(isResponse ? Words.Of("Latency (response times where a rate was set)") : Words.Of("Latency"),
            largest => AxisScale.OfLatency(least, largest), series) is { } panel
            ? panel with { Unit = Panel.Microseconds } : null;
    }
}
