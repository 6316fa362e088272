using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>Whose the wait before an operation was: the client's own, that of all its connections being busy, or nobody's.</summary>
internal static class ArrivalVerdicts
{
    /// <summary>Microseconds; what a client that has a core to itself keeps (see performance.md).</summary>
    private const double MostLateP50 = 20;

    /// <inheritdoc cref="MostLateP50"/>
    private const double MostLateP99 = 100;

    /// <summary>The share of a figure that may be the client's own before its verdict is that.</summary>
    private const double MostOwn = 0.1;

    /// <summary>As a share of the rate that was set.</summary>
    private const double MostOffPace = 0.05;
    private const long LeastArrivals = 1000;

    /// <summary>Standard deviations of how many come by chance, where arrivals are random.</summary>
    private const double MostDeviations = 4;

    public static IEnumerable<Verdict> Of(StoredRun run)
    {
        foreach (Verdict verdict in Skipped(run).Concat(Pace(run)).Concat(OffPace(run)).Concat(Busy(run)).Concat(Late(run))
            .Concat(Overslept(run)))
            yield return verdict;
    }

    /// <summary>Phases that did more in their measured part than the rate that was set.</summary>
    private static IEnumerable<Verdict> OffPace(StoredRun run)
    {
        foreach (PhaseRecord phase in run.Phases.Where(phase => phase is { Rate: > 0, Groups: [{ Waiting: not null }] }))
        {
            OperationResult[] done = [.. phase.Done];
            double rate = done.Sum(result => result.OperationsPerSecond);
            // Of a rate that changes the highest is stored; of few arrivals chance decides how many there are.
            long arrivals = done.Sum(result => result.Operations);
            if (arrivals < LeastArrivals || rate <= phase.Rate * (1 + Math.Max(MostOffPace, MostDeviations / Math.Sqrt(arrivals))))
                continue;
            yield return new Verdict(Grade.Note, Words.Of($"{PhaseLabels.Of(phase)}: {Units.Rate(rate)} operations/s were measured where "
                + $"{Units.Rate(phase.Rate)} were due: the measured part made up for arrivals that waited in the warm-up"))
            {
                Finding = VerdictFinding.OffPace,
                Operations = [.. done.Concat(phase.Totals).Select(result => PhaseLabels.WithParameters(phase, result.Operation))],
            };
        }
    }

    private static IEnumerable<Verdict> Skipped(StoredRun run)
    {
        Accounting arrivals = run.Arrivals;
        if (!run.Settings.Plan.MaxSkipped.Allows(arrivals))
            yield return new Verdict(Grade.Bad, Words.Of($"{Units.Exact(arrivals.Skipped)} of {Units.Exact(arrivals.Scheduled)} arrivals "
                + $"were skipped: the rate was not kept, so the load measured was not the one requested (--max-skipped allows some)"));
    }

    private static IEnumerable<Verdict> Pace(StoredRun run)
    {
        (PhaseRecord Phase, OperationResult Result)[] paced =
            [.. run.Phases.SelectMany(phase =>
                phase.Operations.Where(result => result.ResponseMicroseconds is not null).Select(result => (phase, result)))];
        double[] rates = [.. paced.Select(one => one.Phase.Rate).OfType<double>().Distinct().Order()];
        if (rates.Length == 0)
            yield break;
        string at = rates.Length == 1 ? Units.Rate(rates[0]) : Words.Of($"{Units.Rate(rates[0])} to {Units.Rate(rates[^1])}");
        string text =
            Words.Of($"paced at {at} operations/s: service time counts from when an operation started, response time from when it was due");
        (PhaseRecord phase, OperationResult widest) = paced.MaxBy(one => GapAt99(one.Result) ?? -1);
        if (GapAt99(widest) is { } gap)
        {
            text += Words.Of($"; at p99 they differ by {Units.Latency(gap)} at most, in {PhaseLabels.Of(phase, widest.Operation)} "
                + $"({Units.Latency(widest.LatencyMicroseconds.P99)} and {Units.Latency(widest.ResponseMicroseconds!.P99)})");
        }

        Accounting arrivals = run.Arrivals;
        if (arrivals.Skipped == 0)
            yield return new Verdict(Grade.Good, Words.Of($"{text}; none of {Units.Exact(arrivals.Scheduled)} arrivals was skipped"));
        else if (run.Settings.Plan.MaxSkipped.Allows(arrivals))
            yield return new Verdict(Grade.Note, Words.Of($"{text}; {Units.Exact(arrivals.Skipped)} of {Units.Exact(arrivals.Scheduled)} "
                + $"arrivals were skipped because there was no time left for them"));
        else
            yield return new Verdict(Grade.Note, text);
    }

