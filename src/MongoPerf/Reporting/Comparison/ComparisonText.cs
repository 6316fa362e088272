using System.Globalization;
using MongoPerf.Reporting.Comparison.Statistics;

namespace MongoPerf.Reporting.Comparison;

/// <summary>The words of a comparison.</summary>
internal static class ComparisonText
{
    /// <summary>"batch", or "q4 ×8" where several thread counts were measured.</summary>
    public static string NameOf(TestJudgement test, IEnumerable<TestJudgement> all) =>
        all.Count(other => other.Test == test.Test) > 1 ? $"{test.Test} ×{test.Threads}" : test.Test;

    public static string Describe(Outcome outcome) => outcome switch
    {
        Outcome.TooFew => "too few",
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

    /// <summary>"0.90 times the baseline's rate (95 %: 0.87 to 0.92), slower"; "too few" and nothing else.</summary>
    public static string Sentence(TestJudgement test) => test.Rate is { } rate
        ? $"{Number(rate.Value)} times the baseline's rate (95 %: {Range(rate.Interval)}), {Describe(test.Outcome)}"
        : Describe(Outcome.TooFew);

    /// <summary>Regressions first, what was not judged last.</summary>
    public static IReadOnlyList<Verdict> Verdicts(CandidateJudgement candidate, double noiseThreshold)
    {
        var verdicts = new List<Verdict>();
        foreach (TestJudgement test in candidate.Tests.Where(t => t.Outcome == Outcome.Slower))
            verdicts.Add(new Verdict(Grade.Bad, $"{NameOf(test, candidate.Tests)}: {Sentence(test)}"));
        foreach (TestJudgement test in candidate.Tests.Where(t => t.Outcome == Outcome.Faster))
            verdicts.Add(new Verdict(Grade.Good, $"{NameOf(test, candidate.Tests)}: {Sentence(test)}"));
        if (Names(candidate, Outcome.NoDifference) is { Length: > 0 } same)
            verdicts.Add(new Verdict(Grade.Good, $"no difference found in {same} (their intervals show what may have been missed)"));
        if (Names(candidate, Outcome.BelowThreshold) is { Length: > 0 } small)
            verdicts.Add(new Verdict(Grade.Good, $"a difference within the noise threshold of {Units.Percent(noiseThreshold)} in {small}"));
        if (Names(candidate, Outcome.TooFew) is { Length: > 0 } few)
            verdicts.Add(new Verdict(Grade.Note, $"too few to judge: {few}"));
        return verdicts;
    }

    /// <summary>One word for the whole of it: "slower", "faster", "mixed" (both), "no difference found" or "too few".</summary>
    public static string Overall(CandidateJudgement candidate) => (candidate.IsRegression, candidate.IsImprovement) switch
    {
        (true, true) => "mixed",
        (true, false) => Describe(Outcome.Slower),
        (false, true) => Describe(Outcome.Faster),
        _ => Describe(candidate.IsJudged ? Outcome.NoDifference : Outcome.TooFew),
    };

    /// <summary>What was one observation, for which tests: "10 sizes: batch, q4, q5".</summary>
    public static IEnumerable<string> Bases(CandidateJudgement candidate) => candidate.Tests.GroupBy(t => (t.Evidence, t.Basis)).Select(group =>
    {
        string names = string.Join(", ", group.Select(t => NameOf(t, candidate.Tests)));
        return group.Key.Evidence switch
        {
            Evidence.Samples => $"{names}: by their seconds, {group.Key.Basis} (rank test)",
            Evidence.Sizes => $"{names}: by {group.Key.Basis}, the window of each being one observation (t test)",
            Evidence.Runs => $"{names}: by {group.Key.Basis}, each being one observation (t test)",
            _ => $"{names}: not judged, {group.Key.Basis}",
        };
    });

    /// <summary>How to read the verdicts.</summary>
    public static string Method(RunComparison comparison) =>
        $"ratios are candidate to baseline; intervals 95 %, each by itself; verdicts hold {Units.Percent(TestJudge.Level)} false alarms over a whole run "
        + $"(Holm) and pass differences up to {Units.Percent(comparison.NoiseThreshold)}";

    private static string Names(CandidateJudgement candidate, Outcome outcome) =>
        string.Join(", ", candidate.Tests.Where(t => t.Outcome == outcome).Select(t => NameOf(t, candidate.Tests)));
}
