using System.Buffers;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using MongoPerf.Wire.Names;

namespace MongoPerf.Wire.Connections;

/// <summary>A connection string taken apart: scheme, user, hosts, database, options still as text.</summary>
/// <remarks>
/// A user name or password with an unencoded <c>/</c> or <c>?</c> ends up where hosts and options are looked for. So no message shows a
/// piece of the string while there is an at sign to the right of the hosts that has none at their left.
/// Source: connection-string-spec.md.
/// </remarks>
internal sealed partial class ConnectionStringParts
{
    private const string PlainScheme = "mongodb://";
    private const string SrvScheme = "mongodb+srv://";
    private const string EncodingHint = "in a user name or password, write @ : / ? # % as %40 %3A %2F %3F %23 %25";

    private static readonly SearchValues<char> NotInHost = SearchValues.Create(" \t\r\n\\[]\"<>#");

    private static readonly SearchValues<char> NotInDatabase = SearchValues.Create("/\\ \"$\0");

    private static readonly string[] AllowedInDns = ["authSource", "replicaSet", "loadBalanced"];

    private readonly bool _mayShow;

    private ConnectionStringParts(ConnectionStringParts unresolved, IEnumerable<ServerAddress> hosts)
    {
        (_mayShow, HasUserInfo, UserName, Password, Database) =
            (true, unresolved.HasUserInfo, unresolved.UserName, unresolved.Password, unresolved.Database);
        WasSrv = true;
        Hosts.AddRange(hosts);
        Options.AddRange(unresolved.Options);
    }

    private ConnectionStringParts(string text)
    {
        IsSrv = text.StartsWith(SrvScheme, StringComparison.Ordinal);
        if (!IsSrv && !text.StartsWith(PlainScheme, StringComparison.Ordinal))
            throw new ConnectionStringException($"starts with {DescribeScheme(text)}; allowed: mongodb:// and mongodb+srv://");
        string rest = text[(IsSrv ? SrvScheme : PlainScheme).Length..];
        int end = rest.AsSpan().IndexOfAny('/', '?');
        string authority = end < 0 ? rest : rest[..end];
        string tail = end < 0 ? "" : rest[end..];
        HasUserInfo = authority.Contains('@', StringComparison.Ordinal);
        _mayShow = HasUserInfo || !tail.Contains('@', StringComparison.Ordinal);
        int query = tail.IndexOf('?', StringComparison.Ordinal);

        ReadUser(authority);
        ReadHosts(authority[(authority.LastIndexOf('@') + 1)..]);
        ReadDatabase(query < 0 ? tail : tail[..query]);
        ReadOptions(query < 0 ? "" : tail[(query + 1)..]);
    }

    public bool IsSrv { get; }

    /// <summary>It was mongodb+srv, and its name has been looked up.</summary>
    public bool WasSrv { get; }

    public bool HasUserInfo { get; }

    public string? UserName { get; private set; }

    public string? Password { get; private set; }

    public List<ServerAddress> Hosts { get; } = [];

    public string? Database { get; private set; }

    /// <summary>The options in the order of the string; values still percent-encoded.</summary>
    public List<(string Name, string RawValue)> Options { get; } = [];

    public static ConnectionStringParts Split(string text) => new(text);

    /// <summary>
    /// What a name of mongodb+srv stands for: its hosts, TLS unless the string says otherwise, and what the TXT record adds.
    /// </summary>
    /// <exception cref="ConnectionStringException">The TXT record holds another option than is allowed there, or is none.</exception>
    public ConnectionStringParts Resolve(SeedList seeds)
    {
        var resolved = new ConnectionStringParts(this, seeds.Hosts.Select(host => new ServerAddress(host.Host, host.Port)));
        if (!Has("tls") && !Has("ssl"))
            resolved.Options.Add(("tls", "true"));
        foreach (string pair in seeds.Options.Split('&', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] parts = pair.Split('=');
            string? known = parts.Length == 2 && parts[1].Length > 0
                ? Array.Find(AllowedInDns, name => name.Equals(parts[0], StringComparison.OrdinalIgnoreCase))
                : null;
            if (known is null)
                throw new ConnectionStringException($"the DNS TXT record of {Hosts[0].Host} holds something other than "
                    + $"{string.Join(", ", AllowedInDns)}, each with a value");
            // What the user wrote comes first.
            if (!Has(known))
                resolved.Options.Add((known, parts[1]));
        }

        return resolved;
    }

    private bool Has(string option) => Options.Exists(given => given.Name.Equals(option, StringComparison.OrdinalIgnoreCase));

    private static string DescribeScheme(string text)
    {
        Match scheme = Scheme().Match(text);
        return scheme.Success ? $"'{scheme.Value}'" : text.Length == 0 ? "nothing (it is empty)" : "no scheme";
    }

    [GeneratedRegex("^[a-z][a-z0-9+.-]{0,20}://", RegexOptions.IgnoreCase)]
    private static partial Regex Scheme();