    /// <summary>Microseconds between service and response time.</summary>
    private static double? GapAt99(OperationResult result) =>
        result.ResponseMicroseconds?.P99 is { } response && result.LatencyMicroseconds.P99 is { } service
            ? Math.Max(0, response - service)
            : null;

    private static IEnumerable<Verdict> Busy(StoredRun run)
    {
        foreach ((PhaseRecord phase, GroupShare group) in run.Phases.SelectMany(phase => phase.Groups.Select(group => (phase, group))))
        {
            // What is less than a thousandth of the time shows in no percentile that is reported.
            if (group.Waiting is { Arrivals: > 0 } waiting && waiting.Seconds >= 0.001 * group.Seconds)
            {
                string connections = group.Threads switch
                {
                    1 => Words.Of("its connection was"),
                    2 => Words.Of("both connections were"),
                    _ => Words.Of($"all {group.Threads:N0} connections were"),
                };
                yield return new Verdict(
                    Grade.Note,
                    Words.Of($"{NameOf(phase, group)}: {connections} busy for {Units.Duration(waiting.Seconds)}, "
                    + $"so {Words.Counted(waiting.Arrivals, "arrival")} had to wait in the client; response time includes that wait, "
                    + $"service time does not, and more threads would let more reach the server at once"));
            }
        }
    }

    private static IEnumerable<Verdict> Late(StoredRun run)
    {
        (string Name, OperationResult Result)[] late =
        [
            .. run.Phases.SelectMany(phase =>
                phase.Operations.Where(result => result.ClientLatenessMicroseconds is { } l && (l.P50 > MostLateP50 || l.P99 > MostLateP99))
                    .Select(result => (PhaseLabels.WithParameters(phase, result.Operation), result))),
        ];
        if (late.Length == 0)
            yield break;
        (string name, OperationResult result) = late.MaxBy(one => one.Result.ClientLatenessMicroseconds!.P99);
        LatencySummary worst = result.ClientLatenessMicroseconds!;
        string[] limited = [.. late.Where(one => IsLimited(one.Result)).Select(one => one.Name)];
        yield return new Verdict(
            Grade.Note,
            Words.Of($"the client itself started operations late though a connection was free: p50 {Units.Latency(worst.P50)}, "
                + $"p99 {Units.Latency(worst.P99)} in {name}{(late.Length > 1 ? Words.Of($", and in {late.Length - 1} more") : "")}; "
            + $"that part of their response time is due to this client and not to the server, "
            + $"for example because other programs take its cores"))
        {
            Finding = limited.Length > 0 ? VerdictFinding.ClientLimit : null, Operations = limited,
        };
    }

    /// <summary>So much of what is shown is the client's own that it says little of the server.</summary>
    private static bool IsLimited(OperationResult result) =>
        result.ClientLatenessMicroseconds!.P99 > MostOwn * result.ResponseMicroseconds?.P99
        || result.ClientLatenessMicroseconds.P50 > MostOwn * result.ResponseMicroseconds?.P50;

    /// <summary>Threads that think, and were woken so late that the rate is the client's.</summary>
    private static IEnumerable<Verdict> Overslept(StoredRun run)
    {
        foreach ((PhaseRecord phase, GroupShare group) in run.Phases.SelectMany(phase => phase.Groups.Select(group => (phase, group))))
        {
            double share = (group.OversleptSeconds ?? 0) / Math.Max(group.Threads * group.Seconds, 1e-9);
            if (share <= MostOwn)
                continue;
            IEnumerable<OperationResult> own = phase.Operations.Concat(phase.Totals)
                .Where(one => phase.Groups.Count == 1 || one.Operation == group.Name || group.Mix.Contains(one.Operation));
            yield return new Verdict(
                Grade.Note,
                Words.Of($"{NameOf(phase, group)}: the client woke its {group.Threads:N0} threads late from their time to think, "
                    + $"which took {Units.Percent(share)} of their time; the rate is this client's, not the server's: "
                    + $"use fewer threads, or share them among machines (--agents)"))
            {
                Finding = VerdictFinding.ClientLimit,
                Operations = [.. own.Select(result => PhaseLabels.WithParameters(phase, result.Operation))],
            };
        }
    }

    private static string NameOf(PhaseRecord phase, GroupShare group)
    {
        string name = PhaseLabels.Of(phase);
        return group.Name.Length > 0 ? $"{name}, {group.Name}" : name;
    }
}
