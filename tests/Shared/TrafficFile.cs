using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Testing;

/// <summary>Makes recordings as servers write them: records one after the other, in one of their three layouts.</summary>
/// <param name="layout">A (4.2 to 7.1), B (7.2 to 8.1) or C (later).</param>
internal sealed class TrafficFile(char layout = 'A')
{
    private readonly BsonWriter _bytes = new();
    private long _order;

    /// <summary>Milliseconds since the recording began; what is added comes then.</summary>
    public long At { get; set; }

    /// <summary>The bytes written so far.</summary>
    public byte[] Bytes => _bytes.ToArray();

    /// <summary>Adds a request; its number is needed for the reply.</summary>
    public TrafficFile Request(long connection, int request, BsonDocument command, OpMsgFlags flags = OpMsgFlags.None) =>
        Message(connection, 0, MessageOf(request, 0, command, flags));

    public TrafficFile Reply(long connection, int request, BsonDocument reply) =>
        Message(connection, 1, MessageOf(request + 1_000_000, request, reply));

    /// <summary>A request and its reply, so many milliseconds later.</summary>
    public TrafficFile Exchange(long connection, int request, BsonDocument command, BsonDocument reply, long milliseconds = 1)
    {
        Request(connection, request, command);
        At += milliseconds;
        return Reply(connection, request, reply);
    }

    public TrafficFile Message(long connection, byte kind, ReadOnlySpan<byte> message)
    {
        int start = _bytes.Length;
        _bytes.WriteRawInt32(0);
        if (layout == 'C')
            _bytes.WriteRawByte(kind);
        _bytes.WriteRawInt64(connection);
        _bytes.WriteRaw(Encoding.ASCII.GetBytes(layout == 'A' ? "127.0.0.1:27017\0127.0.0.1:5000\0"
            : "{ remote: \"127.0.0.1:5000\", local: \"127.0.0.1:27017\" }\0"));
        _bytes.WriteRawInt64(layout == 'C' ? At * 1000 : 1_795_000_000_000 + At);
        _bytes.WriteRawInt64(++_order);
        _bytes.WriteRaw(message);
        _bytes.PatchInt32(start, _bytes.Length - start);
        return this;
    }

    public string Write(string path)
    {
        File.WriteAllBytes(path, Bytes);
        return path;
    }

    /// <summary>A message of one section, and those of kind 1 that are named.</summary>
    public static byte[] MessageOf(
        int request, int responseTo, BsonDocument body, OpMsgFlags flags = OpMsgFlags.None,
        params (string Name, byte[] Documents)[] sequences)
    {
        var writer = new BsonWriter();
        for (int i = 0; i < MessageHeader.Size; i++)
            writer.WriteRawByte(0);
        writer.WriteRawInt32((int)flags);
        writer.WriteRawByte(0);
        writer.WriteRaw(body.Bytes);
        foreach ((string name, byte[] documents) in sequences)
        {
            writer.WriteRawByte(1);
            writer.WriteRawInt32(4 + name.Length + 1 + documents.Length);
            writer.WriteRaw(Encoding.ASCII.GetBytes(name + "\0"));
            writer.WriteRaw(documents);
        }

        byte[] message = writer.ToArray();
        new MessageHeader(message.Length, request, responseTo, OpCode.Msg).Write(message);
        return message;
    }
}
