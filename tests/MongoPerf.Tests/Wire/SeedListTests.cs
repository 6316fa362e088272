using System.Text.Json;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Names;

namespace MongoPerf.Tests.Wire;

/// <summary>mongodb+srv: what DNS says becomes hosts and options, or a refusal in one line.</summary>
public sealed class SeedListTests
{
    private const string Domain = "test.build.10gen.cc";
    private const string Vectors = "initial-dns-seedlist-discovery";

    /// <summary>The records that the specification's own tests are written for.</summary>
    internal static readonly DnsZone Zone = new DnsZone()
        .Service($"test1.{Domain}", $"localhost.{Domain}", 27017).Service($"test1.{Domain}", $"localhost.{Domain}", 27018)
        .Service($"test2.{Domain}", $"localhost.{Domain}", 27018).Service($"test2.{Domain}", $"localhost.{Domain}", 27019)
        .Service($"test3.{Domain}", $"localhost.{Domain}", 27017)
        .Service($"test5.{Domain}", $"localhost.{Domain}", 27017).Text($"test5.{Domain}", "replicaSet=repl0&authSource=thisDB")
        .Service($"test6.{Domain}", $"localhost.{Domain}", 27017)
        .Text($"test6.{Domain}", "replicaSet=repl0").Text($"test6.{Domain}", "authSource=otherDB")
        .Service($"test7.{Domain}", $"localhost.{Domain}", 27017).Text($"test7.{Domain}", "ssl=false")
        .Service($"test8.{Domain}", $"localhost.{Domain}", 27017).Text($"test8.{Domain}", "authSource")
        .Service($"test10.{Domain}", $"localhost.{Domain}", 27017).Text($"test10.{Domain}", "socketTimeoutMS=500")
        .Service($"test11.{Domain}", $"localhost.{Domain}", 27017).Text($"test11.{Domain}", "replicaS", "et=rep", "l0")
        .Service($"test12.{Domain}", "localhost.build.10gen.cc", 27017)
        .Service($"test13.{Domain}", Domain, 27017)
        .Service($"test14.{Domain}", "localhost.not-test.build.10gen.cc", 27017)
        .Service($"test15.{Domain}", "localhost.test.not-build.10gen.cc", 27017)
        .Service($"test16.{Domain}", "localhost.test.build.not-10gen.cc", 27017)
        .Service($"test17.{Domain}", "localhost.test.build.10gen.not-cc", 27017)
        .Service($"test18.{Domain}", $"localhost.sub.{Domain}", 27017)
        .Service($"test19.{Domain}", "localhost.evil.build.10gen.cc", 27017).Service($"test19.{Domain}", $"localhost.{Domain}", 27017)
        .Service($"test20.{Domain}", $"localhost.{Domain}", 27017).Text($"test20.{Domain}", "loadBalanced=true")
        .Service($"test21.{Domain}", $"localhost.{Domain}", 27017).Text($"test21.{Domain}", "loadBalanced=false")
        .Service($"test22.{Domain}", $"localhost.{Domain}", 27017, "customname")
        .Service($"test22.{Domain}", $"localhost.{Domain}", 27018, "customname")
        .Service($"test23.{Domain}", $"localhost.{Domain}", 8000)
        .Service($"test24.{Domain}", $"localhost.{Domain}", 8000).Text($"test24.{Domain}", "loadBalanced=true");

    /// <summary>Where the vectors are not, the cases of this class remain.</summary>
    public static TheoryData<string> Published => PublishedFiles is [] ? [""] : [.. PublishedFiles];

    internal static IReadOnlyList<string> PublishedFiles =>
        RepositoryPaths.Vectors is { } all && Path.Combine(all, Vectors) is var folder && Directory.Exists(folder)
            ? [.. Directory.GetFiles(folder, "*.json", SearchOption.AllDirectories)
                .Select(file => Path.GetRelativePath(all, file)).Order(StringComparer.Ordinal)]
            : [];

    /// <summary>
    /// The host's name before the domain and the options; the ports that are found; options as they are then, with commas between them.
    /// </summary>
    [Theory]
    [InlineData("test1", "27017 27018", "tls=True")]
    [InlineData("TEST1", "27017 27018", "tls=True")]
    [InlineData("test2?replicaSet=repl0", "27018 27019", "replicaSet=repl0,tls=True")]
    [InlineData("test1?tls=false", "27017 27018", "tls=False")]
    [InlineData("test1?ssl=false", "27017 27018", "tls=False")]
    [InlineData("test5", "27017", "replicaSet=repl0,authSource=thisDB,tls=True")]
    [InlineData("test5?authSource=otherDB", "27017", "replicaSet=repl0,authSource=otherDB,tls=True")]
    [InlineData("test5?AUTHSOURCE=otherDB&REPLICASET=other", "27017", "replicaSet=other,authSource=otherDB")]
    [InlineData("test5?srvMaxHosts=0", "27017", "replicaSet=repl0")]
    [InlineData("test11", "27017", "replicaSet=repl0")]
    [InlineData("test21", "27017", "loadBalanced=False")]
    [InlineData("test22?srvServiceName=customname", "27017 27018", "srvServiceName=customname")]
    [InlineData("test1?srvMaxHosts=2", "27017 27018", "srvMaxHosts=2")]
    [InlineData("test1?srvMaxHosts=3", "27017 27018", "srvMaxHosts=3")]
    [InlineData("test24", "8000", "loadBalanced=True")]
    [InlineData("test23?loadBalanced=true&srvMaxHosts=0", "8000", "loadBalanced=True")]
    public void Records_become_hosts_and_options(string name, string ports, string options)
    {
        ConnectionString found = Resolve(name);
        Assert.False(found.IsSrv);
        Assert.Equal(ports.Split(' ').Select(port => new ServerAddress($"localhost.{Domain}", int.Parse(port))), found.Hosts);
        foreach (string[] option in options.Split(',').Select(pair => pair.Split('=')))
            Assert.Equal(option[1], found.Option(option[0])?.ToString());
    }

