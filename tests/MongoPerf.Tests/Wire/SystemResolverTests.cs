using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Names;

namespace MongoPerf.Tests.Wire;

/// <summary>The system's resolver library, pointed at a DNS server of the test's own; and answers as hostile as they come.</summary>
public sealed class SystemResolverTests
{
    private static readonly DnsZone Zone = new DnsZone()
        .Service("cluster.example.test", "a.example.test", 27017).Service("cluster.example.test", "b.example.test", 27018)
        .Text("cluster.example.test", "authSource=", "admin&replicaSet=rs0")
        .Service("bare.example.test", "a.example.test", 27017);

    [Fact]
    public void Records_come_through_the_systems_library()
    {
        using var server = new DnsServer(query => Zone.Answer(query));
        ConnectionString found = ConnectionString.Parse("mongodb+srv://cluster.example.test").Resolve(new SystemResolver(server.Address));
        Assert.Equal([new ServerAddress("a.example.test", 27017), new ServerAddress("b.example.test", 27018)], found.Hosts);
        Assert.Equal(("rs0", "admin", true), (found.ReplicaSet, (string?)found.Option("authSource"), found.Tls));
        Assert.Equal(2, server.Queries);
    }

    [Fact]
    public void A_name_without_records_has_none()
    {
        using var server = new DnsServer(query => Zone.Answer(query));
        var resolver = new SystemResolver(server.Address);
        Assert.Empty(resolver.FindServices("_mongodb._tcp.nothing.example.test"));
        Assert.Empty(resolver.FindTexts("bare.example.test"));
        Assert.Empty(resolver.FindTexts("_mongodb._tcp.bare.example.test"));
    }

    [Fact]
    public void Many_threads_ask_at_once()
    {
        using var server = new DnsServer(query => Zone.Answer(query));
        var resolver = new SystemResolver(server.Address);
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
        var e = Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse("mongodb+srv://cluster.example.test").Resolve(new SystemResolver(server.Address)));
        Assert.StartsWith("connection string: DNS: ", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Damaged_answers_are_refused_and_never_read_beyond_their_end()
    {
        byte[] whole = Zone.Answer([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, .. Question("_mongodb._tcp.cluster.example.test", 33)]);
        Assert.Equal(2, DnsMessage.ReadServices(whole).Count);
        for (int length = 0; length < whole.Length; length++)
            Assert.Throws<NameResolutionException>(() => DnsMessage.ReadServices(whole.AsSpan(0, length)));

        var random = new Random(7);
        for (int i = 0; i < 20_000; i++)
        {
            byte[] damaged = [.. whole];
            for (int change = 0; change < 3; change++)
                damaged[random.Next(damaged.Length)] = (byte)random.Next(256);
            try
            {
                foreach (ServiceRecord record in DnsMessage.ReadServices(damaged))
                    Assert.All(record.Host, c => Assert.True(char.IsAsciiLetterOrDigit(c) || c is '.' or '-' or '_'));
                DnsMessage.ReadTexts(damaged);
            }
            catch (NameResolutionException)
            {
                // The only way out for what can't be read.
            }
        }
    }

    [Fact]
    public void A_name_that_points_at_itself_ends()
    {
        byte[] loop = [0, 0, 0x85, 0x80, 0, 0, 0, 1, 0, 0, 0, 0, 0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 0, 0, 0];
        Assert.Contains("points forwards", Assert.Throws<NameResolutionException>(() => DnsMessage.ReadServices(loop)).Message, StringComparison.Ordinal);
    }

    private static byte[] Question(string name, byte type) =>
        [.. name.Split('.').SelectMany(label => (byte[])[(byte)label.Length, .. System.Text.Encoding.ASCII.GetBytes(label)]), 0, 0, type, 0, 1];
}
