using System.Globalization;

namespace MongoPerf.Wire.Connections;

/// <summary>Where a server listens.</summary>
/// <param name="Host">A name, an IPv4 or an IPv6 address without brackets, or a unix socket's path.</param>
/// <param name="Port">1 to 65535; 0 for a unix socket and for a name that is still to be looked up (mongodb+srv).</param>
public sealed record ServerAddress(string Host, int Port)
{
    public const int DefaultPort = 27017;

    public bool IsUnixSocket => Host.Contains('/', StringComparison.Ordinal);

    /// <param name="text">"host:port", as servers name each other; upper case counts as lower case.</param>
    /// <returns>Null for anything else.</returns>
    public static ServerAddress? TryParse(string text)
    {
        int colon = text.LastIndexOf(':');
        bool isAddress = colon is > 0 and < 256 && !text.AsSpan(0, colon).ContainsAnyExceptInRange('!', '~')
            && int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out int port)
            && port is > 0 and < 65536;
        return isAddress ? new ServerAddress(text[..colon].Trim('[', ']').ToLowerInvariant(),
            int.Parse(text.AsSpan(colon + 1), CultureInfo.InvariantCulture)) : null;
    }

    /// <summary>The address as a connection string has it: the slashes of a unix socket's path are encoded.</summary>
    internal string ToUriText() => Port == 0 ? Uri.EscapeDataString(Host) : ToString();

    /// <summary>The address for people: "db1:27017", "[::1]:27017", "/tmp/mongodb-27017.sock".</summary>
    public override string ToString() => Host switch
    {
        _ when Port == 0 => Host,
        _ when Host.Contains(':', StringComparison.Ordinal) => $"[{Host}]:{Port}",
        _ => $"{Host}:{Port}",
    };
}
