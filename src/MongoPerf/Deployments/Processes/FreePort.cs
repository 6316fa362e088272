using System.Net;
using System.Net.Sockets;

namespace MongoPerf.Deployments.Processes;

/// <summary>Ports of 127.0.0.1 on which nothing listens.</summary>
internal static class FreePort
{
    /// <summary>One that is free now; another program may take it before it is used.</summary>
    public static int Find()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
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
