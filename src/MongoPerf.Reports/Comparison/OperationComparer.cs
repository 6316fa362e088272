using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>
/// Judges one candidate against the baseline: rate and latencies of each operation over all its windows, and the rate of each window by
/// itself.
/// </summary>
/// <remarks>
/// Where runs were repeated, a run is one observation. Otherwise seconds are, in windows that have <see cref="LeastSamples"/> of them on
/// both sides, when
/// at least half of the windows do. Otherwise a window is one observation, when there are <see cref="LeastWindows"/>. Otherwise values are
/// shown and not judged.
/// </remarks>
/// <param name="baseline">What the candidate is held against.</param>
/// <param name="candidate">What is judged.</param>
/// <param name="noiseThreshold">0.05 lets a ratio between 0.95 and 1.05 pass.</param>
/// <param name="percentiles">The percentiles that are judged beside rates; null for the usual ones.</param>
public sealed class OperationComparer(
    SideWindows baseline, SideWindows candidate, double noiseThreshold, IReadOnlyList<Measure>? percentiles = null)
{
    private readonly IReadOnlyList<Measure> _measures = Measure.With(percentiles ?? Measure.UsualPercentiles);

    /// <summary>Seconds on each side below which a window is not judged.</summary>
    public const int LeastSamples = 20;
    public const int LeastWindows = 5;
    public const int LeastRuns = 3;

    /// <summary>
    /// The chance that a verdict over a run holds any false alarm, and that of calling one measure equivalent that is not.
    /// </summary>
    public const double Level = 0.05;

    /// <summary>The joined histograms of the operation that is judged: each of its percentiles needs them.</summary>
    private readonly Dictionary<RateWindow, JoinedHistograms?> _joined = new(ReferenceEqualityComparer.Instance);

    private bool HasRepeats => baseline.Runs.Count > 1 || candidate.Runs.Count > 1;

    private bool HasEnoughRuns => baseline.Runs.Count >= LeastRuns && candidate.Runs.Count >= LeastRuns;

    /// <summary>Compares the operations that both sides have, in the order of the baseline's plan.</summary>
    public IReadOnlyList<OperationComparison> Compare()
    {
        HashSet<WindowKey> measured = [.. candidate.Keys];
        return Correct([.. baseline.Keys.Where(measured.Contains)
            .GroupBy(key => key.Operation).Select(group => CompareOperation(group.Key, [.. group.OrderBy(key => key.At)]))]);
    }

    private OperationComparison CompareOperation(ComparedOperation operation, WindowKey[] keys)
    {
        (Evidence evidence, WindowKey[] used, string basis) = Choose(keys);
        RateWindow first = baseline.At(keys[0])[0];
        _joined.Clear();
        MeasureComparison[] judgements = [.. _measures.Select(measure => Weigh(measure, evidence, used)).OfType<MeasureComparison>()];
        return new OperationComparison
        {
            Operation = operation,
            Evidence = evidence,
            Basis = basis,
            IsPaced = first.Service is not null,
            IsUnacknowledged = first.IsUnacknowledged,
            Measures = judgements,
            Retries = (RetriesOf(baseline, keys), RetriesOf(candidate, keys)) is var retries and not (null, null) ? retries : null,
            Windows = [.. keys.Select(key =>
                new WindowComparison(key.At, baseline.At(key)[0].Documents, keys.Length == 1 ? judgements[0] : CompareWindow(key)))],
        };
    }

    private static RetryShare? RetriesOf(SideWindows side, WindowKey[] keys) =>
        RetryShare.Of(keys.SelectMany(side.At).Select(window => window.Result).OfType<OperationResult>());

    private (Evidence Evidence, WindowKey[] Used, string Basis) Choose(WindowKey[] keys)
    {
        if (HasRepeats)
        {
            string runs = Words.Of($"{baseline.Runs.Count} and {candidate.Runs.Count} runs");
            return HasEnoughRuns
                ? (Evidence.Runs, keys, runs)
                : (Evidence.None, keys, Words.Of($"{runs}; each side needs at least {LeastRuns}"));
        }

        WindowKey[] ample = [.. keys.Where(IsAmple)];
        if (ample.Length > 0 && (ample.Length * 2 >= keys.Length || keys.Length < LeastWindows))
        {
            string seconds = Words.Of($"{Seconds(baseline, ample)} and {Seconds(candidate, ample)} seconds");
            return (Evidence.Samples, ample, keys.Length == 1 ? seconds : Words.Of($"{seconds} at {ample.Length} of {Count(keys)}"));
        }

        return keys.Length >= LeastWindows
            ? (Evidence.Windows, keys, Count(keys))
            : (Evidence.None, keys, keys.Length == 1 ? Words.Of($"fewer than {LeastSamples} seconds on a side") : Words.Of($"{Count(keys)} "
                + $"with fewer than {LeastSamples} seconds each; at least {LeastWindows}, or {LeastSamples} seconds at one, are needed"));
    }

    private MeasureComparison CompareWindow(WindowKey key)
    {
        Evidence evidence = HasRepeats ? (HasEnoughRuns ? Evidence.Runs : Evidence.None) : IsAmple(key) ? Evidence.Samples : Evidence.None;
        return Weigh(Measure.Rate, evidence, [key])!;
    }

    /// <summary>Both sides' values, and what speaks for a difference; the outcome is decided when all measures are weighed.</summary>
    /// <returns>Null when the measure was not recorded everywhere.</returns>
    private MeasureComparison? Weigh(Measure measure, Evidence evidence, WindowKey[] keys)
    {
        if (Logarithms(baseline, keys, measure) is not { } a || Logarithms(candidate, keys, measure) is not { } b)
            return null;
        double from = a.Average(run => run.Average());
        double to = b.Average(run => run.Average());
        var values = new MeasureComparison
        {
            Measure = measure, Baseline = Math.Exp(from), Candidate = Math.Exp(to), Ratio = new Ratio(Math.Exp(to - from), null),
        };
        RateWindow first = baseline.At(keys[0])[0];
        if (measure.IsService || (measure == Measure.Rate ? !first.IsIndependent : first.IsTotal))
            return values with { IsTested = false };
        if (evidence == Evidence.None)
            return values with { Enough = EnoughForAny(keys) };
        if (Test(measure, evidence, keys, a, b) is not var (p, drawn))
            return values;
        Ratio ratio = Ratio.Of(values.Ratio.Value, drawn);
        int had = evidence switch
        {
            Evidence.Samples => Math.Min(Seconds(baseline, keys), Seconds(candidate, keys)),
            Evidence.Windows => keys.Length,
            _ => Math.Min(baseline.Runs.Count, candidate.Runs.Count),
        };
        return values with { Ratio = ratio, P = p, Enough = Sufficiency.ToDecide(ratio, noiseThreshold, evidence, had, Shortest(keys)) };
    }

    /// <summary>Whether the sides differ, and the ratio as it is drawn again.</summary>
    /// <returns>Null when latencies of single seconds are missing.</returns>
    private (double P, Drawn Drawn)? Test(Measure measure, Evidence evidence, WindowKey[] keys, double[][] a, double[][] b)
    {
        switch (evidence)
        {
            case Evidence.Samples:
                SamplePair[] pairs =
                    [.. keys.Select(key => new SamplePair(Samples(baseline, key, measure), Samples(candidate, key, measure)))];
                if (pairs.Any(pair => pair.Baseline.Length < LeastSamples / 2 || pair.Candidate.Length < LeastSamples / 2)
                    || Draw(measure, keys, pairs) is not { } drawn)
                    return null;
                return (MannWhitney.PValue(pairs), drawn);
            case Evidence.Windows:
                double[] differences = [.. b[0].Zip(a[0], (x, y) => x - y)];
                return (UnitComparison.PairedP(differences), Bootstrap.OfPairs(differences));
            default:
                double[] from = [.. a.Select(run => run.Average())];
                double[] to = [.. b.Select(run => run.Average())];
                return (UnitComparison.WelchP(from, to), Bootstrap.OfRuns(from, to));
        }
    }

    private Drawn? Draw(Measure measure, WindowKey[] keys, SamplePair[] pairs)
    {
        if (measure == Measure.Rate)
            return Bootstrap.OfSamples(pairs);
        HistogramPair[] histograms =
        [
            .. keys.Select(key => (Baseline: Histograms(baseline, key), Candidate: Histograms(candidate, key)))
                .Where(pair => pair is { Baseline: not null, Candidate: not null })
                .Select(pair => new HistogramPair(pair.Baseline!, pair.Candidate!)),
        ];
        return histograms.Length == keys.Length ? PercentileBootstrap.Of(histograms, measure.Percent) : null;
    }

    private JoinedHistograms? Histograms(SideWindows side, WindowKey key)
    {
        RateWindow window = side.Runs[0].Find(key)!;
        if (!_joined.TryGetValue(window, out JoinedHistograms? joined))
            _joined.Add(window, joined = window.JoinHistograms(PercentileBootstrap.MostSeconds));
        return joined;
    }

    private Enough EnoughForAny(WindowKey[] keys) => HasRepeats
        ? Sufficiency.OfRuns(baseline.Runs.Count, candidate.Runs.Count)
        : Sufficiency.OfNothing(Shortest(keys),
            keys.Min(key => Math.Min(Samples(baseline, key, Measure.Rate).Length, Samples(candidate, key, Measure.Rate).Length)));

    private WindowLength? Shortest(WindowKey[] keys) =>
        keys.SelectMany(key => baseline.At(key).Concat(candidate.At(key)))
            .Select(window => window.Length).OfType<WindowLength>().MinBy(length => length.Seconds);

    private bool IsAmple(WindowKey key) => Seconds(baseline, [key]) >= LeastSamples && Seconds(candidate, [key]) >= LeastSamples;

    private static int Seconds(SideWindows side, WindowKey[] keys) => keys.Sum(key => side.At(key).Sum(window => window.Rates.Length));

    private static double[] Samples(SideWindows side, WindowKey key, Measure measure) =>
        [.. side.At(key).SelectMany(w => w.SecondsOf(measure))];

    /// <returns>A row per run, a value per window; null when one is missing.</returns>
    private static double[][]? Logarithms(SideWindows side, IReadOnlyList<WindowKey> keys, Measure measure)
    {
        double?[][] values = [.. side.Runs.Select(run => keys.Select(key => run.Find(key)!.ValueOf(measure)).ToArray())];
        return values.Any(run => run.Any(value => value is null)) ? null
            : [.. values.Select(run => run.Select(value => Math.Log(value!.Value)).ToArray())];
    }

    /// <summary>"10 sizes" of a growth, "5 repeats" of a phase.</summary>
    private static string Count(WindowKey[] keys) => Words.Counted(keys.Length, keys[0].Operation.Growth is null ? "repeat" : "size");

    /// <summary>
    /// Holm's correction, over all measures of the operations and, by itself, over all windows of all operations; then each is decided.
    /// </summary>
    private IReadOnlyList<OperationComparison> Correct(List<OperationComparison> operations)
    {
        var ofOperations = new Queue<double>(Holm.Adjust([.. operations.SelectMany(o => o.Measures).Select(j => j.P).OfType<double>()]));
        var ofWindows = new Queue<double>(Holm.Adjust([.. operations.SelectMany(o => o.Windows).Select(w => w.Rate.P).OfType<double>()]));
        return
        [
            .. operations.Select(o => o with
            {
                Measures = [.. o.Measures.Select(j => Decide(j, ofOperations))],
                Windows = [.. o.Windows.Select(w => w with { Rate = Decide(w.Rate, ofWindows) })],
            }),
        ];
    }

    private MeasureComparison Decide(MeasureComparison judgement, Queue<double> corrected)
    {
        if (judgement.P is null)
            return judgement;
        double p = corrected.Dequeue();
        Outcome outcome = OutcomeOf(judgement, p);
        return judgement with { HolmP = p, Outcome = outcome, Enough = outcome == Outcome.Undecided ? judgement.Enough : null };
    }

    /// <summary>
    /// Equivalent when both one-sided tests say so; different when the corrected test, the interval and the threshold agree.
    /// </summary>
    private Outcome OutcomeOf(MeasureComparison judgement, double p)
    {
        Ratio ratio = judgement.Ratio;
        if (ratio.Narrow is { } narrow && narrow.Low > 1 - noiseThreshold && narrow.High < 1 + noiseThreshold)
            return Outcome.Equivalent;
        bool isDifferent = p < Level && Math.Abs(ratio.Value - 1) > noiseThreshold && ratio.Interval is not { Low: <= 1, High: >= 1 };
        return !isDifferent ? Outcome.Undecided
            : ratio.Value < 1 == (judgement.Measure == Measure.Rate) ? Outcome.Slower
            : Outcome.Faster;
    }
}
