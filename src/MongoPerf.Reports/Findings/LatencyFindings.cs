using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>Latencies with two peaks, and percentiles of too few operations.</summary>
internal static class LatencyFindings
{
    /// <summary>
    /// The fewest operations for p99: with fewer, not even the slowest bounds the 99th percentile from above with 95 %: 0.99^299 = 0.05.
    /// </summary>
    public const long LeastForP99 = 300;
    private const int MostBlocks = 40;
    private const double LeastLeftOutMicroseconds = 100_000;
    private const double FullMachine = 0.9;

    /// <summary>More names hide what a sentence says.</summary>
    private const int MostNames = 3;

    private sealed record Bimodal(OperationSeries Series, TwoPeaks Peaks, double Share);

    public static IEnumerable<Finding> Find(RunSeries series) => FewSamples(series).Concat(TwoPeaked(series)).Concat(LeftOut(series));

    private static IEnumerable<Finding> FewSamples(RunSeries series)
    {
        var measured = series.Run.Phases.Where(phase => phase is { Kind: PhaseKind.Measure, IsComplete: true })
            .SelectMany(phase => phase.Operations.Where(static result => result is { Operations: > 0, Connections: null })
                .Select(result => (Label: PhaseLabels.Of(phase, result.Operation), result.Operations,
                    Full: PhaseLabels.WithParameters(phase, result.Operation))));
        var groups = measured.GroupBy(one => one.Label).Select(group => (group.Key, All: group.Count(),
            Few: group.Select(one => one.Operations).Where(operations => operations < LeastForP99).ToArray(),
            Full: group.Where(one => one.Operations < LeastForP99).Select(one => one.Full).Distinct()))
            .Where(group => group.Few.Length > 0).ToArray();
        if (groups.Length == 0)
            yield break;
        int all = groups.Sum(group => group.All);
        int few = groups.Sum(group => group.Few.Length);
        string least = Units.Exact(groups.Min(group => group.Few.Min()));
        string names = groups.Length > MostNames
            ? Words.Of($"{groups.Length} different operations") : Words.And([.. groups.Select(group => group.Key)]);
        yield return new Finding
        {
            Id = FindingIds.FewSamples,
            Text = all == 1 ? Words.Of($"{names}: too few operations for a reliable p99 (only {least})")
                : few == all && all == 2
                    ? Words.Of($"{names}: too few operations for a reliable p99 in both measurements (as few as {least})")
                : few == all ? Words.Of($"{names}: too few operations for a reliable p99 in all {all} measurements (as few as {least})")
                : Words.Of($"{names}: too few operations for a reliable p99 in {few} of {all} measurements (as few as {least})"),
            Operations = [.. groups.SelectMany(group => group.Full)],
            Evidence =
            [
                .. groups.Length > MostNames
                    ? [new FindingEvidence(null, Words.Of($"fewest operations: "
                        + $"{string.Join(", ", groups.Select(group => $"{group.Key} {Units.Exact(group.Few.Min())}"))}"))]
                    : (FindingEvidence[])[],
                new FindingEvidence(
                    null, Words.Of($"from {LeastForP99} operations on, the slowest operation bounds p99 from above with 95 % confidence")),
            ],
            Refute = Words.Of("measure longer: if p99 stays the same, the few operations were enough"),
            Weight = 0.01,
        };
    }

    /// <summary>
    /// Samples that are worse than the result admits. Runs of earlier versions counted operations where they began, so those across the end
    /// of a warm-up are in no result.
    /// </summary>
    private static IEnumerable<Finding> LeftOut(RunSeries series)
    {
        (OperationSeries Series, SeriesSecond Worst)[] hidden =
        [
            .. series.Operations.Select(one =>
                (one, Worst: one.Seconds.Where(second => double.IsFinite(second.Max)).DefaultIfEmpty().MaxBy(second => second.Max)))
                .Where(one => one.Worst.Max >= LeastLeftOutMicroseconds && one.Worst.Max > (one.one.Result.ReportedMicroseconds.Max ?? 0)),
        ];
        if (hidden.Length == 0)
            yield break;
        (OperationSeries lead, SeriesSecond worst) = hidden.MaxBy(one => one.Worst.Max);
        string more = hidden.Length == 1 ? "" : Words.Of($", and less in {Words.Counted(hidden.Length - 1, "other")}");
        yield return new Finding
        {
            Id = FindingIds.InFlight,
            Text = Words.Of($"{lead.Label} took up to {Units.Latency(worst.Max)} at {Units.Count(worst.Documents)} documents{more}, "
                + $"which its result leaves out: the operation was in flight when the warm-up ended"),
            Operations = [.. hidden.Select(one => one.Series.Label).Distinct()],
            Range = series.Range(worst.Window, worst.Documents),
            Evidence = [new FindingEvidence(
                "timeline", Words.Of($"the slowest operation in the result took {Units.Latency(lead.Result.ReportedMicroseconds.Max)}"))],
            Refute = Words.Of(VerdictFinding.InFlight.Refute),
            Weight = Math.Min(10, worst.Max / 1e6),
        };
    }

