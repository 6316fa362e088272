using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>A growth of a run: its sizes, and its operations as they are followed from size to size.</summary>
public sealed class GrowthFigures
{
    private GrowthFigures(string name, IReadOnlyList<GrowthStep> steps)
    {
        Name = name;
        Steps = steps;
        Lines =
        [
            .. steps.SelectMany((step, i) => step.Phases
                .SelectMany(record => record.Operations.Concat(record.Totals).Select(result => (Step: i, Record: record, Result: result))))
                .GroupBy(one => (
                    one.Record.Phase, one.Result.Operation, one.Result.Threads,
                    Parameters: PhaseLabels.Parameters(one.Record.Parameters.Where(p => p.Name != PhaseLabels.Threads))))
                .Select(line =>
                    LineOf(line.First().Record, line.Key.Operation, line.Key.Parameters, [.. line.Select(one => (one.Step, one.Result))])),
        ];
        Labels = [.. Lines.Select(line => line.Label).Distinct()];
    }

    /// <summary>The growths in the order of the plan; empty when nothing grew.</summary>
    public static IReadOnlyList<GrowthFigures> Of(StoredRun run) =>
        [.. run.GrowthSteps.GroupBy(step => step.Growth).Select(growth => new GrowthFigures(growth.Key, [.. growth]))];

    public string Name { get; }

    public IReadOnlyList<GrowthStep> Steps { get; }

    /// <summary>The lines in the order of the plan.</summary>
    public IReadOnlyList<GrowthLine> Lines { get; }

    /// <summary>The labels of the lines, each once: lines that differ in threads or parameters share one.</summary>
    public IReadOnlyList<string> Labels { get; }

    public IReadOnlyList<GrowthLine> Inserts => [.. Lines.Where(line => line.IsInsert)];

    /// <summary>All that are no inserts.</summary>
    public IReadOnlyList<GrowthLine> Queries => [.. Lines.Where(line => !line.IsInsert)];

    /// <summary>Ends the axis of every chart over documents.</summary>
    public double LargestDocuments => Steps.Max(step => (double)step.Documents);

    /// <summary>Sizes of all its collections together at each size where they were taken.</summary>
    public IReadOnlyList<(long Documents, SizeResult Sizes)> Sizes =>
        [.. Steps.Where(step => step.Sizes.Count > 0).Select(step => (step.Documents, Sum(step.Sizes)))];

    /// <summary>The growth as if it had ended after so many sizes.</summary>
    public GrowthFigures First(int steps) => new(Name, [.. Steps.Take(steps)]);

    /// <summary>A line's label, with parameters and threads where others have the same one.</summary>
    public string NameOf(GrowthLine line) => Lines.Count(other => other.Label == line.Label) > 1
        ? $"{line.Label} ({(line.Parameters.Length > 0 ? line.Parameters + ", " : "")}{Words.Counted(line.Threads, "thread")})"
        : line.Label;

    private static GrowthLine LineOf(
        PhaseRecord record, string operation, string parameters, IReadOnlyList<(int Step, OperationResult Result)> results) =>
        new(PhaseLabels.Of(record, operation), record.Description, parameters, results[0].Result.Threads, results[0].Result.IsInsert,
            results.GroupBy(one => one.Step).ToDictionary(step => step.Key, step => step.Last().Result))
        {
            FullLabel = PhaseLabels.WithParameters(record, operation), IsTotal = results[0].Result.IsTotal,
            IsIndependent = record.Independent.Contains(results[0].Result),
        };

    private static SizeResult Sum(IReadOnlyList<SizeResult> sizes) => sizes.Count == 1 ? sizes[0] : sizes[0] with
    {
        Collection = null,
        Documents = sizes.Sum(s => s.Documents),
        DataBytes = sizes.Sum(s => s.DataBytes),
        StorageBytes = sizes.Sum(s => s.StorageBytes),
        FreeStorageBytes = sizes.Sum(s => s.FreeStorageBytes),
        IndexBytes = sizes.Sum(s => s.IndexBytes),
        // Both names may have dots: two indexes may come to one.
        Indexes = sizes.SelectMany(s => s.Indexes.Select(index => (Name: $"{s.Collection}.{index.Key}", index.Value)))
            .GroupBy(index => index.Name).ToDictionary(index => index.Key, index => index.Sum(one => one.Value)),
        // Of the whole server, so each collection has the same.
        DiskBytes = sizes.Max(s => s.DiskBytes),
        JournalBytes = sizes.MaxBy(s => s.DiskBytes)!.JournalBytes,
    };
}

/// <summary>An operation of a growth with one number of threads and one value of each parameter: a line of a chart.</summary>
/// <param name="Label">The label, such as "q4", or "mix read" for a phase with several operations.</param>
/// <param name="Description">The description of the phase, as the plan has it; may be empty.</param>
/// <param name="Parameters">Those with several values but for threads, such as "limit=10"; empty for none.</param>
/// <param name="Threads">The threads of its group.</param>
/// <param name="IsInsert">Its rate is that of documents.</param>
/// <param name="Results">The results by the place of the size among the growth's, 0-based.</param>
public sealed record GrowthLine(
    string Label, string Description, string Parameters, int Threads, bool IsInsert, IReadOnlyDictionary<int, OperationResult> Results)
{
    /// <inheritdoc cref="PhaseLabels.WithParameters"/>
    public required string FullLabel { get; init; }

    /// <summary>It is the sum of several others.</summary>
    public bool IsTotal { get; init; }

    /// <summary>Its rate says something by itself: it follows neither from a mix's by weight nor from those of several groups.</summary>
    public bool IsIndependent { get; init; }

    /// <summary>Documents per second of inserts, operations per second of anything else.</summary>
    public double? RateAt(int step) =>
        Results.GetValueOrDefault(step) is not { } result ? null : IsInsert ? result.DocumentsPerSecond : result.OperationsPerSecond;

    public bool IsUnacknowledged => Results.Values.Any(result => result.Unacknowledged is not null);

    /// <summary>Documents per command.</summary>
    public int Batch => Results.Values.First().Batch;
}
