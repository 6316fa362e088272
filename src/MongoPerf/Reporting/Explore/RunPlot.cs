using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Phases;

namespace MongoPerf.Reporting.Explore;

/// <summary>What of a run can be explored: its operations second by second, and the state of servers, host and shards beside them.</summary>
internal sealed class RunPlot
{
    /// <summary>More could not be told apart.</summary>
    private const int MostOperations = 24;

    /// <summary>With more operations than these, only the 99th percentiles are drawn at first.</summary>
    private const int MostWithAllPercentiles = 2;
    private const int MostMarks = 2000;
    private const double LongestGap = 3;

    /// <summary>Seconds: less is too little to call a rate 0.</summary>
    private const double LeastStill = 0.1;

    /// <summary>Samples come in a second or two late, and one after the other.</summary>
    private const double SecondsAgain = 5;
    private const double LongestShardGap = 30;

    /// <summary>Of packed data, which are 4/3 as long in the page: 400 KB for a run of an hour, 3 MB for one of a day. Histograms get what columns leave.</summary>
    private const int MostBytes = 300_000;
    private const int MoreBytesPerHour = 85_000;
    private const int MostBytesOfAll = 2_250_000;
    private const int LeastRangeBytes = 110_000;

    private readonly StoredRun _run;
    private readonly OperationSeconds _seconds;
    private readonly TimeAxis? _axisBefore;
    private readonly TimeAxis _axis;
    private readonly List<string> _remarks = [];
    private double _longestPiece;

    private RunPlot(StoredRun run, TimeAxis? before, bool isLive)
    {
        _run = run;
        _axisBefore = before;
        _seconds = isLive ? OperationSeconds.Live(run) : OperationSeconds.Of(run);
        _axis = before?.Until(_seconds.Axis.EndMilliseconds) ?? _seconds.Axis;
    }

    /// <summary>Null for a run that has measured nothing.</summary>
    public static Plot? Of(StoredRun run) => Of(new RunPlot(run, null, isLive: false));

    /// <summary>Of a run that goes on. What came since: the same lines, shorter.</summary>
    /// <param name="run">Opened where the samples of the last plot ended.</param>
    /// <param name="before">Axis of the last plot; null for a whole plot.</param>
    /// <param name="axis">Of this one.</param>
    /// <returns>Null when nothing was measured.</returns>
    public static Plot? Live(StoredRun run, TimeAxis? before, out TimeAxis axis)
    {
        var reader = new RunPlot(run, before, isLive: true);
        axis = reader._axis;
        return Of(reader);
    }

    private static Plot? Of(RunPlot reader) => reader._axis.IsEmpty || reader._seconds.Lines.Count == 0 ? null : reader.Build();

    private bool IsTail => _axisBefore is not null;

    /// <summary>Seconds on the axis: what happened before is in the plot that this one continues.</summary>
    private double Since => _axisBefore is { } before ? Math.Max(0, before.Seconds - SecondsAgain) : 0;

