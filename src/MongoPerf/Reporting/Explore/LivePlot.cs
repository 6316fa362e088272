using System.Diagnostics;
using System.Text.Json;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Explore;

/// <summary>What a live page is told.</summary>
/// <param name="Name">"plot": all of it; "tail": what came since; "status": how the run stands.</param>
/// <param name="Json">In one line.</param>
internal sealed record LiveMessage(string Name, string Json);

/// <summary>Looks at a run's folder again and again, and tells what is new. One thread.</summary>
/// <remarks>
/// A look costs some milliseconds, a whole plot of a long run up to a second. Each is followed by a rest that is a multiple of what it took, so that
/// watching takes a bounded share of one core however long the run.
/// </remarks>
/// <param name="folder">Of the run.</param>
internal sealed class LivePlot(string folder)
{
    /// <summary>A hundred and fiftieth of a core for what is new, and as little as a five-hundredth for whole plots.</summary>
    private const int RestPerLook = 150;
    private const int RestPerPlot = 500;

    /// <summary>When what has been added since is thinned and sorted again.</summary>
    private const int MostTails = 300;
    private static readonly TimeSpan ShortestRest = TimeSpan.FromSeconds(1);

    /// <summary>A new line is worth a whole plot, but not one each second.</summary>
    private static readonly TimeSpan ShortestPlotRest = TimeSpan.FromSeconds(3);

    private readonly HashSet<(string Panel, string Series)> _lines = [];
    private TimeAxis? _axis;
    private RunPosition _position;
    private string _status = "";
    private int _tails;
    private long _plottedAt = long.MinValue;
    private TimeSpan _plotTook;

    /// <summary>How long to wait before the next look.</summary>
    public TimeSpan Rest { get; private set; }

    /// <returns>What is new; nothing when nothing is. A plot begins anew what was told before.</returns>
    /// <exception cref="RunStoreException">The folder can't be read.</exception>
    public IReadOnlyList<LiveMessage> Look()
    {
        long begun = Stopwatch.GetTimestamp();
        bool wholePlot = _axis is null || (_tails >= MostTails && HasRested(_plotTook * RestPerPlot));
        IReadOnlyList<LiveMessage> messages = wholePlot ? Whole() : Tail();
        TimeSpan took = Stopwatch.GetElapsedTime(begun);
        if (messages is [{ Name: "plot" }, ..])
            (_plotTook, _plottedAt) = (took, Stopwatch.GetTimestamp());
        Rest = took * RestPerLook > ShortestRest && messages is not [{ Name: "plot" }, ..] ? took * RestPerLook : ShortestRest;
        return messages;
    }

    /// <summary>Instead of a status.</summary>
    public static LiveMessage Problem(string text) => new("status", JsonSerializer.Serialize(new { state = "unreadable", text }));

    private bool HasRested(TimeSpan rest) => _plottedAt == long.MinValue || Stopwatch.GetElapsedTime(_plottedAt) >= rest;

    private IReadOnlyList<LiveMessage> Whole()
    {
        using StoredRun run = StoredRun.OpenFrom(folder, default);
        if (RunPlot.Of(run, null, out TimeAxis axis) is not { } plot)
            return Status(run) is { } alone ? [alone] : [];
        (_axis, _position, _tails, _status) = (axis, run.End, 0, "");
        _lines.Clear();
        foreach (PlotPanel panel in plot.Panels)
            _lines.UnionWith(panel.Series.Select(series => (panel.Title, series.Title)));
        return [new LiveMessage("plot", PlotEncoding.Write(plot, run.Run.Id)), .. Status(run) is { } status ? [status] : Array.Empty<LiveMessage>()];
    }

    private IReadOnlyList<LiveMessage> Tail()
    {
        using StoredRun run = StoredRun.OpenFrom(folder, _position);
        if (run.End.IsBehind(_position))
            return Whole();
        LiveMessage? status = Status(run);
        if (run.End == _position || RunPlot.Of(run, _axis, out TimeAxis axis) is not { } tail)
            return status is null ? [] : [status];
        bool isNew = tail.Since == 0 || tail.Panels.Any(panel => panel.Series.Index().Any(series => !_lines.Contains((panel.Title, series.Item.Title)) && HasValues(panel, series.Index)));
        if (isNew && HasRested(Max(ShortestPlotRest, _plotTook * RestPerLook)))
            return Whole();
        (_axis, _position) = (axis, run.End);
        _tails++;
        return [new LiveMessage("tail", PlotEncoding.Write(tail, run.Run.Id)), .. status is null ? Array.Empty<LiveMessage>() : [status]];
    }

    private static TimeSpan Max(TimeSpan one, TimeSpan other) => one > other ? one : other;

    /// <summary>Nothing but zeros a whole plot leaves out.</summary>
    private static bool HasValues(PlotPanel panel, int series) => panel.Columns.Values[series].Any(static value => double.IsFinite(value) && value != 0);

    /// <returns>Null when it is as it was told last.</returns>
    private LiveMessage? Status(StoredRun run)
    {
        string now = JsonSerializer.Serialize(new
        {
            run = run.Run.Id,
            state = run.StateText,
            plan = run.Settings.Plan.Name,
            on = ChartText.Subtitle(run),
            text = run.Run.StoppedBecause ?? (run.Phases is [.., { IsComplete: false } phase] ? PhaseLabels.Of(phase) + (phase.Growth is { } growth ? $" at {Units.Count(growth.Documents)}" : "") : ""),
        });
        if (now == _status)
            return null;
        _status = now;
        return new LiveMessage("status", now);
    }
}
