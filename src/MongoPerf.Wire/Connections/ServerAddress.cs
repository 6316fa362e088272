namespace MongoPerf.Wire.Connections;

/// <summary>Where one server process listens.</summary>
/// <param name="Host">A name or an address; IPv6 without brackets.</param>
/// <param name="Port">1 to 65,535.</param>
public sealed record ServerAddress(string Host, int Port)
{
    public const int DefaultPort = 27017;

    public override string ToString() => Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]:{Port}" : $"{Host}:{Port}";
}
