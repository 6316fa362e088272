using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Reporting;

/// <summary>What a reader of the tests' figures must know: that nothing was measured, replies were short, plans others than meant, a rate not kept.</summary>
internal static class TestVerdicts
{
    /// <summary>The indexes that a query may well use; null is a scan of the collection.</summary>
    private static readonly (string Test, string?[] Indexes)[] ExpectedIndexes =
    [
        ("q4", ["Number_1"]),
        ("q5", ["Number_1", "Number1_1"]),
        ("q6", ["Date_-1", "Number_1"]),
        ("q7", [null]),
    ];

    public static IReadOnlyList<Verdict> Of(StoredRun run)
    {
        TestResult[] tests = [.. run.Steps.SelectMany(s => s.Tests)];
        return [.. Unmeasured(tests), .. ShortReplies(tests), .. OtherPlans(run), .. Rate(run, tests)];
    }

    private static IEnumerable<Verdict> Unmeasured(TestResult[] tests)
    {
        // Unacknowledged inserts of which nothing arrived were measured all the same.
        IEnumerable<TestResult> empty = tests.Where(t => t.Operations + t.Failed == 0 && t.Unacknowledged is not { Sent: > 0 });
        foreach (IGrouping<bool, TestResult> group in empty.GroupBy(t => t.WarmupSeconds > 0 && t.Seconds <= 0))
        {
            string[] names = [.. group.Select(t => t.Test).Distinct()];
            string why = group.Key ? $"{(names.Length == 1 ? "it" : "they")} ended within the warm-up" : "no operation was started after the warm-up";
            yield return new Verdict(Grade.Note, $"nothing was measured in {string.Join(", ", names)}: {why}");
        }
    }

    private static IEnumerable<Verdict> ShortReplies(TestResult[] tests)
    {
        foreach (IGrouping<string, TestResult> group in tests.Where(t => SeriesTests.Queries.Contains(t.Test)).GroupBy(t => t.Test))
        {
            long few = group.Sum(t => t.ShortReplies);
            int limit = SeriesTests.Find(group.Key, DocumentGenerator.ValueRange).Limit;
            if (few > 0)
                yield return new Verdict(Grade.Note, $"{group.Key}: {Units.Exact(few)} of {Units.Exact(group.Sum(t => t.Operations))} replies held fewer than {limit} documents");
        }
    }

    private static IEnumerable<Verdict> OtherPlans(StoredRun run)
    {
        // The null deployment has no plans.
        if (run.Deployment is { Kind: "null" })
            yield break;
        foreach ((string test, string?[] expected) in ExpectedIndexes)
        {
            var plans = run.Steps
                .SelectMany(s => s.Tests.Where(t => t.Test == test && t.Plan is { Stages.Length: > 0 }).Select(t => (s.Step, t.Plan!.Index)))
                .Distinct().ToList();
            int sizes = plans.Select(p => p.Step).Distinct().Count();
            foreach (var other in plans.Where(p => Array.IndexOf(expected, p.Index) < 0).GroupBy(p => p.Index))
            {
                string how = other.Key is { } index ? $"by index {index}" : "without an index";
                yield return new Verdict(Grade.Note, $"{test} ran {how} at {other.Count()} of {sizes} sizes");
            }
        }
    }

    private static IEnumerable<Verdict> Rate(StoredRun run, TestResult[] tests)
    {
        TestResult[] paced = [.. tests.Where(t => t.ResponseMicroseconds is not null)];
        if (run.Settings.Rate is not { } rate || paced.Length == 0)
            yield break;
        string text = $"{Units.Rate(rate)} operations/s were asked for: service time runs from an operation's start, response time from when it was due";
        TestResult? widest = paced.Where(t => GapAt99(t).HasValue).MaxBy(GapAt99);
        if (widest is not null)
        {
            text += $"; at p99 the gap was {Units.Latency(GapAt99(widest))} at most, in {widest.Test} "
                + $"({Units.Latency(widest.LatencyMicroseconds.P99)} and {Units.Latency(widest.ResponseMicroseconds!.P99)})";
        }

        long skipped = paced.Sum(t => t.Accounting.Skipped);
        string arrivals = $"of {Units.Exact(paced.Sum(t => t.Accounting.Scheduled))} arrivals";
        yield return skipped == 0
            ? new Verdict(Grade.Good, $"{text}; none {arrivals} was skipped")
            : new Verdict(Grade.Note, $"{text}; {Units.Exact(skipped)} {arrivals} were skipped: there was no time for them");
    }

    /// <summary>Microseconds between service and response time.</summary>
    private static double? GapAt99(TestResult test) =>
        test.ResponseMicroseconds?.P99 is { } response && test.LatencyMicroseconds.P99 is { } service ? Math.Max(0, response - service) : null;
}
