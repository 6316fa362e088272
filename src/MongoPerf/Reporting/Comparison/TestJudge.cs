using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Comparison.Statistics;

namespace MongoPerf.Reporting.Comparison;

/// <summary>Judges one candidate against the baseline: each test over all sizes, and each size by itself.</summary>
/// <remarks>
/// Where there are repeats, a run is one observation. Otherwise seconds are, at sizes that have <see cref="LeastSamples"/> of them on both sides, when
/// that are at least half of the sizes. Otherwise the window of a size is one observation, when there are <see cref="LeastSizes"/> sizes. Otherwise
/// nothing is said.
/// </remarks>
internal sealed class TestJudge(SideWindows baseline, SideWindows candidate, double noiseThreshold)
{
    /// <summary>Seconds on each side below which nothing is said about a size.</summary>
    public const int LeastSamples = 20;
    public const int LeastSizes = 5;
    public const int LeastRuns = 3;

    /// <summary>The chance that a verdict over a run holds any false alarm.</summary>
    public const double Level = 0.05;

    private bool HasRepeats => baseline.Runs.Count > 1 || candidate.Runs.Count > 1;

    public IReadOnlyList<TestJudgement> Judge()
    {
        var common = candidate.Keys.Intersect(baseline.Keys)
            .GroupBy(key => (key.Test, key.Threads))
            .OrderBy(group => TestOrder.Of(group.Key.Test)).ThenBy(group => group.Key.Threads);
        List<TestJudgement> tests = [.. common.Select(group => JudgeTest(group.Key.Test, group.Key.Threads, [.. group.OrderBy(key => key.Step)]))];
        return Correct(tests);
    }

    private TestJudgement JudgeTest(string test, int threads, WindowKey[] keys)
    {
        WindowKey[] ample = [.. keys.Where(IsAmple)];
        SizeJudgement[] sizes = [.. keys.Select(JudgeSize)];
        (Evidence evidence, WindowKey[] used, string basis) = Choose(keys, ample);
        var judgement = new TestJudgement { Test = test, Threads = threads, Outcome = Outcome.TooFew, Evidence = evidence, Basis = basis, Sizes = sizes };
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
                : (Evidence.None, [], $"{runs}, at least {LeastRuns} each are needed");
        }

        if (ample.Length > 0 && (ample.Length * 2 >= keys.Length || keys.Length < LeastSizes))
        {
            string seconds = $"{ample.Sum(key => Samples(baseline, key).Length)} and {ample.Sum(key => Samples(candidate, key).Length)} seconds";
            return (Evidence.Samples, ample, ample.Length == 1 && keys.Length == 1 ? seconds : $"{seconds} at {ample.Length} of {Sizes(keys.Length)}");
        }

        return keys.Length >= LeastSizes
            ? (Evidence.Sizes, keys, Sizes(keys.Length))
            : (Evidence.None, [], $"{Sizes(keys.Length)} with fewer than {LeastSamples} seconds each; {LeastSizes} sizes, or {LeastSamples} seconds at one, are needed");
    }

    private SizeJudgement JudgeSize(WindowKey key)
    {
        long documents = baseline.At(key)[0].Documents;
        bool enoughRuns = !HasRepeats || (baseline.Runs.Count >= LeastRuns && candidate.Runs.Count >= LeastRuns);
        if (!IsAmple(key) || !enoughRuns)
            return new SizeJudgement { Documents = documents, Outcome = Outcome.TooFew };
        (double p, Interval interval) = Weigh(HasRepeats ? Evidence.Runs : Evidence.Samples, [key]);
        double a = MeanLogarithm(baseline, [key]);
        double b = MeanLogarithm(candidate, [key]);
        return new SizeJudgement
        {
            Documents = documents, Outcome = Outcome.NoDifference, Rate = new Ratio(Math.Exp(b - a), interval),
            BaselineRate = Math.Exp(a), CandidateRate = Math.Exp(b), P = p,
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
            case Evidence.Sizes:
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
        if (evidence == Evidence.Samples && keys.Length < LeastSizes)
            return LatencyRatios.OfSeconds(baseline.Runs[0], candidate.Runs[0], keys);
        Evidence unit = evidence == Evidence.Runs ? evidence : Evidence.Sizes;
        return (LatencyRatios.OfUnits(unit, baseline, candidate, keys, l => l.P50), LatencyRatios.OfUnits(unit, baseline, candidate, keys, l => l.P99));
    }

    private bool IsAmple(WindowKey key) => Samples(baseline, key).Length >= LeastSamples && Samples(candidate, key).Length >= LeastSamples;

    private static double[] Samples(SideWindows side, WindowKey key) => [.. side.At(key).SelectMany(w => w.Rates)];

    private static double MeanLogarithm(SideWindows side, IReadOnlyList<WindowKey> keys) => side.Runs.Average(run => MeanLogarithm(run, keys));

    private static double MeanLogarithm(RunWindows run, IReadOnlyList<WindowKey> keys) => keys.Average(key => Math.Log(run.Find(key)!.Rate));

    private static string Sizes(int count) => count == 1 ? "1 size" : $"{count} sizes";

    /// <summary>Holm's correction, over the tests and, by itself, over all sizes of all tests.</summary>
    private IReadOnlyList<TestJudgement> Correct(List<TestJudgement> tests)
    {
        double[] ofTests = Holm.Adjust([.. tests.Where(t => t.Rate is not null).Select(t => t.P)]);
        double[] ofSizes = Holm.Adjust([.. tests.SelectMany(t => t.Sizes).Where(s => s.Rate is not null).Select(s => s.P)]);
        int test = 0;
        int size = 0;
        return
        [
            .. tests.Select(t =>
            {
                SizeJudgement[] sizes = [.. t.Sizes.Select(s => s.Rate is null ? s : Decide(s, ofSizes[size++]))];
                return (t.Rate is null ? t : Decide(t, ofTests[test++])) with { Sizes = sizes };
            }),
        ];
    }

    private TestJudgement Decide(TestJudgement test, double p) => test with { HolmP = p, Outcome = OutcomeOf(test.Rate!.Value, p) };

    private SizeJudgement Decide(SizeJudgement size, double p) => size with { HolmP = p, Outcome = OutcomeOf(size.Rate!.Value, p) };

    private Outcome OutcomeOf(double ratio, double p) =>
        p >= Level ? Outcome.NoDifference
        : Math.Abs(ratio - 1) <= noiseThreshold ? Outcome.BelowThreshold
        : ratio < 1 ? Outcome.Slower
        : Outcome.Faster;
}
