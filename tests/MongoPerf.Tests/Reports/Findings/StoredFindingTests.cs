using MongoPerf.Reports;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

public sealed class StoredFindingTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_clean_run_has_no_section()
    {
        StoredRun run = Write("clean", 60, _ => 1);
        Assert.Empty(RunFindings.Shown(run));
        Assert.DoesNotContain("finding", TextOf(run, (r, output) => ConsoleReport.Write(RunReport.Of(r), output)));
        Assert.DoesNotContain("Findings", TextOf(run, (r, output) => MarkdownReport.Write(RunReport.Of(r), output)));
    }

    [Fact]
    public void Seconds_in_which_nothing_was_done_are_a_stall_in_every_report()
    {
        StoredRun run = Write("stall", 60, second => second is >= 30 and < 33 ? 0 : 1);
        Finding stall = Assert.Single(RunFindings.Shown(run));
        Assert.Equal(("stall", "q4"), (stall.Id, Assert.Single(stall.Operations)));
        Assert.StartsWith("q4 stalled for 3 s at 3", stall.Text, StringComparison.Ordinal);
        Assert.Contains("finding    q4 stalled for 3 s", TextOf(run, (r, output) => ConsoleReport.Write(RunReport.Of(r), output)));
        Assert.Contains("- **stall**: q4 stalled for 3 s", TextOf(run, (r, output) => MarkdownReport.Write(RunReport.Of(r), output)));
        Assert.Contains("\"id\": \"stall\"", TextOf(run, JsonReport.Write));
    }

    [Fact]
    public void A_rate_that_falls_where_memory_is_outgrown_is_a_cliff_and_what_was_outgrown_is_named()
    {
        string folder = _runs.At("cliff");
        using (RunStore store = RunStore.Create(folder, RunParts.Run("cliff"),
            RunParts.Settings(500_000) with { Deployment = new DeploymentSettings { MemoryLimitBytes = 300L << 20 } }))
        {
            store.SetDeployment(RunParts.Deployment());
            double[] rates = new NoisySamples(4, 0.03, 0).Window(10, 9000);
            for (int step = 1; step <= 10; step++)
            {
                OperationResult result = RunParts.Result(
                    "q4", 8, 300_000) with { OperationsPerSecond = step <= 5 ? rates[step - 1] : rates[step - 1] / 3 };
                store.EndPhase(RunParts.Grown(2 * step, "q4", step, step * 50_000, result));
                store.EndPhase(
                    RunParts.Grown((2 * step) + 1, "size", step, step * 50_000) with { Sizes = [RunParts.Sizes(step * 50_000)] });
            }
        }

        Finding cliff = Assert.Single(RunFindings.Shown(StoredRun.Open(folder)));
        Assert.Equal(FindingIds.SizeCliff, cliff.Id);
        Assert.Matches("^q4's rate falls from [0-9,]+ to [0-9,]+/s between 250k and 300k documents$", cliff.Text);
        // 1,160 bytes a document on the disk; nothing says that the disk was read, so it is no cause yet.
        Assert.Equal("data and indexes on disk outgrew the memory limit (300 MiB) at 270k documents", cliff.Cause);
        Assert.True(cliff.IsCoincidence);
        Assert.InRange(cliff.Rate!.Ratio, 0.3, 0.37);
    }

    [Fact]
    public void Every_kind_of_finding_is_documented()
    {
        string text = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "findings.md"));
        Assert.All(FindingIds.All, id => Assert.Contains($"`{id}`", text, StringComparison.Ordinal));
    }

    private StoredRun Write(string id, int seconds, Func<int, double> speed)
    {
        string folder = Path.Combine(_runs.Path, id);
        using (RunStore store = RunStore.Create(folder, RunParts.Run(id), RunParts.Settings()))
        {
            store.SetDeployment(RunParts.Deployment());
            store.SetEnvironment(RunParts.Environment());
            PhaseRecord phase = RunParts.Phase(1, "q4", RunParts.Result("q4", 8, 300_000));
            store.BeginPhase(phase with { IsComplete = false }, continues: false);
            double[] rates = new NoisySamples(3, 0.03).Window(seconds, 5000);
            for (int second = 0; second < seconds; second++)
                store.AddSample(RunParts.Sample(second) with { Operations = (long)(rates[second] * speed(second)) });
            store.EndPhase(phase);
            store.SetState(RunState.Finished, null, RunParts.Start.AddSeconds(seconds));
        }

        return StoredRun.Open(folder);
    }

    private static string TextOf(StoredRun run, Action<StoredRun, TextWriter> write)
    {
        using var output = new StringWriter();
        write(run, output);
        return output.ToString();
    }
}
