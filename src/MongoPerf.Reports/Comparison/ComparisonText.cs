using System.Globalization;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Comparison;

/// <summary>The words of a comparison.</summary>
internal static class ComparisonText
{
    /// <summary>The most operations in a sentence: more are counted.</summary>
    public const int MostListed = 12;

    public static string Describe(Outcome outcome) => outcome switch
    {
        Outcome.Slower => Words.Of("slower"),
        Outcome.Faster => Words.Of("faster"),
        Outcome.Equivalent => Words.Of("equivalent"),
        _ => Words.Of("undecided"),
    };

    /// <summary>"rate", "p50", "response p99", "service p99", "p50 to send".</summary>
    public static string NameOf(OperationComparison operation, Measure measure) => measure.IsRate ? Words.Of("rate")
        : (operation.IsPaced ? measure.IsService ? Words.Of("service ") : Words.Of("response ") : "") + measure.Figure
            + (operation.IsUnacknowledged ? Words.Of(" to send") : "");

    /// <summary>1,234 per second, or 1.2 ms.</summary>
    public static string Value(Measure measure, double value) => measure.IsRate ? Units.Rate(value) : Units.Latency(value);

    public static string Number(double ratio) =>
        ratio.ToString(ratio < 9.995 ? "0.00" : ratio < 99.95 ? "0.0" : "0", CultureInfo.InvariantCulture);

    /// <summary>"0.87 to 0.92".</summary>
    public static string Range(Interval? interval) => interval is { } i ? Words.Of($"{Number(i.Low)} to {Number(i.High)}") : Units.None;

    /// <summary>"0.90 (0.87 to 0.92)".</summary>
    public static string WithRange(Ratio? ratio) =>
        ratio is null ? Units.None : ratio.Interval is null ? Number(ratio.Value) : $"{Number(ratio.Value)} ({Range(ratio.Interval)})";

    public static string Probability(double p) => p < 0.0001 ? "<0.0001" : p.ToString("0.0000", CultureInfo.InvariantCulture);

    /// <summary>"10 % slower", "30 % faster", from twice the rate on "2.6 times as fast".</summary>
    public static string Change(double ratio) => ratio switch
    {
        < 0.01 => Words.Of("over 99 % slower"),
        < 1 => Words.Of($"{Units.Percent(Math.Round(1 - ratio, ratio is > 0.9 or < 0.1 ? 3 : 2))} slower"),
        < 2 => Words.Of($"{Units.Percent(Math.Round(ratio - 1, ratio < 1.1 ? 3 : 2))} faster"),
        _ => Words.Of($"{Units.Significant(Math.Round(ratio, ratio < 10 ? 1 : 0))} times as fast"),
    };

    /// <summary>"45 % higher", "30 % lower", "7.1 times as high": of latencies.</summary>
    public static string LatencyChange(double ratio) => ratio switch
    {
        < 0.01 => Words.Of("over 99 % lower"),
        < 1 => Words.Of($"{Units.Percent(Math.Round(1 - ratio, ratio is > 0.9 or < 0.1 ? 3 : 2))} lower"),
        < 2 => Words.Of($"{Units.Percent(Math.Round(ratio - 1, ratio < 1.1 ? 3 : 2))} higher"),
        _ => Words.Of($"{Units.Significant(Math.Round(ratio, ratio < 10 ? 1 : 0))} times as high"),
    };

    /// <summary>
    /// "rate 10 % slower (ratio 0.90, 95 %: 0.87 to 0.92)", "p99 undecided (ratio 1.10, 95 %: 0.80 to 1.60)", "rate undecided (ratio
    /// 0.97)".
    /// </summary>
    public static string Sentence(OperationComparison operation, MeasureComparison judgement)
    {
        double ratio = judgement.Ratio.Value;
        string what = judgement.Outcome is Outcome.Equivalent or Outcome.Undecided ? Describe(judgement.Outcome)
            : judgement.Measure.IsRate ? Change(ratio)
            : LatencyChange(ratio);
        string interval = judgement.Ratio.Interval is { } range ? $", 95 %: {Range(range)}" : "";
        return Words.Of($"{NameOf(operation, judgement.Measure)} {what} (ratio {Number(ratio)}{interval})");
    }

    /// <summary>All that is judged of it in a line, the rate first.</summary>
    public static string Sentence(OperationComparison operation) =>
        string.Join("; ", operation.Tested.Select(judgement => Sentence(operation, judgement)));

