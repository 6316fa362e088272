using System.Globalization;
using MongoPerf.Reporting.Comparison.Statistics;

namespace MongoPerf.Reporting.Comparison;

/// <summary>The words of a comparison.</summary>
internal static class ComparisonText
{
    public static string Describe(Outcome outcome) => outcome switch
    {
        Outcome.TooFew => "not enough data",
        Outcome.NoDifference => "no difference found",
        Outcome.BelowThreshold => "within noise",
        Outcome.Slower => "slower",
        _ => "faster",
    };

    public static string Number(double ratio) => ratio.ToString(ratio < 9.995 ? "0.00" : ratio < 99.95 ? "0.0" : "0", CultureInfo.InvariantCulture);

    /// <summary>"0.87 to 0.92".</summary>
    public static string Range(Interval? interval) => interval is { } i ? $"{Number(i.Low)} to {Number(i.High)}" : Units.None;

    /// <summary>"0.90 (0.87 to 0.92)".</summary>
    public static string WithRange(Ratio? ratio) =>
        ratio is null ? Units.None : ratio.Interval is null ? Number(ratio.Value) : $"{Number(ratio.Value)} ({Range(ratio.Interval)})";

    public static string Probability(double p) => p < 0.0001 ? "<0.0001" : p.ToString("0.0000", CultureInfo.InvariantCulture);

    /// <summary>"10 % slower", "30 % faster", from twice the rate on "2.6 times as fast".</summary>
    public static string Change(double ratio) => ratio switch
    {
        < 0.01 => "over 99 % slower",
        < 1 => $"{Units.Percent(Math.Round(1 - ratio, ratio is > 0.9 or < 0.1 ? 3 : 2))} slower",
        < 2 => $"{Units.Percent(Math.Round(ratio - 1, ratio < 1.1 ? 3 : 2))} faster",
        _ => $"{Units.Significant(Math.Round(ratio, ratio < 10 ? 1 : 0))} times as fast",
    };

    /// <summary>"10 % slower (ratio 0.90, 95 %: 0.87 to 0.92)", "no difference found (ratio …)"; "not enough data" and nothing else.</summary>
    public static string Sentence(OperationJudgement judged) => judged.Rate is { } rate
        ? $"{(judged.Outcome is Outcome.Slower or Outcome.Faster ? Change(rate.Value) : Describe(judged.Outcome))} (ratio {Number(rate.Value)}, 95 %: {Range(rate.Interval)})"
        : Describe(Outcome.TooFew);

    /// <summary>Regressions first, what was not judged last.</summary>
    public static IReadOnlyList<Verdict> Verdicts(CandidateJudgement candidate, double noiseThreshold)
    {
        var verdicts = new List<Verdict>();
        foreach (OperationJudgement slower in candidate.Operations.Where(o => o.Outcome == Outcome.Slower))
            verdicts.Add(new Verdict(Grade.Bad, $"{candidate.TitleOf(slower)}: {Sentence(slower)}"));
        foreach (OperationJudgement faster in candidate.Operations.Where(o => o.Outcome == Outcome.Faster))
            verdicts.Add(new Verdict(Grade.Good, $"{candidate.TitleOf(faster)}: {Sentence(faster)}"));
        if (Titles(candidate, Outcome.NoDifference) is { Length: > 0 } same)
            verdicts.Add(new Verdict(Grade.Good, $"no difference found in {same} (the intervals show what may have been missed)"));
        if (Titles(candidate, Outcome.BelowThreshold) is { Length: > 0 } small)
            verdicts.Add(new Verdict(Grade.Good, $"within the noise threshold of {Units.Percent(noiseThreshold)}: {small}"));
        if (Titles(candidate, Outcome.TooFew) is { Length: > 0 } few)
            verdicts.Add(new Verdict(Grade.Note, $"not enough data to judge {few}"));
        return verdicts;
    }

    /// <summary>One word for the whole of it: "slower", "faster", "mixed" (both), "no difference found" or "not enough data".</summary>
    public static string Overall(CandidateJudgement candidate) => (candidate.IsRegression, candidate.IsImprovement) switch
    {
        (true, true) => "mixed",
        (true, false) => Describe(Outcome.Slower),
        (false, true) => Describe(Outcome.Faster),
        _ => Describe(candidate.IsJudged ? Outcome.NoDifference : Outcome.TooFew),
    };

    /// <summary>What was one observation, for which operations: "batch, q4, q5: 10 sizes, one observation each (t test)".</summary>
    public static IEnumerable<string> Bases(CandidateJudgement candidate) => candidate.Operations.GroupBy(o => (o.Evidence, o.Basis)).Select(group =>
    {
        string titles = string.Join(", ", group.Select(candidate.TitleOf));
        return group.Key.Evidence switch
        {
            Evidence.Samples => $"{titles}: {group.Key.Basis}, one observation each (rank test)",
            Evidence.Windows or Evidence.Runs => $"{titles}: {group.Key.Basis}, one observation each (t test)",
            _ => $"{titles}: not judged, {group.Key.Basis}",
        };
    });

    /// <summary>How to read the verdicts.</summary>
    public static string Method(RunComparison comparison) =>
        $"ratios are candidate to baseline, each with its own 95 % interval; any false alarm in a comparison has a chance of {Units.Percent(OperationJudge.Level)} (Holm); "
        + $"differences up to {Units.Percent(comparison.NoiseThreshold)} are ignored";

    private static string Titles(CandidateJudgement candidate, Outcome outcome) =>
        string.Join(", ", candidate.Operations.Where(o => o.Outcome == outcome).Select(candidate.TitleOf));
}
