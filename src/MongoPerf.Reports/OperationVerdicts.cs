using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>
/// What a reader of the operations' figures must know: that nothing was measured, operations lay across the ends of the measured part,
/// replies were short, the query plan changed or scans.
/// </summary>
internal static class OperationVerdicts
{
    /// <summary>The most that replies may vary by between the sizes of a growth before a curve is one of theirs.</summary>
    private const double MostReplyChange = 2;

    /// <summary>The fewest replies: with fewer operations, or fewer documents, the mean is chance.</summary>
    private const long LeastReplies = 30;

    /// <summary>Of an operation, what comes to nothing and is told.</summary>
    private const double LeastNothing = 0.01;

    /// <summary>Changes of a query plan that are told; between two indexes that serve as well there may be one at each size.</summary>
    private const int MostPlans = 4;
    private const int LongestIndex = 32;

    /// <summary>Shorter waits, across the end of a warm-up or for a failure, are no news.</summary>
    public const double LeastWaitMicroseconds = 100_000;

    /// <summary>How many times the median is long: what is shorter is how long operations take here.</summary>
    private const double LongInFlight = 10;

    /// <summary>A result of a phase, and what its operation is called.</summary>
    private sealed record Measured(PhaseRecord Phase, OperationResult Result)
    {
        public string Label => PhaseLabels.Of(Phase, Result.Operation);

        public string FullLabel => PhaseLabels.WithParameters(Phase, Result.Operation);
    }

    public static IReadOnlyList<Verdict> Of(StoredRun run)
    {
        Measured[] measured = [.. run.Phases.SelectMany(phase => phase.Operations.Select(result => new Measured(phase, result)))];
        return [.. WrongEffects(measured), .. Unmeasured(measured), .. InFlight(measured), .. CutOff(measured), .. Nothing(measured),
            .. ShortReplies(measured),
            .. CollectionScans(run), .. PlansChangedWithin(measured), .. Once(ChangedPlans(run)), .. ChangedReplies(run),
            .. StepTables.Verdicts(run),
            .. ChangeTables.Verdicts(run), .. ReplayTables.Verdict(run) is { } replay ? [replay] : Array.Empty<Verdict>(),
            .. ConnectionTables.Verdicts(run)];
    }

    /// <summary>Writes that were answered without an error, and did not do what they must.</summary>
    private static IEnumerable<Verdict> WrongEffects(Measured[] measured)
    {
        foreach (IGrouping<string, Measured> group in measured.GroupBy(m => m.Label))
        {
            ErrorCount[] wrong = [.. group.SelectMany(m => m.Result.Errors)
                .Where(error => ErrorCount.IsWrongEffect(error.Code, error.Name))];
            if (wrong.Length == 0)
                continue;
            long answered = group.Sum(m => m.Result.Accounting.Succeeded + m.Result.Accounting.Failed);
            long refused = measured.Where(m => m.Result.IsInsert && group.Any(one => one.Phase.Number >= m.Phase.Number
                    && (one.Result.Collection ?? m.Result.Collection) == (m.Result.Collection ?? one.Result.Collection)))
                .Sum(m => m.Result.Accounting.Failed);
            if (refused > 0)
            {
                yield return new Verdict(Grade.Note, Words.Of($"{group.Key}: {Units.Exact(wrong.Sum(error => error.Count))} of "
                    + $"{Units.Exact(answered)} operations found nothing to change; {Words.Counted(refused, "insert")} had failed "
                    + $"before or beside them, so their documents may never have been there"))
                { Finding = VerdictFinding.FailedOperations };
                continue;
            }

            yield return new Verdict(
                Grade.Note,
                Words.Of($"{group.Key}: {Units.Exact(wrong.Sum(error => error.Count))} of {Units.Exact(answered)} operations had "
                    + $"no effect, or a wrong one, "
                + $"although the server reported no error: {wrong[0].FirstMessage}"))
            { Finding = VerdictFinding.WrongEffect };
        }
    }

