using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Running.Merging;

/// <summary>Makes one record of what several clients stored of a phase.</summary>
/// <param name="clients">Their names, in order.</param>
internal sealed class PhaseMerger(IReadOnlyList<string> clients)
{
    /// <param name="records">The records by client; null for a client that did not come to the phase.</param>
    /// <param name="histograms">Of the measured part, by operation, of all clients together.</param>
    public PhaseRecord Merge(IReadOnlyList<PhaseRecord?> records, IReadOnlyDictionary<string, StoredHistogram> histograms)
    {
        PhaseRecord[] all = [.. records.OfType<PhaseRecord>()];
        // One of them looks for all: what it misses, the others take to be there.
        PhaseRecord most = all.MaxBy(record => (record.Missing, record.Documents))!;
        OperationResult[] results = [.. all.SelectMany(record => record.Operations)
            .Select(result => result.Operation).Distinct().Select(operation => Merge(operation, records, histograms))];
        JointLatency? Joint(Func<OperationResult, bool> isOf) =>
            JointLatency.Of([.. results.Where(isOf).Select(result => LatencyOf(result, histograms))]);
        return most with
        {
            Rate = most.Rate is null ? null : all.Sum(record => record.Rate),
            Groups = [.. all.SelectMany(record => record.Groups.Index())
                .GroupBy(group => (group.Index, group.Item.Name)).OrderBy(group => group.Key.Index)
                .Select(group => Merge([.. group.Select(g => g.Item)]))
                .Select(group => group with { Joint = Joint(result => group.Mix.Contains(result.Operation)) })],
            Joint = all.Any(record => record.Groups.Count > 1) ? Joint(result => result.IsDone) : null,
            NextNumbers = all.SelectMany(record => record.NextNumbers)
                .GroupBy(next => next.Key).ToDictionary(next => next.Key, next => next.Max(one => one.Value)),
            IsComplete = all.Length == records.Count && all.All(record => record.IsComplete),
            Operations = results,
            Sizes = all.Select(record => record.Sizes).FirstOrDefault(sizes => sizes.Count > 0) ?? [],
        };
    }

    private static GroupShare Merge(GroupShare[] groups)
    {
        int threads = groups.Sum(group => group.Threads);
        double mean = (double)groups.Sum(group => group.Operations) / Math.Max(1, threads);
        // The sum of squares about the common mean, from those about each client's own.
        double squares = groups.Sum(group => (group.Deviation * group.Deviation * Math.Max(0, group.Threads - 1))
            + (group.Threads * (group.Mean - mean) * (group.Mean - mean)));
        return new GroupShare(
            groups[0].Name, threads, groups.Max(group => group.Seconds), groups.Sum(group => group.Operations),
            groups.Min(group => group.Least), groups.Max(group => group.Most),
            Math.Sqrt(squares / Math.Max(1, threads - 1)), groups.Aggregate(Accounting.None, (sum, group) => sum.Plus(group.Accounting)))
        {
            Waiting = groups.Any(group => group.Waiting is not null)
                ? new ClientWaiting(groups.Sum(group => group.Waiting?.Arrivals ?? 0), groups.Max(group => group.Waiting?.Seconds ?? 0))
                : null,
            OversleptSeconds = groups.Any(group => group.OversleptSeconds is not null)
                ? groups.Sum(group => group.OversleptSeconds ?? 0) : null,
            Traffic = Sum([.. groups.Select(group => group.Traffic).OfType<GroupTraffic>()]),
            Mix = [.. groups.SelectMany(group => group.Mix).Distinct()],
        };
    }

    private static GroupTraffic? Sum(GroupTraffic[] all) => all.Length == 0
        ? null
        : new GroupTraffic(all.Sum(one => one.DocumentBytes), all.Sum(one => one.MessageBytesSent), all.Sum(one => one.WireBytesSent),
            all.Sum(one => one.MessageBytesReceived), all.Sum(one => one.WireBytesReceived)) { Compressor = all[0].Compressor };

    private static OperationLatency LatencyOf(OperationResult result, IReadOnlyDictionary<string, StoredHistogram> histograms)
    {
        StoredHistogram? whole = histograms.GetValueOrDefault(result.Operation);
        return new OperationLatency(
            result.IsUnacknowledged,
            Decoded(whole?.Encoded ?? default),
            result.HasRate ? Decoded(whole?.Response ?? default) : null,
            result.HasRate ? Decoded(whole?.Lateness ?? default) : null);
    }

    private static LatencyHistogram Decoded(ReadOnlyMemory<byte> encoded) =>
        encoded.IsEmpty ? new LatencyHistogram() : HistogramEncoding.Decode(encoded.Span);