    private string Show(string piece) => _mayShow ? $"'{piece}'" : "(not shown)";

    /// <summary>What to add when the fault may be a password that was not encoded.</summary>
    private string Hint => _mayShow ? "" : $"; {EncodingHint}";

    private void ReadUser(string authority)
    {
        if (!HasUserInfo)
            return;
        string user = authority[..authority.LastIndexOf('@')];
        if (user.Contains('@', StringComparison.Ordinal))
            throw new ConnectionStringException($"two '@' before the hosts; one is allowed; {EncodingHint}");
        string[] parts = user.Split(':');
        if (parts.Length > 2)
            throw new ConnectionStringException($"{parts.Length - 1} ':' in user name and password; one is allowed; {EncodingHint}");
        UserName = PercentEncoding.Decode(parts[0], "the user name");
        Password = parts.Length == 2 ? PercentEncoding.Decode(parts[1], "the password") : null;
        if (UserName.Length == 0)
            throw new ConnectionStringException("an '@' without a user name before it");
    }

    private void ReadHosts(string hosts)
    {
        if (hosts.Length == 0)
            throw new ConnectionStringException($"no host; mongodb://host[:port][,host[:port]...] is expected{Hint}");
        foreach (string host in hosts.Split(','))
            Hosts.Add(ReadHost(host));
        if (!IsSrv)
            return;
        if (Hosts.Count > 1)
            throw new ConnectionStringException($"mongodb+srv allows one host; found {Hosts.Count}{Hint}");
        if (Hosts[0].Port != 0)
            throw new ConnectionStringException($"mongodb+srv allows no port{Hint}");
    }

    private ServerAddress ReadHost(string text)
    {
        string name = text;
        string? port = null;
        int bracket = text.StartsWith('[') ? text.IndexOf(']', StringComparison.Ordinal) : -1;
        int colon = text.IndexOf(':', bracket + 1);
        if (colon >= 0)
            (name, port) = (text[..colon], text[(colon + 1)..]);
        if (port is not null && port.Contains(':', StringComparison.Ordinal))
            throw new ConnectionStringException(
                $"host {Show(text)} with several ':'; host:port is allowed; write IPv6 addresses in brackets{Hint}");
        name = PercentEncoding.Decode(name, "a host");
        if (name.Any(char.IsControl))
            throw new ConnectionStringException($"host {Show(text)} holds a control character{Hint}");
        if (name.StartsWith('['))
            name = ReadIPv6(name, text);
        else if (name.Contains('/', StringComparison.Ordinal))
            return port is null
                ? new ServerAddress(name, 0)
                : throw new ConnectionStringException($"unix socket {Show(text)} allows no port{Hint}");
        if (name.Length == 0 || name.AsSpan().ContainsAny(NotInHost))
            throw new ConnectionStringException($"host {Show(text)} is not a host name or address{Hint}");
        return new ServerAddress(name, port is null ? (IsSrv ? 0 : ServerAddress.DefaultPort) : ReadPort(port));
    }

    private string ReadIPv6(string name, string text)
    {
        string address = name.EndsWith(']') ? name[1..^1] : "";
        return IPAddress.TryParse(address, out IPAddress? parsed) && parsed.AddressFamily == AddressFamily.InterNetworkV6
            ? address
            : throw new ConnectionStringException($"host {Show(text)} is not an IPv6 address in brackets{Hint}");
    }

    private int ReadPort(string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int port) && port is >= 1 and <= 65535
            ? port
            : throw new ConnectionStringException($"port {Show(text)}; allowed: 1 to 65535{Hint}");

    private void ReadDatabase(string path)
    {
        if (path.Length <= 1)
            return;
        string raw = path[1..];
        string name = PercentEncoding.Decode(raw, "the database");
        bool external = name == ConnectionAuthentication.ExternalSource;
        if (!external && (name.AsSpan().ContainsAny(NotInDatabase) || (!_mayShow && raw.Contains('@', StringComparison.Ordinal))))
            throw new ConnectionStringException($"database {Show(name)} holds one of / \\ \" $ @ or a space{Hint}");
        Database = name;
    }

    private void ReadOptions(string query)
    {
        // ';' is the separator of old; newer strings have '&'.
        foreach (string pair in query.Split('&', ';'))
        {
            if (pair.Length == 0)
                continue;
            int equals = pair.IndexOf('=', StringComparison.Ordinal);
            if (equals <= 0)
                throw new ConnectionStringException($"option {Show(pair)} is not of the form name=value{Hint}");
            string name = PercentEncoding.Decode(pair[..equals], "an option's name");
            string value = pair[(equals + 1)..];
            if (!_mayShow && value.Contains('@', StringComparison.Ordinal) && !ConnectionOptionRule.ByName.ContainsKey(name))
                throw new ConnectionStringException($"an '@' in an unknown option{Hint}");
            Options.Add((name, value));
        }
    }
}
