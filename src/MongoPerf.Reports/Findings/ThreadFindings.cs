using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>Rates that peak at some number of threads and fall beyond it.</summary>
internal static class ThreadFindings
{
    private const double Least = 0.1;
    private const int LeastSteps = 3;
    private const int LeastSeconds = 3;

    /// <summary>An operation with so many threads, at each size at which it was measured.</summary>
    private sealed record Step(int Threads, IReadOnlyDictionary<long, OperationSeries> Sizes)
    {
        /// <summary>The geometric mean over the sizes.</summary>
        public double Rate => Math.Exp(Sizes.Values.Average(one => Math.Log(Math.Max(1e-3, one.Seconds.Average(second => second.Rate)))));
    }

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        var sweeps = series.Independent.Where(one => one.Seconds.Count >= LeastSeconds && one.Phase.Rate is null)
            .GroupBy(one => (one.Phase.Growth?.Growth, one.Phase.Phase, one.Result.Operation, one.ParametersButThreads))
            .Select(sweep => sweep.GroupBy(one => one.Result.Threads).OrderBy(step => step.Key).Select(StepOf).ToArray())
            .Where(steps => steps.Length >= LeastSteps && steps.All(step => step.Sizes.Keys.SequenceEqual(steps[0].Sizes.Keys))).ToArray();
        foreach (Step[] steps in sweeps)
        {
            Step peak = steps.MaxBy(step => step.Rate)!;
            Step last = steps[^1];
            SamplePair[] pairs = [.. peak.Sizes.Keys.Select(size => new SamplePair(Rates(peak, size), Rates(last, size)))];
            // The peak was chosen among the steps.
            if (last.Rate <= (1 - Least) * peak.Rate && MannWhitney.PValue(pairs) < level / sweeps.Length / steps.Length)
                yield return Make(series, steps, peak, pairs);
        }
    }

    private static Step StepOf(IGrouping<int, OperationSeries> step) =>
        new(step.Key, step.GroupBy(one => one.Phase.Growth?.Documents ?? 0)
            .OrderBy(size => size.Key).ToDictionary(size => size.Key, size => size.Last()));

    private static double[] Rates(Step step, long size) =>
        Quantiles.Joined([.. step.Sizes[size].Seconds.Select(second => Math.Max(1e-3, second.Rate))], 500);

    private static Finding Make(RunSeries series, Step[] steps, Step peak, SamplePair[] pairs)
    {
        Step last = steps[^1];
        OperationSeries one = last.Sizes.Values.First();
        TimeWindow[] before = [.. peak.Sizes.Values.Select(at => at.Window)];
        TimeWindow[] after = [.. last.Sizes.Values.Select(at => at.Window)];
        SeriesSecond[] peaked = [.. peak.Sizes.Values.SelectMany(at => at.Seconds)];
        SeriesSecond[] declined = [.. last.Sizes.Values.SelectMany(at => at.Seconds)];
        IReadOnlyList<string> together = Circumstances.Of(series, after, before);
        string unit = one.Result.IsInsert ? Words.Of(" documents/s") : "/s";
        return new Finding
        {
            Id = FindingIds.ThreadPeak,
            Text = Words.Of($"{PhaseLabels.Of(one.Phase, one.Result.Operation)}'s rate peaks at {Words.Counted(peak.Threads, "thread")} "
                + $"({Units.Rate(peak.Rate)}{unit}) and falls to {Units.Rate(last.Rate)}{unit} at {last.Threads}"),
            Operations = [one.Label],
            Range = series.Range(new TimeWindow(Math.Min(before[0].From, after[0].From), Math.Max(before[^1].To, after[^1].To))),
            Rate = FindingEffect.Of(last.Rate / peak.Rate, Bootstrap.OfSamples(pairs).At(0.95)),
            P99 = SecondEffects.P99(peaked, declined),
            Evidence = [new FindingEvidence(
                null, string.Join(", ", steps.Select(step => $"{Words.Counted(step.Threads, "thread")}: {Units.Rate(step.Rate)}")))],
            Cause = together.Count == 0 ? null : Words.And(together),
            IsCoincidence = true,
            Refute = Words.Of(
                $"run {last.Threads} threads first, then {peak.Threads}: if the order decides which is faster, the threads do not"),
            Weight = Math.Log(peak.Rate / last.Rate),
        };
    }
}
