using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Support;

/// <summary>A TCP server on loopback that shakes hands as mongod 6.0 does and then does what the test says.</summary>
internal sealed class LyingServer : IDisposable
{
    private readonly ScriptedListener _listener;

    public LyingServer()
    {
        Answer = exchange => exchange.Reply(BsonDocument.Of(("ok", 1.0)));
        _listener = new ScriptedListener("lying server", Serve);
    }

    public ServerAddress Address => _listener.Address;

    /// <summary>What it does with each request after the handshake.</summary>
    public Action<Exchange> Answer { get; set; }

    public Action<Exchange> Handshake { get; set; } = exchange => exchange.Reply(Hello(17));

    /// <param name="maxWireVersion">17 is 6.0.</param>
    /// <param name="isMember">Of a replica set.</param>
    public static BsonDocument Hello(int maxWireVersion, bool isMember = false) => BsonDocument.Of(
    [
        .. isMember ? [("setName", "rs0")] : ((string, object?)[])[], ("ismaster", true), ("maxBsonObjectSize", 16_777_216),
        ("maxMessageSizeBytes", 48_000_000), ("maxWriteBatchSize", 100_000),
        ("minWireVersion", 0), ("maxWireVersion", maxWireVersion), ("ok", 1.0),
    ]);

    public static byte[] Message(BsonDocument body, int responseTo)
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, requestId: 99, responseTo);
        writer.Body.WriteRaw(body.Bytes[4..^1]);
        writer.EndBody();
        return writer.Finish().ToArray();
    }

    public void Dispose() => _listener.Dispose();

    private void Serve(Socket socket)
    {
        bool shaken = false;
        while (ScriptedListener.ReadMessage(socket) is { } request)
        {
            var exchange = new Exchange(socket, request);
            (shaken ? Answer : Handshake)(exchange);
            shaken = true;
        }
    }
}

/// <summary>One request, and what may be done about it.</summary>
internal sealed class Exchange(Socket socket, byte[] request) : ScriptedExchange(socket, request)
{
    public int RequestId => MessageHeader.Read(Request).RequestId;

    public void Reply(BsonDocument body) => Send(LyingServer.Message(body, RequestId));
}
