using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// What every finding asks before it names a cause: did the client itself stand still, and was the server away? Whether the plan asked for
/// it is a question to <see cref="OperationSeries.LevelAt"/>.
/// </summary>
internal sealed class Interruptions
{
    /// <summary>Shorter waits for samples are those of a busy machine.</summary>
    public const double LeastSeconds = 1.8;

    /// <summary>The share of a window that the client must have stood still for to explain it.</summary>
    private const double LeastShare = 0.5;

    /// <summary>What is found just before or behind an outage belongs to it.</summary>
    private const long BesideMilliseconds = 2000;

    private Interruptions(IReadOnlyList<TimeWindow> clientStops, IReadOnlyList<TimeWindow> outages) =>
        (ClientStops, Outages) = (clientStops, outages);

    /// <summary>
    /// When the client itself stood still: its own samples, due every second, came late, or its clock had jumped, as that of a suspended
    /// machine has.
    /// </summary>
    public IReadOnlyList<TimeWindow> ClientStops { get; }

    /// <summary>When operations found no server, or a server was started again.</summary>
    public IReadOnlyList<TimeWindow> Outages { get; }

    public static Interruptions Of(RunSeries series)
    {
        var stops = new List<TimeWindow>();
        foreach (OperationSeries one in series.Operations)
        {
            for (int i = 0; i < one.Seconds.Count; i++)
            {
                SeriesSecond second = one.Seconds[i];
                if (second.IsStill)
                    stops.Add(second.Window);
                if (i > 0 && new TimeWindow(one.Seconds[i - 1].ToMilliseconds, second.FromMilliseconds) is { Seconds: >= LeastSeconds } gap)
                    stops.Add(gap);
            }
        }

        IEnumerable<TimeWindow> told = series.Run.Events.Where(e => e is { Kind: RunEvent.Outage or "reconnect" or "restart" })
            .Select(e => new TimeWindow(e.StartMilliseconds, e.AtMilliseconds));
        IEnumerable<TimeWindow> noted = series.Operations
            .SelectMany(one => one.Seconds.Where(second => second.IsDown).Select(second => second.Window));
        return new Interruptions(TimeWindow.Joined(stops), TimeWindow.Joined(told.Concat(noted)));
    }

    /// <summary>The client stood still for at least half of the window.</summary>
    public bool ClientStoodStill(TimeWindow window) =>
        ClientStops.Sum(stop => Math.Max(0, Math.Min(stop.To, window.To) - Math.Max(stop.From, window.From)))
            is > 0 and var still && still >= LeastShare * (window.To - window.From);

    /// <summary>No server was there in part of the window, or just before or behind it.</summary>
    public bool ServerWasAway(TimeWindow window)
    {
        TimeWindow around = new(window.From - BesideMilliseconds, window.To + BesideMilliseconds);
        return Outages.Any(outage => outage.Overlaps(around));
    }

    /// <summary>What a finding of the window is that one of them explains: the server's silence, for one, says nothing then.</summary>
    public bool Explain(TimeWindow window) => ClientStoodStill(window) || ServerWasAway(window);
}
