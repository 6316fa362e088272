namespace MongoPerf.Storage;

/// <summary>
/// Operations that one group chooses among by their weights: their rates rise and fall together, so only the total's says
/// something by itself.
/// </summary>
/// <param name="Total">All of them together.</param>
/// <param name="Operations">Two at least.</param>
public sealed record OperationMix(OperationResult Total, IReadOnlyList<OperationResult> Operations);

/// <summary>Adds up a phase's operations.</summary>
internal static class PhaseTotals
{
    /// <param name="record">The record with its operations.</param>
    public static PhaseRecord AddTo(PhaseRecord record)
    {
        OperationResult[] counted = [.. record.Done];
        if (counted.Length < 2)
            return record;
        OperationMix[] mixes = record.Groups.Count > 1 ? [.. record.Groups.Select(group => MixOf(record, group)).OfType<OperationMix>()]
            : [new OperationMix(
                Sum(OperationResult.TotalName, counted, ThreadsOf(record), record.Groups is [var only] ? only.Joint : null),
                counted)];
        return record with
        {
            Mixes = mixes,
            Total = record.Groups.Count > 1 ? TotalOf(record, mixes) : mixes[0].Total,
        };
    }

    private static OperationResult TotalOf(PhaseRecord record, OperationMix[] mixes)
    {
        OperationResult[] groups =
        [
            .. mixes.Select(mix => mix.Total), .. record.Done.Where(result => !mixes.Any(mix => mix.Operations.Contains(result))),
        ];
        OperationResult sum = Sum(OperationResult.TotalName, [.. record.Done], ThreadsOf(record), record.Joint);
        // Each group counts the bytes of the whole process, as with its CPU time.
        return sum with { ClientAllocatedBytesPerOperation = PerOperation(
            sum.Operations, groups.Max(group => group.ClientAllocatedBytesPerOperation * group.Operations)) };
    }

    private static double? PerOperation(long operations, double? all) => operations == 0 ? all * 0 : all / operations;

    private static int ThreadsOf(PhaseRecord record) => record.Groups.Count > 0
        ? record.Groups.Sum(group => group.Threads)
            - record.Operations.Where(result => result.Changes is not null).Sum(result => result.Threads)
        : record.Operations.Max(result => result.Threads);

    /// <returns>Null where it has one operation; runs of older versions did not store which.</returns>
    private static OperationMix? MixOf(PhaseRecord record, GroupShare group)
    {
        OperationResult[] own = [.. record.Operations.Where(result => group.Mix.Contains(result.Operation))];
        return own.Length < 2 ? null : new OperationMix(Sum(OperationResult.TotalOf(group.Name), own, group.Threads, group.Joint), own);
    }

    private static OperationResult Sum(string name, OperationResult[] parts, int threads, JointLatency? joint) => new()
    {
        Operation = name,
        IsTotal = true,
        IsInsert = parts.All(part => part.IsInsert),
        IsUnacknowledged = parts.All(part => part.IsUnacknowledged),
        Threads = threads,
        Batch = parts.Select(part => part.Batch).Distinct().Count() == 1 ? parts[0].Batch : 1,
        Operations = parts.Sum(part => part.Operations),
        Documents = parts.Sum(part => part.Documents),
        Failed = parts.Sum(part => part.Failed),
        ShortReplies = parts.Sum(part => part.ShortReplies),
        InFlightAtStart = OperationsInFlight.Sum(parts.Select(part => part.InFlightAtStart)),
        InFlightAtEnd = OperationsInFlight.Sum(parts.Select(part => part.InFlightAtEnd)),
        WarmupSeconds = parts.Max(part => part.WarmupSeconds),
        Seconds = parts.Max(part => part.Seconds),
        OperationsPerSecond = parts.Sum(part => part.OperationsPerSecond),
        DocumentsPerSecond = parts.Sum(part => part.DocumentsPerSecond),
        MegabytesPerSecond = parts.Sum(part => part.MegabytesPerSecond),
        // Of the whole process, which each of them counts, over the operations of all.
        ClientCpuMicrosecondsPerOperation =
            parts.Sum(part => part.Operations) is > 0 and var all ? parts.Max(part => part.ClientCpuCores * part.Seconds) * 1e6 / all : 0,
        ClientCpuCores = parts.Max(part => part.ClientCpuCores),
        ClientAllocatedBytesPerOperation = parts.Any(part => part.ClientAllocatedBytesPerOperation is null) ? null
            : PerOperation(parts.Sum(part => part.Operations), parts.Sum(part => part.ClientAllocatedBytesPerOperation * part.Operations)),
        LatencyMicroseconds = joint?.Service ?? LatencySummary.None,
        ResponseMicroseconds = joint?.Response ?? (parts.All(part => part.HasRate) ? LatencySummary.None : null),
        LatenessMicroseconds = joint?.Lateness,
        Repaired = parts.Sum(part => part.Repaired),
        Verified = parts.Sum(part => part.Verified),
        Wrong = parts.Sum(part => part.Wrong),
        Accounting = parts.Aggregate(Accounting.None, (sum, part) => sum.Plus(part.Accounting)),
    };
}
