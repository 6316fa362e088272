using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>
/// The tables of phases: one for each phase, a row for each value of its parameters and each operation. Those of growths are over size
/// and stand elsewhere.
/// </summary>
internal static class PhaseTables
{
    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        PhaseRecord[] single = [.. run.Phases.Where(p => p.Growth is null)];
        foreach (IGrouping<string, PhaseRecord> phase in single.Where(p => p.Operations.Count > 0).GroupBy(p => p.Phase))
            yield return Results(phase.Key, [.. phase]);
        IEnumerable<ReportTable> special =
        [
            .. LapTables.Of(run), .. StepTables.Of(run), .. ChangeTables.Of(run), .. ReplayTables.Of(run), .. ConnectionTables.Of(run),
        ];
        foreach (ReportTable table in special)
            yield return table;
        foreach (ReportTable? other in new[] { Arrivals(run.Phases), Fairness(single), Errors(run.Phases) })
        {
            if (other is not null)
                yield return other;
        }

        foreach (ReportTable table in SizesOf(run))
            yield return table;
    }

    /// <summary>What collections and indexes occupied after the phases that took their sizes.</summary>
    public static IEnumerable<ReportTable> SizesOf(StoredRun run)
    {
        PhaseRecord[] single = [.. run.Phases.Where(p => p.Growth is null)];
        return new[] { Sizes(single), IndexSizes(single) }.OfType<ReportTable>();
    }

    private static ReportTable Results(string name, IReadOnlyList<PhaseRecord> phases)
    {
        IReadOnlyList<string> parameters = phases.VariedParameters();
        var results = new ResultColumns([.. phases.SelectMany(p => p.Operations)]);
        List<string> columns = [.. parameters.Select(p => "<" + p), "<operation", "threads", .. results.Names];
        var rows = new List<IReadOnlyList<string>>();
        foreach (PhaseRecord phase in phases)
        {
            string[] values = [.. parameters.Select(p => phase.ValueOf(p) ?? Units.None)];
            rows.AddRange(phase.Operations.Concat(phase.Totals).Select(operation =>
                (IReadOnlyList<string>)[.. values, PhaseLabels.NameOf(operation), operation.Threads.ToString(), .. results.Of(operation)]));
        }

        return new ReportTable(Words.Of($"Phase {name}"), columns, rows);
    }

    /// <summary>The requested rate and what was reached; null when none was set.</summary>
    private static ReportTable? Arrivals(IReadOnlyList<PhaseRecord> phases)
    {
        List<IReadOnlyList<string>> rows = [.. phases.SelectMany(phase =>
            phase.Groups.Where(group => group.Waiting is not null).Select(group => Row(phase, group, group.Waiting!)))];
        return rows.Count == 0 ? null : ReportTables.Thinned(
            Words.Of("Arrivals: response time counts from when each was due, and the wait for a free connection is part of it"),
            ["<phase", "due", "started", "skipped", "waited for a connection", "all connections busy"], rows);

        static IReadOnlyList<string> Row(PhaseRecord phase, GroupShare group, ClientWaiting waiting) =>
        [
            group.Name.Length > 0 ? $"{phase.Label()}, {group.Name}" : phase.Label(), Units.Exact(group.Accounting.Scheduled),
            Units.Exact(group.Accounting.Scheduled - group.Accounting.Skipped), Units.Exact(group.Accounting.Skipped),
            Units.Exact(waiting.Arrivals), Units.Duration(waiting.Seconds),
        ];
    }

    /// <summary>Null when no group had several threads.</summary>
    private static ReportTable? Fairness(IReadOnlyList<PhaseRecord> phases)
    {
        var rows = new List<IReadOnlyList<string>>();
        foreach (PhaseRecord phase in phases)
        {
            foreach (GroupShare group in phase.Groups.Where(g => g.Threads > 1 && g.Operations > 0))
            {
                rows.Add(
                [
                    group.Name.Length > 0 ? $"{phase.Label()}, {group.Name}" : phase.Label(), group.Threads.ToString(),
                    Units.Exact(group.Least), Units.Rate(group.Mean),
                    Units.Exact(group.Most), Units.Rate(group.Deviation), Units.Percent(group.Deviation / group.Mean),
                ]);
            }
        }

        return rows.Count == 0 ? null : new ReportTable(Words.Of("Fairness: operations per thread"),
            ["<phase", "threads", "min", "mean", "max", "std. dev.", "of mean"], rows);
    }

    /// <summary>Null when nothing failed.</summary>
    private static ReportTable? Errors(IReadOnlyList<PhaseRecord> phases)
    {
        List<IReadOnlyList<string>> rows =
        [
            .. phases.SelectMany(phase => phase.Operations.SelectMany(operation => operation.Errors.Select(e =>
                (IReadOnlyList<string>)
                [
                    phase.Label(), operation.Operation, Units.Exact(e.Count), Units.Latency(e.SlowestMicroseconds),
                    e.Code.ToString(), e.Name, e.FirstMessage,
                ]))),
        ];
        return rows.Count == 0 ? null : ReportTables.Thinned(Words.Of("Errors by operation"),
            ["<phase", "<operation", "count", "slowest", "code", "<name", "<first message"], rows);
    }

    /// <summary>Null when no sizes were taken.</summary>
    private static ReportTable? Sizes(IReadOnlyList<PhaseRecord> phases)
    {
        (PhaseRecord Phase, SizeResult Of)[] sizes = SizesOf(phases);
        if (sizes.Length == 0)
            return null;
        bool hasNames = HasNames(sizes);
        bool hasDisk = sizes.Any(s => s.Of.DiskBytes is not null);
        bool isSharded = sizes.Any(s => s.Of.Shards.Count > 1);
        return new ReportTable(
            Words.Of("Sizes after each phase") + SizeAge.Of(sizes.Select(s => s.Of)),
            [
                "<phase", .. Only(hasNames, "<collection"), "documents", "data", "storage", "free", "indexes", .. Only(hasDisk, "disk"),
                .. Only(isSharded, "<documents by shard"),
            ],
            [
                .. sizes.Select(s => (IReadOnlyList<string>)
                [
                    s.Phase.Label(), .. Only(hasNames, s.Of.Collection ?? Units.None), Units.Exact(s.Of.Documents),
                    Units.Bytes(s.Of.DataBytes), Units.Bytes(s.Of.StorageBytes),
                    Units.Bytes(s.Of.FreeStorageBytes), Units.Bytes(s.Of.IndexBytes),
                    .. Only(hasDisk, Units.Bytes(s.Of.DiskBytes)), .. Only(isSharded, DocumentsByShard(s.Of)),
                ]),
            ]);
    }

    /// <summary>
    /// A row for each index, because a collection may have many. Null when none has more than one, which takes up what all do.
    /// </summary>
    private static ReportTable? IndexSizes(IReadOnlyList<PhaseRecord> phases)
    {
        (PhaseRecord Phase, SizeResult Of)[] sizes = SizesOf(phases);
        bool hasNames = HasNames(sizes);
        List<IReadOnlyList<string>> rows =
        [
            .. sizes.Where(s => s.Of.Indexes.Count > 1).SelectMany(s => s.Of.Indexes.Select(index =>
                (IReadOnlyList<string>)[s.Phase.Label(), .. Only(hasNames, s.Of.Collection ?? Units.None), index.Key,
                    Units.Bytes(index.Value)])),
        ];
        return rows.Count == 0 ? null : ReportTables.Thinned(
            Words.Of("Index sizes after each phase") + SizeAge.Of(sizes.Select(s => s.Of)),
            ["<phase", .. Only(hasNames, "<collection"), "<index", "size"], rows);
    }

    private static (PhaseRecord Phase, SizeResult Of)[] SizesOf(IReadOnlyList<PhaseRecord> phases) =>
        [.. phases.SelectMany(phase => phase.Sizes.Select(of => (phase, of)))];

    /// <summary>One collection needs no name.</summary>
    private static bool HasNames(IEnumerable<(PhaseRecord Phase, SizeResult Of)> sizes) =>
        sizes.Select(s => s.Of.Collection).Distinct().Count() > 1;

    private static IEnumerable<string> Only(bool condition, string cell) => condition ? [cell] : [];

    private static string DocumentsByShard(SizeResult sizes) =>
        string.Join(", ", sizes.Shards.Select(shard => $"{shard.Shard}: {Units.Exact(shard.Documents)}"));
}
