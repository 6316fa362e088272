using MongoPerf.Deployments.Sampling;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Deployments;

/// <summary>Samples are dated when their counters were read, not when they were here: rates of more than there is came of it.</summary>
public sealed class CounterClockTests
{
    [Fact]
    public void A_late_reply_does_not_shorten_the_step_to_the_next()
    {
        var clock = new CounterClock();
        Assert.Equal(10_000, clock.At(500, 10_000));
        Assert.Equal(11_000, clock.At(1500, 11_000));
        // Read at 12 s, here 0.7 s later; the next is quick again.
        Assert.Equal(12_000, clock.At(2500, 12_700), 1.0);
        Assert.Equal(13_000, clock.At(3500, 13_000), 1.0);
    }

    [Fact]
    public void Whatever_the_delays_steps_are_those_of_the_server()
    {
        var random = new Random(5);
        var clock = new CounterClock();
        clock.At(0, 1_000_000);
        long last = clock.At(1000, 1_001_000);
        for (int second = 2; second < 2000; second++)
        {
            long at = clock.At(second * 1000, 1_000_000 + (second * 1000) + (long)(Math.Pow(random.NextDouble(), 8) * 5000));
            Assert.InRange(at - last, 990, 1010);
            last = at;
        }
    }

    [Fact]
    public void A_server_that_was_started_again_has_a_new_clock()
    {
        var clock = new CounterClock();
        clock.At(100_000, 1_000_000);
        Assert.Equal(1_005_000, clock.At(400, 1_005_000));
        Assert.Equal(1_006_000, clock.At(1400, 1_006_000));
    }

    [Fact]
    public void A_server_that_tells_no_time_is_dated_by_its_reply() => Assert.Equal(77, new CounterClock().At(double.NaN, 77));

    [Fact]
    public void The_servers_time_is_that_of_its_status()
    {
        Assert.Equal(4321,
            StatusTree.FindUptimeMilliseconds(BsonDocument.Of(("host", "a"), ("uptime", 4.0), ("uptimeMillis", 4321L), ("ok", 1.0)).Bytes));
        Assert.True(double.IsNaN(StatusTree.FindUptimeMilliseconds(BsonDocument.Of(("ok", 1.0)).Bytes)));
    }

    [Fact]
    public void A_host_sample_that_the_system_held_up_is_taken_again()
    {
        using var folder = new TemporaryFolder();
        using var sampler = new HostSampler(folder.Path, () => [], FakeProc.Write(folder, mount: "8:1 / /", source: "/dev/sda1"));
        // Begun at 1 s and held up for 0.7 s; then at once.
        var times = new Queue<long>([1000, 1700, 1700, 1702]);
        Assert.Equal(1701, sampler.Sample(times.Dequeue).AtMilliseconds);
        Assert.Empty(times);
        // A machine that never gets to it has its sample all the same.
        times = new Queue<long>([0, 100, 100, 200, 200, 300]);
        MetricSample sample = sampler.Sample(times.Dequeue);
        Assert.Equal(250, sample.AtMilliseconds);
        Assert.False(double.IsNaN(sample.Values[MetricCatalogue.IndexOf(MetricCatalogue.Host, "cpu_user")]));
    }
}