    private static IEnumerable<Verdict> Unmeasured(Measured[] measured)
    {
        // Unacknowledged inserts of which nothing arrived were measured all the same.
        IEnumerable<Measured> empty = measured.Where(m => m.Result is { Operations: 0, Failed: 0, Connections: null }
            and not { Unacknowledged.Sent: > 0 });
        foreach (IGrouping<string, Measured> group in empty.GroupBy(WhyUnmeasured))
            yield return new Verdict(Grade.Note, Words.Of($"nothing was measured in "
                + $"{Words.And([.. group.Select(m => m.Label).Distinct()])}: {group.Key}")) { Finding = VerdictFinding.NothingMeasured };
    }

    private static string WhyUnmeasured(Measured one) =>
        one.Result.InFlightAtEnd is not null ? Words.Of("no operation was answered before the phase was over")
        : one.Result is { WarmupSeconds: > 0, Seconds: <= 0 } ? Words.Of("the phase ended during its warm-up")
        : Words.Of("no operation ended after the warm-up");

    /// <summary>Waits across the end of the warm-up: no stretch of the measured part shows how long they were.</summary>
    private static IEnumerable<Verdict> InFlight(Measured[] measured) => AcrossEnds(
        measured.Where(m => IsLong(m.Result)), VerdictFinding.InFlight, result => result.InFlightAtStart,
        (label, operations, took) => operations == 1
            ? Words.Of($"{label}: an operation that was in flight when the warm-up ended took {took}; it counts as measured")
            : Words.Of($"{label}: {Units.Exact(operations)} operations that were in flight when the warm-up ended took up to {took}; "
                + $"they count as measured"));

    /// <summary>Far longer than others, or others are few: every thread has an operation in flight when the warm-up ends.</summary>
    private static bool IsLong(OperationResult result) =>
        result.InFlightAtStart is { LongestMicroseconds: >= LeastWaitMicroseconds } some
        && (some.LongestMicroseconds >= LongInFlight * (result.ReportedMicroseconds.P50 ?? 0) || some.Operations * 2 >= result.Operations);

    private static IEnumerable<Verdict> CutOff(Measured[] measured) => AcrossEnds(
        measured, VerdictFinding.CutOff, result => result.InFlightAtEnd,
        (label, operations, waited) => operations == 1
            ? Words.Of($"{label}: an operation was cut off without a reply after {waited}, because the phase was over; "
                + $"it is in none of the figures")
            : Words.Of($"{label}: {Units.Exact(operations)} operations were cut off without a reply after up to {waited}, "
                + $"because the phase was over; they are in none of the figures"));

    /// <summary>One line for each label: the worst of its operations that were under way at one end of the measured part.</summary>
    private static IEnumerable<Verdict> AcrossEnds(
        IEnumerable<Measured> measured, VerdictFinding finding, Func<OperationResult, OperationsInFlight?> of,
        Func<string, long, string, string> tell)
    {
        foreach (IGrouping<string, Measured> group in measured.Where(m => of(m.Result) is not null).GroupBy(m => m.Label))
        {
            Measured worst = group.MaxBy(m => of(m.Result)!.LongestMicroseconds)!;
            OperationsInFlight some = of(worst.Result)!;
            string at = worst.Phase.Growth is { } growth ? Words.Of($" at {Units.Count(growth.Documents)}") : "";
            string others = group.Count() is > 1 and var count
                ? Words.Of($", and less in {Words.Counted(count - 1, "other")}") : "";
            yield return new Verdict(
                Grade.Note, tell(group.Key, some.Operations, Units.Latency(some.LongestMicroseconds) + at + others)) { Finding = finding };
        }
    }