    [Theory]
    [InlineData("test4", "no SRV record for _mongodb._tcp.test4." + Domain)]
    [InlineData("test22", "no SRV record")]
    [InlineData("test6", "2 TXT records")]
    [InlineData("test7", "something other than authSource, replicaSet, loadBalanced")]
    [InlineData("test8", "something other than authSource, replicaSet, loadBalanced")]
    [InlineData("test10", "something other than authSource, replicaSet, loadBalanced")]
    [InlineData("test12", "is outside " + Domain)]
    [InlineData("test13", "is outside " + Domain)]
    [InlineData("test14", "is outside " + Domain)]
    [InlineData("test15", "is outside " + Domain)]
    [InlineData("test16", "is outside " + Domain)]
    [InlineData("test17", "is outside " + Domain)]
    [InlineData("test19", "names localhost.evil.build.10gen.cc")]
    [InlineData("test3?directConnection=true", "directConnection")]
    [InlineData("test1?loadBalanced=true", "loadBalanced=true allows one host; found 2")]
    [InlineData("test24?replicaSet=replset", "loadBalanced=true and replicaSet")]
    [InlineData("test24?srvMaxHosts=1", "srvMaxHosts and loadBalanced=true")]
    [InlineData("test5?srvMaxHosts=1", "srvMaxHosts and replicaSet")]
    public void What_DNS_may_not_say_is_refused_in_one_line(string name, string why)
    {
        string message = Assert.Throws<ConnectionStringException>(() => Resolve(name)).Message;
        Assert.Contains(why, message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', message);
    }

    /// <summary>A short name is its own domain: a host needs one part more.</summary>
    [Theory]
    [InlineData("localhost", "one.localhost", true)]
    [InlineData("mongo.local", "one.mongo.local", true)]
    [InlineData("localhost", "localhost.mongodb", false)]
    [InlineData("mongo.local", "test_1.evil.local", false)]
    [InlineData("blogs.mongodb.com", "blogs.evil.com", false)]
    [InlineData("localhost", "localhost", false)]
    [InlineData("mongo.local", "mongo.local", false)]
    [InlineData("localhost", "test_1.cluster_1localhost", false)]
    [InlineData("mongo.local", "test_1.my_hostmongo.local", false)]
    [InlineData("blogs.mongodb.com", "cluster.testmongodb.com", false)]
    public void A_host_must_lie_in_the_names_domain(string name, string host, bool isTrusted)
    {
        DnsZone zone = new DnsZone().Service(name, host, 27017);
        ConnectionString uri = ConnectionString.Parse($"mongodb+srv://{name}");
        if (isTrusted)
            Assert.Equal(new ServerAddress(host, 27017), Assert.Single(uri.Resolve(zone).Hosts));
        else
            Assert.Contains(
                "so not trusted", Assert.Throws<ConnectionStringException>(() => uri.Resolve(zone)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Of_more_hosts_than_wanted_each_is_taken_at_times()
    {
        var taken = new HashSet<int>();
        for (int i = 0; i < 200; i++)
            taken.Add(Assert.Single(Resolve("test1?srvMaxHosts=1").Hosts).Port);
        Assert.Equal([27017, 27018], taken.Order());
    }

    [Fact]
    public void User_password_and_database_stay_as_they_were()
    {
        ConnectionString found =
            ConnectionString.Parse($"mongodb+srv://b*b%40f3tt%3D:%244to%40L8%3DMC@test3.{Domain}/mydb%3F?replicaSet=repl0").Resolve(Zone);
        Assert.Equal(("b*b@f3tt=", "$4to@L8=MC", "mydb?"), (found.UserName, found.Password, found.Database));
        Assert.Equal($"mongodb://b%2Ab%40f3tt%3D:***@localhost.{Domain}:27017/mydb%3F?replicaSet=repl0&tls=true", found.ToMaskedString());
    }

    [Theory]
    [MemberData(nameof(Published))]
    public void The_published_cases_hold(string file)
    {
        Need.Vectors.SkipUnless(file.Length > 0);
        JsonElement vector = VectorCase.Root(file);
        string uri = vector.Text("uri")!;
        if (vector.TryGetProperty("error", out JsonElement error) && error.GetBoolean())
        {
            Assert.Throws<ConnectionStringException>(() => ConnectionString.Parse(uri).Resolve(Zone));
            return;
        }

        ConnectionString found = ConnectionString.Parse(uri).Resolve(Zone);
        if (vector.TryGetProperty("seeds", out JsonElement seeds))
            Assert.Equal(seeds.EnumerateArray().Select(seed => seed.GetString()), found.Hosts.Select(host => host.ToString()));
        if (vector.TryGetProperty("numSeeds", out JsonElement count))
            Assert.Equal(count.GetInt32(), found.Hosts.Count);
        if (vector.TryGetProperty("options", out JsonElement options))
        {
            foreach (JsonProperty option in options.EnumerateObject())
                Assert.Equal(option.Value.ToString(), found.Option(option.Name == "ssl" ? "tls" : option.Name)?.ToString());
        }
    }

    /// <param name="name">The host's name before the domain, and options.</param>
    internal static string UriOf(string name)
    {
        string[] parts = name.Split('?');
        return $"mongodb+srv://{parts[0]}.{Domain}/{(parts.Length > 1 ? "?" + parts[1] : "")}";
    }

    private static ConnectionString Resolve(string name) => ConnectionString.Parse(UriOf(name)).Resolve(Zone);
}
