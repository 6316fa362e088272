using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What held a side back, in a few words: without it nobody knows what a ratio says.</summary>
internal static class SideLimits
{
    /// <summary>Of a machine: from here on its CPUs are what limits.</summary>
    private const double BusyShare = 0.95;

    /// <summary>Commands that make up less are left out.</summary>
    private const double LeastShare = 0.1;

    private const double NearlyAll = 0.95;
    private const int MostFindings = 2;

    /// <summary>Findings that name a limit.</summary>
    private static readonly string[] Limits =
    [
        FindingIds.DiskLimit, FindingIds.NetworkLimit, FindingIds.ConnectionsRunOut, FindingIds.TicketQueue, FindingIds.DirtyCache,
        FindingIds.EvictionByClients, FindingIds.FlowControl, FindingIds.WriteConflicts, FindingIds.RateFollowsCache, FindingIds.HotShard,
        FindingIds.InsertsToOneShard,
    ];

    /// <summary>
    /// "99.9 % of 2 CPUs busy; every find asked one shard"; where nothing was at its limit, how busy the CPUs were. Empty where the machine
    /// was not looked at.
    /// </summary>
    /// <param name="side">Of repeats the first.</param>
    public static string Of(ComparedSide side)
    {
        StoredRun run = side.First;
        string[] limits = [.. Cpus(side, run), .. Found(run)];
        string[] all = [.. limits.Length > 0 ? limits : Idle(run), .. Asked(run)];
        return string.Join("; ", all);
    }

    private static IEnumerable<string> Cpus(ComparedSide side, StoredRun run)
    {
        if (side.Other is { IsTooMuch: true } other)
            yield return other.Sentence;
        else if (Busiest(run) is { Busy: >= BusyShare } use)
            yield return Words.Of($"{Units.Percent(use.Busy)} of {Words.Counted(use.Cores, "CPU")} busy");
        else if (ClientLimit.Of(run) is { IsLimit: true })
            yield return Words.Of("the client was at its limit");
    }

    private static IEnumerable<string> Idle(StoredRun run) => Busiest(run) is { } use
        ? [Words.Of($"nothing found; at most {Units.Percent(use.Busy)} of {Words.Counted(use.Cores, "CPU")} busy")] : [];

    private static MachineUse? Busiest(StoredRun run) =>
        MachineUse.Of(run) is { Count: > 0 } use ? use.Values.MaxBy(one => one.Busy) : null;

    private static IEnumerable<string> Found(StoredRun run) =>
        RunFindings.Of(run).Where(finding => Limits.Contains(finding.Id)).DistinctBy(finding => finding.Id).Take(MostFindings)
            .Select(finding => finding.Operations is [var operation, ..]
                ? Words.Of($"{FindingText.Word(finding)} ({operation})") : FindingText.Word(finding));

    /// <summary>By the router's own counters, which a mongod that routes has not.</summary>
    private static IEnumerable<string> Asked(StoredRun run)
    {
        if (run.Deployment?.ShardCount is not > 1)
            yield break;
        IReadOnlyList<ShardsAsked> commands = ShardsAsked.Of(run);
        double total = commands.Sum(command => command.Operations);
        string[] one = [.. Where("one")], all = [.. Where("all")];
        if (one.Length > 0)
            yield return Words.Of($"{string.Join(", ", one)} asked one shard");
        if (all.Length > 0)
            yield return Words.Of($"{string.Join(", ", all)} asked all shards");

        IEnumerable<string> Where(string shards) => commands.Where(command => command.Operations >= LeastShare * total
            && command.Counts[ColumnOf(shards)] >= NearlyAll * command.Operations).Select(command => command.Command);
    }

    private static int ColumnOf(string shards) => MetricCatalogue.ShardsAsked.Index().First(one => one.Item.Name == shards).Index;
}
