using MongoPerf.Load.Collections;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Load.Collections;

public sealed class ServerClockTests
{
    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 8)]
    [InlineData(3, 64)]
    public void Clients_of_one_machine_learn_the_same_from_one_another_and_more_than_each_alone(int seed, int clients)
    {
        var random = new Random(seed);
        double offset = (random.NextDouble() - 0.5) * 1e6;
        ClientClock[] clocks = [.. Enumerable.Range(0, clients).Select(_ =>
        {
            double uncertainty = 0.1 + (5 * random.NextDouble());
            return new ClientClock("c:1", offset + (((2 * random.NextDouble()) - 1) * uncertainty), uncertainty);
        })];
        ClientClock[] joined = [.. clocks.Select(own => ServerClock.Join(own, clocks))];
        Assert.Single(joined.Distinct());
        Assert.InRange(Math.Abs(joined[0].OffsetMilliseconds - offset), 0, joined[0].UncertaintyMilliseconds + 0.002);
        Assert.InRange(joined[0].UncertaintyMilliseconds, 0, clocks.Min(clock => clock.UncertaintyMilliseconds) + 0.001);
    }

    [Fact]
    public void What_contradicts_a_clients_own_comparison_or_says_nothing_changes_nothing()
    {
        var own = new ClientClock("c:1", 10, 0.5);
        Assert.Equal(own, ServerClock.Join(own, [new ClientClock("c:1", 12, 0.5), new ClientClock("c:1", 0, double.PositiveInfinity)]));
    }
}