    private static IEnumerable<Finding> TwoPeaked(RunSeries series)
    {
        var operations = series.Operations.ToDictionary(one => (one.Phase.Number, one.Result.Operation));
        List<Bimodal> found = [];
        foreach (StoredHistogram stored in series.Run.ReadHistograms().Where(stored => !stored.IsWarmup))
        {
            if (operations.TryGetValue((stored.Phase, stored.Operation), out OperationSeries? one) && Decode([stored.Reported]) is { } whole
                && TwoPeaks.Find(whole) is { } peaks && !IsBeforeAnswer(one, peaks))
                found.Add(new Bimodal(one, peaks, 0));
        }

        Bimodal[] lasting = found.Count == 0 ? [] : [.. Lasting(series, found)];
        if (lasting.Length > 0)
            yield return Make(series, lasting.MaxBy(one => one.Peaks.Ratio)!,
                [.. lasting.Select(one => one.Series.Label).Distinct()]);
    }

    /// <summary>Events that came before the acknowledgement of their write have no delay: that is no peak of it.</summary>
    private static bool IsBeforeAnswer(OperationSeries one, TwoPeaks peaks) => one.Result.Changes is not null && peaks.Fast < 1;

    /// <summary>Those whose parts have both peaks too: a phase that was slow for a while has each of them at another time.</summary>
    private static IEnumerable<Bimodal> Lasting(RunSeries series, List<Bimodal> found)
    {
        var wanted = found.ToDictionary(one => (one.Series.Phase.Number, one.Series.Result.Operation));
        var blocks = new Dictionary<(int, string), LatencyHistogram[]>();
        foreach (Sample sample in series.Run.ReadSamples(withHistograms: true))
        {
            (int, string) key = (sample.Phase, sample.Operation);
            if (sample.IsWarmup || sample.ReportedHistogram.IsEmpty || !wanted.TryGetValue(key, out Bimodal? one))
                continue;
            if (!blocks.TryGetValue(key, out LatencyHistogram[]? parts))
                blocks[key] = parts = [.. Enumerable.Range(0, Math.Min(MostBlocks, one.Series.Seconds.Count))
                    .Select(_ => new LatencyHistogram())];
            double place =
                (sample.AtMilliseconds - one.Series.Window.From) / (double)Math.Max(1, one.Series.Window.To - one.Series.Window.From);
            DecodeInto(parts[Math.Clamp((int)(place * parts.Length), 0, parts.Length - 1)], sample.ReportedHistogram);
        }

        foreach ((var key, LatencyHistogram[] parts) in blocks)
        {
            Bimodal one = wanted[key];
            LatencyHistogram[] measured = [.. parts.Where(part => part.TotalCount > 0)];
            double share = measured.Length == 0 ? 0 : measured.Count(one.Peaks.IsIn) / (double)measured.Length;
            if (share >= 0.8)
                yield return one with { Share = share };
        }
    }

    /// <summary>Share of the client's machine, by anybody.</summary>
    private static double Busy(RunSeries series, TimeWindow window)
    {
        HostSecond[] seconds =
            [.. series.HostSeconds.Where(second => window.From <= second.MiddleMilliseconds && second.MiddleMilliseconds <= window.To)];
        return seconds.Length == 0 ? 0 : 1 - (seconds.Sum(second => second.Idle) / seconds.Sum(second => second.Total));
    }

    private static LatencyHistogram? Decode(IEnumerable<ReadOnlyMemory<byte>> encoded)
    {
        var histogram = new LatencyHistogram();
        return encoded.All(one => DecodeInto(histogram, one)) && histogram.TotalCount > 0 ? histogram : null;
    }

    private static bool DecodeInto(LatencyHistogram histogram, ReadOnlyMemory<byte> encoded)
    {
        try
        {
            if (!encoded.IsEmpty)
                HistogramEncoding.DecodeInto(histogram, encoded.Span);
            return !encoded.IsEmpty;
        }
        catch (HistogramFormatException)
        {
            return false;
        }
    }

    private static Finding Make(RunSeries series, Bimodal lead, string[] operations)
    {
        TwoPeaks peaks = lead.Peaks;
        string name = lead.Series.Label;
        string[] others = [.. operations.Where(label => label != name)];
        // A client that looks for a server that is away keeps its machine busy, and what is not awaited does not wait for a CPU.
        double busy = series.Interruptions.Explain(lead.Series.Window) || lead.Series.Result.Changes is not null
            ? 0 : Busy(series, lead.Series.Window);
        return new Finding
        {
            Id = FindingIds.TwoPeaks,
            Text = Words.Of($"{name}'s latency has two peaks: {Units.Percent(1 - peaks.SlowShare)} of the operations near "
                + $"{Units.Latency(peaks.Fast)}, {Units.Percent(peaks.SlowShare)} near {Units.Latency(peaks.Slow)}")
                + (others.Length == 0 ? "" : Words.Of($"; the same holds for {Words.And(others)}")),
            Operations = [name, .. others],
            Cause = busy >= FullMachine
                ? Words.Of($"the client's machine was {Units.Percent(busy)} busy, so operations waited for a CPU")
                : null,
            IsCoincidence = true,
            Range = series.Range(lead.Series.Window, lead.Series.Seconds[0].Documents, lead.Series.Seconds[^1].Documents),
            Evidence = [new FindingEvidence(null,
                Words.Of($"between the peaks, at {Units.Latency(peaks.Valley)}, there are {Units.Percent(peaks.Depth)} fewer operations "
                    + $"than at the lower peak; {Units.Percent(lead.Share)} of the phase's parts show both peaks"))],
            Refute = busy >= FullMachine
                ? Words.Of("run with one thread for each free core: if both peaks remain, waiting for a CPU is not the cause")
                : Words.Of(
                    "run each kind of key or document as an operation of its own: if each still has two peaks, the mix is not the cause"),
            Weight = 0.05 * Math.Log(peaks.Ratio),
        };
    }
}
