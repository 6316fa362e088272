namespace MongoPerf.Reports.Findings;

/// <summary>A disk or a link that had nothing left to give, and connections that ran out.</summary>
internal static class LimitFindings
{
    private const int LeastSeconds = 10;
    private const double BusyDisk = 0.9;
    private const double LeastDiskBytes = 5e6;

    /// <summary>The share at which a link is full of what it is called after: headers, gaps and acknowledgements take the rest.</summary>
    private const double FullLink = 0.9;
    private const double Steady = 0.05;
    private const double FewConnections = 0.05;

    /// <summary>Bytes per second of the links that there are, 100 Mbit/s to 100 Gbit/s.</summary>
    private static readonly double[] Links = [12.5e6, 125e6, 312.5e6, 625e6, 1.25e9, 3.125e9, 5e9, 12.5e9];

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        OperationSeries[] measured = [.. series.Operations.Where(one => one.Seconds.Count >= LeastSeconds)
            .DistinctBy(one => one.Phase.Number)];
        bool isHere = series.Run.Environment is { ServerOnSameMachine: true };
        // What several machines carried together says nothing about one link.
        bool hasLink = series.HostSeconds.DistinctBy(second => second.Machine).Count() <= 1;
        return new[]
        {
            isHere ? Disk(series, measured) : hasLink ? Network(series, measured) : null, Connections(series, measured),
        }.OfType<Finding>();
    }

    private static Finding? Disk(RunSeries series, OperationSeries[] measured)
    {
        OperationSeries? worst =
            measured.Where(one => series.Host.RateOf([one.Window], "disk_busy") / 1000 >= BusyDisk && OwnShare(series, one) >= 0.5)
            .MaxBy(one => series.Host.RateOf([one.Window], "disk_busy"));
        if (worst is null)
            return null;
        double read = series.Host.RateOf([worst.Window], "disk_read") ?? 0;
        double written = series.Host.RateOf([worst.Window], "disk_written") ?? 0;
        string busy = Units.Percent(Math.Min(1, series.Host.RateOf([worst.Window], "disk_busy")!.Value / 1000));
        return Make(
            series, worst, FindingIds.DiskLimit, Words.Of($"the disk was {busy} busy throughout {ServerFindings.Name(worst)}: "
                + $"it read {Units.BytesPerSecond(read)} and wrote {Units.BytesPerSecond(written)}"),
            Words.Of("run with the data on a faster disk: if the rate stays the same, the disk is not the limit"));
    }

    /// <summary>The share of the disk's traffic that the server itself read and wrote.</summary>
    private static double OwnShare(RunSeries series, OperationSeries one)
    {
        double disk = series.Host.RateOf([one.Window], "disk_read", "disk_written") ?? 0;
        return disk < LeastDiskBytes ? 0 : (series.Server.RateOf([one.Window], "block_read", "block_written", "log_written") ?? 0) / disk;
    }

    private static Finding? Network(RunSeries series, OperationSeries[] measured)
    {
        // A slower link may lie behind the client's own, a faster one can't matter.
        double own = series.Run.Environment?.LinkBytesPerSecond ?? double.PositiveInfinity;
        double[] links = [.. Links.Where(link => link < own), .. double.IsFinite(own) ? [own] : Array.Empty<double>()];
        foreach (OperationSeries one in measured)
        {
            foreach (string way in (string[])["network_received", "network_sent"])
            {
                double rate = series.Host.RateOf([one.Window], way) ?? 0;
                double link = links.FirstOrDefault(link => rate >= FullLink * link && rate <= link);
                if (link == 0 || !IsSteady(series, one, way, rate))
                    continue;
                string what = way == "network_received" ? Words.Of("received") : Words.Of("sent");
                return Make(
                    series, one, FindingIds.NetworkLimit,
                    Words.Of($"the client {what} {Units.BytesPerSecond(rate)} throughout {ServerFindings.Name(one)}: as much as a link of "
                        + $"{Units.Significant(link * 8 / 1e9)} Gbit/s carries"),
                    Words.Of("run the client on the server's own machine, or over a faster link: if the rate stays the same, "
                        + "the network is not the limit"));
            }
        }

        return null;
    }

    /// <summary>A full link carries the same every second; a server that happens to send as much does not.</summary>
    private static bool IsSteady(RunSeries series, OperationSeries one, string way, double rate)
    {
        double[] parts = [.. one.Seconds.Chunk(Math.Max(1, one.Seconds.Count / LeastSeconds))
            .Select(part => series.Host.RateOf([new TimeWindow(part[0].FromMilliseconds, part[^1].ToMilliseconds)], way) ?? 0)];
        return parts.All(part => Math.Abs(part - rate) <= Steady * rate);
    }

    private static Finding? Connections(RunSeries series, OperationSeries[] measured)
    {
        OperationSeries? worst = measured.FirstOrDefault(one => series.Server.ShareOf([one.Window], "connections_available",
            "connections_current", (free, used) => free <= FewConnections * (used + free)) > 0);
        return worst is null ? null : Make(
            series, worst, FindingIds.ConnectionsRunOut,
            Words.Of($"fewer than {Units.Percent(FewConnections)} of the server's connections were free in {ServerFindings.Name(worst)}"),
            Words.Of("raise the server's limit (net.maxIncomingConnections, ulimit -n) or close idle clients: if operations fail or wait "
                + "as before, connections are not the limit"));
    }

    private static Finding Make(RunSeries series, OperationSeries one, string id, string text, string refute) => new()
    {
        Id = id,
        Text = text,
        Operations = [one.Label],
        Range = series.Range(one.Window, one.Seconds[0].Documents, one.Seconds[^1].Documents),
        Evidence = [new FindingEvidence("timeline", Words.Of($"{Units.Rate(one.Seconds.Average(second => second.Rate))} {one.RateUnit} "
            + $"over {Units.Duration(one.Window.Seconds)}"))],
        Refute = refute,
        Weight = 0.3,
    };
}
