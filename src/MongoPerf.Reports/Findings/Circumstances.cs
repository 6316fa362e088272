using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>What server and machine did differently while something was found: seen together, no more.</summary>
internal static class Circumstances
{
    /// <summary>How many times as much is different.</summary>
    private const double Times = 2;
    private const double LeastDisk = 5e6;
    private const double BusyDisk = 0.8;
    private const double FullDirty = 0.2;

    /// <summary>
    /// How much of a rate's change, as logarithms, a change of CPU time per operation must be to explain most of it, and no more than its
    /// inverse.
    /// </summary>
    /// <remarks>
    /// The client's work fits into its core's caches and is half the kernel's: it feels less of a slower machine than a server does.
    /// </remarks>
    private const double Explaining = 0.5;

    /// <summary>Each a clause, such as "a checkpoint was running"; the most telling first.</summary>
    /// <param name="series">The run's.</param>
    /// <param name="inside">The windows while it lasted.</param>
    /// <param name="outside">What that is compared with.</param>
    /// <param name="ratio">
    /// The ratio of a rate, inside to outside, where that is what was found: to a gain others belong that used less, not others that used
    /// more.
    /// </param>
    public static IReadOnlyList<string> Of(
        RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside, double? ratio = null) =>
        [.. new[]
        {
            Others(series, inside, outside, ratio > 1), Processors(series, inside, outside, ratio), IndexBuild(series, inside, outside),
            Checkpoint(series, inside, outside), Migration(series, inside, outside), Resharding(series, inside, outside),
            ConfigServer(series, inside),
            RangeDeletion(series, inside, outside),
        }
            .Concat(Reads(series, inside, outside)).Concat(Cache(series, inside, outside)).OfType<string>()];

    /// <summary>
    /// What went on in one second, whether or not it did before and after; reads and other programs only where there was more of them
    /// than otherwise, as far as that is known.
    /// </summary>
    /// <param name="series">The run's.</param>
    /// <param name="window">The second, with what is beside it.</param>
    /// <param name="rest">What these are compared with; empty for nothing.</param>
    public static IEnumerable<string> In(RunSeries series, TimeWindow window, IReadOnlyList<TimeWindow> rest) =>
        new[]
        {
            OthersIn(series, window, rest), IndexBuild(series, [window], []), Checkpoint(series, [window], []),
            Migration(series, [window], []), Resharding(series, [window], []), ConfigServer(series, [window]),
            RangeDeletion(series, [window], []),
        }
            .OfType<string>().Concat(Reads(series, [window], rest)).Concat(Cache(series, [window], rest));

    private static string? OthersIn(RunSeries series, TimeWindow window, IReadOnlyList<TimeWindow> rest)
    {
        HostSecond[] seconds = [.. series.HostSeconds.Where(second => second is { Cores: > 0, OtherCores: not null }
            && second.FromMilliseconds < window.To && second.ToMilliseconds > window.From)];
        if (seconds.Length == 0 || seconds.MaxBy(second => second.OtherCores!.Value) is not { OtherCores: { } cores } most
            || cores < OtherLoad.NotedShare * most.Cores)
            return null;
        double? otherwise = CoresOf(series.HostSeconds.Where(second => second.Machine == most.Machine), rest)?.All;
        if (cores - (otherwise ?? 0) < OtherLoad.NotedShare * most.Cores)
            return null;
        string name = OtherLoad.NameOf(most.StolenCores);
        string used = Units.Significant(Math.Round(cores, 1));
        return otherwise is { } usual
            ? Words.Of($"{name} used {used} of {most.Cores} cores ({Units.Significant(Math.Round(usual, 1))} otherwise)")
            : Words.Of($"{name} used {used} of {most.Cores} cores");
    }

