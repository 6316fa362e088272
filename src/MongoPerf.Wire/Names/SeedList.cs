using System.Security.Cryptography;

namespace MongoPerf.Wire.Names;

/// <summary>The servers behind a name of <c>mongodb+srv</c>, and the options that its TXT record adds.</summary>
/// <param name="Hosts">The hosts, at least one; at most as many as were asked for, chosen by lot.</param>
/// <param name="Options">The options as they stand in a connection string behind the question mark; empty without a record.</param>
internal sealed record SeedList(IReadOnlyList<ServiceRecord> Hosts, string Options)
{
    /// <exception cref="NameResolutionException">
    /// No answer; no SRV record, several TXT records, or a host outside of the name's domain. One line.
    /// </exception>
    public static SeedList Find(INameResolver resolver, string name, string service, int mostHosts)
    {
        string question = $"_{service}._tcp.{name}";
        IReadOnlyList<ServiceRecord> services = resolver.FindServices(question);
        if (services.Count == 0)
            throw new NameResolutionException($"DNS has no SRV record for {question}");
        foreach (ServiceRecord record in services)
            CheckDomain(name, record.Host);
        IReadOnlyList<string> texts = resolver.FindTexts(name);
        if (texts.Count > 1)
            throw new NameResolutionException($"DNS has {texts.Count} TXT records for {name}, at most one is allowed");
        ServiceRecord[] hosts =
            [.. services.Select(record => record with { Host = record.Host.TrimEnd('.').ToLowerInvariant() }).Distinct()];
        if (mostHosts > 0 && mostHosts < hosts.Length)
        {
            RandomNumberGenerator.Shuffle(hosts.AsSpan());
            hosts = hosts[..mostHosts];
        }

        return new SeedList(hosts, texts is [var text] ? text : "");
    }

    /// <summary>
    /// Who can forge an answer must not send a client, and its password, elsewhere. Source: initial-dns-seedlist-discovery.md.
    /// </summary>
    private static void CheckDomain(string name, string host)
    {
        string[] parts = name.Split('.');
        string domain = parts.Length < 3 ? name : string.Join('.', parts.Skip(1));
        // Of a short name the whole is the domain, so a host needs one part more.
        if (!host.TrimEnd('.').EndsWith('.' + domain, StringComparison.OrdinalIgnoreCase))
            throw new NameResolutionException($"DNS: the SRV record of {name} names {host}, which is outside {domain} and so not trusted");
    }
}
