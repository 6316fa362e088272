using MongoPerf.Reporting.Comparison.Statistics;

namespace MongoPerf.Reporting.Comparison;

/// <summary>Judges one candidate against the baseline: each operation over all its windows, and each window by itself.</summary>
/// <remarks>
/// Where runs were repeated, a run is one observation. Otherwise seconds are, in windows that have <see cref="LeastSamples"/> of them on both sides, when
/// at least half of the windows do. Otherwise a window is one observation, when there are <see cref="LeastWindows"/>. Otherwise nothing is said.
/// </remarks>
internal sealed class OperationJudge(SideWindows baseline, SideWindows candidate, double noiseThreshold)
{
    /// <summary>Seconds on each side below which nothing is said about a window.</summary>
    public const int LeastSamples = 20;
    public const int LeastWindows = 5;
    public const int LeastRuns = 3;

    /// <summary>The chance that a verdict over a run holds any false alarm.</summary>
    public const double Level = 0.05;

    private bool HasRepeats => baseline.Runs.Count > 1 || candidate.Runs.Count > 1;

    /// <summary>Of what both sides have, in the order of the baseline's plan.</summary>
    public IReadOnlyList<OperationJudgement> Judge()
    {
        HashSet<WindowKey> measured = [.. candidate.Keys];
        return Correct([.. baseline.Keys.Where(measured.Contains).GroupBy(key => key.Operation).Select(group => JudgeOperation(group.Key, [.. group.OrderBy(key => key.At)]))]);
    }

    private OperationJudgement JudgeOperation(ComparedOperation operation, WindowKey[] keys)
    {
        WindowKey[] ample = [.. keys.Where(IsAmple)];
        WindowJudgement[] windows = [.. keys.Select(JudgeWindow)];
        (Evidence evidence, WindowKey[] used, string basis) = Choose(keys, ample);
        var judgement = new OperationJudgement { Operation = operation, Outcome = Outcome.TooFew, Evidence = evidence, Basis = basis, Windows = windows };
        if (evidence == Evidence.None)
            return judgement;
        (double p, Interval interval) = Weigh(evidence, used);
        double a = MeanLogarithm(baseline, used);
        double b = MeanLogarithm(candidate, used);
        (Ratio? p50, Ratio? p99) = Latencies(evidence, used);
        return judgement with
        {
            Outcome = Outcome.NoDifference,
            BaselineRate = Math.Exp(a),
            CandidateRate = Math.Exp(b),
            Rate = new Ratio(Math.Exp(b - a), interval),
            P50 = p50,
            P99 = p99,
            P = p,
        };
    }

    private (Evidence Evidence, WindowKey[] Used, string Basis) Choose(WindowKey[] keys, WindowKey[] ample)
    {
        if (HasRepeats)
        {
            string runs = $"{baseline.Runs.Count} and {candidate.Runs.Count} runs";
            return baseline.Runs.Count >= LeastRuns && candidate.Runs.Count >= LeastRuns
                ? (Evidence.Runs, keys, runs)
                : (Evidence.None, [], $"{runs}; each side needs at least {LeastRuns}");
        }

        if (ample.Length > 0 && (ample.Length * 2 >= keys.Length || keys.Length < LeastWindows))
        {
            string seconds = $"{ample.Sum(key => Samples(baseline, key).Length)} and {ample.Sum(key => Samples(candidate, key).Length)} seconds";
            return (Evidence.Samples, ample, keys.Length == 1 ? seconds : $"{seconds} at {ample.Length} of {Count(keys)}");
        }

        return keys.Length >= LeastWindows
            ? (Evidence.Windows, keys, Count(keys))
            : (Evidence.None, [], keys.Length == 1 ? $"fewer than {LeastSamples} seconds on a side" : $"{Count(keys)} with fewer than {LeastSamples} seconds each; at least {LeastWindows}, or {LeastSamples} seconds at one, are needed");
    }

    private WindowJudgement JudgeWindow(WindowKey key)
    {
        var judgement = new WindowJudgement { At = key.At, Documents = baseline.At(key)[0].Documents, Outcome = Outcome.TooFew };
        bool hasEnoughRuns = !HasRepeats || (baseline.Runs.Count >= LeastRuns && candidate.Runs.Count >= LeastRuns);
        if (!IsAmple(key) || !hasEnoughRuns)
            return judgement;
        (double p, Interval interval) = Weigh(HasRepeats ? Evidence.Runs : Evidence.Samples, [key]);
        double a = MeanLogarithm(baseline, [key]);
        double b = MeanLogarithm(candidate, [key]);
        return judgement with
        {
            Outcome = Outcome.NoDifference, Rate = new Ratio(Math.Exp(b - a), interval), BaselineRate = Math.Exp(a), CandidateRate = Math.Exp(b), P = p,
        };
    }