    /// <summary>Operations that succeeded, and came to nothing.</summary>
    private static IEnumerable<Verdict> Nothing(Measured[] measured) =>
        measured.Where(m => m.Result.Effect is not null).GroupBy(m => m.Label).Select(group => group.ToArray()).SelectMany(all => new[]
        {
            Nothing(all, effect => effect.FoundNothing, VerdictFinding.FoundNothing,
                (label, some) => Words.Of($"{label}: {some} operations found no document")),
            Nothing(all, effect => effect.MatchedNothing, VerdictFinding.FoundNothing,
                (label, some) => Words.Of($"{label}: {some} operations matched no document, and so changed none")),
            Nothing(all, effect => effect.ChangedNothing, VerdictFinding.ChangedNothing,
                (label, some) => Words.Of($"{label}: {some} operations left the documents that they matched as they were")),
        }).OfType<Verdict>();

    /// <returns>Null where too few came to nothing.</returns>
    private static Verdict? Nothing(
        Measured[] all, Func<EffectResult, long?> of, VerdictFinding finding, Func<string, string, string> text)
    {
        Measured[] some = [.. all.Where(m => of(m.Result.Effect!) is { } count && IsTold(count, m.Result.Operations))];
        if (some.Length == 0)
            return null;
        string share = Words.Of($"{Units.Exact(some.Sum(m => of(m.Result.Effect!)!.Value))} of "
            + $"{Units.Exact(some.Sum(m => m.Result.Operations))}{AtSizes([.. some.Select(m => m.Phase)], [.. all.Select(m => m.Phase)])}");
        return new Verdict(Grade.Note, text(all[0].Label, share))
        {
            Finding = finding, Operations = [.. some.Select(m => m.FullLabel).Distinct()],
        };
    }

    /// <summary>"12 % found nothing", of what most did that came to nothing; null where they are too few to be told.</summary>
    public static string? ShareOfNothing(OperationResult result)
    {
        if (result.Effect is not { } effect)
            return null;
        (long Count, Func<string, string> Text)[] kinds =
        [
            (effect.FoundNothing ?? 0, share => Words.Of($"{share} found nothing")),
            (effect.MatchedNothing ?? 0, share => Words.Of($"{share} matched nothing")),
            (effect.ChangedNothing ?? 0, share => Words.Of($"{share} changed nothing")),
        ];
        (long Count, Func<string, string> Text) most = kinds.MaxBy(kind => kind.Count);
        return IsTold(most.Count, result.Operations) ? most.Text(Units.Percent((double)most.Count / result.Operations)) : null;
    }

    /// <summary>How many operations found, matched or changed nothing; each is one of these.</summary>
    public static string NothingOf(OperationResult result) => result.Effect is { } effect
        ? Units.Exact((effect.FoundNothing ?? effect.MatchedNothing ?? 0) + (effect.ChangedNothing ?? 0)) : Units.None;

    private static bool IsTold(long nothing, long operations) => nothing > 0 && nothing >= LeastNothing * operations;

    /// <summary>
    /// Where most replies are full, the others make the figures better than they are. Where most are not, the limit is no
    /// more than a precaution.
    /// </summary>
    private static IEnumerable<Verdict> ShortReplies(Measured[] measured)
    {
        foreach (IGrouping<string, Measured> group in measured.GroupBy(m => m.Label))
        {
            long few = group.Sum(m => m.Result.ShortReplies);
            long all = group.Sum(m => m.Result.Operations);
            if (few > 0 && few == all && group.Sum(m => m.Result.Documents) == 0)
            {
                // Runs of earlier versions did not count what found nothing.
                if (group.All(m => m.Result.Effect is not null))
                    continue;
                yield return new Verdict(
                    Grade.Note, Words.Of($"{group.Key}: none of {Units.Exact(all)} replies held a document; does the filter match any?"));
            }
            else if (few > 0 && few < all - few)
                yield return new Verdict(Grade.Note,
                    Words.Of($"{group.Key}: {Units.Exact(few)} of {Units.Exact(all)} replies held fewer documents than their limit"));
        }
    }

