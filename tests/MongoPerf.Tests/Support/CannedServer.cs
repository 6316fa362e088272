using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Support;

/// <summary>Answers every message of one connection after the handshake with the same bytes, as quickly as a thread can.</summary>
internal sealed class CannedServer : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly byte[] _reply;

    public CannedServer(BsonDocument reply)
    {
        _reply = LyingServer.Message(reply, 0);
        _listener.Start();
        Address = new ServerAddress("127.0.0.1", ((IPEndPoint)_listener.LocalEndpoint).Port);
        new Thread(Serve) { IsBackground = true, Name = "canned server" }.Start();
    }

    public ServerAddress Address { get; }

    public void Dispose() => _listener.Stop();

    private void Serve()
    {
        try
        {
            using Socket socket = _listener.AcceptSocket();
            socket.NoDelay = true;
            byte[] buffer = new byte[64 * 1024];
            byte[] reply = LyingServer.Message(LyingServer.Hello(17), 0);
            while (Read(socket, buffer))
            {
                buffer.AsSpan(4, 4).CopyTo(reply.AsSpan(8));
                socket.Send(reply);
                reply = _reply;
            }
        }
        catch (SocketException)
        {
            // The test is over.
        }
    }

    private static bool Read(Socket socket, byte[] buffer)
    {
        int got = 0;
        while (got < 4 || got < BinaryPrimitives.ReadInt32LittleEndian(buffer))
        {
            int count = socket.Receive(buffer.AsSpan(got));
            if (count == 0)
                return false;
            got += count;
        }

        return true;
    }
}
