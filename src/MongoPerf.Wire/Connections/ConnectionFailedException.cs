using MongoPerf.Wire.Failures;

namespace MongoPerf.Wire.Connections;

/// <summary>No connection, or one that broke: names the server and what happened. What was sent last may have arrived.</summary>
public class ConnectionFailedException : IOException, IFailure
{
    public ConnectionFailedException(ServerAddress server, string what, Exception? inner = null)
        : base($"{server}: {what}", inner) => (Server, What) = (server, what);

    public ServerAddress Server { get; }

    public Fault Fault => Fault.CannotConnect;

    public virtual string? Hint => "is a server running there, and does a firewall block it?";

    /// <summary>The message without the server's address: the same for all connections, so that failures can be counted by it.</summary>
    public string What { get; }

    /// <summary>The server was reached, and ended the connection.</summary>
    public bool WasClosed => What == SocketTransport.ClosedByServer;

    /// <summary>What happened, without the server's address, for those who name it themselves.</summary>
    public static string WhatOf(Exception failure, ServerAddress server) =>
        (failure as ConnectionFailedException)?.What ?? failure.Message.Replace($"{server}: ", "", StringComparison.Ordinal);
}

/// <summary>TLS can't be agreed on, or the certificate is not to be trusted. One line that says what is wrong and what to do.</summary>
public sealed class TlsFailedException(
    ServerAddress server, string what, Exception? inner = null) : ConnectionFailedException(server, what, inner)
{
    public override string? Hint => null;
}

/// <summary>The server does not let this client in, or failed to prove itself. Holds no secret.</summary>
public sealed class AuthenticationFailedException(
    ServerAddress server, string what, Exception? inner = null) : ConnectionFailedException(server, what, inner)
{
    private const string PasswordHint = "check user name and password (@ : / % as %40 %3A %2F %25), authSource and authMechanism in --uri";
    private const string CertificateHint =
        "the subject of the certificate in tlsCertificateKeyFile must be a user of the server's database $external";

    /// <summary>The mechanism, such as SCRAM-SHA-256; null where it is not known.</summary>
    public string? Mechanism { get; init; }

    public override string Hint => Mechanism == "MONGODB-X509" ? CertificateHint : PasswordHint;
}

/// <summary>The server has taken connections of this client and takes no more; mostly it has a limit.</summary>
/// <param name="failure">How it refused the next one.</param>
/// <param name="open">How many threads have a connection, or how many connections a pool has.</param>
/// <param name="wanted">How many there are to be.</param>
/// <param name="isPool">Threads share the connections.</param>
public sealed class ConnectionLimitException(ConnectionFailedException failure, int open, int wanted, bool isPool = false)
    : ConnectionFailedException(
        failure.Server,
        $"{failure.What}, while {open:N0} of "
            + (isPool ? $"the pool's {wanted:N0} connections are open" : $"{wanted:N0} threads are connected"),
        failure)
{
    public override string? Hint =>
        $"the server may have reached its limit of connections: use {(isPool ? "a smaller pool" : "fewer threads")}, or raise it "
        + "(net.maxIncomingConnections; a hosted server's depends on its tier)";
}

/// <summary>The server that answers belongs to another replica set than was asked for, or to none.</summary>
public sealed class WrongReplicaSetException(ServerAddress server, string asked, string? found) : ConnectionFailedException(
    server, found is null
        ? $"this server is not a member of any replica set (replicaSet={asked})"
        : $"this server's replica set is '{found}', not '{asked}' (replicaSet=)")
{
    public override string? Hint => null;
}