    /// <summary>Whether the sides differ, and the ratio's interval.</summary>
    private (double P, Interval Interval) Weigh(Evidence evidence, WindowKey[] keys)
    {
        switch (evidence)
        {
            case Evidence.Samples:
                SamplePair[] pairs = [.. keys.Select(key => new SamplePair(Samples(baseline, key), Samples(candidate, key)))];
                return (MannWhitney.PValue(pairs), Bootstrap.OfSamples(pairs));
            case Evidence.Windows:
                double[] differences = [.. keys.Select(key => MeanLogarithm(candidate, [key]) - MeanLogarithm(baseline, [key]))];
                return (UnitComparison.PairedP(differences), Bootstrap.OfPairs(differences));
            default:
                double[] a = [.. baseline.Runs.Select(run => MeanLogarithm(run, keys))];
                double[] b = [.. candidate.Runs.Select(run => MeanLogarithm(run, keys))];
                return (UnitComparison.WelchP(a, b), Bootstrap.OfRuns(a, b));
        }
    }

    private (Ratio? P50, Ratio? P99) Latencies(Evidence evidence, WindowKey[] keys)
    {
        if (evidence == Evidence.Samples && keys.Length < LeastWindows)
            return LatencyRatios.OfSeconds(baseline.Runs[0], candidate.Runs[0], keys);
        Evidence unit = evidence == Evidence.Runs ? evidence : Evidence.Windows;
        return (LatencyRatios.OfUnits(unit, baseline, candidate, keys, l => l.P50), LatencyRatios.OfUnits(unit, baseline, candidate, keys, l => l.P99));
    }

    private bool IsAmple(WindowKey key) => Samples(baseline, key).Length >= LeastSamples && Samples(candidate, key).Length >= LeastSamples;

    private static double[] Samples(SideWindows side, WindowKey key) => [.. side.At(key).SelectMany(w => w.Rates)];

    private static double MeanLogarithm(SideWindows side, IReadOnlyList<WindowKey> keys) => side.Runs.Average(run => MeanLogarithm(run, keys));

    private static double MeanLogarithm(RunWindows run, IReadOnlyList<WindowKey> keys) => keys.Average(key => Math.Log(run.Find(key)!.Rate));

    /// <summary>"10 sizes" of a growth, "5 repeats" of a phase.</summary>
    private static string Count(WindowKey[] keys)
    {
        string noun = keys[0].Operation.Growth is null ? "repeat" : "size";
        return keys.Length == 1 ? $"1 {noun}" : $"{keys.Length} {noun}s";
    }

    /// <summary>Holm's correction, over the operations and, by itself, over all windows of all operations.</summary>
    private IReadOnlyList<OperationJudgement> Correct(List<OperationJudgement> operations)
    {
        double[] ofOperations = Holm.Adjust([.. operations.Where(o => o.Rate is not null).Select(o => o.P)]);
        double[] ofWindows = Holm.Adjust([.. operations.SelectMany(o => o.Windows).Where(w => w.Rate is not null).Select(w => w.P)]);
        int operation = 0;
        int window = 0;
        return
        [
            .. operations.Select(o =>
            {
                WindowJudgement[] windows = [.. o.Windows.Select(w => w.Rate is null ? w : Decide(w, ofWindows[window++]))];
                return (o.Rate is null ? o : Decide(o, ofOperations[operation++])) with { Windows = windows };
            }),
        ];
    }

    private OperationJudgement Decide(OperationJudgement operation, double p) => operation with { HolmP = p, Outcome = OutcomeOf(operation.Rate!.Value, p) };

    private WindowJudgement Decide(WindowJudgement window, double p) => window with { HolmP = p, Outcome = OutcomeOf(window.Rate!.Value, p) };

    private Outcome OutcomeOf(double ratio, double p) =>
        p >= Level ? Outcome.NoDifference
        : Math.Abs(ratio - 1) <= noiseThreshold ? Outcome.BelowThreshold
        : ratio < 1 ? Outcome.Slower
        : Outcome.Faster;
}