    /// <summary>Those that examine far more than they return.</summary>
    private static IEnumerable<Verdict> CollectionScans(StoredRun run)
    {
        foreach (IGrouping<(string Label, string? Stage, string Collection), PlannedSource> group in PlannedSource.Of(run)
            .GroupBy(one => (one.Label, one.Source.Stage, one.Source.Collection)))
        {
            PlannedSource[] scans = [.. group.Where(one => one.IsWastefulScan)];
            if (scans.Length == 0)
                continue;
            PlannedSource worst = scans.MaxBy(one => one.Documents)!;
            string at = AtSizes([.. scans.Select(one => one.Phase)], [.. group.Select(one => one.Phase)]);
            string documents = Units.Rate(worst.Documents);
            string name = worst.Source.Collection;
            string purpose = worst.PurposeOf(Words.Counted(worst.Source.Served, "document"));
            long orphans = run.Deployment?.Collections.FirstOrDefault(one =>
                one.Collection == (name.Length > 0 ? name : worst.Phase.Collection ?? one.Collection))?.Orphans ?? 0;
            yield return new Verdict(Grade.Note,
                // No index would spare it these.
                worst.IsOwn && orphans >= worst.Documents / 2
                    ? Words.Of($"{group.Key.Label} scanned the collection{at}: it examined up to {documents} documents per operation "
                        + $"{purpose}; {Units.Exact(orphans)} orphans that migrations left there are examined, too, until they are deleted "
                        + $"(orphanCleanupDelaySecs)")
                : worst.IsOwn
                    ? Words.Of($"{group.Key.Label} scanned the collection{at}: it examined up to {documents} documents per operation "
                        + $"{purpose}; an index on its filter would help")
                : worst.IsLookup
                    ? Words.Of($"{worst.Name} scanned {AnyOf(name)}{at}: it examined up to {documents} documents per operation "
                        + $"{purpose}; an index there on the fields that it matches would help")
                : Words.Of($"{worst.Name} scanned {name}{at}: it examined up to {documents} documents per operation "
                    + $"{purpose}; an index there on its filter would help"))
            {
                Finding = VerdictFinding.PlanScans, Operations = [.. scans.Select(one => one.FullLabel).Distinct()],
            };
        }
    }

    /// <summary>Of collections that are counted together, nobody knows which was scanned.</summary>
    private static string AnyOf(string collections) =>
        collections.Contains(", ", StringComparison.Ordinal) ? Words.Of($"one of {collections}") : collections;

    /// <summary>Operations of which explain said something else when their phase was over than when it began.</summary>
    private static IEnumerable<Verdict> PlansChangedWithin(Measured[] measured)
    {
        foreach (IGrouping<string, Measured> group in measured.Where(m => m.Result.Plan is not null).GroupBy(m => m.Label))
        {
            Measured[] changed = [.. group.Where(m => m.Result.Plan!.Before is not null)];
            if (changed.Length == 0)
                continue;
            PlanSummary after = changed[^1].Result.Plan!;
            PlanSummary before = after.Before!;
            string at = AtSizes([.. changed.Select(m => m.Phase)], [.. group.Select(m => m.Phase)]);
            yield return new Verdict(Grade.Note,
                before.Stages != after.Stages || before.Index != after.Index
                    ? Words.Of($"{group.Key} changed its query plan within the phase{at}: from {Described(before)} to {Described(after)}")
                    : Words.Of($"{group.Key} examined {Examined(before, after)} when the phase began and {Examined(after, before)} when it "
                        + $"was over{at}"))
            {
                Finding = VerdictFinding.PlanChanged, Operations = [.. changed.Select(m => m.FullLabel).Distinct()],
            };
        }

        static string Examined(PlanSummary one, PlanSummary other) => one.DocumentsExamined != other.DocumentsExamined
            ? Words.Counted(one.DocumentsExamined, "document") : Words.Counted(one.KeysExamined, "key");

        // What was only planned examined nothing.
        static string Described(PlanSummary plan) => plan is { KeysExamined: 0, DocumentsExamined: 0 }
            ? PlannedSource.IndexesInWords(plan)
            : Words.Of($"{PlannedSource.IndexesInWords(plan)} ({Units.Exact(plan.KeysExamined)} keys and "
                + $"{Units.Exact(plan.DocumentsExamined)} documents examined)");
    }

