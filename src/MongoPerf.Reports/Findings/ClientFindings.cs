using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>What the client did to its own figures: it stood still, or had not warmed up when it began.</summary>
internal static class ClientFindings
{
    /// <summary>Shorter stops are left to the slowest seconds.</summary>
    private const double LeastStopSeconds = 3;
    private const double LeastFirstMicroseconds = 100_000;

    /// <summary>How many times the median the first operation took.</summary>
    private const double FirstTimes = 10;

    /// <summary>Its share of the threads' time.</summary>
    private const double LeastShare = 0.05;

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        foreach (IGrouping<int, OperationSeries> phase in series.Operations.GroupBy(one => one.Phase.Number))
        {
            OperationSeries[] operations = [.. phase];
            if (Stopped(series, operations) is { } stopped)
                yield return stopped;
            else if (operations.Select(one => First(series, one)).OfType<Finding>().MaxBy(finding => finding.Weight) is { } first)
                yield return first;
        }
    }

    private static Finding? Stopped(RunSeries series, OperationSeries[] operations)
    {
        OperationSeries lead = operations[0];
        TimeWindow[] stops = [.. series.Interruptions.ClientStops
            .Where(stop => stop.Seconds >= LeastStopSeconds && operations.Any(one => one.Window.Overlaps(stop)))];
        if (stops.Length == 0)
            return null;
        TimeWindow longest = stops.MaxBy(stop => stop.Seconds);
        FindingRange range = series.Range(longest, lead.Seconds[0].Documents, lead.Seconds[^1].Documents);
        string seconds = Units.Significant(Math.Round(longest.Seconds, 1));
        string at = Words.Of($"at {Units.Duration(range.FromSeconds!.Value)}");
        string names = Words.And([.. operations.Select(one => one.Label).Distinct().Take(3)]);
        SeriesSecond[] sound = [.. lead.Seconds.Where(second => !series.Interruptions.ClientStoodStill(second.Window))];
        string instead = sound.Length == 0 ? "" : Words.Of($"; its other seconds have a median of "
            + $"{Units.Rate(Quantiles.Median([.. sound.Select(second => second.Rate)]))} {lead.RateUnit}");
        return new Finding
        {
            Id = FindingIds.ClientStopped,
            Text = stops.Length == 1
                ? Words.Of($"the client itself stood still for {seconds} s {at}: the figures of {names} include that")
                : Words.Of($"the client itself stood still {stops.Length} times, for up to {seconds} s ({at}): "
                    + $"the figures of {names} include that"),
            Operations = [.. operations.Select(one => one.Label).Distinct()],
            Range = range,
            Evidence = [new FindingEvidence(
                "timeline", Words.Of($"its own samples, which are due every second, came {seconds} s apart{instead}"))],
            Cause = Words.Of("the client's process was stopped, its machine suspended, or its processors taken by others"),
            Refute = Words.Of(
                "run again on a machine that is neither suspended nor overloaded: if it stands still there, the client is at fault"),
            Weight = 20 + Math.Min(10, longest.Seconds),
        };
    }

    /// <summary>An operation in the first second of a phase without a warm-up that took a good part of all time.</summary>
    private static Finding? First(RunSeries series, OperationSeries one)
    {
        int place = one.Seconds.ToList().FindIndex(second => second.Operations > 0);
        if (place < 0 || one.Result is { WarmupSeconds: > 0 } or { Changes: not null } or { IsInsert: true } || one.Phase.Rate is not null)
            return null;
        SeriesSecond first = one.Seconds[place];
        double usual = one.Result.ReportedMicroseconds.P50 ?? 0;
        double took = first.Max / 1e6;
        double share = took / Math.Max(1e-9, one.Result.Seconds * one.Result.Threads);
        if (!(first.Max >= LeastFirstMicroseconds) || first.Max < FirstTimes * usual || share < LeastShare
            || first.Max < 0.99 * (one.Result.ReportedMicroseconds.Max ?? 0))
            return null;
        double without = (one.Result.Operations - 1) / Math.Max(1e-3, one.Result.Seconds - (took / one.Result.Threads));
        return new Finding
        {
            Id = FindingIds.FirstOperation,
            Text = Words.Of($"{one.Label}'s slowest operation, {Units.Latency(first.Max)}, came in its first second: the median is "
                + $"{Units.Latency(usual)}, and its rate of {Units.Rate(one.Result.OperationsPerSecond)}/s would be "
                + $"{Units.Rate(without)}/s without it"),
            Operations = [one.Label],
            Range = series.Range(first.Window, first.Documents, first.Documents),
            Evidence = [new FindingEvidence("timeline", Words.Of($"it took {Units.Percent(share)} of the threads' time"))],
            Cause = series.Interruptions.ServerWasAway(first.Window) ? null
                : Words.Of("the phase has no warm-up, and what comes first finds caches, plans and connections cold"),
            IsCoincidence = true,
            Refute = Words.Of("run with a warm-up: if an operation takes as long, being the first is not the cause"),
            Weight = share,
        };
    }
}
