using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

public sealed class FrozenRunTests
{
    [Fact]
    public void The_parts_of_a_frozen_run_agree()
    {
        using var runs = new TemporaryFolder();
        using StoredRun run = StoredRun.Open(FrozenRun.Build(runs.Path));
        Assert.Equal(10, run.GrowthSteps.Count);
        Assert.All(run.Phases, phase => Assert.True(phase.IsComplete));
        Assert.Equal(1_000_000, run.GrowthSteps[^1].Documents);
        Assert.Equal(1_000_000, run.DocumentsReached);
        Assert.Equal(run.Accounting.Scheduled, run.Accounting.Succeeded + run.Accounting.Failed + run.Accounting.Skipped);
        Assert.Equal(run.Accounting.Failed, run.Errors.Sum(e => e.Count));
        Assert.True(run.ReadServerSamples().Count() > 200);
        Assert.Equal(run.ReadSamples().Count(), run.ReadHostSamples().Count());
        Assert.All(run.Results, result => Assert.True(result.LatencyMicroseconds.P50 <= result.LatencyMicroseconds.P99, result.Operation));
    }

    [Fact]
    public void A_bigger_one_can_be_made()
    {
        using var runs = new TemporaryFolder();
        var shape = new FrozenShape
        {
            Steps = 4, TargetDocumentCount = 4_000_000, WindowSeconds = 10, Threads = [1, 8], State = RunState.Running,
        };
        using StoredRun run = StoredRun.Open(FrozenRun.Build(runs.Path, shape));
        Assert.Equal("aborted", run.StateText);
        Assert.Equal(4_000_000, run.DocumentsReached);
        Assert.Equal(11, run.GrowthSteps[0].Operations.Count());
    }
}
