using System.Net;
using System.Net.Sockets;

namespace MongoPerf.Deployments.Processes;

/// <summary>Ports of 127.0.0.1 on which nothing listens.</summary>
internal static class FreePort
{
    // Linux gives 32768 and above to outgoing connections (net.ipv4.ip_local_port_range).
    private const int LowestOfRow = 20_000;
    private const int HighestOfRow = 32_000;

    /// <summary>One that is free now; another program may take it before it is used.</summary>
    public static int Find()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
    }

    /// <summary>
    /// Some in a row, below those that the system gives to outgoing connections: a server that is started again later needs its own port,
    /// and no client may sit on it meanwhile.
    /// </summary>
    /// <param name="count">How many.</param>
    /// <param name="random">Where the search begins, so that two that search at once hardly meet.</param>
    /// <returns>The first.</returns>
    /// <exception cref="DeploymentException">There is no such row.</exception>
    public static int FindRow(int count, Random random)
    {
        int begin = random.Next(LowestOfRow, HighestOfRow - count);
        for (int tried = 0; tried < HighestOfRow - LowestOfRow; tried += count)
        {
            int first = LowestOfRow + ((begin - LowestOfRow + tried) % (HighestOfRow - LowestOfRow - count));
            if (Enumerable.Range(first, count).All(IsFree))
                return first;
        }

        throw new DeploymentException(DeploymentFault.CannotConnect, $"no {count} consecutive free ports between {LowestOfRow} and {HighestOfRow}\nhint:  choose the first one with --port");
    }

    public static bool IsFree(int port)
    {
        if (port is < 1 or > ushort.MaxValue)
            return false;
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            // What servers do: connections of the one before that still linger do not count.
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            socket.Listen(1);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
