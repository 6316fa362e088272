using MongoPerf.Deployments;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>A phase's threads on a cluster with several mongos in its connection string.</summary>
public sealed class SeveralMongosTests : IDisposable
{
    private readonly FakeSet _set = new(3, areMongos: true);
    private readonly GivenDeployment _deployment;
    private readonly ServerKeeper _keeper;

    public SeveralMongosTests()
    {
        _deployment = new GivenDeployment(_set.Addresses, FakeSet.Settings);
        _deployment.EnsureRunning();
        _keeper = new ServerKeeper(_deployment);
    }

    public void Dispose() => _set.Dispose();

    [Fact]
    public void A_mongos_that_dies_in_the_middle_loses_its_threads_to_the_others_and_has_its_share_again_in_the_next_phase()
    {
        Assert.Equal(3, Run(() => { }).Parts[0].Members.Count);

        GroupResult broken = Run(() => _set[1].IsAway = true, reconnects: 2);
        Assert.Null(broken.GivenUp);
        // Two threads had connections to it, and one operation each was lost with them.
        Assert.Equal(2, broken.Failed);
        Assert.Equal(broken.Operations, broken.Parts[0].Members.Sum(share => share.Operations));

        GroupResult without = Run(() => { });
        Assert.Equal((0, 2), (without.Failed, without.Parts[0].Members.Count));

        _set[1].IsAway = false;
        _keeper.BeforeReconnect();
        Assert.Equal(3, Run(() => { }).Parts[0].Members.Count);
    }

    /// <summary>
    /// Six threads, each at work until all have done something since the middle; at leisure, so that whoever waits beside them is heard.
    /// </summary>
    private GroupResult Run(Action inTheMiddle, int reconnects = 0)
    {
        var observer = new Listener();
        using var stop = new CancellationTokenSource();
        var runner = new GroupRunner(SystemClock.Instance, (group, worker) => new WireExecutor(
            preference => _deployment.Select(preference, group.FirstThread + worker), FakeSet.Settings, "d", _keeper.BeforeReconnect));
        var plan = new GroupPlan { Name = "finds", Operations =
        [
            new(new FindDocuments("find", "c", DocumentValue.Of()), 1),
        ], Threads = 6, Think = new ThinkTime(0.005, 0), Seed = 42 };
        Task<GroupResult> running = Task.Factory.StartNew(() => runner.Run(plan, observer, stop.Token), CancellationToken.None,
            TaskCreationOptions.LongRunning, TaskScheduler.Default);
        AwaitFinds();
        inTheMiddle();
        AwaitFinds();
        Eventually.Is(() => observer.Reconnects == reconnects);
        stop.Cancel();
        return running.GetAwaiter().GetResult();
    }

    private void AwaitFinds()
    {
        foreach (FakeSet.Member mongos in Enumerable.Range(0, 3).Select(i => _set[i]).Where(mongos => !mongos.IsAway))
        {
            int before = mongos.Count("find");
            Eventually.Is(() => mongos.Count("find") > before + 20);
        }
    }

    private sealed class Listener : IGroupObserver
    {
        private int _reconnects;

        public int Reconnects => Volatile.Read(ref _reconnects);

        public void OnInterval(IReadOnlyList<Sample> samples)
        {
        }

        public void OnEvent(string kind, string text, double? seconds) =>
            Interlocked.Add(ref _reconnects, text.Contains("2 threads", StringComparison.Ordinal) ? 2 : 1);
    }
}
