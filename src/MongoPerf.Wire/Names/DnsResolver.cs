using System.Net;
using DnsClient;
using DnsClient.Protocol;

namespace MongoPerf.Wire.Names;

/// <summary>
/// Asks the system's name servers, those of /etc/resolv.conf, in their order; without any, one on this machine. Safe for any thread.
/// </summary>
/// <param name="nameServer">Asked instead; for tests.</param>
internal sealed class DnsResolver(IPEndPoint? nameServer = null) : INameResolver
{
    private const string Configuration = "/etc/resolv.conf";

    public IReadOnlyList<ServiceRecord> FindServices(string name) => [.. Query(name, QueryType.SRV).SrvRecords().Select(ServiceOf)];

    public IReadOnlyList<string> FindTexts(string name) =>
        [.. Query(name, QueryType.TXT).TxtRecords().Select(record => string.Concat(record.Text))];

    private IReadOnlyList<DnsResourceRecord> Query(string name, QueryType type)
    {
        try
        {
            IDnsQueryResponse answer = new LookupClient(Options()).Query(name, type);
            return answer.Header.ResponseCode switch
            {
                DnsHeaderResponseCode.NoError => answer.Answers,
                DnsHeaderResponseCode.NotExistentDomain => [],
                _ => throw new NameResolutionException($"DNS: the name server refused the query for {name}"),
            };
        }
        catch (DnsResponseException e) when (e.Code == DnsResponseCode.ConnectionTimeout)
        {
            throw new NameResolutionException($"DNS: no answer for {name}: can this machine reach the name servers in /etc/resolv.conf?");
        }
        catch (Exception e) when (e is not (NameResolutionException or OutOfMemoryException))
        {
            // Its reader lets out whatever it stumbles over in a hostile answer.
            throw new NameResolutionException($"DNS: the answer for {name} is malformed or missing");
        }
    }

    /// <summary>The options of the system's own resolver: no cache, five seconds, twice.</summary>
    private LookupClientOptions Options()
    {
        NameServer[] servers = nameServer is not null ? [nameServer]
            : File.Exists(Configuration) ? ServersOf(File.ReadLines(Configuration))
            : [.. NameServer.ResolveNameServers(skipIPv6SiteLocal: true, fallbackToGooglePublicDns: false)];
        return new LookupClientOptions(servers.Length > 0 ? servers : [IPAddress.Loopback])
        {
            UseCache = false, UseRandomNameServer = false, Timeout = TimeSpan.FromSeconds(5), Retries = 1,
        };
    }

    /// <summary>
    /// The library itself would leave out a server with a comment behind it, and all where the loopback is the only network.
    /// </summary>
    internal static NameServer[] ServersOf(IEnumerable<string> lines) =>
    [
        .. lines.Select(line => line.Split((char[])[' ', '\t'], StringSplitOptions.RemoveEmptyEntries))
            .Where(words => words is ["nameserver", var address, ..] && IPAddress.TryParse(address, out _))
            .Select(words => new NameServer(IPAddress.Parse(words[1]))),
    ];

    /// <remarks>
    /// What is no host's name is refused here, so that nothing odd reaches a message or a log. Priority and weight are left out of account,
    /// as by drivers: they look at all hosts.
    /// </remarks>
    private static ServiceRecord ServiceOf(SrvRecord record)
    {
        string host = record.Target.Value.TrimEnd('.');
        if (record.Port == 0 || host.Length == 0 || !host.All(letter => char.IsAsciiLetterOrDigit(letter) || letter is '.' or '-' or '_'))
            throw new NameResolutionException("DNS: an SRV record names no host, or no port");
        return new ServiceRecord(host, record.Port);
    }
}
