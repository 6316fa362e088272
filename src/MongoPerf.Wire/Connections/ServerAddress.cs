namespace MongoPerf.Wire.Connections;

/// <summary>Where a server listens.</summary>
/// <param name="Host">A name, an IPv4 or an IPv6 address without brackets, or a unix socket's path.</param>
/// <param name="Port">1 to 65535; 0 for a unix socket and for a name that is still to be looked up (mongodb+srv).</param>
public sealed record ServerAddress(string Host, int Port)
{
    public const int DefaultPort = 27017;

    internal bool IsUnixSocket => Host.Contains('/', StringComparison.Ordinal);

    public override string ToString() => Host switch
    {
        _ when Port == 0 => Uri.EscapeDataString(Host),
        _ when Host.Contains(':', StringComparison.Ordinal) => $"[{Host}]:{Port}",
        _ => $"{Host}:{Port}",
    };
}
