using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Findings;

namespace MongoPerf.Reporting;

/// <summary>What a reader of the operations' figures must know: that nothing was measured, replies were short, the query plan changed or scans, a rate was not kept.</summary>
internal static class OperationVerdicts
{
    /// <summary>A scan that examines no more than so many documents for each that it returns is what a query without a condition asks for.</summary>
    private const double ScannedPerReturned = 2;

    /// <summary>A result of a phase, and what its operation is called.</summary>
    private sealed record Measured(PhaseRecord Phase, OperationResult Result)
    {
        public string Label => PhaseLabels.Of(Phase, Result.Operation);
    }

    public static IReadOnlyList<Verdict> Of(StoredRun run)
    {
        Measured[] measured = [.. run.Phases.SelectMany(phase => phase.Operations.Select(result => new Measured(phase, result)))];
        return [.. Unmeasured(measured), .. ShortReplies(measured), .. CollectionScans(measured), .. ChangedPlans(run).Distinct(), .. Rate(measured)];
    }

    private static IEnumerable<Verdict> Unmeasured(Measured[] measured)
    {
        // Unacknowledged inserts of which nothing arrived were measured all the same.
        IEnumerable<Measured> empty = measured.Where(m => m.Result is { Operations: 0, Failed: 0 } and not { Unacknowledged.Sent: > 0 });
        foreach (IGrouping<bool, Measured> group in empty.GroupBy(m => m.Result.WarmupSeconds > 0 && m.Result.Seconds <= 0))
        {
            string[] names = [.. group.Select(m => m.Label).Distinct()];
            string why = group.Key ? $"{(names.Length == 1 ? "it" : "they")} ended during the warm-up" : "no operation started after the warm-up";
            yield return new Verdict(Grade.Note, $"nothing was measured in {string.Join(", ", names)}: {why}");
        }
    }

    /// <summary>Where most replies are full, the others make the figures better than they are. Where most are not, the limit is no more than a precaution.</summary>
    private static IEnumerable<Verdict> ShortReplies(Measured[] measured)
    {
        foreach (IGrouping<string, Measured> group in measured.GroupBy(m => m.Label))
        {
            long few = group.Sum(m => m.Result.ShortReplies);
            long all = group.Sum(m => m.Result.Operations);
            if (few > 0 && few < all - few)
                yield return new Verdict(Grade.Note, $"{group.Key}: {Units.Exact(few)} of {Units.Exact(all)} replies held fewer documents than their limit");
        }
    }

    /// <summary>Those that examine far more than they return.</summary>
    private static IEnumerable<Verdict> CollectionScans(Measured[] measured)
    {
        foreach (IGrouping<string, Measured> group in measured.Where(m => m.Result.Plan is not null).GroupBy(m => m.Label))
        {
            Measured[] scans = [.. group.Where(m => IsWasteful(m.Result.Plan!))];
            if (scans.Length == 0)
                continue;
            PlanSummary worst = scans.MaxBy(m => Examined(m.Result.Plan!))!.Result.Plan!;
            yield return new Verdict(
                Grade.Note,
                $"{group.Key} scanned the collection{AtSizes(scans, [.. group])}: it examined up to {Units.Rate(Examined(worst))} documents per operation to return {Units.Counted(worst.Returned, "document")}; "
                + "an index on its filter would help") { Finding = VerdictFinding.PlanScans };
        }
    }

    private static bool IsWasteful(PlanSummary plan) =>
        plan.Index is null && plan.Stages.Contains("COLLSCAN", StringComparison.Ordinal) && Examined(plan) > ScannedPerReturned * Math.Max(1, plan.Returned);

    private static double Examined(PlanSummary plan) => plan.DocumentsExaminedPerOperation ?? plan.DocumentsExamined;

    private static string AtSizes(Measured[] some, Measured[] all)
    {
        int phases = all.Select(m => m.Phase.Number).Distinct().Count();
        string what = all.All(m => m.Phase.Growth is not null) ? "sizes" : "phases";
        return phases == 1 ? "" : $" {(what == "sizes" ? "at" : "in")} {some.Select(m => m.Phase.Number).Distinct().Count()} of {phases} {what}";
    }

    /// <summary>Operations of growths that used one index at one size and another at another.</summary>
    private static IEnumerable<Verdict> ChangedPlans(StoredRun run)
    {
        foreach (GrowthFigures growth in GrowthFigures.Of(run))
        {
            foreach (GrowthLine line in growth.Lines)
            {
                List<(long Documents, string Index)> changes = [];
                foreach ((int step, OperationResult result) in line.Results.OrderBy(one => one.Key))
                {
                    if (result.Plan is { Stages.Length: > 0 } plan && IndexOf(plan) is var index && (changes.Count == 0 || changes[^1].Index != index))
                        changes.Add((growth.Steps[step].Documents, index));
                }

                if (changes.Count > 1)
                    yield return new Verdict(Grade.Note, $"{NameOf(line)} changed its query plan as the collection grew: {string.Join(", ", changes.Select(Text))}") { Finding = VerdictFinding.PlanChanged };
            }
        }

        static string IndexOf(PlanSummary plan) => plan.Index ?? "no index";

        static string Text((long Documents, string Index) change, int place) => place == 0 ? change.Index : $"{change.Index} from {Units.Count(change.Documents)}";
    }

    private static string NameOf(GrowthLine line) => line.Parameters.Length == 0 ? line.Label : $"{line.Label} ({line.Parameters})";

    private static IEnumerable<Verdict> Rate(Measured[] measured)
    {
        Measured[] paced = [.. measured.Where(m => m.Result.ResponseMicroseconds is not null)];
        double[] rates = [.. paced.Select(m => m.Phase.Rate).OfType<double>().Distinct().Order()];
        if (rates.Length == 0)
            yield break;
        string at = rates.Length == 1 ? Units.Rate(rates[0]) : $"{Units.Rate(rates[0])} to {Units.Rate(rates[^1])}";
        string text = $"paced at {at} operations/s: service time counts from when an operation started, response time from when it was due";
        Measured? widest = paced.Where(m => GapAt99(m.Result).HasValue).MaxBy(m => GapAt99(m.Result));
        if (widest is not null)
        {
            text += $"; at p99 they differ by {Units.Latency(GapAt99(widest.Result))} at most, in {widest.Label} "
                + $"({Units.Latency(widest.Result.LatencyMicroseconds.P99)} and {Units.Latency(widest.Result.ResponseMicroseconds!.P99)})";
        }

        Accounting all = paced.Select(m => m.Phase).DistinctBy(phase => phase.Number).Aggregate(Accounting.None, (sum, phase) => sum.Plus(AccountingOf(phase)));
        string arrivals = $"of {Units.Exact(all.Scheduled)} arrivals";
        yield return all.Skipped == 0
            ? new Verdict(Grade.Good, $"{text}; none {arrivals} was skipped")
            : new Verdict(Grade.Note, $"{text}; {Units.Exact(all.Skipped)} {arrivals} were skipped because there was no time left for them");
    }

    /// <summary>What a mix left undone is its group's and no operation's.</summary>
    private static Accounting AccountingOf(PhaseRecord phase) =>
        (phase.Groups.Count > 0 ? phase.Groups.Select(group => group.Accounting) : phase.Operations.Select(result => result.Accounting)).Aggregate(Accounting.None, (sum, one) => sum.Plus(one));

    /// <summary>Microseconds between service and response time.</summary>
    private static double? GapAt99(OperationResult result) =>
        result.ResponseMicroseconds?.P99 is { } response && result.LatencyMicroseconds.P99 is { } service ? Math.Max(0, response - service) : null;
}
