using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Names;

namespace MongoPerf.Tests.Wire;

/// <summary>The resolver, pointed at a DNS server of the test's own; and answers as hostile as they come.</summary>
public sealed class DnsResolverTests
{
    private static readonly DnsZone Zone = new DnsZone()
        .Service("cluster.example.test", "a.example.test", 27017).Service("cluster.example.test", "b.example.test", 27018)
        .Text("cluster.example.test", "authSource=", "admin&replicaSet=rs0")
        .Service("bare.example.test", "a.example.test", 27017);

    [Fact]
    public void Records_become_hosts_and_options()
    {
        using var server = new DnsServer(query => Zone.Answer(query));
        ConnectionString found = ConnectionString.Parse("mongodb+srv://cluster.example.test").Resolve(new DnsResolver(server.Address));
        Assert.Equal([new ServerAddress("a.example.test", 27017), new ServerAddress("b.example.test", 27018)], found.Hosts);
        Assert.Equal(("rs0", "admin", true), (found.ReplicaSet, (string?)found.Option("authSource"), found.Tls));
        Assert.Equal(2, server.Queries);
    }

    [Fact]
    public void A_name_without_records_has_none()
    {
        using var server = new DnsServer(query => Zone.Answer(query));
        var resolver = new DnsResolver(server.Address);
        Assert.Empty(resolver.FindServices("_mongodb._tcp.nothing.example.test"));
        Assert.Empty(resolver.FindTexts("bare.example.test"));
        Assert.Empty(resolver.FindTexts("_mongodb._tcp.bare.example.test"));
    }

    [Fact]
    public void Name_servers_are_those_of_the_systems_configuration_in_its_order()
    {
        string[] lines =
        [
            "options timeout:1", "# nameserver 9.9.9.9", "nameserver 10.1.2.3 # ours", "search x.y", "\tnameserver\t::1", "nameserver none",
        ];
        Assert.Equal(["10.1.2.3", "::1"], DnsResolver.ServersOf(lines).Select(server => server.Address));
    }

    [Fact]
    public void Many_threads_ask_at_once()
    {
        using var server = new DnsServer(query => Zone.Answer(query));
        var resolver = new DnsResolver(server.Address);
        Parallel.For(0, 64, _ => Assert.Equal(2, resolver.FindServices("_mongodb._tcp.cluster.example.test").Count));
    }

    [Fact]
    public void A_server_that_refuses_is_reported_in_one_line()
    {
        using var server = new DnsServer(query =>
        {
            byte[] answer = Zone.Answer(query);
            answer[3] = 0x85;
            answer[7] = 0;
            return answer[..^0];
        });
        var e = Assert.Throws<ConnectionStringException>(() =>
            ConnectionString.Parse("mongodb+srv://cluster.example.test").Resolve(new DnsResolver(server.Address)));
        Assert.StartsWith("connection string: DNS: ", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Damaged_answers_are_refused_or_give_names_of_hosts()
    {
        var random = new Random(7);
        int round = 0;
        using var server = new DnsServer(query =>
        {
            byte[] damaged = Zone.Answer(query);
            // Its id stays: nobody waits for an answer to another question. Nor is the bit set that asks for TCP, where nobody listens.
            for (int change = 0; change < 3; change++)
                damaged[random.Next(3, damaged.Length)] = (byte)random.Next(256);
            return round % 2 == 0 ? damaged : damaged[..random.Next(12, damaged.Length)];
        });
        var resolver = new DnsResolver(server.Address);
        int refused = 0;
        for (; round < 400; round++)
        {
            try
            {
                foreach (ServiceRecord record in resolver.FindServices("_mongodb._tcp.cluster.example.test"))
                    Assert.All(record.Host, c => Assert.True(char.IsAsciiLetterOrDigit(c) || c is '.' or '-' or '_'));
            }
            catch (NameResolutionException e)
            {
                Assert.DoesNotContain('\n', e.Message);
                refused++;
            }
        }

        Assert.InRange(refused, 150, 400);
    }

    [Fact]
    public void A_name_that_points_at_itself_is_refused()
    {
        using var server =
            new DnsServer(query => [query[0], query[1], 0x85, 0x80, 0, 0, 0, 1, 0, 0, 0, 0, 0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 0, 0, 0]);
        Assert.Throws<NameResolutionException>(() => new DnsResolver(server.Address).FindServices("_mongodb._tcp.cluster.example.test"));
    }

    [Theory]
    [InlineData("a b.example.test", 27017)]
    [InlineData("a\u001b[31m.example.test", 27017)]
    [InlineData("a.example.test", 0)]
    public void A_record_that_names_no_host_or_port_is_refused(string host, int port)
    {
        DnsZone zone = new DnsZone().Service("odd.example.test", host, port);
        using var server = new DnsServer(query => zone.Answer(query));
        var e =
            Assert.Throws<NameResolutionException>(() => new DnsResolver(server.Address).FindServices("_mongodb._tcp.odd.example.test"));
        Assert.Equal("DNS: an SRV record names no host, or no port", e.Message);
    }
}
