using System.Buffers.Binary;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Null;

/// <summary>The loop of one connection: as many bytes as come with one read, all whole messages in them, their replies.</summary>
internal static class NullConnection
{
    // Two hundred unacknowledged inserts of a document come with one read; larger messages let it grow.
    private const int FirstBufferBytes = 256 * 1024;

    /// <summary>Serves until the peer closes or sends what is no OP_MSG. Never throws for what a peer does.</summary>
    public static void Serve(Socket socket, NullStore store)
    {
        using var session = new NullSession(store);
        byte[] buffer = new byte[FirstBufferBytes];
        int length = 0;
        try
        {
            while (true)
            {
                int count = socket.Receive(buffer.AsSpan(length));
                if (count == 0)
                    return;
                length += count;
                int used = AnswerWhole(socket, session, buffer.AsSpan(0, length));
                if (used > 0)
                    buffer.AsSpan(used, length - used).CopyTo(buffer);
                length -= used;
                if (length >= 4)
                    MakeRoom(ref buffer, BinaryPrimitives.ReadInt32LittleEndian(buffer));
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or IOException or BsonFormatException)
        {
            // The connection ends; a client that broke the protocol sees it closed, as mongod does it.
        }
    }

    /// <returns>Bytes of the messages that were answered.</returns>
    private static int AnswerWhole(Socket socket, NullSession session, ReadOnlySpan<byte> received)
    {
        int at = 0;
        while (received.Length - at >= MessageHeader.Size)
        {
            int size = BinaryPrimitives.ReadInt32LittleEndian(received[at..]);
            if (size is < MessageHeader.Size or > MessageHeader.MaximumMessageLength)
                throw new WireProtocolException($"message declares {size} bytes");
            if (received.Length - at < size)
                break;
            ReadOnlySpan<byte> reply = session.Answer(received.Slice(at, size));
            while (reply.Length > 0)
                reply = reply[socket.Send(reply)..];
            at += size;
        }

        return at;
    }

    private static void MakeRoom(ref byte[] buffer, int message)
    {
        if (message > buffer.Length && message <= MessageHeader.MaximumMessageLength)
            Array.Resize(ref buffer, (message + 0xFFFF) & ~0xFFFF);
    }
}
