using MongoPerf.Learning.Observing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>Operations by their times, some of which may not be kept.</summary>
public sealed class TimelineTests
{
    private static readonly ObservedOperation Any = new(0, "shop", "orders", BsonDocument.Empty);

    [Fact]
    public void None_of_millions_is_forgotten_because_it_came_rarely()
    {
        var timeline = new Timeline();
        for (int i = 0; i < 40; i++)
            timeline.Add(Any with { Seconds = i * 0.02 }, 1 + i);
        for (int i = 0; i < (1 << 20) + 1000; i++)
            timeline.Add(Any with { Seconds = i * 1e-6 }, 0);
        Stretch all = Assert.Single(timeline.Divide(Enumerable.Range(0, 41).ToHashSet(), null));
        Assert.Equal(41, all.Shapes.Count);
    }

    /// <summary>Such as $queryStats, which tells when each query came first.</summary>
    [Fact]
    public void What_has_no_times_is_not_divided()
    {
        var timeline = new Timeline();
        for (int i = 0; i < 2000; i++)
            timeline.Add(Any with { Seconds = i }, i / 1000);
        Assert.Equal(2, timeline.Divide(new HashSet<int> { 0, 1 }, null).Count);
        Assert.Equal(5000, Assert.Single(timeline.Divide(new HashSet<int> { 0, 1 }, 5000)).Seconds);
    }
}
