using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>Times in which operations found no server: connections that broke, or servers that refused them.</summary>
internal static class OutageFindings
{
    /// <summary>What lies nearer is one outage that several workers report.</summary>
    private const long ApartMilliseconds = 1000;
    private const int LeastSeconds = 5;

    /// <param name="Window">While it lasted.</param>
    /// <param name="Text">What the event says of it.</param>
    /// <param name="IsSeen">Who has seen what became of the server says more than a broken connection.</param>
    private sealed record Outage(TimeWindow Window, string Text, bool IsSeen);

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        List<Outage> outages = [];
        long until = long.MinValue;
        foreach (RunEvent happened in series.Run.Events
            .Where(e => e is { Kind: RunEvent.Outage or "reconnect", Seconds: > 0 } && !IsOnPurpose(series.Run, e))
            .OrderBy(e => e.StartMilliseconds))
        {
            var one = new Outage(
                new TimeWindow(happened.StartMilliseconds, happened.AtMilliseconds), happened.Text, happened.Kind == RunEvent.Outage);
            if (outages.Count > 0 && one.Window.From <= until + ApartMilliseconds)
                outages[^1] = Telling(outages[^1], one);
            else
                outages.Add(one);
            until = Math.Max(until, one.Window.To);
        }

        if (outages.Count > 0)
            yield return Make(series, outages);
    }

    /// <summary>The one of two that tells: its length is that of what it names, and not of another shard's outage beside it.</summary>
    private static Outage Telling(Outage a, Outage b)
    {
        (Outage longer, Outage shorter) = a.Window.Seconds >= b.Window.Seconds ? (a, b) : (b, a);
        return !longer.IsSeen && shorter.IsSeen && shorter.Window.Seconds >= longer.Window.Seconds / 2 ? shorter : longer;
    }

    /// <summary>The run itself had ended the server.</summary>
    private static bool IsOnPurpose(StoredRun run, RunEvent outage)
    {
        RunEvent? last = run.Events.LastOrDefault(e =>
            e.AtMilliseconds <= outage.AtMilliseconds && e.Kind is RunEvent.CleanStop or RunEvent.Kill or RunEvent.FirstAnswer);
        return last is { Kind: not RunEvent.FirstAnswer };
    }

    private static Finding Make(RunSeries series, List<Outage> outages)
    {
        Outage longest = outages.MaxBy(one => one.Window.Seconds)!;
        FindingRange range = series.Range(longest.Window);
        string at = Words.Of($"at {Units.Duration(range.FromSeconds!.Value)}");
        string seconds = Units.Significant(longest.Window.Seconds);
        OperationSeries[] hit =
            [.. series.Operations.Where(one => one.Window.From < longest.Window.To && longest.Window.From < one.Window.To)];
        SeriesSecond[] during = [.. hit.Take(1).SelectMany(one => one.Seconds).Where(second => second.IsDown)];
        SeriesSecond[] usual = [.. hit.Take(1).SelectMany(one => one.Seconds).Where(second => !second.IsDown)];
        double silence = series.Server.LongestSilence(new TimeWindow(longest.Window.From - 1000, longest.Window.To + 1500));
        bool isSilent = silence >= Math.Max(1.8, 0.7 * longest.Window.Seconds);
        return new Finding
        {
            Id = FindingIds.Outage,
            Text = outages.Count == 1
                ? Words.Of($"operations found no server for {seconds} s {at}: {longest.Text}")
                : Words.Of($"operations found no server {outages.Count} times, for up to {seconds} s ({at}: {longest.Text})"),
            Operations = [.. hit.Select(one => one.Label).Distinct()],
            Range = range,
            Rate = during.Length > 0 && usual.Length >= LeastSeconds
                ? new FindingEffect(during.Average(s => s.Rate) / Quantiles.Median([.. usual.Select(s => s.Rate)]), null, null)
                : null,
            Evidence = [.. outages.OrderByDescending(one => one.Window.Seconds).Take(3)
                .Select(one => new FindingEvidence("timeline", $"{Units.Significant(one.Window.Seconds)} s: {one.Text}"))],
            Cause = RestartIn(series, longest.Window) is { } restart ? restart
                : Restarted(series, longest.Window) ? Words.Of("the server's uptime was reset: its process was restarted")
                : isSilent ? Words.Of($"a server did not answer serverStatus for {Units.Significant(silence)} s either") : null,
            IsCoincidence = true,
            Refute = Words.Of("check the servers' logs for that time (elections, restarts, refused connections); if they show nothing, "
                + "check the network between client and server"),
            Weight = 5 + longest.Window.Seconds,
        };
    }

    /// <summary>What the run says of a server of its own that it started again.</summary>
    private static string? RestartIn(RunSeries series, TimeWindow window) =>
        series.Run.Events
            .FirstOrDefault(e => e.Kind == "restart" && e.AtMilliseconds >= window.From && e.AtMilliseconds <= window.To + 5000)?.Text;

    private static bool Restarted(RunSeries series, TimeWindow window) =>
        series.Server.HasFallen(new TimeWindow(window.From - 2000, window.To + 5000), "uptime");
}
