using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>Replayed requests: their replies and their times beside the recorded ones.</summary>
internal static class ReplayTables
{
    private const int MostShown = 3;

    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        (PhaseRecord Phase, OperationResult Result, ReplayResult Replay)[] all = [.. Results(run)];
        // With --loop there are several.
        bool isOfOnePhase = all.DistinctBy(one => one.Phase.Number).Count() == 1;
        if (all.Length > 0)
            yield return ReportTables.Foremost(
                Words.Of("Replayed requests: replies and service times beside the recorded ones"),
                [
                    .. Enumerable.Repeat("<phase", isOfOnePhase ? 0 : 1), "<operation", "compared", "recorded p50", "p50",
                    "recorded p99", "p99", "other error", "other count", "other change", "other size",
                    "other content", "<first difference",
                ],
                all, one => one.Replay.Different > 0, one => Row(isOfOnePhase ? null : one.Phase.Label(), one.Result, one.Replay));
    }

    /// <summary>
    /// How many replies differ from the recorded ones, the first ones that do, and why, if there are too many; null for no replay.
    /// </summary>
    public static Verdict? Verdict(StoredRun run)
    {
        (PhaseRecord Phase, OperationResult Result, ReplayResult Replay)[] all = [.. Results(run)];
        (long compared, long different) = run.Replies;
        if (compared == 0)
            return null;
        string replies = Words.Counted(compared, "reply", "replies");
        long contents = all.Sum(one => one.Replay.Contents);
        if (different == 0)
            return contents == 0
                ? new Verdict(Grade.Good, Words.Of($"{replies} compared with the recorded ones: none differs in its error, its number of "
                    + $"documents or their size"))
                : new Verdict(Grade.Note, Words.Of($"{replies} compared with the recorded ones: the documents of {Units.Exact(contents)} "
                    + $"differ, though not in number or size; times and generated values differ in each run"));
        string what = Words.Of($"{Units.Exact(different)} of {replies} differ from the recorded ones: "
            + $"{Units.Exact(all.Sum(one => one.Replay.Codes))} in the error, "
            + $"{Units.Exact(all.Sum(one => one.Replay.Counts))} in the number of documents, "
            + $"{Units.Exact(all.Sum(one => one.Replay.Modified))} in how many were changed, "
            + $"{Units.Exact(all.Sum(one => one.Replay.Sizes))} in their size; "
            + $"{string.Join("; ", all.Where(one => one.Replay.Different > 0).OrderByDescending(one => one.Replay.Different).Take(MostShown)
                .Select(one => Words.Of($"the first of {PhaseLabels.Of(one.Phase, one.Result.Operation)}: {First(one.Replay)}")))}");
        if (contents > 0)
            what = Words.Of($"{what}; of {Units.Exact(contents)} more only the content differs");
        return run.RepliesDiffer
            ? new Verdict(Grade.Bad, Words.Of($"likely cause: {ReplayCause.Of(run)}; {what} (--max-different allows "
                + $"{Units.Percent(run.Settings.Plan.Replay!.MaxDifferent!.Value)})"))
            : new Verdict(Grade.Note, what);
    }

    public static IEnumerable<(PhaseRecord Phase, OperationResult Result, ReplayResult Replay)> Results(StoredRun run) =>
        run.Phases.SelectMany(phase => phase.Operations.Where(result => result.Replay is not null)
            .Select(result => (phase, result, result.Replay!)));

    private static IReadOnlyList<string> Row(string? phase, OperationResult result, ReplayResult replay) =>
    [
        .. phase is null ? [] : new[] { phase }, result.Operation, Units.Exact(replay.Compared),
        Recorded(replay.RecordedMicroseconds?.P50), Units.Latency(result.LatencyMicroseconds.P50),
        Recorded(replay.RecordedMicroseconds?.P99), Units.Latency(result.LatencyMicroseconds.P99),
        Units.Exact(replay.Codes), Units.Exact(replay.Counts), Units.Exact(replay.Modified), Units.Exact(replay.Sizes),
        Units.Exact(replay.Contents), First(replay),
    ];

    /// <summary>Servers record milliseconds.</summary>
    public static string Recorded(double? microseconds) => microseconds < 1 ? "<1 ms" : Units.Latency(microseconds);

    /// <summary>The first reply of the gravest kind that differs.</summary>
    private static string First(ReplayResult replay) => replay switch
    {
        { FirstCode: { Recorded: 0 } code } => Words.Of($"error {code.Replayed}, recorded without one"),
        { FirstCode: { Replayed: 0 } code } => Words.Of($"no error, recorded with {code.Recorded}"),
        { FirstCode: { } code } => Words.Of($"error {code.Replayed}, recorded with {code.Recorded}"),
        { FirstCount: { } count } => Words.Of($"{Words.Counted(count.Replayed, "document")}, recorded with {Units.Exact(count.Recorded)}"),
        { FirstModified: { } changed } => Words.Of($"{Words.Counted(changed.Replayed, "document")} changed, recorded with "
            + $"{Units.Exact(changed.Recorded)}"),
        { FirstSize: { } size } => Words.Of($"{Words.Counted(size.Replayed, "byte")}, recorded with {Units.Exact(size.Recorded)}"),
        _ => Units.None,
    };
}
