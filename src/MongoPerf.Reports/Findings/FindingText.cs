namespace MongoPerf.Reports.Findings;

/// <summary>A finding's details, as reports list them.</summary>
internal static class FindingText
{
    /// <summary>Name and text of each that is known.</summary>
    public static IEnumerable<(string Name, string Text)> Details(Finding finding)
    {
        if (finding.Range is { } range)
            yield return (Words.Of("range"), Range(range));
        if (finding.Rate is { } rate)
            yield return (Words.Of("rate"), Effect(rate));
        if (finding.P99 is { } p99)
            yield return ("p99", Effect(p99));
        foreach (FindingEvidence evidence in finding.Evidence)
            yield return (Words.Of("evidence"),
                evidence.Chart is null ? evidence.Text : Words.Of($"{evidence.Text} (chart {evidence.Chart})"));
        if (finding.Cause is not null)
            yield return (finding.IsCoincidence ? Words.Of("seen together") : Words.Of("likely cause"), finding.Cause);
        yield return (Words.Of("how to refute it"), finding.Refute);
    }

    /// <summary>What a table has room for: of the operation that shows it.</summary>
    public static string Word(Finding finding) => finding.Id switch
    {
        FindingIds.SizeCliff => Words.Of("drops at a size"),
        FindingIds.SizeDecline => Words.Of("falls with size"),
        FindingIds.LinearGrowth => Words.Of("linear in size"),
        FindingIds.SizeRise => Words.Of("rises with size"),
        FindingIds.Stall => Words.Of("stalled"),
        FindingIds.ClientStopped => Words.Of("client stood still"),
        FindingIds.FirstOperation => Words.Of("cold at first"),
        FindingIds.Outage => Words.Of("lost the server"),
        FindingIds.SlowDrift => Words.Of("drifts"),
        FindingIds.Period => Words.Of("swings"),
        FindingIds.SlowStart or FindingIds.SlowStartGrows or FindingIds.WarmUp => Words.Of("slow start"),
        FindingIds.RateDrop => Words.Of("drops"),
        FindingIds.RateDip => Words.Of("dips"),
        FindingIds.RateRise => Words.Of("rises"),
        FindingIds.Variation => Words.Of("varies"),
        FindingIds.MigrationCost => Words.Of("slow: migrations"),
        FindingIds.Resharded => Words.Of("resharded"),
        FindingIds.RangeDeletionCost => Words.Of("slow: range deletion"),
        FindingIds.AsksAllShards => Words.Of("asks all shards"),
        FindingIds.PlanDiffers => Words.Of("plan differs by shard"),
        FindingIds.FlowControl => Words.Of("throttled"),
        FindingIds.WriteConflicts => Words.Of("write conflicts"),
        FindingIds.IndexBuildCost => Words.Of("slow: index build"),
        FindingIds.RateFollowsCache => Words.Of("follows the cache"),
        FindingIds.PlanExamines => Words.Of("examines too much"),
        FindingIds.ThreadPeak => Words.Of("too many threads"),
        FindingIds.TwoPeaks => Words.Of("two peaks"),
        FindingIds.FewSamples => Words.Of("few operations"),
        FindingIds.TicketQueue => Words.Of("out of tickets"),
        FindingIds.DirtyCache => Words.Of("dirty cache"),
        FindingIds.EvictionByClients => Words.Of("evicts pages"),
        FindingIds.DiskLimit => Words.Of("disk-bound"),
        FindingIds.NetworkLimit => Words.Of("network-bound"),
        FindingIds.ConnectionsRunOut => Words.Of("few connections"),
        FindingIds.InFlight => Words.Of("waits left out"),
        FindingIds.FoundNothing => Words.Of("found nothing"),
        FindingIds.ChangedNothing => Words.Of("changed nothing"),
        FindingIds.ClientLimit => Words.Of("client-limited"),
        FindingIds.OffPace => Words.Of("above its rate"),
        FindingIds.PlanScans => Words.Of("scans"),
        FindingIds.PlanChanged => Words.Of("plan changed"),
        FindingIds.ReplySize => Words.Of("replies change"),
        FindingIds.Retries => Words.Of("many retries"),
        _ => Words.Of("see findings"),
    };

    private static string Range(FindingRange range)
    {
        string seconds = range is { FromSeconds: { } from, ToSeconds: { } to }
            ? Words.Of($"{Units.Significant(from)} to {Units.Significant(to)} s")
            : "";
        string documents = range switch
        {
            { FromDocuments: { } first, ToDocuments: { } last } when first != last =>
                Words.Of($"{Units.Count(first)} to {Units.Count(last)} documents"),
            { FromDocuments: { } only } => Words.Of($"{Units.Count(only)} documents"),
            _ => "",
        };
        return string.Join(", ", new[] { documents, seconds }.Where(part => part.Length > 0));
    }

    private static string Effect(FindingEffect effect)
    {
        string ratio = $"× {Units.Significant(effect.Ratio)}";
        if (effect is { Low: { } low, High: { } high })
            ratio += Words.Of($" (95 %: {Units.Significant(low)} to {Units.Significant(high)})");
        return effect.By is null ? ratio : $"{ratio}, {effect.By}";
    }
}
