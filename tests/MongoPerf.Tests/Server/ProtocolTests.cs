using System.Text;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

public sealed class ProtocolTests : ServerTest
{
    [Fact]
    public void Hello_names_the_limits_and_that_this_is_not_MongoDB()
    {
        BsonDocument hello = Succeed("{'hello': 1, 'helloOk': true, 'backpressure': '2', 'client': {}, 'compression': ['zlib']}", "admin");
        Assert.True(hello.IsTrue("isWritablePrimary"));
        Assert.True(hello.IsTrue("helloOk"));
        Assert.True(hello.IsTrue("mongoperfEmbedded"));
        Assert.Equal((16_777_216L, 48_000_000L, 100_000L),
            (hello.FindInt64("maxBsonObjectSize"), hello.FindInt64("maxMessageSizeBytes"), hello.FindInt64("maxWriteBatchSize")));
        Assert.Equal((0L, 17L), (hello.FindInt64("minWireVersion"), hello.FindInt64("maxWireVersion")));
        Assert.Null(hello.Find("topologyVersion"));
        Assert.Equal(30, hello.FindInt64("logicalSessionTimeoutMinutes"));
        Assert.True(Succeed("{'ismaster': 1}", "admin").IsTrue("ismaster"));
        Assert.StartsWith("6.0.5", Succeed("{'buildinfo': 1}", "admin").FindString("version"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("isMaster", 1)]
    [InlineData("buildInfo", 1)]
    [InlineData("find", 0)]
    public void Legacy_query_is_answered_for_handshakes_only(string command, double ok)
    {
        Client.Send(LegacyQuery(BsonDocument.Of((command, 1))));
        byte[] reply = Client.ReceiveMessage()!;
        MessageHeader header = MessageHeader.Read(reply);
        Assert.Equal((OpCode.Reply, 77, 8), (header.OpCode, header.ResponseTo, BitConverter.ToInt32(reply, 16)));
        var body = new BsonDocument(reply.AsMemory(36));
        Assert.Equal(ok, body.FindDouble("ok"));
        Assert.Equal(ok == 1 ? null : 352, body.FindInt64("code"));
    }

    [Theory]
    [InlineData("{'bogus': 1}", 59, "no such command: 'bogus'")]
    [InlineData("{'Find': 'c'}", 59, "no such command: 'Find'")]
    public void Unknown_command_is_59(string command, int code, string text) => Fails(command, code, text);

    [Fact]
    public void Generic_fields_are_tolerated_everywhere() => Succeed(
        "{'find': 'c', 'lsid': {'id': {'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}}, 'readConcern': {}, "
        + "'maxTimeMS': 5, 'comment': null, '$readPreference': {'mode': 'primary'}, '$clusterTime': {}, "
        + "'apiVersion': '1', 'apiStrict': false}");

    [Theory]
    [InlineData(15, 2013)]
    [InlineData(48_000_001, 2013)]
    [InlineData(16, 2001)]
    [InlineData(16, 12345)]
    public void Bad_frame_closes_the_connection_without_a_word(int length, int opCode)
    {
        byte[] bytes = new byte[16];
        new MessageHeader(length, 1, 0, (OpCode)opCode).Write(bytes);
        Client.Send(bytes);
        Assert.Null(Client.ReceiveMessage());
    }

    [Fact]
    public void Requests_that_come_in_one_go_or_byte_by_byte_are_answered_in_order()
    {
        byte[] ping = new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("ping", 1)), 5).ToArray();
        Client.Send([.. ping, .. ping]);
        Assert.Equal(5, MessageHeader.Read(Client.ReceiveMessage()).ResponseTo);
        Assert.Equal(5, MessageHeader.Read(Client.ReceiveMessage()).ResponseTo);
        foreach (byte value in ping)
            Client.Send([value]);
        Assert.Equal(5, MessageHeader.Read(Client.ReceiveMessage()).ResponseTo);
    }

    [Fact]
    public void Checksum_is_checked()
    {
        byte[] ping = new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("ping", 1)), 5, OpMsgFlags.ChecksumPresent).ToArray();
        byte[] message = [.. ping, 0, 0, 0, 0];
        BitConverter.TryWriteBytes(message, message.Length);
        uint sum = 0xFFFFFFFF;
        foreach (byte value in message[..^4])
            sum = System.Numerics.BitOperations.Crc32C(sum, value);
        BitConverter.TryWriteBytes(message.AsSpan(message.Length - 4), ~sum);
        Client.Send(message);
        Assert.NotNull(Client.ReceiveMessage());
        message[^1] ^= 1;
        Client.Send(message);
        Assert.Null(Client.ReceiveMessage());
    }

    [Fact]
    public void Browser_is_told_what_this_is()
    {
        Client.Send("GET / HTTP/1.1\r\n\r\n"u8);
        Assert.StartsWith("HTTP/1.0 200 OK", Encoding.ASCII.GetString(Client.Receive(40)!), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Shutdown_is_left_to_the_owner_and_closes_the_connection()
    {
        Assert.False(Server.ShutdownRequested.IsCompleted);
        Succeed("{'shutdown': 1}", "admin");
        await Server.ShutdownRequested.WaitAsync(TimeSpan.FromMinutes(1));
        Assert.Null(Client.ReceiveMessage());
    }

    [Fact]
    public void Listener_takes_another_handler_that_may_lie()
    {
        using TcpServer server = TcpServer.Start(new ListenOptions(), new LyingHandler());
        using var client = new TestClient(server.Port);
        Assert.Equal(
            "find/2", client.RunWithSequence("{'find': 'x'}", "docs", [BsonDocument.Empty, BsonDocument.Empty]).FindString("said"));
        client.Send(new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("lie", 1)), 5));
        Assert.Equal([9, 9, 9], client.Receive(3));
        Assert.Null(client.ReceiveMessage());
        Assert.Equal(2, server.Counters.Requests);
    }

    private static byte[] LegacyQuery(BsonDocument command)
    {
        byte[] rest = [0, 0, 0, 0, .. "admin.$cmd\0"u8, 0, 0, 0, 0, 255, 255, 255, 255, .. command.Bytes];
        byte[] message = new byte[16 + rest.Length];
        new MessageHeader(message.Length, 77, 0, OpCode.Query).Write(message);
        rest.CopyTo(message, 16);
        return message;
    }

    private sealed class LyingHandler : ICommandHandler
    {
        public ICommandSession Open(int connectionId) => new Session();

        private sealed class Session : ICommandSession
        {
            public void Handle(in CommandRequest request, ReplyWriter reply)
            {
                if (request.Name.SequenceEqual("lie"u8))
                {
                    reply.SendVerbatim([9, 9, 9]);
                    reply.CloseAfterwards = true;
                    return;
                }

                request.TryGetSequence("docs"u8, out ReadOnlySpan<byte> documents);
                reply.Body.WriteString("said"u8, $"{request.NameText}/{documents.Length / 5}");
                reply.Succeed();
            }

            public void Dispose()
            {
            }
        }
    }
}
