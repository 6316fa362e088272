using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>How much of the work each server did, where several did some.</summary>
internal static class MemberTable
{
    /// <returns>Null when all operations went to one server.</returns>
    public static ReportTable? Of(StoredRun run)
    {
        OperationResult[] results = [.. run.Phases.SelectMany(phase => phase.Operations)];
        if (results.SelectMany(result => result.Members).Select(share => share.Member).Distinct().Count() < 2)
            return null;
        // A growth measures the same at each size, a sweep at each value: their sums say who did the work.
        var rows = new List<IReadOnlyList<string>>();
        foreach (var operation in run.Phases.SelectMany(phase => phase.Operations.Select(result => (phase.Phase, Result: result))).GroupBy(one => (one.Phase, one.Result.Operation)))
        {
            MemberShare[] shares = [.. operation.SelectMany(one => one.Result.Members)];
            double all = shares.Sum(share => share.Operations);
            rows.AddRange(shares.GroupBy(share => share.Member).OrderBy(member => member.Key, StringComparer.Ordinal).Select(member =>
                (IReadOnlyList<string>)[operation.Key.Phase, operation.Key.Operation, member.Key, Units.Exact(member.Sum(share => share.Operations)), Units.Percent(member.Sum(share => share.Operations) / all)]));
        }

        return ReportTables.Thinned(Words.Of("Operations by server"), ["<phase", "<operation", "<server", "operations", "share"], rows);
    }
}
