using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Processes;

/// <summary>Ports of 127.0.0.1 on which nothing listens.</summary>
public static class FreePort
{
    // Linux gives 32768 and above to outgoing connections and to listeners that let it choose (net.ipv4.ip_local_port_range).
    private const int Lowest = 20_000;
    private const int Highest = 32_000;

    /// <summary>
    /// Some in a row that are free now, below those that the system gives away: what they are found for starts a moment later, and a server
    /// that is started again needs its own port, on which no client may sit meanwhile.
    /// </summary>
    /// <param name="count">How many.</param>
    /// <param name="random">Where the search begins, so that two that search at once hardly meet; null for any place.</param>
    /// <returns>The first.</returns>
    /// <exception cref="DeploymentException">There is no such row.</exception>
    public static int Find(int count = 1, Random? random = null)
    {
        int starts = Highest - Lowest - count;
        int begin = (random ?? Random.Shared).Next(starts);
        for (int tried = 0; tried < starts; tried += count)
        {
            int first = Lowest + ((begin + tried) % starts);
            if (Enumerable.Range(first, count).All(IsFree))
                return first;
        }

        throw new DeploymentException(Fault.CannotConnect,
            $"no {count} consecutive free ports between {Lowest} and {Highest}\nhint:  choose the first one with --port");
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