    /// <summary>Looks for others that used the machine; of several clients' machines it names the first on which they did.</summary>
    private static string? Others(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside, bool isGain)
    {
        foreach (IGrouping<(string?, int Cores), HostSecond> machine in series.HostSeconds.Where(second => second.Cores > 0)
            .GroupBy(second => (second.Machine, second.Cores)))
        {
            if (CoresOf(machine, inside) is { } during && CoresOf(machine, outside) is { } otherwise
                && (during.All - otherwise.All) * (isGain ? -1 : 1) >= OtherLoad.NotedShare * machine.Key.Cores)
                return Words.Of($"{OtherLoad.NameOf(Math.Max(during.Stolen, otherwise.Stolen))} used "
                    + $"{Units.Significant(Math.Round(during.All, 1))} of {machine.Key.Cores} cores "
                    + $"({Units.Significant(Math.Round(otherwise.All, 1))} otherwise)");
        }

        return null;
    }

    /// <summary>
    /// Where hardware is shared, or its clock changes, everything on it gets slower or faster together. The client's own work per operation
    /// tells, since it is always the same.
    /// </summary>
    /// <inheritdoc cref="Of"/>
    /// <returns>Null where they do not explain most of the change.</returns>
    public static string? Processors(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside, double? ratio)
    {
        if (ratio is null || series.ClientCpuOf(inside) is not { } during || series.ClientCpuOf(outside) is not { } otherwise)
            return null;
        double change = during / otherwise;
        double explained = -Math.Log(change) / Math.Log(ratio.Value);
        return explained is < Explaining or > 1 / Explaining ? null
            : change > 1 ? Words.Of(
                $"the client's processors were slower (an operation took {Units.Percent(change - 1)} more of their time)")
            : Words.Of($"the client's processors were faster (an operation took {Units.Percent(1 - change)} less of their time)");
    }

    private static (double All, double Stolen)? CoresOf(IEnumerable<HostSecond> machine, IReadOnlyList<TimeWindow> windows)
    {
        double all = 0, stolen = 0;
        int count = 0;
        foreach (HostSecond second in machine)
        {
            if (second.OtherCores is not { } cores || !Contains(second.MiddleMilliseconds))
                continue;
            all += cores;
            stolen += second.StolenCores;
            count++;
        }

        return count == 0 ? null : (all / count, stolen / count);

        bool Contains(long middle)
        {
            for (int i = 0; i < windows.Count; i++)
            {
                if (windows[i].From <= middle && middle <= windows[i].To)
                    return true;
            }

            return false;
        }
    }

    private static string? IndexBuild(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside) =>
        IsMoreOften(series, "index_builds", inside, outside) ? Words.Of("the server was building indexes") : null;

    private static string? Checkpoint(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside) =>
        IsMoreOften(series, "checkpoint_running", inside, outside) ? Words.Of("a checkpoint was running") : null;

    /// <summary>The server said in half of the samples that it did it.</summary>
    private static bool IsMoreOften(RunSeries series, string metric, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        double during = ShareOf(inside);
        return during >= 0.5 && during >= Times * ShareOf(outside);

        double ShareOf(IReadOnlyList<TimeWindow> windows) => series.Server.ShareOf(windows, metric, metric, (running, _) => running > 0);
    }

    private static string? Migration(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        TimeWindow[] moves = [.. series.Run.ReadChunkEvents().Where(e => e.Kind == ChunkEventKind.Migration)
            .Select(e => new TimeWindow(e.AtMilliseconds, e.EndMilliseconds ?? long.MaxValue))];
        return Overlaps(moves, inside, outside) ? Words.Of("chunks were migrating") : null;
    }

    private static string? Resharding(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        foreach (ChunkEvent one in series.Run.ReadChunkEvents().Where(e => e.Kind == ChunkEventKind.Resharding))
        {
            long end = one.EndMilliseconds ?? long.MaxValue;
            if (one is { BlockedSeconds: { } blocked, EndMilliseconds: not null }
                && Overlaps([new TimeWindow(end - (long)(blocked * 1000), end)], inside, outside))
                return Words.Of($"{one.Collection} took no writes for {Units.Duration(blocked)} while it was being resharded");
            if (Overlaps([new TimeWindow(one.AtMilliseconds, end)], inside, outside))
                return Words.Of($"{one.Collection} was being resharded");
        }

        return null;
    }

