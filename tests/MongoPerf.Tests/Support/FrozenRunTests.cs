using MongoPerf.Engine.Runs;

namespace MongoPerf.Tests.Support;

public sealed class FrozenRunTests
{
    [Fact]
    public void A_frozen_run_hangs_together()
    {
        using var runs = new TemporaryFolder();
        using StoredRun run = StoredRun.Open(FrozenRun.Build(runs.Path));
        Assert.Equal(10, run.Steps.Count);
        Assert.All(run.Steps, step => Assert.True(step.Complete));
        Assert.Equal(1_000_000, run.Steps[^1].Documents);
        Assert.Equal(1_000_000, run.DocumentsReached);
        Assert.Equal(run.Accounting.Scheduled, run.Accounting.Succeeded + run.Accounting.Failed + run.Accounting.Skipped);
        Assert.Equal(run.Accounting.Failed, run.Errors.Sum(e => e.Count));
        Assert.True(run.ReadServerSamples().Count() > 200);
        Assert.Equal(run.ReadSamples().Count(), run.ReadHostSamples().Count());
        foreach (TestResult test in run.Steps.SelectMany(s => s.Tests))
            Assert.True(test.LatencyMicroseconds.P50 <= test.LatencyMicroseconds.P99, test.Test);
    }

    [Fact]
    public void A_bigger_one_can_be_made()
    {
        using var runs = new TemporaryFolder();
        var shape = new FrozenShape { Steps = 4, TargetDocumentCount = 4_000_000, WindowSeconds = 10, Threads = [1, 8], State = RunState.Running };
        using StoredRun run = StoredRun.Open(FrozenRun.Build(runs.Path, shape));
        Assert.Equal("broken off", run.StateText);
        Assert.Equal(4_000_000, run.DocumentsReached);
        Assert.Equal(11, run.Steps[0].Tests.Count);
    }
}
