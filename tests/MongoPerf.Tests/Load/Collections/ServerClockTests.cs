using MongoPerf.Load.Collections;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Collections;

public sealed class ServerClockTests
{
    private readonly ManualClock _clock = new();

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

    /// <summary>
    /// A server tells whole milliseconds, cut; questions at all places of a millisecond narrow that to about a round trip.
    /// </summary>
    [Theory]
    [InlineData(12.3, 0)]
    [InlineData(-3_600_000.7, 0)]
    [InlineData(12.3, -500)]
    [InlineData(12.3, 500)]
    public void The_clocks_difference_is_known_to_a_round_trip_also_when_the_servers_was_set_meanwhile(double offset, double step)
    {
        int asked = 0;
        (double half, ClientClock found) = (0.000_11, Compare(() =>
        {
            _clock.Advance(0.000_11);
            double now = _clock.UtcNow.ToUnixTimeMilliseconds() + (_clock.UtcNow.Microsecond / 1000.0) + offset
                + (++asked > 20 ? step : 0);
            _clock.Advance(0.000_11);
            return (long)Math.Floor(now);
        }));
        Assert.Equal(50, asked);
        Assert.InRange(Math.Abs(found.OffsetMilliseconds - offset - step), 0, found.UncertaintyMilliseconds + 0.001);
        Assert.InRange(found.UncertaintyMilliseconds, 0.01, 4 * half * 1000);
    }

    [Fact]
    public void A_server_that_answers_slowly_is_asked_for_a_second()
    {
        int asked = 0;
        ClientClock found = Compare(() =>
        {
            asked++;
            _clock.Advance(0.3);
            return _clock.UtcNow.ToUnixTimeMilliseconds();
        });
        Assert.Equal(4, asked);
        Assert.InRange(found.UncertaintyMilliseconds, 140, 151);
    }

    [Fact]
    public void A_server_that_tells_no_time_is_refused() =>
        Assert.Contains("localTime", Assert.Throws<WireProtocolException>(() => Compare(() => null)).Message, StringComparison.Ordinal);

    private ClientClock Compare(Func<long?> tell)
    {
        using var server = new LyingServer();
        server.Answer = exchange => exchange.Reply(tell() is { } time
            ? BsonDocument.Of(("localTime", DateTimeOffset.FromUnixTimeMilliseconds(time).UtcDateTime), ("ok", 1.0))
            : BsonDocument.Of(("ok", 1.0)));
        using MongoConnection connection = MongoConnection.Open(server.Address, ConnectionSettings.Default);
        return ServerClock.Compare(connection, _clock);
    }

    [Fact]
    public void What_contradicts_a_clients_own_comparison_or_says_nothing_changes_nothing()
    {
        var own = new ClientClock("c:1", 10, 0.5);
        Assert.Equal(own, ServerClock.Join(own, [new ClientClock("c:1", 12, 0.5), new ClientClock("c:1", 0, double.PositiveInfinity)]));
    }
}
