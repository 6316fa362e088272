using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Traffic;

/// <summary>A proxy passes on whatever its two sides say, plainly or encrypted, and who breaks off ends alone.</summary>
public sealed class TrafficProxyTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly TestCertificates _certificates = new();

    public void Dispose()
    {
        _folder.Dispose();
        _certificates.Dispose();
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void Either_side_may_be_encrypted(bool client, bool server)
    {
        using var encrypted = new TlsServer(_certificates.ForLoopback(), BsonDocument.Of(("n", 7), ("ok", 1.0)));
        using var plain = new ScriptedListener("echo", Echo);
        var warnings = new List<string>();
        string tls = $"tls=true&tlsCAFile={_certificates.AuthorityFile}";
        using TrafficProxy proxy = Start(
            server ? encrypted.Address : plain.Address, server ? tls : "", client, warnings, out TrafficRecorder recorder);
        using (recorder)
        using (Stream stream = Connect(proxy.Address, client))
        {
            for (int i = 1; i < 4; i++)
            {
                byte[] sent = CaptureTests.Find(i);
                stream.Write(sent);
                byte[] head = new byte[16];
                stream.ReadExactly(head);
                byte[] rest = new byte[BitConverter.ToInt32(head) - 16];
                stream.ReadExactly(rest);
                Assert.Equal(server ? i : 0, BitConverter.ToInt32(head, 8));
            }
        }

        proxy.Dispose();
        recorder.Dispose();
        Assert.Empty(warnings);
        Assert.Equal((3, 0), (recorder.Requests, recorder.Unreadable));
    }

    [Fact]
    public void A_server_that_is_not_to_be_trusted_is_not_spoken_to()
    {
        using var server = new TlsServer(_certificates.ForLoopback());
        var warnings = new List<string>();
        using TrafficProxy proxy = Start(server.Address, "tls=true", false, warnings, out TrafficRecorder recorder);
        using (recorder)
        {
            for (int i = 0; i < 3; i++)
            {
                using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                socket.Connect(proxy.Address);
                Assert.Equal(0, socket.Receive(new byte[1]));
            }
        }

        Assert.Contains("which is not trusted on this machine", Assert.Single(warnings), StringComparison.Ordinal);
    }

    /// <summary>Bytes that are no protocol go through as they are; the recording of others goes on.</summary>
    [Fact]
    public void Garbage_of_both_sides_goes_through_untouched()
    {
        using var server = new ScriptedListener("echo", Echo);
        var warnings = new List<string>();
        using TrafficProxy proxy = Start(server.Address, "", false, warnings, out TrafficRecorder recorder);
        using (recorder)
        {
            for (int seed = 0; seed < 20; seed++)
            {
                byte[] garbage = new byte[30_000];
                new Random(seed).NextBytes(garbage);
                // A length that promises more than ever comes.
                if (seed % 2 == 0)
                    new MongoPerf.Wire.Messages.MessageHeader(47_000_000, 1, 0, MongoPerf.Wire.Messages.OpCode.Msg).Write(garbage);
                using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                socket.Connect(proxy.Address);
                using var stream = new NetworkStream(socket);
                stream.Write(garbage);
                byte[] back = new byte[garbage.Length];
                stream.ReadExactly(back);
                Assert.Equal(garbage, back);
                // Half closed: the rest still comes.
                stream.Write(CaptureTests.Find(1));
                socket.Shutdown(SocketShutdown.Send);
                stream.ReadExactly(back, 0, CaptureTests.Find(1).Length);
                Assert.Equal(0, stream.Read(back));
            }
        }

        Assert.Empty(warnings);
        Assert.Equal((0, 10), (recorder.Requests, recorder.Unreadable));
    }

    /// <summary>Blocks are read while others are filled, and are used again by any connection.</summary>
    [Fact]
    public void Requests_of_any_length_on_many_connections_are_recorded_as_they_were_sent()
    {
        const int Clients = 8;
        using var server = new ScriptedListener("echo", Echo);
        using TrafficProxy proxy = Start(server.Address, "", false, [], out TrafficRecorder recorder);
        var sent = new List<byte[]>[Clients];
        using (recorder)
        {
            Parallel.For(0, Clients, new ParallelOptions { MaxDegreeOfParallelism = Clients }, client =>
            {
                var random = new Random(client);
                using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                socket.Connect(proxy.Address);
                using var stream = new NetworkStream(socket);
                sent[client] = [];
                for (int i = 1; i <= 60; i++)
                {
                    // Mostly small, at times larger than a block.
                    string filler = new((char)('a' + (i % 26)), random.Next(random.Next(random.Next(random.Next(400_000)))));
                    byte[] message = TrafficFile.MessageOf(
                        i, 0, BsonDocument.Of(("find", "orders"), ("client", client), ("filler", filler), ("$db", "shop")));
                    sent[client].Add(message);
                    Task writing = stream.WriteAsync(message).AsTask();
                    byte[] back = new byte[message.Length];
                    stream.ReadExactly(back);
                    writing.GetAwaiter().GetResult();
                    Assert.Equal(message, back);
                }
            });
        }

        var recorded = new Dictionary<long, List<byte[]>>();
        using Recording recording = Recording.Open(_folder.At("a.rec"));
        while (recording.TryRead(out RecordedMessage message))
        {
            if (message.Reply is not null)
                continue;
            if (!recorded.TryGetValue(message.Connection, out List<byte[]>? all))
                recorded[message.Connection] = all = [];
            all.Add(message.Message.ToArray());
        }

        Assert.Equal(Clients, recorded.Count);
        foreach (List<byte[]> messages in recorded.Values)
            Assert.Equal(sent[new BsonDocument(messages[0][21..]).FindInt64("client")!.Value], messages);
    }

    /// <summary>The thread that passes its reply on waits until it reads; what others exchange is recorded meanwhile.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_client_that_does_not_read_holds_up_the_recording_of_no_other(bool isEncrypted)
    {
        const int Large = 1, Small = 20;
        byte[] large = TrafficFile.MessageOf(9, Large, BsonDocument.Of(("filler", new string('a', 40_000_000)), ("ok", 1.0)));
        using var server = new ScriptedListener("large", socket =>
        {
            while (ScriptedListener.ReadMessage(socket) is { } request)
                socket.Send(BitConverter.ToInt32(request, 4) == Large ? large : request);
        });
        using TrafficProxy proxy = Start(server.Address, "", isEncrypted, [], out TrafficRecorder recorder);
        using (recorder)
        using (Stream idle = Connect(proxy.Address, isEncrypted), other = Connect(proxy.Address, isEncrypted))
        {
            idle.Write(CaptureTests.Find(Large));
            // What the system keeps for it is full soon.
            Thread.Sleep(300);
            for (int i = 0; i < Small; i++)
            {
                byte[] request = CaptureTests.Find(Large + 1 + i);
                other.Write(request);
                other.ReadExactly(new byte[request.Length]);
            }

            Eventually.Is(() => recorder.Requests == 1 + Small);
            proxy.Dispose();
        }
    }

    /// <summary>
    /// Each side would keep connections to machines that are gone for ever: what their ends ask of the system ends at the proxy.
    /// </summary>
    [Fact]
    public void Both_sides_notice_a_machine_that_is_gone()
    {
        using Socket listener = TrafficProxy.Listen(new IPEndPoint(IPAddress.Loopback, 0));
        var address = (IPEndPoint)listener.LocalEndPoint!;
        var connecting = new Socket(SocketType.Stream, ProtocolType.Tcp);
        using var server = new ProxySide(connecting);
        server.Connect(new ProxiedServer(new ServerAddress("127.0.0.1", address.Port), null));
        Socket accepted = listener.Accept();
        using var client = new ProxySide(accepted);
        client.Accept(null);
        Assert.All([connecting, accepted], socket =>
        {
            Assert.NotEqual(0, socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
            Assert.Equal(120, socket.GetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime));
        });
    }

    /// <summary>Mostly localhost has two, and a server listens on one of them.</summary>
    [Fact]
    public void A_name_may_have_addresses_where_nobody_listens()
    {
        using Socket listener = TrafficProxy.Listen(new IPEndPoint(IPAddress.Loopback, 0));
        using var side = new ProxySide(new Socket(SocketType.Stream, ProtocolType.Tcp));
        side.Connect([IPAddress.Parse("127.0.0.2"), IPAddress.Loopback], ((IPEndPoint)listener.LocalEndPoint!).Port);
        using Socket accepted = listener.Accept();
        side.Send([1, 2, 3]);
        Assert.Equal(3, accepted.Receive(new byte[4]));
    }

    /// <summary>What the system has no room for is kept, and goes on with what follows.</summary>
    [Fact]
    public async Task What_is_sent_without_waiting_arrives_whole_and_in_its_order_with_TLS()
    {
        const int Pieces = 400, PieceBytes = 50_000;
        using Socket listener = TrafficProxy.Listen(new IPEndPoint(IPAddress.Loopback, 0));
        Task<Stream> connecting = Task.Run(() => Connect((IPEndPoint)listener.LocalEndPoint!, isEncrypted: true));
        using var side = new ProxySide(listener.Accept());
        side.Accept(new SslServerAuthenticationOptions { ServerCertificateContext = Certificate() });
        using Stream client = await connecting;
        // Nobody has to call again for it.
        Assert.Equal(3, side.SendWithoutWaiting([1, 2, 3]));
        byte[] first = new byte[3];
        client.ReadExactly(first);
        Assert.Equal([1, 2, 3], first);
        side.Send([]);
        byte[] sent = new byte[Pieces * PieceBytes];
        new Random(1).NextBytes(sent);
        byte[] came = new byte[sent.Length];
        Task reading = Task.CompletedTask;
        for (int at = 0; at < sent.Length; at += PieceBytes)
        {
            // With nobody who reads it does not wait; what must have gone on before the next piece does.
            Assert.Equal(PieceBytes, side.SendWithoutWaiting(sent.AsSpan(at, PieceBytes)));
            if (at == sent.Length / 2)
                reading = Task.Run(() => client.ReadExactly(came));
            if (at >= sent.Length / 2)
                side.Send([]);
        }

        await reading;
        Assert.Equal(sent, came);
    }

    private static void Echo(Socket socket)
    {
        byte[] buffer = new byte[4096];
        for (int count; (count = socket.Receive(buffer)) > 0;)
            socket.Send(buffer.AsSpan(0, count));
        socket.Close();
    }

    private static ConnectionSettings Settings(string options) =>
        ConnectionSettings.From(ConnectionString.Parse($"mongodb://localhost/?{options}"));

    private Stream Connect(IPEndPoint proxy, bool isEncrypted)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(proxy);
        var stream = new NetworkStream(socket, ownsSocket: true);
        return isEncrypted
            ? Settings($"tls=true&tlsCAFile={_certificates.AuthorityFile}").Tls!.Secure(stream, new ServerAddress("localhost", 1))
            : stream;
    }

    private SslStreamCertificateContext Certificate() => PemFiles.ReadIdentity("test", _certificates.ForLoopback(), null, "test");

    private TrafficProxy Start(ServerAddress server, string options, bool isEncrypted, List<string> warnings, out TrafficRecorder recorder)
    {
        recorder = new TrafficRecorder(_folder.At("a.rec"));
        return new TrafficProxy(
            TrafficProxy.Listen(new IPEndPoint(IPAddress.Loopback, 0)), new ProxiedServer(server, Settings(options).Tls),
            isEncrypted ? Certificate() : null, recorder, what =>
            {
                lock (warnings)
                    warnings.Add(what);
            });
    }
}