    /// <summary>
    /// Its absence costs nothing until a router or a shard has to ask it for something, so it need not be rarer outside.
    /// </summary>
    public static string? ConfigServer(RunSeries series, IReadOnlyList<TimeWindow> inside) =>
        series.Run.Events.FirstOrDefault(e => e is { Kind: RunEvent.ConfigServer, Seconds: > 0 }
            && Overlaps([new TimeWindow(e.StartMilliseconds, e.AtMilliseconds)], inside, []))?.Text;

    private static string? RangeDeletion(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside) =>
        Overlaps([.. series.RangeDeletions.Select(one => one.Window)], inside, outside)
            ? Words.Of("shards were deleting documents that had moved away") : null;

    /// <summary>Stretches took half of the time inside, and twice as much of it as outside.</summary>
    private static bool Overlaps(TimeWindow[] stretches, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        if (stretches.Length == 0)
            return false;
        double during = Share(inside);
        return during >= 0.5 && during >= Times * Share(outside);

        double Share(IReadOnlyList<TimeWindow> windows) =>
            windows.Sum(w => stretches.Sum(s => Math.Max(0, Math.Min(w.To, s.To) - Math.Max(w.From, s.From)) / 1000.0))
            / Math.Max(0.001, windows.Sum(w => w.Seconds));
    }

    /// <summary>What had to come from further away.</summary>
    public static IEnumerable<string> Reads(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        if (More(series.Host, "disk_read", inside, outside) is { } disk)
            yield return Words.Of($"the disk read {disk}");
        if (More(series.Server, "cache_read", inside, outside) is { } cache)
            yield return Words.Of($"the cache was filled at {cache}");
        if (series.Host.RateOf(inside, "disk_busy") / 1000 is { } busy && busy >= BusyDisk
            && busy >= 1.25 * (series.Host.RateOf(outside, "disk_busy") / 1000 ?? 0))
            yield return Words.Of($"the disk was {Units.Percent(Math.Min(1, busy))} busy");
    }

    private static string? More(
        MetricSeries of, string metric, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        // Most of a run is outside: it is looked at only where there is something to compare with it.
        if (of.RateOf(inside, metric) is not (>= LeastDisk and var during))
            return null;
        double? rest = of.RateOf(outside, metric);
        return during < Times * rest ? null
            : rest is { } otherwise ? Words.Of($"{Units.BytesPerSecond(during)} ({Units.BytesPerSecond(otherwise)} otherwise)")
            : Units.BytesPerSecond(during);
    }

    private static IEnumerable<string> Cache(RunSeries series, IReadOnlyList<TimeWindow> inside, IReadOnlyList<TimeWindow> outside)
    {
        double during = ShareOfDirty(inside);
        if (during >= 0.5 && during >= Times * ShareOfDirty(outside))
            yield return Words.Of($"more than {Units.Percent(FullDirty)} of the cache was dirty");
        double evicted = series.Server.RateOf(inside, "cache_evicted_by_clients") ?? 0;
        if (evicted < 100)
            yield break;
        double? otherwise = series.Server.RateOf(outside, "cache_evicted_by_clients");
        if (!(evicted < Times * otherwise))
            yield return otherwise is { } rest
                ? Words.Of($"application threads evicted {Units.Rate(evicted)} pages/s ({Units.Rate(rest)} otherwise)")
                : Words.Of($"application threads evicted {Units.Rate(evicted)} pages/s");

        double ShareOfDirty(IReadOnlyList<TimeWindow> windows) =>
            series.Server.ShareOf(windows, "cache_dirty", "cache_max", (dirty, all) => dirty > FullDirty * all);
    }
}
