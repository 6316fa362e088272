using System.Buffers.Binary;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Support;

/// <summary>Answers every message of a connection after the handshake with the same bytes, as quickly as a thread can.</summary>
internal sealed class CannedServer : IDisposable
{
    private readonly ScriptedListener _listener;
    private readonly byte[] _reply;

    private readonly bool _isMember;

    /// <param name="reply">To everything.</param>
    /// <param name="isMember">Of a replica set.</param>
    public CannedServer(BsonDocument reply, bool isMember = false)
    {
        _isMember = isMember;
        _reply = LyingServer.Message(reply, 0);
        _listener = new ScriptedListener("canned server", Serve);
    }

    public ServerAddress Address => _listener.Address;

    public void Dispose() => _listener.Dispose();

    private void Serve(Socket socket)
    {
        byte[] buffer = new byte[64 * 1024];
        byte[] reply = LyingServer.Message(LyingServer.Hello(17, _isMember), 0);
        while (Read(socket, buffer))
        {
            buffer.AsSpan(4, 4).CopyTo(reply.AsSpan(8));
            socket.Send(reply);
            reply = _reply;
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
