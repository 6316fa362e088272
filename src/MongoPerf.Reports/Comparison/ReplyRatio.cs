using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What replies to an operation held on both sides: all that can be checked where nobody knows what must come.</summary>
/// <param name="Operation">What was asked.</param>
/// <param name="Baseline">Documents per reply; 0 or more.</param>
/// <param name="Candidate">The same of the other side.</param>
/// <param name="BaselineBytes">Bytes of these documents per reply; 0 or more.</param>
/// <param name="CandidateBytes">The same of the other side.</param>
/// <param name="Replies">On the side that has fewer.</param>
public sealed record ReplyRatio(
    ComparedOperation Operation, double Baseline, double Candidate, double BaselineBytes, double CandidateBytes, long Replies)
{
    /// <summary>Fewer say nothing: each run draws values of its own.</summary>
    private const int LeastReplies = 1000;

    /// <summary>Whether the two differ by more than a share, such as 0.05; null where there are too few replies to say.</summary>
    public bool? Differs(double threshold) => Replies < LeastReplies ? null
        : Math.Abs(Candidate - Baseline) > threshold * Math.Max(Baseline, Candidate)
            || Math.Abs(CandidateBytes - BaselineBytes) > threshold * Math.Max(BaselineBytes, CandidateBytes);

    /// <summary>The operations that both runs did on existing data, in the order of the plan; of repeats those of the first run.</summary>
    public static IReadOnlyList<ReplyRatio> Of(StoredRun baseline, StoredRun candidate) =>
        !baseline.Settings.Data.IsExisting || !candidate.Settings.Data.IsExisting ? []
            : [.. RepliesOf(baseline).Join(RepliesOf(candidate), one => one.Key, one => one.Key, (a, b) =>
                new ReplyRatio(a.Key, a.Documents, b.Documents, a.Bytes, b.Bytes, Math.Min(a.Operations, b.Operations)))];

    private static IEnumerable<(ComparedOperation Key, double Documents, double Bytes, long Operations)> RepliesOf(StoredRun run) =>
        run.Phases.SelectMany(phase => phase.Operations
            .Where(result => result is { IsTotal: false, IsInsert: false, OperationsPerSecond: > 0 })
            .Select(result => (Key: ComparedOperation.Of(phase, result), Documents: (double)result.Documents / result.Operations,
                Bytes: result.MegabytesPerSecond * 1e6 / result.OperationsPerSecond, result.Operations)))
        .DistinctBy(one => one.Key);
}
