using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>When operations of a rate are due; a tick is a nanosecond.</summary>
public sealed class ArrivalStreamTests
{
    private const long Second = 1_000_000_000;

    [Theory]
    [InlineData(10)]
    [InlineData(333)]
    [InlineData(1000)]
    [InlineData(4321)]
    [InlineData(20_000)]
    public void In_thirty_seconds_come_exactly_thirty_times_the_rate(int rate)
    {
        ArrivalStream arrivals = Start(rate);
        Assert.Equal(30 * rate, arrivals.TakeBefore(30 * Second));
        Assert.Equal(0, arrivals.TakeBefore(30 * Second));
        Assert.Equal(rate, arrivals.TakeBefore(31 * Second));
    }

    /// <summary>All that it takes in the measured part was due before.</summary>
    [Fact]
    public void A_connection_that_is_far_behind_is_busy_for_all_of_the_measured_part()
    {
        var arrivals = new ArrivalStream(200_000, Second, 42, PlanShare.Whole);
        arrivals.Start(0, Second / 2);
        int measured = 0;
        for (long free = 0; free < 2 * Second; free += Second / 5000)
        {
            arrivals.Take(free);
            measured += free >= Second / 2 ? 1 : 0;
        }

        Assert.Equal(measured, arrivals.Waited);
        Assert.Equal(1.5, (double)arrivals.Busy / Second, 0.001);
    }

    [Fact]
    public void Arrivals_of_a_constant_rate_are_evenly_spaced_to_the_tick()
    {
        ArrivalStream arrivals = Start(3000);
        for (int i = 0; i < 30_000; i++)
            Assert.Equal((long)Math.Round(i * (Second / 3000.0)), arrivals.Take(0));
    }

    [Theory]
    [InlineData(1, 10)]
    [InlineData(2, 200)]
    [InlineData(3, 1000)]
    [InlineData(4, 20_000)]
    public void Random_arrivals_have_the_mean_and_the_dispersion_of_Poissons(ulong seed, int rate)
    {
        const int Windows = 20_000;
        ArrivalStream arrivals = Start(new RatePlan([new RatePiece(rate, rate, 0)], IsPoisson: true), seed);
        // Windows in which about ten come.
        long window = Second * 10 / rate;
        double[] counts = [.. Enumerable.Range(1, Windows).Select(i => (double)arrivals.TakeBefore(i * window))];
        double mean = counts.Average();
        double variance = counts.Sum(count => (count - mean) * (count - mean)) / (Windows - 1);
        Assert.InRange(mean, 9.9, 10.1);
        Assert.InRange(variance / mean, 0.95, 1.05);
    }

    [Fact]
    public void Random_arrivals_are_the_same_under_the_same_seed_and_others_under_another()
    {
        var plan = new RatePlan([new RatePiece(100, 100, 0)], IsPoisson: true);
        long[] first = Take(Start(plan, 7), 100);
        Assert.Equal(first, Take(Start(plan, 7), 100));
        Assert.NotEqual(first, Take(Start(plan, 8), 100));
    }

    [Fact]
    public void Random_arrivals_of_many_seeds_vary_as_Poissons_from_their_first_second_on()
    {
        const int Seeds = 2000;
        double[] counts = [.. Enumerable.Range(1, Seeds)
            .Select(seed => (double)Start(new RatePlan([new RatePiece(100, 100, 0)], IsPoisson: true), (ulong)seed).TakeBefore(Second))];
        double mean = counts.Average();
        Assert.InRange(mean, 99, 101);
        // The dispersion of 2,000 counts has a standard deviation of 0.03.
        Assert.InRange(counts.Sum(count => (count - mean) * (count - mean)) / (Seeds - 1) / mean, 0.88, 1.12);
    }

    [Fact]
    public void A_rate_that_changes_brings_what_lies_under_its_course()
    {
        ArrivalStream arrivals = Start(new RatePlan([new RatePiece(100, 100, 10), new RatePiece(100, 500, 20), new RatePiece(50, 50, 0)]));
        Assert.Equal(1000, arrivals.TakeBefore(10 * Second));
        // Half-way up the line the rate is 300: ten seconds at 200 on average.
        Assert.Equal(2000, arrivals.TakeBefore(20 * Second));
        Assert.Equal(4000, arrivals.TakeBefore(30 * Second));
        Assert.Equal(500, arrivals.TakeBefore(40 * Second));
    }

    /// <summary>A typing error must not keep a run from ending.</summary>
    [Fact]
    public void Arrivals_of_an_absurd_rate_are_counted_at_once_and_exactly()
    {
        ArrivalStream arrivals = Start(new RatePlan([new RatePiece(1e6, 1e9, 100), new RatePiece(1e9, 1e9, 0)]));
        Take(arrivals, 10);
        Assert.Equal((long)((1e6 + 1e9) / 2 * 100) + 1_000_000_000 - 10, arrivals.TakeBefore(101 * Second));
    }

    [Fact]
    public void A_rate_that_falls_to_nearly_nothing_is_followed_to_its_end()
    {
        ArrivalStream arrivals = Start(new RatePlan([new RatePiece(1000, 1e-6, 10)]));
        Assert.InRange(arrivals.TakeBefore(10 * Second), 5000, 5001);
        Assert.Equal(0, arrivals.TakeBefore(1000 * Second));
    }

    [Fact]
    public void An_arrival_waits_where_the_connection_that_takes_it_became_free_after_it_was_due()
    {
        ArrivalStream arrivals = Start(10);
        arrivals.Take(0);
        arrivals.Take(Second / 20);
        Assert.Equal((0, 0), (arrivals.Waited, arrivals.Busy));
        // Due at 0.2, 0.3 and 0.4 s; taken at 0.35, 0.36 and 0.5 s.
        arrivals.Take(Second * 35 / 100);
        arrivals.Take(Second * 36 / 100);
        arrivals.Take(Second / 2);
        Assert.Equal((3, (Second * 16 / 100) + (Second / 10)), (arrivals.Waited, arrivals.Busy));
    }

    [Theory]
    [InlineData(false, 1)]
    [InlineData(false, 4)]
    [InlineData(true, 3)]
    [InlineData(true, 64)]
    public void Clients_together_have_exactly_the_arrivals_of_one(bool isPoisson, int clients)
    {
        var rate = new RatePlan([new RatePiece(100, 5000, 3), new RatePiece(5000, 5000, 1)], isPoisson);
        const int Each = 50;
        long[] one = Take(Start(rate), Each * clients);
        long[] all = [.. Enumerable.Range(0, clients).SelectMany(i => Take(Start(rate, share: new PlanShare(i, clients)), Each)).Order()];
        Assert.Equal(one, all);
        long missed = Enumerable.Range(0, clients).Sum(i => Start(rate, share: new PlanShare(i, clients)).TakeBefore(4 * Second));
        Assert.Equal(Start(rate).TakeBefore(4 * Second), missed);
    }

    private static long[] Take(ArrivalStream arrivals, int count) => [.. Enumerable.Range(0, count).Select(_ => arrivals.Take(0))];

    private static ArrivalStream Start(RatePlan rate, ulong seed = 42, PlanShare? share = null)
    {
        var arrivals = new ArrivalStream(rate, Second, seed, share ?? PlanShare.Whole);
        arrivals.Start(0, 0);
        return arrivals;
    }
}
