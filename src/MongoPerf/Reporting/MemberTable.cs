using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>How much of the work each server of several did.</summary>
internal static class MemberTable
{
    /// <returns>Null when one server did all: a run's own may have another port after a resume.</returns>
    public static ReportTable? Of(StoredRun run)
    {
        if (run.Deployment is not { Topology: not Topology.Standalone } || run.Results.SelectMany(result => result.Members).Select(share => share.Member).Distinct().Count() < 2)
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
