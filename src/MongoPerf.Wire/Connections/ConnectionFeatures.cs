using MongoPerf.Wire.Authentication;

namespace MongoPerf.Wire.Connections;

/// <summary>What a valid connection string may ask for and this client can't do, or does not do because it would be unsafe.</summary>
internal static class ConnectionFeatures
{
    /// <summary>Drivers pass any word on, and with another one a server refuses every operation.</summary>
    private static readonly string[] ReadConcernLevels = ["local", "available", "majority", "linearizable", "snapshot"];

    /// <summary>Says in plain words what is not there; empty for a string that can be followed.</summary>
    public static IEnumerable<string> Unsupported(ConnectionString uri)
    {
        if (uri.AuthMechanism is { } mechanism && ConnectionAuthentication.IsUnsupported(mechanism))
            yield return $"authentication by {mechanism}";
        if (uri.Option("proxyHost") is not null)
            yield return "a SOCKS5 proxy (proxyHost)";
        if (uri.Option("timeoutMS") is > 0)
            yield return "timeoutMS (one limit for a whole operation; use connectTimeoutMS and socketTimeoutMS)";
    }

    public static string NotSupported(string feature) => $"{feature} is not supported (docs/connecting.md says what is)";

    /// <exception cref="ConnectionStringException">The first thing that can't be done.</exception>
    public static void Check(ConnectionString uri)
    {
        if (uri.Faults is [{ } fault, ..])
            throw fault;
        if (Unsupported(uri).FirstOrDefault() is { } unsupported)
            throw new ConnectionStringException(NotSupported(unsupported));
        if (uri.ReadConcernLevel is { } level && !ReadConcernLevels.Contains(level, StringComparer.Ordinal))
            throw new ConnectionStringException($"readConcernLevel is '{level}'; allowed: "
                + $"{string.Join(", ", ReadConcernLevels)}") { Typed = level, Allowed = ReadConcernLevels };
        if (uri.W is { Count: 0 })
            throw new ConnectionStringException(
                "w=0: whether writes are acknowledged is set by the test or scenario (unack; writeConcern: {w: 0}); leave w out");
        if (uri.Tls && uri.Hosts.FirstOrDefault(host => host.IsUnixSocket) is { } socket)
            throw new ConnectionStringException(
                $"tls=true with the unix socket {socket.Host}: leave tls out, nothing leaves this machine there");
        if (uri.Credential is { } credential)
            CheckMechanism(uri, credential);
        CheckStaleness(uri);
    }

    /// <summary>
    /// Members write at least every ten seconds, and are looked at once in each heartbeat: nobody can know it more exactly.
    /// Source: max-staleness.md.
    /// </summary>
    private static void CheckStaleness(ConnectionString uri)
    {
        const int IdleWriteSeconds = 10;
        double least = uri.HeartbeatFrequency.TotalSeconds + IdleWriteSeconds;
        if (uri.MaxStalenessSeconds < least)
            throw new ConnectionStringException($"maxStalenessSeconds is {uri.MaxStalenessSeconds}; "
                + $"allowed with heartbeatFrequencyMS={uri.HeartbeatFrequency.TotalMilliseconds:0}: {Math.Ceiling(least):0} or more");
    }

    private static void CheckMechanism(ConnectionString uri, MongoCredential credential)
    {
        switch (credential.Mechanism)
        {
            case "MONGODB-X509" when !uri.Tls || uri.TlsCertificateKeyFile is null:
                throw new ConnectionStringException(
                    "MONGODB-X509 logs in with a certificate and needs tls=true and tlsCertificateKeyFile=FILE");
            case "PLAIN" when !uri.Tls:
                throw new ConnectionStringException("PLAIN sends the password unprotected and needs tls=true");
            case "MONGODB-AWS" when AwsKeys.Find(credential, Environment.GetEnvironmentVariable) is null:
                throw new ConnectionStringException(
                    "MONGODB-AWS finds no keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) "
                    + "are read from the environment, the instance metadata service is not queried");
            default:
                break;
        }
    }
}
