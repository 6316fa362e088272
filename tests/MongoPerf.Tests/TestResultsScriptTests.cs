using System.Diagnostics;
using System.Security;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests;

/// <summary>The last lines of ./run-tests and .ci/run (scripts/test-results.sh), from result files as `dotnet test` writes them.</summary>
public sealed class TestResultsScriptTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void What_was_left_out_is_summed_up_by_what_it_needs_in_at_most_five_lines_before_the_sum()
    {
        Results("Unit", ("a", "Passed", null), ("b", "NotExecuted", Need.Mongod), ("c", "NotExecuted", Need.Vectors));
        Results("EndToEnd", ("d", "NotExecuted", Need.Mongod), ("e", "NotExecuted", Need.Mongod), ("f", "NotExecuted", Need.Browser),
            ("g", "NotExecuted", Need.Browser), ("h", "NotExecuted", Need.Vectors), ("i", "NotExecuted", Need.Root),
            ("j", "NotExecuted", Need.Pymongo), ("k", "NotExecuted", Need.OwnMounts));
        Assert.Equal(
            [
                $"3 need a mongod: {Need.Mongod.HowToHaveIt}",
                $"2 need MongoDB's test vectors: {Need.Vectors.HowToHaveIt}",
                $"2 need a browser: {Need.Browser.HowToHaveIt}",
                $"1 needs mounts of their own: {Need.OwnMounts.HowToHaveIt}",
                "2 more need pymongo for /usr/bin/python3; root",
                "1 passed, 0 failed, 10 skipped",
            ],
            Lines(0, "summarize . Unit EndToEnd"));
    }

    [Fact]
    public void What_fails_and_passes_alone_is_named_as_flaky_and_has_passed()
    {
        Results("Unit", ("N.C.Lucky", "Failed", null), ("N.C.Theory(a: \"<x>\")", "Failed", null), ("N.C.Fine", "Passed", null));
        Results("Unit.again", ("N.C.Lucky", "Passed", null), ("N.C.Theory(a: \"<x>\")", "Passed", null),
            ("N.C.Theory(a: \"y\")", "Passed", null));
        Assert.Equal(["flaky: N.C.Lucky", "flaky: N.C.Theory(a: \"<x>\")", "3 passed, 0 failed, 0 skipped"], Lines(0, "summarize . Unit"));
        Assert.Equal(["FullyQualifiedName=N.C.Lucky|FullyQualifiedName=N.C.Theory"], Lines(0, "filter_of Unit.trx"));
    }

    [Fact]
    public void What_fails_again_has_failed()
    {
        Results("Unit", ("N.C.Broken", "Failed", null), ("N.C.Lucky", "Failed", null), ("N.C.Slow", "Timeout", null),
            ("N.C.Twin", "Failed", null), ("N.C.Twin", "Passed", null));
        // Of two that have one name, one passes and the other one does not.
        Results("Unit.again", ("N.C.Broken", "Failed", null), ("N.C.Lucky", "Passed", null), ("N.C.Twin", "Failed", null),
            ("N.C.Twin", "Passed", null));
        Assert.Equal(
            ["failed: N.C.Broken", "failed: N.C.Slow", "failed: N.C.Twin", "flaky: N.C.Lucky", "2 passed, 3 failed, 0 skipped"],
            Lines(1, "summarize . Unit"));
    }

    [Fact]
    public void Where_no_test_ran_none_has_passed() => Assert.Equal(["0 passed, 0 failed, 0 skipped"], Lines(1, "summarize ."));

    [Fact]
    public void Sums_are_added_up_and_one_that_is_missing_is_a_failure()
    {
        File.WriteAllText(_folder.At("here"), "building\n10 passed, 0 failed, 1 skipped\n");
        File.WriteAllText(_folder.At("fresh"), "3 need a mongod: …\n5 passed, 2 failed, 30 skipped\n");
        File.WriteAllText(_folder.At("broken"), "the build failed\n");
        Assert.Equal(["15 passed, 2 failed, 31 skipped"], Lines(0, "add_up here fresh"));
        Assert.Equal(["10 passed, 0 failed, 1 skipped"], Lines(1, "add_up here broken"));
    }

    private void Results(string project, params (string Name, string Outcome, Need? Missing)[] tests)
    {
        int Count(Func<string, bool> outcome) => tests.Count(test => outcome(test.Outcome));
        string results = string.Concat(tests.Select(test =>
            $"""<UnitTestResult testId="1" testName="{SecurityElement.Escape(test.Name)}" duration="00:00:01" outcome="{test.Outcome}" """
            + (test.Missing is null
                ? "/>\n"
                : $">\n<Output>\n<StdOut>{SecurityElement.Escape(test.Missing.Reason)}</StdOut>\n</Output>\n</UnitTestResult>\n")));
        int executed = Count(outcome => outcome != "NotExecuted");
        File.WriteAllText(_folder.At($"{project}.trx"),
            $"""
            <TestRun>
            {results}
            <Counters total="{tests.Length}" executed="{executed}" passed="{Count(outcome => outcome == "Passed")}" failed="0" />
            </TestRun>
            """);
    }

    private string[] Lines(int exitCode, string line)
    {
        var start = new ProcessStartInfo("bash",
            ["-c", $"set -euo pipefail; source '{Path.Combine(RepositoryPaths.Root, "scripts/test-results.sh")}'; {line}"])
        {
            WorkingDirectory = _folder.Path, RedirectStandardOutput = true,
        };
        using Process bash = Process.Start(start)!;
        string said = bash.StandardOutput.ReadToEnd();
        bash.WaitForExit();
        Assert.True(bash.ExitCode == exitCode, $"exit code {bash.ExitCode}: {said}");
        return said.TrimEnd('\n').Split('\n');
    }
}
