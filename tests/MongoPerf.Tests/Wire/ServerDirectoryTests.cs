using MongoPerf.Deployments.Processes;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;

namespace MongoPerf.Tests.Wire;

/// <summary>What is found out about the servers behind a connection string, and which of them workers go to.</summary>
public sealed class ServerDirectoryTests
{
    private static readonly ReadPreference Secondary = ReadPreference.Of("secondary");

    [Fact]
    public void All_members_are_found_from_any_of_them_and_workers_are_spread_evenly()
    {
        using var set = new FakeSet(4);
        foreach (ServerAddress seed in set.Addresses)
        {
            ServerDirectory servers = Look([seed]);
            Assert.Equal(set[0].Address, servers.Select(ReadPreference.Primary, 7));
            Assert.Equal([2, 2, 2], Spread(servers, Secondary, 6).Values);
            Assert.Equal([2, 2, 2, 2], Spread(servers, ReadPreference.Of("nearest"), 8).Values);
        }
    }

    [Fact]
    public void Workers_of_a_mongos_that_died_are_dealt_out_to_the_others_and_go_back_once_it_answers()
    {
        using var set = new FakeSet(3, areMongos: true);
        ServerDirectory servers = Look(set.Addresses);
        Dictionary<int, ServerAddress> before = Assignments(servers, 12);
        Assert.Equal([4, 4, 4], CountsOf(before));

        set[1].IsAway = true;
        servers.Look();
        Dictionary<int, ServerAddress> meanwhile = Assignments(servers, 12);
        Assert.Equal([6, 6], CountsOf(meanwhile));
        Assert.DoesNotContain(set[1].Address, meanwhile.Values);
        // Those whose mongos lives stay with it.
        Assert.All(before.Where(worker => worker.Value != set[1].Address), worker => Assert.Equal(worker.Value, meanwhile[worker.Key]));

        set[1].IsAway = false;
        servers.Look();
        Assert.Equal(before, Assignments(servers, 12));
    }

    [Fact]
    public void A_mongos_that_never_answered_has_no_workers_and_gets_some_once_it_does()
    {
        using var set = new FakeSet(2, areMongos: true);
        set[1].IsAway = true;
        ServerDirectory servers = Look(set.Addresses);
        Assert.Equal([4], Spread(servers, ReadPreference.Primary, 4).Values);
        set[1].IsAway = false;
        servers.Look();
        Assert.Equal([2, 2], Spread(servers, ReadPreference.Primary, 4).Values);
    }

    [Fact]
    public void What_is_known_is_looked_up_again_when_it_is_older_than_the_heartbeat()
    {
        using var set = new FakeSet(2);
        var old = new ServerDirectory(set.Addresses, FakeSet.Settings with { HeartbeatFrequency = TimeSpan.Zero });
        var lasting = new ServerDirectory(set.Addresses, FakeSet.Settings with { HeartbeatFrequency = TimeSpan.FromDays(1) });
        old.Look();
        lasting.Look();
        (set[0].IsPrimary, set[1].IsPrimary) = (false, true);
        Eventually.Is(() => old.Select(ReadPreference.Primary, 0) == set[1].Address);
        Assert.Equal(set[0].Address, lasting.Select(ReadPreference.Primary, 0));
        lasting.Look();
        Assert.Equal(set[1].Address, lasting.Select(ReadPreference.Primary, 0));
    }

    [Fact]
    public void Of_two_that_hold_themselves_for_the_primary_the_one_that_was_elected_later_is()
    {
        using var set = new FakeSet(2);
        set[1].IsPrimary = true;
        set[1].Election = new ObjectId(1, 2);
        Assert.Equal(set[1].Address, Look(set.Addresses).Select(ReadPreference.Primary, 0));
        set[0].Election = new ObjectId(1, 3);
        Assert.Equal(set[0].Address, Look(set.Addresses).Select(ReadPreference.Primary, 0));
    }

    [Fact]
    public void Members_count_by_the_names_that_they_have_among_themselves()
    {
        using var set = new FakeSet(2);
        string Named(int member) => $"localhost:{set[member].Address.Port}";
        set.Names = [Named(0), Named(1)];
        ServerDirectory servers = Look([set[1].Address]);
        Assert.Equal(Named(0), servers.Select(ReadPreference.Primary, 0).ToString());
        Assert.Equal(Named(1), servers.Select(Secondary, 0).ToString());
    }

    [Fact]
    public void Names_that_lead_nowhere_are_told_with_a_way_out()
    {
        using var set = new FakeSet(1) { Names = ["Nowhere.invalid:27017", "also.invalid:27018"] };
        var e = Assert.Throws<NoServerException>(() => Look([set[0].Address]));
        Assert.Equal(
            $"{set[0].Address}: the members of its replica set 'rs0' use host names that can't be reached from here: "
            + "nowhere.invalid:27017: unknown host name; also.invalid:27018: unknown host name",
            e.Message);
        Assert.Contains("directConnection=true", e.Hint, StringComparison.Ordinal);
        Assert.Equal(set[0].Address, Look([set[0].Address], FakeSet.Settings with { IsDirect = true }).Select(Secondary, 0));
    }