    /// <summary>
    /// What got worse first, what is undecided last, with what would be enough to decide it; then what else was at work on the machine, and
    /// of one server and shards which is ahead.
    /// </summary>
    public static IReadOnlyList<Verdict> Verdicts(RunComparison comparison, CandidateComparison candidate)
    {
        double noiseThreshold = comparison.NoiseThreshold;
        List<Verdict> verdicts = [.. Changed(candidate, Outcome.Slower, Grade.Bad), .. Changed(candidate, Outcome.Faster, Grade.Good)];
        if (Titles(candidate, j => j.Outcome == Outcome.Equivalent) is { Length: > 0 } same)
            verdicts.Add(new Verdict(Grade.Good, Words.Of($"equivalent within {Units.Percent(noiseThreshold)}: {same}")));
        verdicts.AddRange(Undecided(candidate).Select(text => new Verdict(Grade.Note, text) { Label = Describe(Outcome.Undecided) }));
        foreach (ComparedSide side in new[] { comparison.Baseline, candidate.Candidate }.Where(side => side.Other is not null))
            verdicts.Add(new Verdict(Grade.Note, $"{side.Id}: {side.Other!.Sentence}"));
        if (SingleOrSharded.Find(comparison, candidate)?.Verdict is { } decision)
            verdicts.Add(decision);
        return verdicts;
    }

    private static IEnumerable<string> Undecided(CandidateComparison candidate)
    {
        OperationComparison[] undecided = [.. candidate.Operations.Where(o => o.Tested.Any(j => j.Outcome == Outcome.Undecided))];
        if (undecided.Length > MostListed)
            return [Words.Of(
                $"{undecided.Length} of {candidate.Operations.Count} operations; comparison.csv says what a verdict on each would take")];
        return undecided.SelectMany(o => o.Tested.Where(j => j.Outcome == Outcome.Undecided))
            .Select(j => j.Enough).Distinct().Select(enough =>
            {
                string titles = Titles(candidate, j => j.Outcome == Outcome.Undecided && j.Enough == enough);
                return enough is null ? titles : Words.Of($"{titles}; a verdict would take {enough}");
            });
    }

    private static IEnumerable<Verdict> Changed(CandidateComparison candidate, Outcome outcome, Grade grade)
    {
        foreach (OperationComparison operation in candidate.Operations)
        {
            string[] sentences = [.. operation.Tested.Where(j => j.Outcome == outcome).Select(j => Sentence(operation, j))];
            if (sentences.Length > 0)
                yield return new Verdict(
                    grade, $"{candidate.TitleOf(operation)}: {string.Join("; ", sentences)}") { Label = Describe(outcome) };
        }
    }

    /// <summary>
    /// One word for the whole of it: "slower", "faster", "mixed" (both), "equivalent" (all of it) or "undecided"; or that there is nothing
    /// to compare.
    /// </summary>
    public static string Overall(CandidateComparison candidate) =>
        candidate.Operations.Count == 0 ? Words.Of("no operation in common") : (candidate.IsRegression, candidate.IsImprovement) switch
        {
            (true, true) => Words.Of("mixed"),
            (true, false) => Describe(Outcome.Slower),
            (false, true) => Describe(Outcome.Faster),
            _ => Describe(candidate.IsEquivalent ? Outcome.Equivalent : Outcome.Undecided),
        };

    /// <summary>What was one observation, for which operations: "batch, q4, q5: 10 sizes, one observation each (t test)".</summary>
    public static IEnumerable<string> Bases(CandidateComparison candidate) =>
        candidate.Operations.GroupBy(o => (o.Evidence, o.Basis)).Select(group =>
        {
            string titles = group.Count() > MostListed
                ? Words.Of($"{group.Count()} of {candidate.Operations.Count} operations")
                : string.Join(", ", group.Select(candidate.TitleOf));
            return group.Key.Evidence switch
            {
                Evidence.Samples => Words.Of($"{titles}: {group.Key.Basis}, one observation each (rank test)"),
                Evidence.Windows or Evidence.Runs => Words.Of($"{titles}: {group.Key.Basis}, one observation each (t test)"),
                _ => Words.Of($"{titles}: not judged, {group.Key.Basis}"),
            };
        });

    /// <summary>How to read the verdicts.</summary>
    public static string Method(RunComparison comparison) =>
        Words.Of($"ratios are candidate to baseline, each with its own 95 % interval; slower or faster: "
            + $"by more than {Units.Percent(comparison.NoiseThreshold)}, and the chance of any false alarm in a comparison "
            + $"is {Units.Percent(OperationComparer.Level)} (Holm); equivalent: "
            + $"a difference of {Units.Percent(comparison.NoiseThreshold)} or more would be missed in at most "
            + $"{Units.Percent(OperationComparer.Level)} of cases (TOST)");

    /// <summary>"q4 (rate, p50), q5 (rate)".</summary>
    private static string Titles(CandidateComparison candidate, Func<MeasureComparison, bool> chosen) =>
        string.Join(", ", candidate.Operations
            .Select(o => (Operation: o, Names: string.Join(", ", o.Tested.Where(chosen).Select(j => NameOf(o, j.Measure)))))
            .Where(one => one.Names.Length > 0)
            .Select(one => $"{candidate.TitleOf(one.Operation)} ({one.Names})"));
}
