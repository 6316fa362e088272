using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Sharding;

public sealed class PrimaryWatchTests : IDisposable
{
    /// <summary>A shard that hangs up is asked for as long whether it wants TLS.</summary>
    private static readonly ConnectionSettings Brief = ConnectionSettings.Default with { ConnectTimeout = TimeSpan.FromSeconds(1.5) };

    private readonly LyingServer _shard = Primary();
    private readonly ManualClock _clock = new();
    private readonly List<RunEvent> _events = [];
    private ServerAddress _address;

    public PrimaryWatchTests() => _address = _shard.Address;

    private static LyingServer Primary() => new() { Answer = exchange => exchange.Reply(LyingServer.Hello(17)) };

    public void Dispose() => _shard.Dispose();

    [Fact]
    public void A_shard_that_is_away_is_one_event_with_its_length_from_its_last_answer()
    {
        using PrimaryWatch watch = Open();
        Look(watch, seconds: 0.5, times: 3);
        Action<Exchange> answer = _shard.Answer;
        Action<Exchange> handshake = _shard.Handshake;
        _shard.Answer = _shard.Handshake = exchange => exchange.Close();
        Look(watch, seconds: 0.5, times: 4);
        Assert.Empty(_events);
        _shard.Answer = answer;
        _shard.Handshake = handshake;
        Look(watch, seconds: 0.5, times: 3);
        RunEvent told = Assert.Single(_events);
        Assert.Equal(("outage", 2.5), (told.Kind, told.Seconds));
        Assert.Equal($"shard s0 did not answer ({_shard.Address}: connection closed by the server) and was back after 2.5 s", told.Text);
    }

    [Fact]
    public void A_shard_that_came_back_between_two_looks_was_away_all_the_same()
    {
        using PrimaryWatch watch = Open();
        Look(watch, seconds: 0.5, times: 1);
        Action<Exchange> answer = _shard.Answer;
        _shard.Answer = exchange => exchange.Reset();
        Look(watch, seconds: 0.5, times: 1);
        _shard.Answer = answer;
        Look(watch, seconds: 0.5, times: 1);
        Assert.Equal(1, Assert.Single(_events).Seconds);
    }

    [Fact]
    public void A_primary_that_another_member_replaces_is_a_failover_with_its_length()
    {
        using LyingServer other = Primary();
        bool isElected = false;
        using (PrimaryWatch watch = Open(() => _address = isElected ? other.Address : _address))
        {
            Look(watch, seconds: 0.5, times: 2);
            _shard.Answer = _shard.Handshake = exchange => exchange.Close();
            Look(watch, seconds: 0.5, times: 3);
            isElected = true;
            Look(watch, seconds: 0.5, times: 3);
        }

        RunEvent told = Assert.Single(_events);
        Assert.Equal(("outage", 2.0), (told.Kind, told.Seconds));
        Assert.Equal($"shard s0: primary {_shard.Address} → {other.Address}, no primary for 2.0 s ({_shard.Address}: "
            + "connection closed by the server)", told.Text);
    }

    [Fact]
    public void A_primary_that_steps_down_and_goes_on_answering_is_one_no_more()
    {
        using LyingServer other = Primary();
        using (PrimaryWatch watch = Open(() => _address = other.Address))
        {
            Look(watch, seconds: 0.5, times: 2);
            _shard.Answer = exchange =>
                exchange.Reply(BsonDocument.Of(("ismaster", false), ("secondary", true), ("maxWireVersion", 17), ("ok", 1.0)));
            Look(watch, seconds: 0.5, times: 2);
        }

        Assert.Contains($"primary {_shard.Address} → {other.Address}, no primary for 0.5 s",
            Assert.Single(_events).Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_replica_set_that_fails_over_is_one_event_too()
    {
        using LyingServer other = Primary();
        using (var watch = new PrimaryWatch(
            () => [new WatchedSet("replica set rs0", _address)], () => _address = other.Address, Brief, _clock, _events.Add))
        {
            Look(watch, seconds: 0.5, times: 2);
            _shard.Answer = _shard.Handshake = exchange => exchange.Close();
            Look(watch, seconds: 0.5, times: 2);
        }

        Assert.StartsWith($"replica set rs0: primary {_shard.Address} → {other.Address}, no primary for 0.5 s", Assert.Single(_events).Text,
            StringComparison.Ordinal);
    }

    /// <summary>The router could not say who is the primary: it asks the config server itself.</summary>
    [Fact]
    public void A_config_server_finds_its_primary_among_its_members()
    {
        using LyingServer other = Primary();
        var cluster = new ShardedCluster(RouterKind.Mongos, _address, _address, []) { ConfigMembers = [_address, other.Address] };
        using (var watch = new PrimaryWatch(
            () => WatchedSet.OfConfig(cluster), () => { }, Brief, _clock, _events.Add, RunEvent.ConfigServer))
        {
            Look(watch, seconds: 0.5, times: 2);
            _shard.Answer = _shard.Handshake = exchange => exchange.Close();
            (Action<Exchange> answer, Action<Exchange> handshake) = (other.Answer, other.Handshake);
            other.Answer = other.Handshake = exchange => exchange.Close();
            Look(watch, seconds: 0.5, times: 3);
            (other.Answer, other.Handshake) = (answer, handshake);
            Look(watch, seconds: 0.5, times: 3);
        }

        RunEvent told = Assert.Single(_events);
        Assert.Equal((RunEvent.ConfigServer, 2.0), (told.Kind, told.Seconds));
        Assert.StartsWith(
            $"config server: primary {_shard.Address} → {other.Address}, no primary for 2.0 s", told.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_cluster_that_does_not_tell_its_config_server_has_none_to_watch() =>
        Assert.Empty(WatchedSet.OfConfig(new ShardedCluster(RouterKind.Mongos, _address, _address, [])));

    [Fact]
    public void An_outage_that_goes_on_is_told_when_the_run_ends()
    {
        using (PrimaryWatch watch = Open())
        {
            Look(watch, seconds: 0.5, times: 1);
            _shard.Answer = _shard.Handshake = exchange => exchange.Close();
            Look(watch, seconds: 0.5, times: 2);
        }

        Assert.Contains("and was still down when the run ended, after 1.5 s", Assert.Single(_events).Text, StringComparison.Ordinal);
    }

    [Fact]
    public void One_that_was_never_reached_and_one_that_has_another_primary_are_no_outages()
    {
        using LyingServer other = Primary();
        using (PrimaryWatch watch = Open())
        {
            _address = new ServerAddress("127.0.0.1", 1);
            Look(watch, seconds: 0.5, times: 2);
            _address = _shard.Address;
            Look(watch, seconds: 0.5, times: 2);
            _address = other.Address;
            Look(watch, seconds: 0.5, times: 2);
        }

        Assert.Empty(_events);
    }

    [Fact]
    public void One_that_was_not_reached_at_the_beginning_is_asked_no_more()
    {
        int asked = 0;
        _shard.Handshake = exchange =>
        {
            asked++;
            exchange.Close();
        };
        using PrimaryWatch watch = Open();
        Look(watch, seconds: 0.5, times: 6);
        Assert.Equal(3, asked);
        Assert.Empty(_events);
    }

    private PrimaryWatch Open(Action? refresh = null) => new(
        () => [new WatchedSet("shard s0", _address)],
        refresh ?? (() => { }), Brief, _clock, _events.Add);

    private void Look(PrimaryWatch watch, double seconds, int times)
    {
        for (int i = 0; i < times; i++)
        {
            watch.Look();
            _clock.Advance(seconds);
        }
    }
}
