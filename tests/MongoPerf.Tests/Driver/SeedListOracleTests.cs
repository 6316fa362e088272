using System.Net;
using System.Reflection;
using System.Runtime.CompilerServices;
using DnsClient;
using MongoDB.Driver;
using MongoPerf.Tests.Support;
using MongoPerf.Tests.Wire;
using MongoPerf.Wire.Connections;
using TheirString = MongoDB.Driver.Core.Configuration.ConnectionString;

namespace MongoPerf.Tests.Driver;

/// <summary>mongodb+srv, resolved by ours and by MongoDB.Driver: both find the same servers and options, or both refuse the name.</summary>
public sealed class SeedListOracleTests : IDisposable
{
    private readonly DnsServer _server = new(query => SeedListTests.Zone.Answer(query));

    /// <summary>Names of the specification's own tests, some with options; those of its files too where they are there.</summary>
    public static TheoryData<string> Uris
    {
        get
        {
            const string Names = """
                test1 TEST1 test2?replicaSet=repl0 test1?tls=false test1?ssl=false test3 test4 test5 test5?authSource=otherDB
                test5?srvMaxHosts=0 test5?srvMaxHosts=1 test1?srvMaxHosts=1 test1?srvMaxHosts=2 test1?srvMaxHosts=3 test6 test7 test8 test10
                test11 test12 test13 test14 test15 test16 test17 test18 test19 test20 test21 test22 test22?srvServiceName=customname
                test23?loadBalanced=true test24 test24?replicaSet=set test24?srvMaxHosts=1 test1?loadBalanced=true
                test3?directConnection=true
                """;
            return
            [
                .. Names.Split([' ', '\n'], StringSplitOptions.RemoveEmptyEntries).Select(SeedListTests.UriOf),
                .. SeedListTests.PublishedFiles.Select(file => VectorCase.Root(file).Text("uri")!),
            ];
        }
    }

    public void Dispose() => _server.Dispose();

    [Theory]
    [MemberData(nameof(Uris))]
    public void Both_find_the_same_servers(string uri) => Assert.Equal(Theirs(uri), Ours(uri));

    private static string Ours(string uri)
    {
        try
        {
            ConnectionString found = ConnectionString.Parse(uri).Resolve(SeedListTests.Zone);
            return Text(
                uri, found.Hosts.Select(host => host.ToString()), found.Tls, found.Option("authSource"), found.ReplicaSet,
                found.LoadBalanced);
        }
        catch (ConnectionStringException)
        {
            return "refused";
        }
    }

    private string Theirs(string uri)
    {
        try
        {
            TheirString found = Unresolved(uri).Resolve();
            return Text(
                uri, found.Hosts.Select(host => $"{((DnsEndPoint)host).Host.TrimEnd('.')}:{((DnsEndPoint)host).Port}"), found.Tls ?? false,
                found.AuthSource, found.ReplicaSet, found.LoadBalanced);
        }
        catch (MongoConfigurationException)
        {
            return "refused";
        }
    }

    /// <summary>The driver asks the system's name servers and lets nobody choose others, so its parts are put together here.</summary>
    private TheirString Unresolved(string uri)
    {
        const BindingFlags Hidden = BindingFlags.Instance | BindingFlags.NonPublic;
        ConstructorInfo make = typeof(TheirString).GetConstructors(Hidden).Single(one => one.GetParameters().Length == 3);
        Type resolver = typeof(TheirString).Assembly.GetType("MongoDB.Driver.Core.Misc.DnsClientWrapper", throwOnError: true)!;
        object asking = RuntimeHelpers.GetUninitializedObject(resolver);
        resolver.GetFields(Hidden).Single().SetValue(asking, new Lazy<LookupClient>(() => new LookupClient(_server.Address)));
        try
        {
            return (TheirString)make.Invoke([uri, false, asking]);
        }
        catch (TargetInvocationException e) when (e.InnerException is MongoConfigurationException refused)
        {
            throw refused;
        }
    }

    /// <summary>Of more servers than wanted each takes some by lot.</summary>
    private static string Text(string uri, IEnumerable<string> hosts, bool tls, object? source, string? set, bool isBalanced)
    {
        string[] all = [.. hosts.Order(StringComparer.Ordinal)];
        string which = uri.Contains("srvMaxHosts", StringComparison.Ordinal) ? $"{all.Length} servers" : string.Join(' ', all);
        return $"{which}, tls {tls}, authSource {source}, replicaSet {set}, loadBalanced {isBalanced}";
    }
}
