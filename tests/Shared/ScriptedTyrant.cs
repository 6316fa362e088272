using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Testing;

/// <summary>
/// A TCP server on loopback that reads Tokyo Tyrant's requests, says of itself what the test wants, and answers the rest as the test says.
/// </summary>
internal sealed class ScriptedTyrant : IDisposable
{
    private const byte StatusCommand = 0x88;

    private readonly ScriptedListener _listener;

    public ScriptedTyrant()
    {
        Answer = exchange => exchange.Send(Reply(0));
        Status = exchange => exchange.Send(StatusReply("table"));
        _listener = new ScriptedListener("scripted tyrant", Serve);
    }

    public ServerAddress Address => _listener.Address;

    /// <summary>What it does with each request but stat.</summary>
    public Action<TyrantExchange> Answer { get; set; }

    public Action<TyrantExchange> Status { get; set; }

    public static byte[] StatusReply(string type)
    {
        byte[] text = Encoding.UTF8.GetBytes($"version\t1.1.41\nlibver\t323\nprotver\t0.91\npath\tnews.tct\ntype\t{type}\nrnum\t2\n"
            + "size\t528384\nmemrss\t4096\n");
        return [0, .. Number(text.Length), .. text];
    }

    /// <summary>A function's answer.</summary>
    public static byte[] Reply(byte code, params byte[][] elements) =>
        [code, .. Number(elements.Length), .. elements.SelectMany(element => (byte[])[.. Number(element.Length), .. element])];

    public static byte[] Number(int value)
    {
        byte[] bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, value);
        return bytes;
    }

    public void Dispose() => _listener.Dispose();

    private void Serve(Socket socket)
    {
        while (TyrantRequestReader.Read(socket) is { } request)
            (request[1] == StatusCommand ? Status : Answer)(new TyrantExchange(socket, request));
    }
}

/// <summary>One request, and what may be done about it.</summary>
internal sealed class TyrantExchange(Socket socket, byte[] request) : ScriptedExchange(socket, request)
{
    public string Hex => Convert.ToHexStringLower(Request);

    public void Send(string hex) => Send(Convert.FromHexString(hex));
}

/// <summary>Reads requests by the table of commands, so that the tests' view of the protocol is not the client's own.</summary>
internal static class TyrantRequestReader
{
    /// <returns>The whole request; null when the client has closed.</returns>
    public static byte[]? Read(Socket socket)
    {
        var request = new List<byte>();
        if (!TryTake(socket, request, 2))
            return null;
        Assert.Equal(0xC8, request[0]);
        bool whole = request[1] switch
        {
            0x10 or 0x11 or 0x12 or 0x18 =>
                TryTake(socket, request, 8) && TryTake(socket, request, SizeAt(request, 2) + SizeAt(request, 6)),
            0x20 or 0x30 => TryTake(socket, request, 4) && TryTake(socket, request, SizeAt(request, 2)),
            0x90 => TryTakeFunction(socket, request),
            _ => true,
        };
        return whole ? [.. request] : null;
    }

    /// <summary>A function's name and arguments.</summary>
    public static string[] ReadFunction(byte[] request)
    {
        var texts = new List<string>();
        int at = 14 + BinaryPrimitives.ReadInt32BigEndian(request.AsSpan(2));
        texts.Add(Encoding.UTF8.GetString(request.AsSpan(14..at)));
        int count = BinaryPrimitives.ReadInt32BigEndian(request.AsSpan(10));
        for (int i = 0; i < count; i++)
        {
            int length = BinaryPrimitives.ReadInt32BigEndian(request.AsSpan(at));
            texts.Add(Encoding.UTF8.GetString(request.AsSpan(at + 4, length)));
            at += 4 + length;
        }

        Assert.Equal(request.Length, at);
        return [.. texts];
    }

    private static bool TryTakeFunction(Socket socket, List<byte> request)
    {
        if (!TryTake(socket, request, 12) || !TryTake(socket, request, SizeAt(request, 2)))
            return false;
        int count = SizeAt(request, 10);
        for (int i = 0; i < count; i++)
        {
            int at = request.Count;
            if (!TryTake(socket, request, 4) || !TryTake(socket, request, SizeAt(request, at)))
                return false;
        }

        return true;
    }

    private static int SizeAt(List<byte> request, int at) => BinaryPrimitives.ReadInt32BigEndian(request.GetRange(at, 4).ToArray());

    private static bool TryTake(Socket socket, List<byte> request, int count)
    {
        byte[] bytes = new byte[count];
        if (!ScriptedListener.ReadFully(socket, bytes))
            return false;
        request.AddRange(bytes);
        return true;
    }
}
