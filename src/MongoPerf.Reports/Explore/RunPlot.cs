using System.Globalization;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Explore;

/// <summary>
/// What of a run can be explored: its operations second by second, and the state of servers, host and shards beside them.
/// </summary>
internal sealed class RunPlot
{
    private const int MostMarks = 2000;

    /// <summary>Samples come in a second or two late, and one after the other.</summary>
    private const double SecondsAgain = 5;

    /// <summary>
    /// The most bytes of packed histograms, which are 4/3 as long in the page. With the columns they come to about 400 KB for a run of an
    /// hour, and 3 MB for one of a day.
    /// </summary>
    private const int RangeBytes = 150_000;
    private const int MoreRangeBytesPerHour = 85_000;
    private const int MostRangeBytes = 2_100_000;

    private readonly StoredRun _run;
    private readonly bool _isLive;
    private readonly OperationSeconds _seconds;
    private readonly TimeAxis? _axisBefore;
    private readonly TimeAxis _axis;
    private readonly List<string> _remarks = [];

    private RunPlot(StoredRun run, TimeAxis? before, bool isLive)
    {
        _run = run;
        _isLive = isLive;
        _axisBefore = before;
        _seconds = isLive ? OperationSeconds.Live(run) : OperationSeconds.Of(run);
        _axis = before?.Until(_seconds.Axis.EndMilliseconds) ?? _seconds.Axis;
    }

    /// <summary>Null for a run that has measured nothing.</summary>
    public static Plot? Of(StoredRun run) => Of(run, read: null);

    /// <summary>Makes the plot while somebody else reads the run's samples too.</summary>
    /// <param name="run">Finished or not.</param>
    /// <param name="read">
    /// Called once, whatever there is to draw: hands on all samples, joined as <see cref="SampleThinning.PerRow"/> says. Null where nobody
    /// does.
    /// </param>
    /// <inheritdoc cref="Of(StoredRun)"/>
    public static Plot? Of(StoredRun run, Action<Action<MergedSample>>? read)
    {
        var reader = new RunPlot(run, null, isLive: false);
        if (reader.HasContent)
            return reader.Build(read);
        read?.Invoke(static _ => { });
        return null;
    }

    /// <summary>Makes the plot of a run that goes on. What came since has the same lines, but fewer seconds.</summary>
    /// <param name="run">Opened where the samples of the last plot ended.</param>
    /// <param name="before">Axis of the last plot; null for a whole plot.</param>
    /// <param name="axis">The axis of this plot.</param>
    /// <returns>Null when nothing was measured.</returns>
    public static Plot? Live(StoredRun run, TimeAxis? before, out TimeAxis axis)
    {
        var reader = new RunPlot(run, before, isLive: true);
        axis = reader._axis;
        return reader.HasContent ? reader.Build(read: null) : null;
    }

    private void Read(Action<MergedSample> add)
    {
        foreach (MergedSample sample in Samples())
            add(sample);
    }

    /// <summary>How many seconds come in one, so a block is no shorter.</summary>
    private int PerRow => _isLive ? 1 : SampleThinning.PerRow(_run);

    private IEnumerable<MergedSample> Samples() => SampleThinning.Merge(_run, PerRow);

    private bool HasContent => !_axis.IsEmpty && _seconds.Lines.Count > 0;

    private bool IsTail => _axisBefore is not null;

    /// <summary>Seconds on the axis: what happened before is in the plot that this one continues.</summary>
    private double Since => _axisBefore is { } before ? Math.Max(0, before.Seconds - SecondsAgain) : 0;

