using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Sharding;

/// <summary>What console, Markdown and HTML show of a run on several shards.</summary>
internal static class ShardTables
{
    /// <summary>Exact sizes of so many shards fit beside each other.</summary>
    private const int ShardsPerTable = 4;

    /// <summary>None for a deployment without shards.</summary>
    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        var moves = ChunkMoves.Of(run);
        SizeResult? sizes = run.Phases.SelectMany(static phase => phase.Sizes).LastOrDefault(static sizes => sizes.Shards.Count > 1);
        return ((IEnumerable<ReportTable?>)
        [
            .. Distribution.Of(run).Select(one => Shards(run, one)), Operations(run), Asked(run),
            Indexes(run), Plans(run), Growth(run, moves),
            Migrations(moves),
            .. sizes is null ? [] : AsCollStats(CollectionStatistics.NamespaceOf(run, sizes) ?? "", sizes),
        ]).OfType<ReportTable>();
    }

    private static ReportTable Shards(StoredRun run, Distribution last)
    {
        IReadOnlyList<ShardHolding> shards = last.Shards;
        Balance? balance = Balance.Of(shards);
        string spread = balance is null ? "" : Words.Of($" ({Units.Exact((long)Math.Round(balance.Even))} would be an even share)");
        return WithoutEmpty(
            Words.Of($"Shards at {Units.Count(last.Documents)} "
                + $"documents{(Distribution.HasSeveral(run) && last.Collection is { } collection ? Words.Of($" in {collection}") : "")}"
                + $"{spread}") + SizeAge.Of(last.IsOfEnd),
            ["<shard", "documents", "from even", "orphans", "chunks", "data", "owned", "orphaned", "storage", "indexes"],
            [.. shards.Select(shard => Row(
            [
                shard.Shard, Units.Exact(shard.Documents), balance is null ? Units.None : FromEven(balance.FromEven(shard)),
                Count(shard.Orphans), Count(shard.Chunks), Units.Bytes(shard.DataBytes), Units.Bytes(shard.OwnedBytes),
                Units.Bytes(shard.OrphanedBytes),
                Units.Bytes(shard.StorageBytes), Units.Bytes(shard.IndexBytes),
            ]))]);
    }

    /// <summary>Null where no shard and no router counts them.</summary>
    private static ReportTable? Operations(StoredRun run)
    {
        var operations = ShardOperations.Of(run);
        string[] shards = [.. operations.Shards];
        if (shards.Length < 2 || shards.All(shard => operations.Share(shard) is null))
            return null;
        bool areOfShard = shards.Any(shard => operations.Count(shard, ShardOperations.Metrics[0]) is not null);
        return WithoutEmpty(
            areOfShard ? Words.Of("Operations by shard: on all of its collections, as its own counters say, while the run lasted")
                : Words.Of($"Operations by shard{Distribution.WatchedText(run)}, as the router tells, while the run lasted"),
            ["<shard", "share", "inserts", "queries", "updates", "deletes"],
            [.. shards.Select(shard => Row(
            [
                shard, operations.Share(shard) is { } share ? Units.Percent(share) : Units.None,
                .. ShardOperations.Metrics.Where(ShardOperations.IsOfClients).Select(metric => Count(operations.Count(shard, metric))),
            ]))]);
    }

    /// <summary>Null where no router tells.</summary>
    private static ReportTable? Asked(StoredRun run) => ShardsAsked.Of(run) is { Count: > 0 } all
        ? WithoutEmpty(Words.Of("Shards that operations asked, as the router counts them (an insert of many documents counts once)"),
            ["<command", "operations", .. MetricCatalogue.ShardsAsked.Select(static asked => asked.Title)],
            [.. all.Select(asked => Row([asked.Command, Units.Exact((long)asked.Operations),
                .. asked.Counts.Select(count => count > 0 ? Units.Percent(count / asked.Operations) : Units.None)]))])
        : null;

    /// <summary>Null where no router tells.</summary>
    private static ReportTable? Indexes(StoredRun run)
    {
        CollectionSharding[] used = [.. (run.Deployment?.Collections ?? []).Where(static one => one.Indexes.Count > 0)];
        string[] shards = [.. used.SelectMany(static one => one.Indexes).SelectMany(static index => index.Operations.Keys).Distinct()
            .Order(StringComparer.Ordinal)];
        return shards.Length < 2 ? null : new ReportTable(
            Words.Of("Operations that used an index, by shard (while the run lasted; an index that a shard lacks has none)"),
            [.. Distribution.HasSeveral(run) ? ["<collection"] : Array.Empty<string>(), "<index", .. shards],
            [.. used.SelectMany(one => one.Indexes.Select((index, i) => Row([
                .. Distribution.HasSeveral(run) ? [i == 0 ? one.Collection : ""] : Array.Empty<string>(), index.Index,
                .. shards.Select(shard => index.Operations.TryGetValue(shard, out long operations)
                    ? Units.Exact(operations) : Units.None)])))]);
    }

    /// <summary>Of each operation the last; null where no router explained.</summary>
    private static ReportTable? Plans(StoredRun run)
    {
        var last = run.Phases.SelectMany(static phase => phase.Operations.Where(static result => result.Plan is { ByShard.Count: > 1 })
            .Select(result => (Label: PhaseLabels.WithParameters(phase, result.Operation), result.Plan!.ByShard)))
            .GroupBy(static one => one.Label).Select(static same => same.Last()).ToList();
        return last.Count == 0 ? null : new ReportTable(
            Words.Of("Plans by shard (the last of each operation)"),
            ["<operation", "<shard", "<index", "<stages", "keys", "documents", "returned"],
            [.. last.SelectMany(static one => one.ByShard.Select((shard, i) => Row([i == 0 ? one.Label : "", shard.Shard,
                shard.Index ?? Units.None, shard.Stages, Units.Exact(shard.KeysExamined), Units.Exact(shard.DocumentsExamined),
                Units.Exact(shard.Returned)])))]);
    }

    /// <summary>What no shard tells is no column; the line about access says why.</summary>
    private static ReportTable WithoutEmpty(string title, string[] columns, IReadOnlyList<IReadOnlyList<string>> rows)
    {
        int[] kept = [.. Enumerable.Range(0, columns.Length).Where(column => rows.Any(row => row[column] != Units.None))];
        return new ReportTable(title, [.. kept.Select(column => columns[column])],
            [.. rows.Select(row => (IReadOnlyList<string>)[.. kept.Select(column => row[column])])]);
    }

    /// <summary>Null for a single size, which the other table shows.</summary>
    private static ReportTable? Growth(StoredRun run, ChunkMoves moves)
    {
        var sizes = run.GrowthSteps.SelectMany(static step =>
            step.Sizes.Where(static one => one.Shards.Count > 1).Select(one => (Step: step, Sizes: one))).ToList();
        if (sizes.Count < 2)
            return null;
        bool hasSeveral = sizes.Select(static one => one.Sizes.Collection).Distinct().Count() > 1;
        Dictionary<int, MoveSum> movesOf = run.Checkpoints.Zip(moves.Steps)
            .ToDictionary(static one => one.First.Phase, static one => one.Second);
        return ReportTables.Thinned(
            Words.Of("Shards as the collection grows (from even: the shard that is farthest off; migrations that began in the step)"),
            [.. hasSeveral ? ["<collection"] : Array.Empty<string>(), "documents", "chunks", "<fullest", "<emptiest", "from even",
                "max/min", "orphans", "migrations", "moved"],
            [.. sizes.Select(one => (IReadOnlyList<string>)[.. hasSeveral ? [one.Sizes.Collection ?? ""] : Array.Empty<string>(),
                .. GrowthRow(one.Sizes, MovesIn(one.Step))])]);

        MoveSum MovesIn(GrowthStep step) =>
            step.Phases.Select(phase => movesOf.GetValueOrDefault(phase.Number)).OfType<MoveSum>().FirstOrDefault(MoveSum.None);
    }

    private static IReadOnlyList<string> GrowthRow(SizeResult sizes, MoveSum moves)
    {
        Balance? balance = Balance.Of([.. sizes.Shards.Select(ShardHolding.Of)]);
        return
        [
            Units.Count(sizes.Documents), Units.Exact(sizes.Shards.Sum(static shard => shard.Chunks)),
            Named(balance?.Most), Named(balance?.Least), balance is null ? Units.None : Units.Percent(balance.Worst),
            balance?.MaxToMin is { } ratio ? Units.Significant(ratio) : Units.None,
            Count(CollectionStatistics.OrphansOf(sizes.Shards)),
            Units.Exact(moves.Done + moves.Failed + moves.Running), Units.Exact(moves.Documents),
        ];
    }

    /// <summary>"+3.2 %", "-100 %".</summary>
    private static string FromEven(double share) => (share > 0 ? "+" : "") + Units.Percent(share);

    private static string Count(long? count) => count is { } known ? Units.Exact(known) : Units.None;

    private static string Named(ShardHolding? shard) => shard is null ? Units.None : $"{shard.Shard} {Units.Exact(shard.Documents)}";

    /// <summary>Null when no chunk was moved.</summary>
    private static ReportTable? Migrations(ChunkMoves moves)
    {
        if (moves.All == MoveSum.None)
            return null;
        string others = moves.Splits + moves.Merges == 0 ? ""
            : Words.Of($" (and {Words.Counted(moves.Splits, "split")}, {Words.Counted(moves.Merges, "merge")})");
        return new ReportTable(
            Words.Of($"Chunk migrations{others}"),
            ["<from", "<to", "done", "failed", "documents", "data", "took", "longest"],
            [
                .. moves.Routes.Select(static one => MoveRow(one.Route.From, one.Route.To, one.Sum)),
                .. moves.Routes.Skip(1).Take(1).Select(_ => MoveRow(Words.Of("all"), "", moves.All)),
            ]);
    }

    private static IReadOnlyList<string> MoveRow(string from, string to, MoveSum sum) =>
    [
        from, to, Units.Exact(sum.Done), Units.Exact(sum.Failed), Units.Exact(sum.Documents), Units.Bytes(sum.Bytes),
        Units.Duration(sum.Seconds), Units.Duration(sum.LongestSeconds),
    ];

    /// <summary>Field by field as collStats prints it, a column for each shard.</summary>
    private static IEnumerable<ReportTable> AsCollStats(string ns, SizeResult sizes)
    {
        foreach (ShardSize[] shards in sizes.Shards.Chunk(ShardsPerTable))
        {
            CollectionStatistics[] columns =
            [
                CollectionStatistics.Of(sizes), .. shards.Select(shard => CollectionStatistics.Of(sizes, shard)),
            ];
            yield return new ReportTable(
                Words.Of($"collStats of {ns} (bytes; count without orphans, size with them)") + SizeAge.Of([sizes]),
                ["<field", .. columns.Select(static column => column.Title)],
                [.. columns[0].Fields.Select((field, i) => Row([field.Name, .. columns.Select(column => Text(column.Fields[i].Value))]))]);
        }
    }

    private static string Text(double? value) => value switch
    {
        null => Units.None,
        { } number when number == Math.Floor(number) => Units.Exact((long)number),
        { } number => number.ToString("N1", CultureInfo.InvariantCulture),
    };

    private static IReadOnlyList<string> Row(IReadOnlyList<string> fields) => fields;
}
