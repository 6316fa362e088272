using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>A bare client: hand-made messages over a real socket.</summary>
internal sealed class TestClient : IDisposable
{
    private readonly Socket _socket = new(
        AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 300_000 };
    private readonly OpMsgWriter _writer = new();
    private int _requestId = 100;

    public TestClient(int port) => _socket.Connect(IPAddress.Loopback, port);

    /// <summary>Runs a command given as (extended) JSON; names may be quoted with ' to save escaping.</summary>
    public BsonDocument Run(string json, string database = "test") => Run(Json(json), database);

    public BsonDocument Run(BsonDocument command, string database = "test")
    {
        Send(_writer.WriteCommand(database, command, ++_requestId));
        return ReceiveReply();
    }

    /// <summary>Sends documents as a section of kind 1.</summary>
    public BsonDocument RunWithSequence(string json, string name, IEnumerable<BsonDocument> documents, string database = "test")
    {
        Send(Message(json, name, documents, database, OpMsgFlags.None));
        return ReceiveReply();
    }

    public void SendWithoutReply(string json, string name, IEnumerable<BsonDocument> documents, string database = "test") =>
        Send(Message(json, name, documents, database, OpMsgFlags.MoreToCome));

    public void Send(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
            bytes = bytes[_socket.Send(bytes)..];
    }

    public BsonDocument ReceiveReply()
    {
        byte[] message = ReceiveMessage() ?? throw new IOException("the server closed the connection");
        MessageHeader header = MessageHeader.Read(message);
        Assert.Equal(_requestId, header.ResponseTo);
        return new BsonDocument(OpMsg.Parse(message).Body.ToArray());
    }

    /// <returns>Null when the server closed the connection.</returns>
    public byte[]? ReceiveMessage()
    {
        byte[]? head = Receive(4);
        if (head == null)
            return null;
        byte[] rest = Receive(BinaryPrimitives.ReadInt32LittleEndian(head) - 4)!;
        return [.. head, .. rest];
    }

    public byte[]? Receive(int count)
    {
        byte[] bytes = new byte[count];
        for (int at = 0; at < count;)
        {
            int received = _socket.Receive(bytes, at, count - at, SocketFlags.None);
            if (received == 0)
                return null;
            at += received;
        }

        return bytes;
    }

    /// <summary>All documents of a find, through getMore.</summary>
    public List<BsonDocument> FindAll(string json)
    {
        BsonDocument reply = Run(json);
        Assert.True(reply.IsTrue("ok"), ExtendedJson.Write(reply.Bytes));
        List<BsonDocument> documents = Batch(reply, "firstBatch");
        while (reply.FindInt64("cursor.id") is var id and not 0)
        {
            string collection = reply.FindString("cursor.ns")!.Split('.', 2)[1];
            reply = Run(BsonDocument.Of(("getMore", id), ("collection", collection)));
            Assert.True(reply.IsTrue("ok"), ExtendedJson.Write(reply.Bytes));
            documents.AddRange(Batch(reply, "nextBatch"));
        }

        return documents;
    }

    public static List<BsonDocument> Batch(BsonDocument reply, string name) =>
        [.. reply.FindDocument($"cursor.{name}")!.Select(pair => pair.Value.ToDocument())];

    public static BsonDocument Json(string json) => ExtendedJson.Parse(json.Replace('\'', '"'));

    public void Dispose() => _socket.Dispose();

    private ReadOnlySpan<byte> Message(string json, string name, IEnumerable<BsonDocument> documents, string database, OpMsgFlags flags)
    {
        _writer.Begin(flags, ++_requestId);
        _writer.Body.WriteRaw(Json(json).Bytes[4..^1]);
        _writer.EndBody(database);
        _writer.BeginSequence(System.Text.Encoding.UTF8.GetBytes(name));
        foreach (BsonDocument document in documents)
            _writer.Body.WriteRaw(document.Bytes);
        _writer.EndSequence();
        return _writer.Finish();
    }
}