    private Plot Build(Action<Action<MergedSample>>? read)
    {
        int operationCount = _seconds.Lines.Count(static line => !line.IsTotal);
        if (operationCount > RunPanels.MostOperations)
            _remarks.Add(
                Words.Of($"The first {RunPanels.MostOperations} of {operationCount} operations are drawn; the tables have all of them."));
        double moreHours = Math.Max(0, (_axis.Seconds / 3600) - 1);
        var ranges = new RangeHistograms(_seconds, _axis,
            IsTail ? int.MaxValue : (int)Math.Min(MostRangeBytes, RangeBytes + (MoreRangeBytesPerHour * moreHours)));
        // First: the panels are made beside it, for the charts.
        (read ?? Read)(ranges.Add);
        RunPanels panels = _isLive ? RunPanels.Live(_run, _seconds, _axis, IsTail ? Since : null) : RunPanels.Of(_run);
        if (panels.PieceSeconds > 0)
            _remarks.Add(Words.Of($"The run is long: of each {panels.PieceSeconds.ToString("0.#", CultureInfo.InvariantCulture)} s the "
                + $"lines show the least and the greatest value, so no spike is lost. samples.csv and run.db have more."));
        if (_seconds.SecondsEach > 1)
            _remarks.Add(Words.Of($"The run has very many samples: rates are means of {_seconds.SecondsEach} s each, "
                + $"p50 is the median of their seconds, and p99 the highest."));
        var phases = new Spans();
        var warmUps = new Spans();
        foreach (OperationSecond second in _seconds.All)
        {
            double at = _axis.At(second.AtMilliseconds);
            phases.Add(second.Phase, at - second.Seconds, at);
            if (second.IsWarmup)
                warmUps.Add(second.Phase, at - second.Seconds, at);
        }

        ChartTable? documents = HasDocumentAxis ? Documents() : null;
        if (_axis.Pauses.Any())
            _remarks.Add(Words.Of("Pauses between the sessions of this run are cut out of the axis."));
        return new Plot(_axis.Seconds, panels.All)
        {
            Since = Since,
            Marks = Marks(),
            Bands =
            [
                .. warmUps.Bands("warm-up", Labels()),
                .. Happenings.Checkpoints(_run, _axis).Concat(Happenings.Bands(_run, _axis)).Where(band => band.To >= Since),
            ],
            Phases = phases.Bands("phase", Labels()),
            Documents = documents,
            Ranges = ranges.End(Samples) is { } packed ? packed with { BlockSeconds = Math.Max(packed.BlockSeconds, PerRow) } : null,
            NotMongoDb = NotMongoDb.Mark(_run),
            Remarks = _remarks,
        };
    }

    private ChartTable Documents()
    {
        var builder = new PanelBuilder(1, _axis.Seconds, double.PositiveInfinity);
        double reached = 0;
        foreach (OperationSecond second in _seconds.All)
            builder.Add(_axis.At(second.AtMilliseconds), 0, reached = Math.Max(reached, second.Documents));
        return builder.Build("documents.csv", ["documents"]);
    }

    /// <summary>Something grew: by a growth, or by the one phase that fills the one collection there is.</summary>
    private bool HasDocumentAxis => _run.GrowthSteps.Count > 0 || _run.Phases.Count(static phase => phase.Kind == PhaseKind.Load) == 1;

    private Dictionary<int, string> Labels() => _run.Phases.ToDictionary(static phase => phase.Number, static phase => phase.Label());

    private IReadOnlyList<Mark> Marks()
    {
        Mark[] all =
        [
            .. Happenings.Marks(_run, _axis)
                .Concat(_run.Checkpoints.Where(static one => one.Documents > 0).Select(one =>
                    new Mark(
                        _axis.At(one.AtMilliseconds), Words.Of("step"), Words.Of($"{Units.Exact(one.Documents)} documents, safe on disk"))))
                .Where(mark => mark.At >= Since).OrderBy(static mark => mark.At),
        ];
        if (all.Length > MostMarks)
            _remarks.Add(Words.Of($"The first {Units.Exact(MostMarks)} of {Units.Exact(all.Length)} events are marked."));
        return [.. all.Take(MostMarks)];
    }

    /// <summary>Collects from when to when things with a number were seen.</summary>
    private sealed class Spans
    {
        private readonly SortedDictionary<int, (double From, double To)> _spans = [];

        public void Add(int number, double from, double to) =>
            _spans[number] = _spans.TryGetValue(number, out (double From, double To) span)
                ? (Math.Min(span.From, from), Math.Max(span.To, to))
                : (Math.Max(0, from), to);

        public IReadOnlyList<Band> Bands(string kind, Dictionary<int, string> labels) =>
            [.. _spans.Select(span => new Band(span.Value.From, span.Value.To, kind, labels.GetValueOrDefault(span.Key, "")))
                .OrderBy(static band => band.From)];
    }
}
