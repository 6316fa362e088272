using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>What most likely makes the replies to a replay differ from the recorded ones.</summary>
internal static class ReplayCause
{
    private const int Unauthorized = 13;
    private const int DuplicateKey = 11000;

    /// <summary>In words, the gravest first.</summary>
    public static string Of(StoredRun run)
    {
        ReplayResult[] all = [.. run.Results.Select(result => result.Replay).OfType<ReplayResult>()];
        ReplaySettings settings = run.Settings.Plan.Replay!;
        if (run.ReplayTarget is { } target && all.Any(one => one.Codes > 0 || one.Counts > 0) && OfTarget(target) is { } lacks)
            return lacks;
        if (IsMost(Unauthorized))
            return Words.Of("the user may not do what the recording does");
        if (IsMost(DuplicateKey))
            return Words.Of("the target has documents already that the recording inserts, as after a first replay");
        if (settings.Only != ReplayedRequests.All && all.Any(one => one.Counts > 0 || one.Sizes > 0))
            return Words.Of("the writes were left out (--only), so reads find other documents");
        return settings is { KeepsDependencies: false, Speed: not 1 } or { KeepsDependencies: false, Rate: not null }
            ? Words.Of("the target has other data than the recording began with, or requests of different connections came in another "
                + "order (--dependencies keeps it)")
            : Words.Of("the target has other data than the recording began with");

        bool IsMost(int code) => 2 * all.Where(one => one.FirstCode?.Replayed == code).Sum(one => one.Codes) >= run.Replies.Different;
    }

    private static string? OfTarget(ReplayTarget target)
    {
        string databases = Words.And([.. target.Databases]);
        string all = Words.Counted(target.Collections, "collection");
        return target switch
        {
            { Collections: 0 } => null,
            _ when target.Missing == target.Collections =>
                Words.Of($"the target is empty: {databases} has none of the {all} that the recording uses"),
            { Missing: > 0 and var missing } =>
                Words.Of($"the target lacks data: {Units.Exact(missing)} of the {all} that the recording uses are not in {databases}"),
            _ when target.Empty == target.Collections =>
                Words.Of($"the target is empty: no document is in any of the {all} of {databases} that the recording uses"),
            { Empty: > 0 and var empty } =>
                Words.Of($"the target lacks data: {Units.Exact(empty)} of the {all} of {databases} that the recording uses are empty"),
            _ => null,
        };
    }
}
