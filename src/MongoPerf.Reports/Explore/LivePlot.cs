using System.Diagnostics;
using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Explore;

/// <summary>What a live page is told.</summary>
/// <param name="Name">"plot": all of it; "tail": what came since; "status": how the run stands.</param>
/// <param name="Json">The JSON, in one line.</param>
public sealed record LiveMessage(string Name, string Json);

/// <summary>Looks at a run's folder again and again, and tells what is new. One thread.</summary>
/// <remarks>
/// A look costs some milliseconds of CPU, a whole plot of a long run up to a second. What looks took is paid back by rests, so that
/// watching takes a bounded share of one core however long the run.
/// </remarks>
/// <param name="folder">The folder of the run.</param>
public sealed class LivePlot(string folder)
{
    /// <summary>The share of one core that it may use, over all time.</summary>
    private const double Share = 1.0 / 300;

    /// <summary>Seconds of CPU in advance: the first looks are compiled while they are taken.</summary>
    private const double Advance = 1;

    /// <summary>When what has been added since is thinned and sorted again.</summary>
    private const int MostTails = 300;
    private static readonly TimeSpan ShortestRest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(30);

    /// <summary>A new line is worth a whole plot, but not one each second.</summary>
    private static readonly TimeSpan ShortestPlotRest = TimeSpan.FromSeconds(3);

    private readonly HashSet<(string Panel, string Series)> _lines = [];
    private TimeAxis? _axis;
    private RunPosition _position;
    private string _status = "";
    private int _tails;
    private bool _hasNewLines;
    private double _credit = Advance;
    private double _plotTook;
    private long _lookedAt = Stopwatch.GetTimestamp();
    private long _plottedAt = Stopwatch.GetTimestamp();

    /// <summary>How long to wait before the next look.</summary>
    public TimeSpan Rest { get; private set; }

    /// <returns>What is new; nothing when nothing is. A plot begins anew what was told before.</returns>
    /// <exception cref="RunStoreException">The folder can't be read.</exception>
    public IReadOnlyList<LiveMessage> Look()
    {
        _credit = Math.Min(Advance, _credit + (Stopwatch.GetElapsedTime(_lookedAt).TotalSeconds * Share));
        _lookedAt = Stopwatch.GetTimestamp();
        TimeSpan before = ThreadCpuTime.Now;
        IReadOnlyList<LiveMessage> messages = IsPlotDue ? Whole() : Tail();
        double took = (ThreadCpuTime.Now - before).TotalSeconds;
        _credit -= took;
        if (messages is [{ Name: "plot" }, ..])
            (_plotTook, _plottedAt) = (took, Stopwatch.GetTimestamp());
        var rest = TimeSpan.FromSeconds(Math.Max(0, -_credit / Share));
        Rest = rest < ShortestRest ? ShortestRest : rest < LongestRest ? rest : LongestRest;
        return messages;
    }

    private bool IsPlotDue => _axis is null
        || ((_hasNewLines || _tails >= MostTails) && _credit > _plotTook && Stopwatch.GetElapsedTime(_plottedAt) > ShortestPlotRest);

    /// <summary>Instead of a status.</summary>
    public static LiveMessage Problem(string text) => new("status", JsonSerializer.Serialize(new { state = "unreadable", text }));

    private IReadOnlyList<LiveMessage> Whole()
    {
        using StoredRun run = StoredRun.OpenFrom(folder, default);
        if (RunPlot.Live(run, null, out TimeAxis axis) is not { } plot)
            return Status(run) is { } alone ? [alone] : [];
        (_axis, _position, _tails, _status, _hasNewLines) = (axis, run.End, 0, "", false);
        _lines.Clear();
        foreach (Panel panel in plot.Panels)
            _lines.UnionWith(panel.Series.Select(series => (panel.Title, series.Title)));
        _lines.UnionWith(RangesOf(plot));
        return [new LiveMessage("plot", PlotEncoding.Write(plot, run.Run.Id)),
            .. Status(run) is { } status ? [status] : Array.Empty<LiveMessage>()];
    }

    private IReadOnlyList<LiveMessage> Tail()
    {
        using StoredRun run = StoredRun.OpenFrom(folder, _position);
        if (run.End.IsBehind(_position))
            return Whole();
        LiveMessage? status = Status(run);
        if (run.End == _position)
            return status is null ? [] : [status];
        // After a pause the axis begins anew.
        if (_axis!.Until(run.End.AtMilliseconds) is null)
            return Whole();
        if (RunPlot.Live(run, _axis, out TimeAxis axis) is not { } tail)
            return status is null ? [] : [status];
        // Nothing but zeros a whole plot leaves out.
        _hasNewLines |= !_lines.IsSupersetOf(RangesOf(tail))
            || tail.Panels.Any(panel => panel.Series.Any(series => !_lines.Contains((panel.Title, series.Title)) && series.Largest != 0));
        if (IsPlotDue)
            return Whole();
        (_axis, _position) = (axis, run.End);
        _tails++;
        return [new LiveMessage("tail", PlotEncoding.Write(tail, run.Run.Id)), .. status is null ? Array.Empty<LiveMessage>() : [status]];
    }

    /// <summary>Operations come into the table of percentiles when their warm-up is over.</summary>
    private static IEnumerable<(string Panel, string Series)> RangesOf(Plot plot) =>
        (plot.Ranges?.Series ?? []).Select(static range => ("", range.Title));

    /// <returns>Null when it is as it was told last.</returns>
    private LiveMessage? Status(StoredRun run)
    {
        string now = JsonSerializer.Serialize(new
        {
            run = run.Run.Id,
            state = run.StateText,
            plan = run.Settings.Plan.Name,
            on = ChartText.Subtitle(run),
            notMongoDb = NotMongoDb.Mark(run),
            text = run.Run.StoppedBecause ?? (run.Phases is [.., { IsComplete: false } phase]
                ? PhaseLabels.Of(phase) + (phase.Growth is { } growth ? $" at {Units.Count(growth.Documents)}" : "")
                : ""),
        });
        if (now == _status)
            return null;
        _status = now;
        return new LiveMessage("status", now);
    }
}
