using System.Diagnostics;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests;

/// <summary>scripts/original-table on a comparison that was written by hand.</summary>
public sealed class OriginalTableScriptTests
{
    /// <summary>Found as "0.12 (0.00 to 0.00)": too few samples have no interval.</summary>
    [Fact]
    public void A_ratio_without_an_interval_has_none_in_the_table()
    {
        using var folder = new TemporaryFolder();
        File.WriteAllText(folder.At("comparison.csv"), """
            candidate,phase,operation,measure,window,documents,baseline_value,candidate_value,ratio,ratio_low,ratio_high,verdict
            b,q4,q4,rate,1,1000,100,12,0.12,,,undecided
            b,q4,q4,rate,all,,100,12,0.12,,,undecided
            b,q5,q5,rate,1,1000,100,200,2,1.5,2.5,faster
            b,q5,q5,rate,all,,100,200,2,1.5,2.5,faster

            """);
        string table = Run(folder.At("comparison.csv"));
        Assert.Contains("| 0.12, undecided |", table, StringComparison.Ordinal);
        Assert.Contains("| 2.00 (1.50 to 2.50), faster |", table, StringComparison.Ordinal);
        Assert.DoesNotContain("0.00", table, StringComparison.Ordinal);
    }

    private static string Run(string file)
    {
        using Process process = Process.Start(new ProcessStartInfo("bash", [Path.Combine(RepositoryPaths.Root, "scripts", "original-table"),
            file, "one", "shards"]) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        string output = process.StandardOutput.ReadToEnd();
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, errors);
        return output;
    }
}
