using System.Buffers.Binary;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>OP_COMPRESSED: what goes out comes back, what is damaged is refused, what is secret is never compressed.</summary>
public sealed class CompressionTests
{
    private const string InCSharp = " in C#";

    /// <summary>As the machine has them, and those that take a missing library's place.</summary>
    public static TheoryData<string> Names => [.. Compressors.Known, "snappy" + InCSharp, "zstd" + InCSharp];

    /// <summary>Found by a fuzz of recordings: zlib says of it neither that it is damaged nor that it ends early.</summary>
    [Fact]
    public void Zlib_data_that_need_a_dictionary_are_refused()
    {
        using var compressor = new ZlibCompressor(-1);
        Assert.False(compressor.TryDecompress([0x78, 0x20, 1, 2, 3, 4, 5, 6, 7, 8], new byte[100]));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_message_comes_back_as_it_was(string name)
    {
        using MessageCompression compression = Create(name);
        foreach (int length in (int[])[0, 1, 1000, 1_000_000])
        {
            byte[] message = Insert(new string('x', length) + Guid.NewGuid());
            byte[] packed = compression.Pack(message).ToArray();
            MessageHeader header = MessageHeader.Read(packed);
            Assert.Equal((packed.Length, 7, OpCode.Compressed), (header.Length, header.RequestId, header.OpCode));
            Assert.Equal((2013, message.Length - 16),
                (BinaryPrimitives.ReadInt32LittleEndian(packed.AsSpan(16)), BinaryPrimitives.ReadInt32LittleEndian(packed.AsSpan(20))));
            Assert.True(MessageCompression.IsCompressed(packed));
            Assert.Equal(message, compression.Unpack(packed).ToArray());
            Assert.True(length < 1000 || packed.Length < message.Length / 5, $"{packed.Length} bytes of {message.Length}");
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Damaged_messages_are_refused(string name)
    {
        using MessageCompression compression = Create(name);
        byte[] packed = compression.Pack(Insert(new string('x', 5000))).ToArray();
        foreach (int declared in (int[])[-1, 0, 100, int.MaxValue, 47_999_984])
        {
            byte[] damaged = [.. packed];
            BinaryPrimitives.WriteInt32LittleEndian(damaged.AsSpan(20), declared);
            Assert.Throws<WireProtocolException>(() => compression.Unpack(damaged));
        }

        byte[] foreign = [.. packed];
        foreign[24] = 99;
        Assert.Contains(
            "compressor 99", Assert.Throws<WireProtocolException>(() => compression.Unpack(foreign)).Message, StringComparison.Ordinal);
        for (int length = 16; length < packed.Length - 4; length++)
            Assert.Throws<WireProtocolException>(() => compression.Unpack(packed.AsSpan(0, length)));
        var random = new Random(11);
        for (int i = 0; i < 2_000; i++)
        {
            byte[] damaged = [.. packed];
            damaged[random.Next(25, damaged.Length)] ^= (byte)random.Next(1, 256);
            try
            {
                Assert.Equal(BinaryPrimitives.ReadInt32LittleEndian(packed.AsSpan(20)) + 16, compression.Unpack(damaged).Length);
            }
            catch (WireProtocolException)
            {
                // A flipped bit may give other bytes of the same length; anything else is refused.
            }
        }
    }

    [Theory]
    [InlineData("hello", false)]
    [InlineData("isMaster", false)]
    [InlineData("ismaster", false)]
    [InlineData("saslStart", false)]
    [InlineData("saslContinue", false)]
    [InlineData("getnonce", false)]
    [InlineData("authenticate", false)]
    [InlineData("createUser", false)]
    [InlineData("updateUser", false)]
    [InlineData("copydbSaslStart", false)]
    [InlineData("copydbgetnonce", false)]
    [InlineData("copydb", false)]
    [InlineData("insert", true)]
    [InlineData("createIndexes", true)]
    [InlineData("helloWorld", true)]
    [InlineData("update", true)]
    public void Commands_with_secrets_are_never_compressed(string command, bool mayCompress) =>
        Assert.Equal(
            mayCompress, MessageCompression.MayCompress(new OpMsgWriter().WriteCommand("admin", BsonDocument.Of((command, 1)), 1)));

    [Theory]
    [InlineData("zstd,zlib", "zlib,zstd", "zstd")]
    [InlineData("zlib,zstd", "zstd,zlib", "zlib")]
    [InlineData("zstd,zlib", "zlib", "zlib")]
    [InlineData("zstd", "snappy", null)]
    [InlineData("zstd", "", null)]
    [InlineData("", "zstd", null)]
    public void The_clients_first_that_the_server_has_is_agreed_on(string ours, string theirs, string? agreed)
    {
        BsonDocument? offered = null;
        using var server = new LyingServer
        {
            Handshake = exchange =>
            {
                offered = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
                exchange.Reply(BsonDocument.Of([.. LyingServer.Hello(17).Select(e => (e.Key, (object?)e.Value)),
                    ("compression", theirs.Split(',', StringSplitOptions.RemoveEmptyEntries))]));
            },
        };
        ConnectionSettings settings =
            ConnectionSettings.From(ConnectionString.Parse($"mongodb://h/{(ours.Length > 0 ? "?compressors=" + ours : "")}"));
        using MongoConnection connection = MongoConnection.Open(server.Address, settings);
        Assert.Equal(agreed, connection.CompressorName);
        string[] names = [.. offered!.Find("compression")?.ToDocument().Select(one => one.Value.ToString()!) ?? []];
        Assert.Equal(ours, string.Join(',', names));
    }

    [Fact]
    public void Requests_are_compressed_and_counted_on_both_sides_and_replies_may_come_either_way()
    {
        var compression = new MessageCompression(new ZlibCompressor(-1));
        OpCode seen = 0;
        int wire = 0;
        bool packs = true;
        using var server = new LyingServer
        {
            Handshake = exchange => exchange.Reply(
                BsonDocument.Of([.. LyingServer.Hello(17).Select(e => (e.Key, (object?)e.Value)), ("compression", new[] { "zlib" })])),
            Answer = exchange =>
            {
                (seen, wire) = (MessageHeader.Read(exchange.Request).OpCode, exchange.Request.Length);
                byte[] reply = LyingServer.Message(BsonDocument.Of(("ok", 1.0), ("text", new string('y', 5000))), exchange.RequestId);
                exchange.Send(packs ? compression.Pack(reply) : reply);
            },
        };
        using MongoConnection connection = MongoConnection.Open(
            server.Address, ConnectionSettings.Default with { CompressorNames = ["zlib"] });
        TrafficCounters before = connection.Traffic;
        byte[] message = Insert(new string('x', 5000));
        Assert.Equal(new string('y', 5000), new BsonDocument(OpMsg.Parse(connection.RoundTrip(message)).Body.ToArray()).FindString("text"));
        Assert.Equal(OpCode.Msg, MessageHeader.Read(connection.LastReceived).OpCode);
        Assert.Equal(OpCode.Compressed, seen);
        TrafficCounters after = connection.Traffic;
        Assert.Equal(
            (message.Length, wire), (after.MessageBytesSent - before.MessageBytesSent, after.WireBytesSent - before.WireBytesSent));
        Assert.True(
            after.MessageBytesReceived - before.MessageBytesReceived > 5000 && after.WireBytesReceived - before.WireBytesReceived < 200,
            $"{before} {after}");
        packs = false;
        Assert.Equal(OpCode.Msg, MessageHeader.Read(connection.RoundTrip(message)).OpCode);
        Assert.Equal(OpCode.Msg, MessageHeader.Read(connection.LastReceived).OpCode);
    }

    [Fact]
    public void A_compressed_reply_that_nobody_agreed_on_is_refused()
    {
        using var compression = new MessageCompression(new ZlibCompressor(-1));
        using var server = new LyingServer
        {
            Answer = exchange => exchange.Send(compression.Pack(LyingServer.Message(BsonDocument.Of(("ok", 1.0)), exchange.RequestId))),
        };
        using MongoConnection connection = MongoConnection.Open(server.Address, ConnectionSettings.Default);
        Assert.Contains(
            "no compression was agreed on",
            Assert.Throws<WireProtocolException>(() => connection.RunCommand("d", BsonDocument.Of(("ping", 1)))).Message,
            StringComparison.Ordinal);
    }

    /// <summary>
    /// zlib is the runtime's and makes a stream each time; the others work on buffers of ours, snappy in C# with two small objects.
    /// </summary>
    [Theory]
    [InlineData("snappy", 0)]
    [InlineData("snappy" + InCSharp, 256)]
    [InlineData("zstd" + InCSharp, 0)]
    [InlineData("zstd", 0)]
    [InlineData("zlib", 2048)]
    public void A_message_is_compressed_and_unpacked_without_allocating(string name, long bytesAllowed)
    {
        const int Messages = 1_000;
        using MessageCompression compression = Create(name);
        byte[] message = Insert(new string('x', 1000));
        byte[] packed = compression.Pack(message).ToArray();
        long least = -1;
        var worker = new Thread(() => least = Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                _ = MessageCompression.MayCompress(message);
                _ = compression.Pack(message);
                _ = compression.Unpack(packed);
            }
        }));
        worker.Start();
        worker.Join();
        // Without the system's library, snappy is the one in C#.
        long allowed = name == "snappy" && !NativeSnappyCompressor.IsInstalled ? 256 : bytesAllowed;
        Assert.InRange(least, 0, allowed * Messages);
    }

    [Theory]
    [InlineData("snappy")]
    [InlineData("zstd")]
    public void What_one_compresses_the_other_unpacks(string name)
    {
        using MessageCompression native = Create(name);
        using MessageCompression managed = Create(name + InCSharp);
        byte[] message = Insert(string.Concat(Enumerable.Range(0, 20_000)));
        Assert.Equal(message, managed.Unpack(native.Pack(message)).ToArray());
        Assert.Equal(message, native.Unpack(managed.Pack(message)).ToArray());
    }

    private static MessageCompression Create(string name) =>
        new(name.EndsWith(InCSharp, StringComparison.Ordinal)
            ? Compressors.CreateManaged(name[..^InCSharp.Length])
            : Compressors.Create(name, -1));

    private static byte[] Insert(string text) =>
        new OpMsgWriter().WriteCommand(
            "d", BsonDocument.Of(("insert", "c"), ("documents", new[] { BsonDocument.Of(("text", text)) })), requestId: 7).ToArray();
}
