using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A command as it went over the wire.</summary>
/// <param name="Name">Of the command.</param>
/// <param name="Body">The whole of it, without the documents of a sequence.</param>
/// <param name="SequenceBytes">Length of the documents beside it.</param>
/// <param name="Flags">Of the message.</param>
internal sealed record RecordedCommand(string Name, BsonDocument Body, int SequenceBytes, OpMsgFlags Flags)
{
    public int Documents => SequenceBytes / 1024;
}

/// <summary>Stands between the program and a server, passes everything on and remembers the commands.</summary>
internal sealed class RecordingProxy : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly ServerAddress _server;
    private readonly List<RecordedCommand> _commands = [];
    private readonly List<IDisposable> _sockets = [];
    private volatile bool _refuses;

    public RecordingProxy(ServerAddress server)
    {
        _server = server;
        _listener.Start();
        _ = AcceptAsync();
    }

    public string Uri => $"mongodb://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>Once this command went by, the next <see cref="Refusals"/> connections are closed at once.</summary>
    public string? RefuseAfter { get; init; }

    public int Refusals { get; set; }

    /// <summary>Each command waits so long before it is passed on.</summary>
    public TimeSpan Delay { get; init; }

    /// <summary>Done once, when this command has come and before it is passed on.</summary>
    public (string Command, Action Action)? Before { get; set; }

    public IReadOnlyList<RecordedCommand> Commands
    {
        get
        {
            lock (_commands)
                return [.. _commands];
        }
    }

    public IReadOnlyList<RecordedCommand> Of(string name) => [.. Commands.Where(command => command.Name == name)];

    public void Dispose()
    {
        _listener.Stop();
        lock (_sockets)
            _sockets.ForEach(socket => socket.Dispose());
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                TcpClient client = await _listener.AcceptTcpClientAsync();
                if (_refuses && Refusals > 0)
                {
                    Refusals--;
                    client.Dispose();
                    continue;
                }

                Pair(client);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Disposed of.
        }
    }

    private void Pair(TcpClient client)
    {
        TcpClient server;
        try
        {
            server = new TcpClient(_server.Host, _server.Port) { NoDelay = true };
        }
        catch (SocketException)
        {
            // It is away, so the client finds nobody either.
            client.Dispose();
            return;
        }

        client.NoDelay = true;
        lock (_sockets)
            _sockets.AddRange([client, server]);
        _ = PassCommandsAsync(client, server);
        _ = PassRepliesAsync(server, client);
    }

    private async Task PassCommandsAsync(TcpClient from, TcpClient to)
    {
        try
        {
            byte[] head = new byte[4];
            while (true)
            {
                await from.GetStream().ReadExactlyAsync(head);
                byte[] message = new byte[BitConverter.ToInt32(head)];
                head.CopyTo(message, 0);
                await from.GetStream().ReadExactlyAsync(message.AsMemory(4));
                Remember(message);
                if (Delay > TimeSpan.Zero)
                    await Task.Delay(Delay);
                await to.GetStream().WriteAsync(message);
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
        {
            from.Dispose();
            to.Dispose();
        }
    }

    private static async Task PassRepliesAsync(TcpClient from, TcpClient to)
    {
        try
        {
            await from.GetStream().CopyToAsync(to.GetStream());
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // The other direction closes both.
        }

        from.Dispose();
        to.Dispose();
    }

    private void Remember(byte[] message)
    {
        // The official driver greets in the older form.
        if ((OpCode)BitConverter.ToInt32(message, 12) != OpCode.Msg)
            return;
        OpMsg parsed = OpMsg.Parse(message);
        int bytes = 0;
        foreach (DocumentSequence sequence in parsed.Sequences)
            bytes += sequence.Documents.Length;
        var body = new BsonDocument(parsed.Body.ToArray());
        string name = body.First().Key;
        lock (_commands)
            _commands.Add(new RecordedCommand(name, body, bytes, parsed.Flags));
        if (name == RefuseAfter)
            _refuses = true;
        if (Before is { } before && before.Command == name)
        {
            Before = null;
            before.Action();
        }
    }
}

/// <summary>Something that listens and is no usable MongoDB server.</summary>
internal sealed class FakeServer : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);

    /// <param name="answer">Makes the bytes that answer what came in.</param>
    /// <param name="staysOpen">Otherwise the connection is closed behind the first answer.</param>
    public FakeServer(Func<byte[], byte[]> answer, bool staysOpen = false)
    {
        _listener.Start();
        _ = AcceptAsync(answer, staysOpen);
    }

    public string Uri => $"mongodb://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>Answers every command with this document, as a MongoDB server would.</summary>
    public static FakeServer Replying(BsonDocument reply) => new(request =>
    {
        byte[] message = new byte[21 + reply.Bytes.Length];
        BitConverter.TryWriteBytes(message, message.Length);
        BitConverter.TryWriteBytes(message.AsSpan(8), BitConverter.ToInt32(request, 4));
        BitConverter.TryWriteBytes(message.AsSpan(12), 2013);
        reply.Bytes.CopyTo(message.AsSpan(21));
        return message;
    }, staysOpen: true);

    public void Dispose() => _listener.Stop();

    private async Task AcceptAsync(Func<byte[], byte[]> answer, bool staysOpen)
    {
        try
        {
            while (true)
                _ = AnswerAsync(await _listener.AcceptTcpClientAsync(), answer, staysOpen);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Disposed of.
        }
    }

    private static async Task AnswerAsync(TcpClient client, Func<byte[], byte[]> answer, bool staysOpen)
    {
        using TcpClient own = client;
        byte[] request = new byte[64 * 1024];
        try
        {
            do
            {
                int length = await own.GetStream().ReadAsync(request);
                if (length < 16)
                    return;
                await own.GetStream().WriteAsync(answer(request[..length]));
            }
            while (staysOpen);
        }
        catch (IOException)
        {
            // The client has left.
        }
    }
}
