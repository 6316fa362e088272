using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>The tables of growths: one of each operation, a row for each size, and one of the sizes of each collection.</summary>
internal static class GrowthTables
{
    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        IReadOnlyList<GrowthFigures> growths = GrowthFigures.Of(run);
        foreach (GrowthFigures growth in growths)
        {
            string of = growths.Count == 1 ? "" : $"{growth.Name}, ";
            foreach (IGrouping<string, GrowthLine> lines in growth.Lines.GroupBy(line => line.Label))
                yield return OfOperation(of + TitleOf([.. lines]), growth, [.. lines]);
            foreach (ReportTable sizes in Sizes(growth, of))
                yield return sizes;
        }
    }

    /// <summary>All operations of a growth beside each other, a row for each size.</summary>
    public static ReportTable Rates(StoredRun run, GrowthFigures growth)
    {
        IReadOnlyList<GrowthLine> lines = growth.Lines;
        var rows = growth.Steps.Select((step, i) => (IReadOnlyList<string>)
            [
                Units.Count(step.Documents) + (IsComplete(run, step) ? "" : Words.Of(" (incomplete)")),
                .. lines.Select(line => Units.Rate(line.RateAt(i))),
            ]).ToList();
        return ReportTables.Thinned(
            Words.Of($"Rates as {growth.Name} grows: documents/s for inserts, operations/s for everything else"),
            ["documents", .. lines.Select(line => NameOf(line, lines))], rows);
    }

    /// <summary>What the plan says of the operation, and what a reader of its figures must know.</summary>
    private static string TitleOf(IReadOnlyList<GrowthLine> lines)
    {
        GrowthLine line = lines[0];
        string[] parts = line switch
        {
            { IsUnacknowledged: true } =>
            [
                line.Description.OrElse(Words.Of("unacknowledged inserts")),
                Words.Of("rates are of documents that arrived, latency is the time to send"),
            ],
            { IsInsert: true, Batch: > 1 } =>
            [
                line.Description.OrElse(Words.Of("inserts")),
                Words.Of($"{Units.Exact(line.Batch)} per command, latency is that of a whole command"),
            ],
            { IsInsert: true } => [line.Description.OrElse(Words.Of("inserts, one per command"))],
            _ => [line.Description, HasOneThreadCount(lines) ? Words.Counted(line.Threads, "thread") : ""],
        };
        string text = string.Join("; ", parts.Where(part => part.Length > 0));
        return text.Length == 0 ? line.Label : $"{line.Label}: {text}";
    }

    private static string OrElse(this string description, string otherwise) => description.Length > 0 ? description : otherwise;

    private static bool HasOneThreadCount(IReadOnlyList<GrowthLine> lines) => lines.All(line => line.Threads == lines[0].Threads);

    private static string NameOf(GrowthLine line, IReadOnlyList<GrowthLine> all)
    {
        GrowthLine[] alike = [.. all.Where(other => other.Label == line.Label)];
        string threads = alike.Select(other => other.Threads).Distinct().Count() > 1 ? $" ×{line.Threads}" : "";
        return $"{line.Label}{(line.Parameters.Length > 0 ? $" {line.Parameters}" : "")}{threads}";
    }

    private static bool IsComplete(StoredRun run, GrowthStep step) =>
        run.Checkpoints.Any(checkpoint => step.Phases.Any(phase => phase.Number == checkpoint.Phase));

    private static ReportTable OfOperation(string title, GrowthFigures growth, IReadOnlyList<GrowthLine> lines)
    {
        bool hasParameters = lines.Any(line => line.Parameters.Length > 0);
        bool hasThreads = !HasOneThreadCount(lines);
        var columns = new ResultColumns([.. lines.SelectMany(line => line.Results.Values)]);
        var rows = new List<IReadOnlyList<string>>();
        for (int step = 0; step < growth.Steps.Count; step++)
        {
            foreach (GrowthLine line in lines.Where(line => line.Results.ContainsKey(step)))
            {
                rows.Add(
                [
                    Units.Count(growth.Steps[step].Documents), .. When(hasParameters, line.Parameters),
                    .. When(hasThreads, $"{line.Threads}"), .. columns.Of(line.Results[step]),
                ]);
            }
        }

        return ReportTables.Thinned(
            title, ["documents", .. When(hasParameters, "<parameters"), .. When(hasThreads, "threads"), .. columns.Names], rows);
    }

    private static string[] When(bool condition, string field) => condition ? [field] : [];

    /// <summary>None when no sizes were taken.</summary>
    private static IEnumerable<ReportTable> Sizes(GrowthFigures growth, string of)
    {
        var collections = growth.Steps.SelectMany(step => step.Sizes).GroupBy(sizes => sizes.Collection).ToList();
        foreach (IGrouping<string?, SizeResult> collection in collections)
        {
            string[] indexes = [.. collection.SelectMany(sizes => sizes.Indexes.Keys).Distinct()];
            List<IReadOnlyList<string>> rows =
            [
                .. collection.Select(sizes => (IReadOnlyList<string>)
                [
                    Units.Count(sizes.Documents), Units.Bytes(sizes.DataBytes), Units.Bytes(sizes.StorageBytes),
                    Units.Bytes(sizes.IndexBytes),
                    .. indexes.Select(name => sizes.Indexes.TryGetValue(name, out long bytes) ? Units.Bytes(bytes) : Units.None),
                    Units.Bytes(sizes.DiskBytes),
                ]),
            ];
            string name = collections.Count == 1 ? "" : Words.Of($" of {collection.Key}");
            yield return ReportTables.Thinned(Words.Of($"{of}size{name}: data, indexes and disk") + SizeAge.Of(collection),
                ["documents", "data", "storage", "indexes", .. indexes, "disk"], rows);
        }
    }
}
