using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>When each thread of a phase had done so much, and which documents it wrote.</summary>
public sealed class LapTests : PhaseTest
{
    [Fact]
    public void Each_lap_ends_with_the_operation_that_fills_it()
    {
        GroupResult result = Run(Inserts("safe", 35) with { Lap = 10 }, _ => Scripted.Ok());
        // The last five are no whole lap.
        Assert.Equal([new LapMark(10, 0.010), new(20, 0.020), new(30, 0.030)], Assert.Single(result.Laps));
    }

    [Fact]
    public void A_batch_that_fills_several_laps_ends_them_with_what_it_did()
    {
        GroupResult result = Run(Inserts("batch", 100, batch: 25) with { Lap = 10 }, _ => Scripted.Ok(0.5));
        Assert.Equal([new LapMark(25, 0.5), new(50, 1), new(75, 1.5), new(100, 2)], Assert.Single(result.Laps));
    }

    [Fact]
    public void What_fails_is_not_counted_and_costs_its_time()
    {
        GroupResult result = Run(Inserts("safe", 20) with { Lap = 10 }, i => i < 5 ? Scripted.Refused(2, "BadValue") : Scripted.Ok());
        LapMark lap = Assert.Single(Assert.Single(result.Laps));
        Assert.Equal(10, lap.Done);
        Assert.True(lap.Seconds > 0.014, "the refused ones take their time");
    }

    [Fact]
    public void Queries_count_operations_and_not_what_they_bring()
    {
        GroupResult result = Run(Queries with { Count = 45, Lap = 20 }, _ => Scripted.Ok());
        Assert.Equal([new LapMark(20, 0.020), new(40, 0.040)], Assert.Single(result.Laps));
    }

    [Fact]
    public void Without_laps_there_are_none() => Assert.Empty(Run(Inserts("safe", 10), _ => Scripted.Ok()).Laps);

    [Fact]
    public void With_ranges_each_thread_writes_its_own_and_together_they_write_all()
    {
        var written = new List<List<long>>();
        GroupResult result = Run(Inserts("batch", 103, batch: 4) with { Threads = 5, HasRanges = true, Lap = 10 }, () =>
        {
            var own = new List<long>();
            written.Add(own);
            return new ScriptedExecutor(Clock, _ => Scripted.Ok()) { Store = (_, number) => { own.Add(number); return true; } };
        });
        Assert.Equal([21, 21, 21, 20, 20], written.Select(own => own.Count));
        Assert.All(written, own => Assert.Equal(Enumerable.Range((int)own[0], own.Count).Select(n => (long)n), own));
        Assert.Equal(Enumerable.Range(0, 103).Select(n => (long)n), written.SelectMany(own => own));
        Assert.Equal(103, result.AllDocuments);
        Assert.Equal([2, 2, 2, 2, 2], result.Laps.Select(task => task.Count));
    }
}
