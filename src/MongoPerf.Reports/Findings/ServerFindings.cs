namespace MongoPerf.Reports.Findings;

/// <summary>
/// Queueing within the server: no tickets left, a cache too dirty, eviction left to application threads, writes of the same documents.
/// </summary>
internal static class ServerFindings
{
    /// <summary>The least share of a phase's seconds.</summary>
    private const double LeastShare = 0.1;
    private const int LeastSeconds = 10;

    /// <summary>eviction_dirty_trigger's default: from here on application threads have to evict before they may continue.</summary>
    private const double DirtyTrigger = 0.2;
    private const double EvictedPerSecond = 1000;

    /// <summary>Conflicts for each write: fewer show in no figure. As of transactions that are run again.</summary>
    private const double ConflictsPerWrite = 0.05;
    private const double LeastConflicts = 100;

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        if (series.Server.IsEmpty)
            yield break;
        OperationSeries[] measured = [.. series.Operations.Where(one => one.Seconds.Count >= LeastSeconds)
            .DistinctBy(one => one.Phase.Number)];
        if (Worst(measured,
            one => Share(one, "tickets_read_available", "tickets_write_available", (read, write) => read < 1 || write < 1)) is { } tickets)
        {
            yield return Make(
                series, tickets, FindingIds.TicketQueue, Words.Of($"the server had no ticket left in {Units.Percent(tickets.Value)} of "
                    + $"{Name(tickets.Series)}: operations queued inside it"),
                Words.Of("run with fewer threads: if the rate stays the same and the latency falls, operations waited for tickets"));
        }

        // The level is WiredTiger's; the embedded server's memtables are meant to take a quarter of its cache.
        if (series.Run.Deployment is not { IsEmbedded: true }
            && Worst(measured, one => Share(one, "cache_dirty", "cache_max", (dirty, all) => dirty >= DirtyTrigger * all)) is { } dirty)
        {
            yield return Make(
                series, dirty, FindingIds.DirtyCache,
                Words.Of($"a fifth of the cache or more was dirty in {Units.Percent(dirty.Value)} of {Name(dirty.Series)}: "
                    + $"from that level on, writes wait until pages are written out"),
                Words.Of(
                    "run with a larger cache, or on a faster disk: if the rate stays the same, dirty pages are not what holds it back"));
        }

        if (Worst(measured, one => series.Server.RateOf([one.Window], "cache_evicted_by_clients") ?? 0, EvictedPerSecond) is { } evicted)
        {
            yield return Make(
                series, evicted, FindingIds.EvictionByClients, Words.Of($"application threads evicted {Units.Rate(evicted.Value)} pages/s "
                    + $"in {Name(evicted.Series)}: operations had to evict pages before doing their own work"),
                Words.Of("run with a larger cache: if the rate stays the same, eviction is not what holds it back"));
        }

        // Of several shards' primaries that which throttled most: their times overlap.
        if (Worst(measured, one => Math.Min(1, (series.Server.FastestOf([one.Window], "flow_control_lagged") ?? 0) / 1e6)) is { } lagged)
        {
            yield return Make(
                series, lagged, FindingIds.FlowControl, Words.Of($"writes were throttled by flow control for "
                    + $"{Units.Percent(lagged.Value)} of the time of {Name(lagged.Series)}: the majority commit point was too far behind"),
                Words.Of("run with a lower --rate or fewer threads: if flow control throttles as much, the secondaries are not slowed "
                    + "down by these writes"));
        }

        // Those of transactions come back to the client, and are told with them.
        if (Worst([.. measured.Where(one => one.Phase.Operations.All(result => result.Transactions is null))], PerWrite, ConflictsPerWrite)
            is { } conflicts)
        {
            double perSecond = series.Server.RateOf([conflicts.Series.Window], "write_conflicts") ?? 0;
            yield return Make(
                series, conflicts, FindingIds.WriteConflicts, Words.Of($"the server met {Units.Rate(perSecond)} write conflicts/s in "
                    + $"{Name(conflicts.Series)}, {Units.Significant(conflicts.Value)} for each write: operations changed the same "
                    + $"documents at the same time, and it tried them again"),
                Words.Of("run with fewer threads, or with keys spread more widely: if the latency stays the same, conflicts are not its "
                    + "cause"));
        }

        double PerWrite(OperationSeries one) =>
            series.Server.RateOf([one.Window], "latency_writes_operations") is > 0 and var writes
                && series.Server.RateOf([one.Window], "write_conflicts") is { } met && met * one.Window.Seconds >= LeastConflicts
                ? met / writes : 0;

        double Share(OperationSeries one, string first, string second, Func<double, double, bool> holds) =>
            series.Server.ShareOf([one.Window], first, second, holds);
    }

    private static (OperationSeries Series, double Value)? Worst(
        OperationSeries[] measured, Func<OperationSeries, double> valueOf, double least = LeastShare)
    {
        (OperationSeries Series, double Value)[] all = [.. measured.Select(one => (one, valueOf(one))).Where(one => one.Item2 >= least)];
        return all.Length == 0 ? null : all.MaxBy(one => one.Value);
    }

    /// <summary>"q4 at 200k documents".</summary>
    public static string Name(OperationSeries series) =>
        PhaseLabels.Of(series.Phase) + (series.Phase.Growth is { } at ? Words.Of($" at {Units.Count(at.Documents)} documents") : "");

    private static Finding Make(
        RunSeries series, (OperationSeries Series, double Value) worst, string id, string text, string refute) => new()
        {
            Id = id,
            Text = text,
            Operations = [worst.Series.Label],
            Range = series.Range(worst.Series.Window, worst.Series.Seconds[0].Documents, worst.Series.Seconds[^1].Documents),
            Evidence = [new FindingEvidence("timeline", text)],
            Refute = refute,
            Weight = 0.05,
        };
}