    private OperationResult Merge(
        string operation, IReadOnlyList<PhaseRecord?> records, IReadOnlyDictionary<string, StoredHistogram> histograms)
    {
        (string Client, OperationResult Result)[] parts =
        [
            .. records.Zip(clients).SelectMany(pair =>
                (pair.First?.Operations ?? []).Where(result => result.Operation == operation).Select(result => (pair.Second, result))),
        ];
        OperationResult[] all = [.. parts.Select(part => part.Result)];
        StoredHistogram? whole = histograms.GetValueOrDefault(operation);
        double seconds = all.Max(result => result.Seconds);
        long operations = all.Sum(result => result.Operations);
        bool hasRate = all[0].HasRate;
        return all[0] with
        {
            Threads = all.Sum(result => result.Threads),
            Operations = operations,
            Documents = all.Sum(result => result.Documents),
            Failed = all.Sum(result => result.Failed),
            ShortReplies = all.Sum(result => result.ShortReplies),
            Effect = EffectResult.Sum(all.Select(result => result.Effect)),
            InFlightAtStart = OperationsInFlight.Sum(all.Select(result => result.InFlightAtStart)),
            InFlightAtEnd = OperationsInFlight.Sum(all.Select(result => result.InFlightAtEnd)),
            WarmupSeconds = all.Max(result => result.WarmupSeconds),
            Seconds = seconds,
            Unacknowledged = Sum([.. all.Select(result => result.Unacknowledged).OfType<UnacknowledgedResult>()]),
            // Of each by its own window: one that was done earlier counts over the whole.
            OperationsPerSecond = Over(seconds, result => result.OperationsPerSecond),
            DocumentsPerSecond = Over(seconds, result => result.DocumentsPerSecond),
            MegabytesPerSecond = Over(seconds, result => result.MegabytesPerSecond),
            ClientCpuMicrosecondsPerOperation = Mean(result => result.ClientCpuMicrosecondsPerOperation),
            ClientCpuCores = Over(seconds, result => result.ClientCpuCores),
            ClientAllocatedBytesPerOperation = all.All(result => result.ClientAllocatedBytesPerOperation is not null)
                ? Mean(result => result.ClientAllocatedBytesPerOperation!.Value)
                : null,
            LatencyMicroseconds = Summary(whole?.Encoded ?? default),
            ResponseMicroseconds = hasRate ? Summary(whole?.Response ?? default) : null,
            LatenessMicroseconds = hasRate ? Summary(whole?.Lateness ?? default) : null,
            // It is no histogram, so that of the client which was latest stands for all.
            ClientLatenessMicroseconds = all.Select(result => result.ClientLatenessMicroseconds).MaxBy(lateness => lateness?.P99 ?? -1),
            Plan = all.Select(result => result.Plan).FirstOrDefault(plan => plan is not null),
            Repaired = all.Sum(result => result.Repaired),
            Verified = all.Sum(result => result.Verified),
            Wrong = all.Sum(result => result.Wrong),
            Accounting = all.Aggregate(Accounting.None, (sum, result) => sum.Plus(result.Accounting)),
            Members = [.. all.SelectMany(result => result.Members).GroupBy(share => share.Member)
                .Select(own => new MemberShare(own.Key, own.Sum(share => share.Operations))).OrderByDescending(share => share.Operations)],
            Steps = [.. all[0].Steps.Select(step => step with
            {
                Operations = all.Sum(result => StepOf(result, step)?.Operations ?? 0),
                Failed = all.Sum(result => StepOf(result, step)?.Failed ?? 0),
                Effect = EffectResult.Sum(all.Select(result => StepOf(result, step)?.Effect)),
                LatencyMicroseconds = SummaryOf(StepResult.KeyOf(operation, step.Step)),
            })],
            Transactions = TransactionResult.Sum(all.Select(result => result.Transactions)),
            Changes = ChangeResult.Sum(all.Select(result => result.Changes)),
            Connections = ConnectionResult.Sum(all.Select(result => result.Connections)),
            Replay = ReplayResult.Sum(all.Select(result => result.Replay), SummaryOf(ReplayResult.KeyOf(operation))),
            Errors = ErrorTally.Merge(all.Select(result => result.Errors)),
            Clients = [.. parts.Select(part => new ClientResult(part.Client,
                part.Result.Operations, part.Result.IsInsert ? part.Result.DocumentsPerSecond : part.Result.OperationsPerSecond,
                part.Result.ReportedMicroseconds.P99, part.Result.Threads, part.Result.ClientCpuCores))],
        };

        static StepResult? StepOf(OperationResult result, StepResult step) => result.Steps.FirstOrDefault(one => one.Step == step.Step);

        LatencySummary SummaryOf(string key) => Summary(histograms.GetValueOrDefault(key)?.Encoded ?? default);

        double Over(double window, Func<OperationResult, double> rate) =>
            window <= 0 ? 0 : all.Sum(result => rate(result) * result.Seconds) / window;

        double Mean(Func<OperationResult, double> of) =>
            operations == 0 ? 0 : all.Sum(result => of(result) * result.Operations) / operations;
    }

    private static UnacknowledgedResult? Sum(UnacknowledgedResult[] all) => all.Length == 0
        ? null
        : new UnacknowledgedResult(all.Sum(one => one.Sent), all.Sum(one => one.Arrived), all.Sum(one => one.Lost),
            all.Max(one => one.DrainSeconds));

    private static LatencySummary Summary(ReadOnlyMemory<byte> encoded) =>
        encoded.IsEmpty ? LatencySummary.None : LatencySummaries.From(HistogramEncoding.Decode(encoded.Span));
}