    private static string AtSizes(PhaseRecord[] some, PhaseRecord[] all)
    {
        int phases = all.Select(phase => phase.Number).Distinct().Count();
        int there = some.Select(phase => phase.Number).Distinct().Count();
        return phases == 1 ? "" : all.All(phase => phase.Growth is not null) ? Words.Of($" at {there} of {phases} sizes")
            : Words.Of($" in {there} of {phases} phases");
    }

    /// <summary>
    /// Operations of growths that bring far more documents at one size than at another: their curves are those of reply sizes too.
    /// </summary>
    private static IEnumerable<Verdict> ChangedReplies(StoredRun run)
    {
        foreach (GrowthFigures growth in GrowthFigures.Of(run))
        {
            foreach (GrowthLine line in growth.Lines.Where(line => line is { IsInsert: false, IsTotal: false }))
            {
                (long Documents, double Each)[] sizes =
                [
                    .. line.Results.OrderBy(one => one.Key).Where(one => one.Value.Operations >= LeastReplies)
                        .Select(one => (growth.Steps[one.Key].Documents, (double)one.Value.Documents / one.Value.Operations)),
                ];
                if (sizes.Length < 2 || line.Results.Values.Max(result => result.Documents) < LeastReplies)
                    continue;
                (long Documents, double Each) least = sizes.MinBy(size => size.Each);
                (long Documents, double Each) most = sizes.MaxBy(size => size.Each);
                if (most.Each <= MostReplyChange * least.Each)
                    continue;
                (var first, var last) = least.Documents < most.Documents ? (least, most) : (most, least);
                yield return new Verdict(
                    Grade.Note,
                    Words.Of($"{NameOf(line)} returned {Units.Significant(first.Each)} documents per operation at "
                        + $"{Units.Count(first.Documents)} documents and {Units.Significant(last.Each)} at {Units.Count(last.Documents)}, "
                    + $"so its curve shows how its replies change, "
                    + $"not only how the collection grows"))
                {
                    Finding = VerdictFinding.ReplySize, Operations = [line.FullLabel],
                };
            }
        }
    }

    /// <summary>Lines with several thread counts may say the same.</summary>
    private static IEnumerable<Verdict> Once(IEnumerable<Verdict> verdicts) => verdicts.GroupBy(verdict => verdict.Text).Select(same =>
        same.First() with { Operations = [.. same.SelectMany(verdict => verdict.Operations).Distinct()] });

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
                    if (result.Plan is { Stages.Length: > 0 } plan && PlannedSource.IndexesInWords(plan) is var index
                        && (changes.Count == 0 || changes[^1].Index != index))
                        changes.Add((growth.Steps[step].Documents, index));
                }

                if (changes.Count > 1)
                    yield return new Verdict(Grade.Note, Words.Of($"{NameOf(line)} changed its query plan as the collection grew: "
                        + $"{Listed(changes)}")) { Finding = VerdictFinding.PlanChanged, Operations = [line.FullLabel] };
            }
        }

    }

    /// <summary>"Number_1, no index from 2M, Number_1 from 3M"; of more, the first and the last.</summary>
    private static string Listed(IReadOnlyList<(long Documents, string Index)> changes)
    {
        string[] texts = [.. changes.Select((change, place) =>
            place == 0 ? Shortened(change.Index) : Words.Of($"{Shortened(change.Index)} from {Units.Count(change.Documents)}"))];
        return string.Join(", ",
            texts.Length <= MostPlans ? texts : [.. texts.Take(MostPlans - 1), Words.Of($"{texts.Length - MostPlans} more"), texts[^1]]);

        static string Shortened(string index) => index.Length <= LongestIndex ? index : index[..(LongestIndex - 1)] + "…";
    }

    private static string NameOf(GrowthLine line) => line.Parameters.Length == 0 ? line.Label : $"{line.Label} ({line.Parameters})";
}