    [Fact]
    public void A_preference_that_no_member_meets_is_told_with_what_there_is()
    {
        using var set = new FakeSet(2);
        ReadPreference paris = Secondary with
        {
            TagSets = [new Dictionary<string, string> { ["dc"] = "paris" }], MaxStalenessSeconds = 120,
        };
        var e = Assert.Throws<NoServerException>(() => Look(set.Addresses).Select(paris, 0));
        Assert.EndsWith(
            "no member of the replica set fits readPreference=secondary with tags dc:paris, at most 120 s behind: "
            + $"{set[0].Address} (primary, n:0); {set[1].Address} (secondary, n:1)", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_server_that_demands_the_stable_API_says_so_with_the_option_that_names_it()
    {
        using var server = new LyingServer { Handshake = exchange => exchange.Reply(BsonDocument.Of(("ok", 0.0), ("code", 498870),
            ("codeName", "Location498870"), ("errmsg", "The apiVersion parameter is required"))) };
        var e = Assert.Throws<NoServerException>(() => Look([server.Address]));
        Assert.Contains("The apiVersion parameter is required", e.Message, StringComparison.Ordinal);
        Assert.Equal("this server demands the stable API: name it with --server-api 1", e.Hint);
    }

    [Fact]
    public void A_set_that_was_never_initiated_is_told_apart_even_when_it_is_named_directly()
    {
        using var server = new LyingServer { Handshake = exchange => exchange.Reply(
            BsonDocument.Of(("ismaster", false), ("secondary", false), ("isreplicaset", true), ("maxWireVersion", 17), ("ok", 1.0))) };
        foreach (bool isDirect in (bool[])[true, false])
        {
            var e = Assert.Throws<NoServerException>(() => Look([server.Address], FakeSet.Settings with { IsDirect = isDirect }));
            Assert.Contains("no set has been initiated on it", e.Message, StringComparison.Ordinal);
            Assert.Contains("rs.initiate()", e.Hint, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Servers_that_do_not_belong_together_are_refused()
    {
        using var one = new LyingServer();
        using var other = new LyingServer();
        Assert.Contains("don't belong together",
            Assert.Throws<NoServerException>(() => Look([one.Address, other.Address])).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void When_nobody_answers_every_host_is_told_and_the_next_look_may_find_one()
    {
        using var set = new FakeSet(2);
        (set[0].IsAway, set[1].IsAway) = (true, true);
        var servers = new ServerDirectory([.. set.Addresses, FreeAddress()], FakeSet.Settings);
        var e = Assert.Throws<NoServerException>(servers.Look);
        Assert.StartsWith($"{set[0].Address}: connection closed by the server; also {set[1].Address}: connection closed by the server; ",
            e.Message, StringComparison.Ordinal);
        Assert.EndsWith(": connection refused (nothing listens there)", e.Message, StringComparison.Ordinal);
        Assert.Equal(e.Message, Assert.Throws<NoServerException>(() => servers.Select(ReadPreference.Primary, 0)).Message);
        (set[0].IsAway, set[1].IsAway) = (false, false);
        servers.Look();
        Assert.Equal(set[0].Address, servers.Select(ReadPreference.Primary, 0));
    }

    [Fact]
    public void A_load_balancer_is_not_asked_who_is_behind_it()
    {
        ServerAddress balancer = FreeAddress();
        Assert.Equal(balancer, Look([balancer], FakeSet.Settings with { IsLoadBalanced = true }).Select(Secondary, 3));
    }

    [Fact]
    public void Each_connection_through_a_load_balancer_knows_its_mongos_and_another_server_is_refused()
    {
        BsonDocument? asked = null;
        using var balancer = new LyingServer
        {
            Handshake = exchange =>
            {
                asked = new BsonDocument(MongoPerf.Wire.Messages.OpMsg.Parse(exchange.Request).Body.ToArray());
                exchange.Reply(BsonDocument.Of(("isWritablePrimary", true), ("msg", "isdbgrid"), ("serviceId", new ObjectId(7, 7)),
                    ("maxWireVersion", 17), ("ok", 1.0)));
            },
        };
        ConnectionSettings settings = ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?loadBalanced=true"));
        using (MongoConnection connection = MongoConnection.Open(balancer.Address, settings))
            Assert.Equal($"{balancer.Address} (mongos {new ObjectId(7, 7)})", connection.Member);
        Assert.Equal(("hello", true), (asked!.First().Key, asked!.IsTrue("loadBalanced")));
        using var mongos = new FakeSet(1, areMongos: true);
        Assert.Contains(
            "leave loadBalanced out",
            Assert.Throws<ConnectionFailedException>(() => MongoConnection.Open(mongos[0].Address, settings)).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("db1:27017", "db1:27017")]
    [InlineData("DB1:27018", "db1:27018")]
    [InlineData("[::1]:27017", "[::1]:27017")]
    [InlineData("db1", null)]
    [InlineData(":27017", null)]
    [InlineData("db1:0", null)]
    [InlineData("db1:65536", null)]
    [InlineData("db\u001b[2J:1", null)]
    public void Names_of_members_are_addresses_and_nothing_else(string text, string? address) =>
        Assert.Equal(address, ServerAddress.TryParse(text)?.ToString());

    private static ServerDirectory Look(IReadOnlyList<ServerAddress> seeds, ConnectionSettings? settings = null)
    {
        var servers = new ServerDirectory(seeds, settings ?? FakeSet.Settings);
        servers.Look();
        return servers;
    }

    private static Dictionary<int, ServerAddress> Assignments(ServerDirectory servers, int workers) =>
        Enumerable.Range(0, workers).ToDictionary(worker => worker, worker => servers.Select(ReadPreference.Primary, worker));

    private static IEnumerable<int> CountsOf(Dictionary<int, ServerAddress> assignments) =>
        assignments.Values.GroupBy(address => address).Select(group => group.Count());

    private static Dictionary<ServerAddress, int> Spread(ServerDirectory servers, ReadPreference preference, int workers) =>
        Enumerable.Range(0, workers).Select(worker => servers.Select(preference, worker))
            .GroupBy(address => address).ToDictionary(group => group.Key, group => group.Count());

    /// <summary>Where nobody listens.</summary>
    private static ServerAddress FreeAddress() => new("127.0.0.1", FreePort.Find());
}
