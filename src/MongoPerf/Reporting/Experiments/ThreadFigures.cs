using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Reporting.Experiments;

/// <summary>Tests that were run by several numbers of threads at one size, so that threads are what they are compared by.</summary>
/// <param name="Tests">In their order.</param>
/// <param name="Threads">Ascending.</param>
/// <param name="Results">Of the one step.</param>
internal sealed record ThreadFigures(IReadOnlyList<string> Tests, IReadOnlyList<int> Threads, IReadOnlyList<TestResult> Results)
{
    /// <summary>Null unless the run has one size, and a test of it several numbers of threads.</summary>
    public static ThreadFigures? Of(StoredRun run)
    {
        if (run.Steps is not [var step])
            return null;
        string[] tests = [.. step.Tests.GroupBy(t => t.Test).Where(group => group.Count() > 1).Select(group => group.Key)];
        TestResult[] results = [.. step.Tests.Where(t => tests.Contains(t.Test))];
        return tests.Length == 0 ? null : new ThreadFigures(tests, [.. results.Select(t => t.Threads).Distinct().Order()], results);
    }

    public TestResult? Find(string test, int threads) => Results.FirstOrDefault(t => t.Test == test && t.Threads == threads);

    /// <summary>What the tests' rates count.</summary>
    public bool AreInserts => Tests.All(test => SeriesTests.IsInsert(test) || ExperimentTests.IsInsert(test));

    /// <summary>Documents per second of inserts, operations per second of queries.</summary>
    public double RateOf(TestResult result) => AreInserts ? result.DocumentsPerSecond : result.OperationsPerSecond;
}
