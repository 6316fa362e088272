using System.Globalization;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Wire.Tyrant;

/// <summary>Reads <c>tyrant://host[:port]</c>: one host, port 1978 unless it says otherwise, nothing else.</summary>
public static class TyrantUri
{
    public const string Scheme = "tyrant://";
    public const int DefaultPort = 1978;

    /// <summary>Whether the text names a Tokyo Tyrant server at all, rightly or wrongly written.</summary>
    public static bool IsOne(string text) => text.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase);

    /// <param name="text">IPv6 addresses in brackets.</param>
    /// <exception cref="ConnectionStringException">It names no single server, or asks for what this protocol has not.</exception>
    public static ServerAddress Parse(string text)
    {
        if (!IsOne(text))
            throw new ConnectionStringException($"'{Scheme}host[:port]' is expected");
        string rest = text[Scheme.Length..];
        // First of all: what stands before an @ may be a password, and is never shown.
        if (rest.Contains('@', StringComparison.Ordinal))
            throw new ConnectionStringException("a user before '@', none is allowed: Tokyo Tyrant knows no users");
        if (rest.IndexOf('?', StringComparison.Ordinal) is >= 0 and var query)
            throw new ConnectionStringException($"options '{rest[query..]}', none are allowed with {Scheme}");
        string host = rest.TrimEnd('/');
        if (host.IndexOf('/', StringComparison.Ordinal) is >= 0 and var path)
            throw new ConnectionStringException($"path '{host[path..]}', none is allowed: a Tokyo Tyrant server has one database");
        if (host.Contains(',', StringComparison.Ordinal))
            throw new ConnectionStringException($"several hosts '{host}', one is allowed with {Scheme}");
        return ReadHost(host);
    }

    private static ServerAddress ReadHost(string text)
    {
        // An IPv6 address ends with its bracket, whatever colons are in it.
        int addressEnd = text.StartsWith('[') ? text.IndexOf(']', StringComparison.Ordinal) : 0;
        int colon = addressEnd < 0 ? -1 : text.IndexOf(':', addressEnd);
        string name = colon < 0 ? text : text[..colon];
        int port = colon < 0 ? DefaultPort : ReadPort(text[(colon + 1)..], text);
        if (name.StartsWith('['))
            return new ServerAddress(ReadIPv6(name, text), port);
        return name.Length > 0 && !name.Any(char.IsWhiteSpace)
            ? new ServerAddress(name, port)
            : throw new ConnectionStringException(name.Length == 0
                ? $"no host; {Scheme}host[:port] is expected"
                : $"host '{name}' is not a host name or address");
    }

    private static string ReadIPv6(string name, string text) =>
        name.EndsWith(']') && IPAddress.TryParse(name[1..^1], out IPAddress? parsed) && parsed.AddressFamily == AddressFamily.InterNetworkV6
            ? name[1..^1]
            : throw new ConnectionStringException($"host '{text}' is not an IPv6 address in brackets");

    private static int ReadPort(string port, string text) =>
        int.TryParse(port, NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value is >= 1 and <= 65535
            ? value
            : throw new ConnectionStringException(port.Contains(':', StringComparison.Ordinal)
                ? $"host '{text}' with several ':'; host:port is allowed; write IPv6 addresses in brackets"
                : $"port '{port}'; allowed: 1 to 65535");
}
