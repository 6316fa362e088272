using MongoPerf.Load.Phases;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

public sealed class LaneTests
{
    [Theory]
    [InlineData(1, 1)]
    [InlineData(64, 64)]
    [InlineData(10_000, 64)]
    public void A_worker_has_a_lane_of_its_own_unless_there_are_more_than_64(int threads, int lanes) =>
        Assert.Equal(lanes, Open(threads).Count);

    /// <summary>A worker that lost its processor while it counted would keep others waiting until it has one again.</summary>
    [Fact]
    public void Who_finds_a_lane_taken_counts_in_the_next_one()
    {
        IReadOnlyList<Lane> lanes = Open(65);
        Lane taken = lanes[63].Enter();
        Lane? other = null;
        var thread = new Thread(() =>
        {
            other = lanes[63].Enter();
            other.Exit();
        });
        thread.Start();
        thread.Join();
        taken.Exit();
        Assert.Same(lanes[63], taken);
        Assert.Same(lanes[0], other);
    }

    private static IReadOnlyList<Lane> Open(int threads) =>
        Lane.Of(new GroupPlan { Name = "q4", Operations = [new(SeriesFile.Find("q4"), 1)], Threads = threads, Seed = 1 });
}
