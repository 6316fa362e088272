using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>Which worker gets an arrival, and when; a tick is a microsecond.</summary>
public sealed class FreeWorkersTests
{
    private const long Ahead = 5_000;
    private const long Least = 2_500;

    private readonly ManualClock _clock = new();
    private readonly List<string> _woken = [];

    [Fact]
    public void An_arrival_is_nobodys_until_5_ms_before_it_is_due()
    {
        FreeWorkers line = Open(rate: 10, seconds: 1);
        FreeWorkers.Place one = Place("one");
        Assert.Equal((true, 0), Take(line, one));
        Assert.Equal((false, 100_000 - Ahead), Take(line, one));
        _clock.SleepUntil(100_000 - Ahead - 1);
        Assert.Equal((false, 100_000 - Ahead), Take(line, one));
        _clock.SleepUntil(100_000 - Ahead);
        Assert.Equal((true, 100_000), Take(line, one));
    }

    [Fact]
    public void Who_has_been_free_longest_gets_the_next_one_and_the_others_wait_without_a_timer()
    {
        FreeWorkers line = Open(rate: 10, seconds: 1);
        FreeWorkers.Place first = Place("first"), second = Place("second"), third = Place("third");
        _ = Take(line, first);
        Assert.Equal((false, 100_000 - Ahead), Take(line, first));
        Assert.Equal((false, long.MaxValue), Take(line, second));
        Assert.Equal((false, long.MaxValue), Take(line, third));
        _clock.SleepUntil(100_000 - Least);
        Assert.Equal((true, 100_000), Take(line, first));
        // The next one is first now, and the one who has just been served is the last.
        Assert.Equal(["second"], _woken);
        Assert.Equal((false, 200_000 - Least), Take(line, second));
        Assert.Equal((false, long.MaxValue), Take(line, first));
        _clock.SleepUntil(200_000 - Least);
        Assert.Equal((true, 200_000), Take(line, second));
        Assert.Equal(["second", "third"], _woken);
    }

    [Fact]
    public void The_first_hands_out_what_is_as_near_as_its_own()
    {
        // One in a millisecond.
        FreeWorkers line = Open(rate: 1000, seconds: 1);
        FreeWorkers.Place[] places = [.. Enumerable.Range(0, 6).Select(i => Place($"{i}"))];
        // Those up to 5 ms ahead go at once to who is awake.
        for (int i = 0; i <= 5; i++)
            Assert.Equal((true, i * 1000), Take(line, places[0]));
        foreach (FreeWorkers.Place place in places)
            Assert.False(Take(line, place).Taken);
        _clock.SleepUntil(6_000 - Least);
        Assert.Equal((true, 6_000), Take(line, places[0]));
        // Now it is 3.5 ms: what is due until 8.5 ms is given out, and the fourth is first in line.
        Assert.Equal(["1", "2", "3"], _woken);
        Assert.Equal((true, 7_000), Take(line, places[1]));
        Assert.Equal((true, 8_000), Take(line, places[2]));
        Assert.Equal((false, 9_000 - Least), Take(line, places[3]));
        Assert.Equal((false, long.MaxValue), Take(line, places[4]));
    }

    /// <summary>A processor that is kept from the first in line keeps no arrival waiting.</summary>
    [Fact]
    public void Who_is_awake_takes_what_is_due_though_others_are_before_it()
    {
        FreeWorkers line = Open(rate: 10, seconds: 1);
        FreeWorkers.Place sleeper = Place("sleeper"), awake = Place("awake");
        _ = Take(line, sleeper);
        Assert.False(Take(line, sleeper).Taken);
        _clock.SleepUntil(150_000);
        Assert.Equal((true, 100_000), Take(line, awake));
        Assert.Equal((false, 200_000 - Ahead), Take(line, sleeper));
    }

    [Fact]
    public void At_the_end_all_are_let_go()
    {
        // An arrival at the end itself belongs to nobody.
        FreeWorkers line = Open(rate: 10, seconds: 0.1);
        FreeWorkers.Place first = Place("first"), second = Place("second");
        _ = Take(line, first);
        Assert.Equal((false, 100_000), Take(line, first));
        Assert.Equal((false, long.MaxValue), Take(line, second));
        _clock.SleepUntil(100_000);
        Assert.Equal((true, 100_000), Take(line, first));
        Assert.Equal(["second"], _woken);
        Assert.Equal((true, 100_000), Take(line, second));
        Assert.Equal((true, 100_000), Take(line, Place("late")));
    }

    [Fact]
    public void Who_leaves_makes_the_next_one_first()
    {
        FreeWorkers line = Open(rate: 10, seconds: 1);
        FreeWorkers.Place first = Place("first"), second = Place("second"), third = Place("third");
        _ = Take(line, first);
        foreach (FreeWorkers.Place place in (FreeWorkers.Place[])[first, second, third])
            Assert.False(Take(line, place).Taken);
        Assert.True(line.TryLeave(second));
        Assert.Empty(_woken);
        Assert.True(line.TryLeave(first));
        Assert.Equal(["third"], _woken);
        Assert.True(line.TryLeave(first));
        Assert.Equal((false, 100_000 - Ahead), Take(line, third));
    }

    [Fact]
    public void Who_has_been_given_an_arrival_can_no_longer_leave()
    {
        FreeWorkers line = Open(rate: 1000, seconds: 1);
        FreeWorkers.Place first = Place("first"), second = Place("second");
        for (int i = 0; i <= 5; i++)
            _ = Take(line, first);
        Assert.False(Take(line, first).Taken);
        Assert.False(Take(line, second).Taken);
        _clock.SleepUntil(6_000 - Least);
        Assert.Equal((true, 6_000), Take(line, first));
        Assert.False(line.TryLeave(second));
        Assert.Equal((true, 7_000), Take(line, second));
        Assert.True(line.TryLeave(second));
    }

    private (bool Taken, long Ticks) Take(FreeWorkers line, FreeWorkers.Place place) =>
        line.TryTake(place, _clock.Now, out long due, out long wakeAt) ? (true, due) : (false, wakeAt);

    private FreeWorkers Open(double rate, double seconds)
    {
        var arrivals = new ArrivalStream(rate, _clock.TicksPerSecond, 1, PlanShare.Whole);
        arrivals.Start(0, 0);
        var line = new FreeWorkers(arrivals, _clock);
        line.Begin(_clock.TicksOf(seconds));
        return line;
    }

    private FreeWorkers.Place Place(string name) => new(new Noted(() => _woken.Add(name)));

    private sealed class Noted(Action woken) : IParker
    {
        public void ParkUntil(long ticks) => throw new NotSupportedException();

        public void Unpark() => woken();
    }
}