    private Plot Build()
    {
        int operationCount = _seconds.Lines.Count(static line => !line.IsTotal);
        if (operationCount > MostOperations)
            _remarks.Add(Words.Of($"The first {MostOperations} of {operationCount} operations are drawn; the tables have all of them."));
        var operations = Operations();
        var panels = operations.Panels.Concat(ServerPanels()).Concat(ShardPanels()).ToList();
        if (_longestPiece > 0)
            _remarks.Add(Words.Of($"The run is long: of each {_longestPiece.ToString("0.#", CultureInfo.InvariantCulture)} s the lines of rates and latencies show the least and the greatest value, so no spike is lost; those of server, host and shards show means. samples.csv and run.db have more."));
        if (_axis.Pauses.Any())
            _remarks.Add(Words.Of("Pauses between the sessions of this run are cut out of the axis."));
        byte[] packed = PlotEncoding.Pack(panels, operations.Documents);
        return new Plot(_axis.Seconds, panels)
        {
            Since = Since,
            Marks = Marks(),
            Bands = [.. Happenings.Bands(_run, _axis).Where(band => band.To >= Since), .. operations.WarmUps, .. Checkpoints()],
            Phases = operations.Phases,
            Documents = operations.Documents,
            Packed = packed,
            Ranges = RangeHistograms.Read(_run, _seconds, _axis, IsTail ? int.MaxValue : RangeBytes(packed.Length)),
            Remarks = _remarks,
        };
    }

    /// <summary>Bytes that columns leave for histograms.</summary>
    private int RangeBytes(int ofColumns)
    {
        double most = Math.Min(MostBytesOfAll, MostBytes + (MoreBytesPerHour * Math.Max(0, (_axis.Seconds / 3600) - 1)));
        return Math.Max(LeastRangeBytes, (int)most - ofColumns);
    }

    private (IReadOnlyList<PlotPanel> Panels, IReadOnlyList<Band> Phases, IReadOnlyList<Band> WarmUps, PlotColumns? Documents) Operations()
    {
        int[] lines = [.. Enumerable.Range(0, _seconds.Lines.Count).Where(line => !_seconds.Lines[line].IsTotal).Take(MostOperations)];
        int[] rated = [.. lines, .. Enumerable.Range(0, _seconds.Lines.Count).Where(line => _seconds.Lines[line].IsTotal)];
        var rates = new PanelBuilder(rated.Length, LongestGap);
        var latencies = new PanelBuilder(lines.Length * 3, LongestGap);
        var documents = new PanelBuilder(1, double.PositiveInfinity);
        var phases = new Spans();
        var warmUps = new Spans();
        // Of the whole run: what comes later to a live page has the same panel, also where the phase of now has no rate.
        bool isResponse = _run.Phases.Any(static phase => phase.Rate is not null);
        double reached = 0;
        foreach (OperationSecond second in _seconds.All)
        {
            double at = _axis.At(second.AtMilliseconds);
            phases.Add(second.Phase, at - second.Seconds, at);
            if (second.IsWarmup)
                warmUps.Add(second.Phase, at - second.Seconds, at);
            if (second.Line >= lines.Length)
                continue;
            isResponse |= second.IsResponse;
            latencies.Add(at, second.Line * 3, second.P50);
            latencies.Add(at, (second.Line * 3) + 1, second.P99);
            latencies.Add(at, (second.Line * 3) + 2, second.Max);
            reached = Math.Max(reached, second.Documents);
            documents.Add(at, 0, reached);
        }

        // A phase may end with a sample of a few milliseconds in which nothing was done.
        foreach (OperationSecond second in _seconds.Counted.Where(static second => second.Count > 0 || second.Seconds > LeastStill))
        {
            if (Array.IndexOf(rated, second.Line) is >= 0 and var column)
                rates.Add(_axis.At(second.AtMilliseconds), column, second.Count / second.Seconds);
        }

        string what = isResponse ? Words.Of("Latency (response times where a rate was set)") : Words.Of("Latency");
        return (
            [
                .. RatePanels(Built(rates), [.. rated.Select(line => _seconds.Lines[line])]),
                new PlotPanel(what, "µs", [.. lines.SelectMany(line => Percentiles(_seconds.Lines[line], lines.Length))], Built(latencies)) { IsLogarithmic = true },
            ],
            phases.Bands("phase", Labels()), warmUps.Bands("warm-up", Labels()), HasDocumentAxis ? Built(documents) : null);
    }

    /// <summary>Something grew: by a growth, or by the one phase that fills the one collection there is.</summary>
    private bool HasDocumentAxis => _run.GrowthSteps.Count > 0 || _run.Phases.Count(static phase => phase.Kind == PhaseKind.Load) == 1;

    private PlotColumns Built(PanelBuilder panel)
    {
        PlotColumns columns = panel.Build(out double piece);
        _longestPiece = Math.Max(_longestPiece, piece);
        return columns;
    }

    private static IEnumerable<PlotPanel> RatePanels(PlotColumns columns, OperationLine[] operations)
    {
        foreach ((string title, string unit, bool isInsert) in new[] { (Words.Of("Rate of inserts"), Words.Of("documents/s"), true), (Words.Of("Rate of operations"), Words.Of("operations/s"), false) })
        {
            int[] lines = [.. Enumerable.Range(0, columns.Values.Count).Where(line => operations[line].IsInsert == isInsert)];
            if (lines.Length == 0)
                continue;
            PlotSeries[] series = [.. lines.Select(line => new PlotSeries(operations[line].Title, operations[line].Color))];
            int[] rows = [.. Enumerable.Range(0, columns.At.Length).Where(row => lines.Any(line => !double.IsNaN(columns.Values[line][row])))];
            yield return new PlotPanel(title, unit, series, new PlotColumns(
                [.. rows.Select(row => columns.At[row])], [.. lines.Select(line => rows.Select(row => columns.Values[line][row]).ToArray())]));
        }
    }

    private static IEnumerable<PlotSeries> Percentiles(OperationLine line, int lines)
    {
        (string title, string color) = (line.TimedTitle, line.Color);
        bool showsAll = lines <= MostWithAllPercentiles;
        yield return new PlotSeries(title + " p50", color) { Style = PlotStyle.Dashed, IsShown = showsAll };
        yield return new PlotSeries(title + " p99", color);
        yield return new PlotSeries(title + " max", color) { Style = PlotStyle.Dotted, IsShown = showsAll };
    }

    private Dictionary<int, string> Labels() => _run.Phases.ToDictionary(static phase => phase.Number, static phase => phase.Label());

    private IEnumerable<PlotPanel> ServerPanels() => ServerTimeline.Panels(_run, _axis, "", PanelBuilder.MostRows, keepsZeros: IsTail)
        .Select(one => PanelOf(one.Panel.Title, one.Panel.Unit, one.Panel.Series, LongestGap));

    private IEnumerable<PlotPanel> ShardPanels()
    {
        if (ShardTimeline.Read(_run, _axis, "") is not { } shards)
            yield break;
        foreach ((ShardTimeline.Figure figure, IReadOnlyList<Series> lines) in shards.Shown)
            yield return PanelOf(Words.Of($"Shards: {Words.Of(figure.Title)}"), figure.Metric is null ? "%" : Words.Of(figure.Title), lines, LongestShardGap);
    }

    private PlotPanel PanelOf(string title, string unit, IReadOnlyList<Series> lines, double longestGap)
    {
        // What is averaged over pieces of time comes that far apart.
        var builder = new PanelBuilder(lines.Count, Math.Max(longestGap, _axis.Seconds / (PanelBuilder.MostRows / 4.0) * 2.5));
        foreach ((int place, Series line) in lines.Index())
        {
            foreach (double[] row in line.Table.Rows.Where(row => row[0] >= Since))
                builder.Add(row[0], place, row[line.Column]);
        }

        return new PlotPanel(title, unit, [.. lines.Select(line => SeriesOf(line, lines))], Built(builder)) { IsAgain = IsTail };
    }

    private static PlotSeries SeriesOf(Series line, IReadOnlyList<Series> all) =>
        new(line.Title, line.Color) { Style = line.IsLimit ? PlotStyle.Dashed : PlotStyle.Solid, IsShown = !IsFarOff(line, all) };

    /// <summary>A limit that would press all other lines to the ground.</summary>
    private static bool IsFarOff(Series line, IReadOnlyList<Series> all) =>
        line.IsLimit && line.Largest > 4 * all.Where(other => other != line).Select(static other => other.Largest).DefaultIfEmpty(double.PositiveInfinity).Max();

    private IReadOnlyList<Mark> Marks()
    {
        Mark[] all =
        [
            .. Happenings.Marks(_run, _axis)
                .Concat(_run.Checkpoints.Where(static one => one.Documents > 0).Select(one =>
                    new Mark(_axis.At(one.AtMilliseconds), Words.Of("step"), Words.Of($"{Units.Exact(one.Documents)} documents, safe on disk"))))
                .Where(mark => mark.At >= Since).OrderBy(static mark => mark.At),
        ];
        if (all.Length > MostMarks)
            _remarks.Add(Words.Of($"The first {Units.Exact(MostMarks)} of {Units.Exact(all.Length)} events are marked."));
        return [.. all.Take(MostMarks)];
    }

    /// <summary>Those of the server, as far as its one-second samples saw them.</summary>
    private IEnumerable<Band> Checkpoints()
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Server, "checkpoint_running");
        var spans = new Spans();
        int number = 0;
        bool wasRunning = false;
        foreach (MetricSample sample in _run.ReadServerSamples().Where(sample => column < sample.Values.Length))
        {
            bool isRunning = sample.Values[column] > 0;
            number += isRunning && !wasRunning ? 1 : 0;
            wasRunning = isRunning;
            double at = _axis.At(sample.AtMilliseconds);
            if (isRunning)
                spans.Add(number, Math.Max(0, at - 1), at);
        }

        return spans.Bands("checkpoint", []).Take(MostMarks).Select(static band => band with { Text = Words.Of("checkpoint in the server") });
    }

    /// <summary>From when to when things with a number were seen.</summary>
    private sealed class Spans
    {
        private readonly SortedDictionary<int, (double From, double To)> _spans = [];

        public void Add(int number, double from, double to) =>
            _spans[number] = _spans.TryGetValue(number, out (double From, double To) span) ? (Math.Min(span.From, from), Math.Max(span.To, to)) : (Math.Max(0, from), to);

        public IReadOnlyList<Band> Bands(string kind, Dictionary<int, string> labels) =>
            [.. _spans.Select(span => new Band(span.Value.From, span.Value.To, kind, labels.GetValueOrDefault(span.Key, ""))).OrderBy(static band => band.From)];
    }
}
