using System.Net;
using System.Net.Sockets;

namespace MongoPerf.Server.Listening;

/// <summary>Where a <see cref="TcpServer"/> listens, and for whom.</summary>
public sealed record ListenOptions
{
    /// <summary>One of this machine's; the unspecified ones are all of them, that of IPv6 with those of IPv4.</summary>
    public IPAddress Address { get; init; } = IPAddress.Loopback;

    /// <summary>0 takes a free one.</summary>
    public int Port { get; init; }

    /// <summary>Where others find it; of all addresses, one of this machine's own.</summary>
    internal IPAddress FindShownAddress()
    {
        if (!Address.Equals(IPAddress.Any) && !Address.Equals(IPAddress.IPv6Any))
            return Address;
        IPAddress loopback = Address.Equals(IPAddress.Any) ? IPAddress.Loopback : IPAddress.IPv6Loopback;
        try
        {
            return Dns.GetHostAddresses(Environment.MachineName, Address.AddressFamily).FirstOrDefault() ?? loopback;
        }
        catch (SocketException)
        {
            // A machine need not know its own name.
            return loopback;
        }
    }

    /// <summary>Null: four fifths of the handles that the process may have, 16,384 at most.</summary>
    public int? MaximumConnections { get; init; }

    /// <summary>Every connection begins with TLS; null: none does.</summary>
    public ServerTls? Tls { get; init; }

    /// <summary>How long commands under way may go on when the server stops, before they are interrupted.</summary>
    public TimeSpan StopPatience { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Sessions are not trusted before their client has logged in.</summary>
    public bool RequiresLogin { get; init; }
}
