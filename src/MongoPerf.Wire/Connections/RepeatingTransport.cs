using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>Leads to no server: every message gets the same reply, from memory.</summary>
internal sealed class RepeatingTransport : Transport
{
    private const int RequestIdOffset = 4;
    private const int ResponseToOffset = 8;

    private readonly byte[] _reply;
    private int _at;

    /// <param name="body">The body of the reply, a document.</param>
    public RepeatingTransport(ReadOnlySpan<byte> body)
    {
        _reply = new byte[MessageHeader.Size + 5 + body.Length];
        new MessageHeader(_reply.Length, 1, 0, OpCode.Msg).Write(_reply);
        body.CopyTo(_reply.AsSpan(MessageHeader.Size + 5));
    }

    public override long BytesSent => 0;

    public override long BytesReceived => 0;

    public override void SetTimeouts(TimeSpan first, TimeSpan rest)
    {
    }

    public override void ExpectMessage() => _at = 0;

    public override void Send(ReadOnlySpan<byte> bytes) =>
        bytes.Slice(RequestIdOffset, sizeof(int)).CopyTo(_reply.AsSpan(ResponseToOffset));

    public override int Receive(Span<byte> buffer)
    {
        int length = Math.Min(buffer.Length, _reply.Length - _at);
        _reply.AsSpan(_at, length).CopyTo(buffer);
        _at += length;
        return length;
    }

    public override void Abort()
    {
    }

    protected override void Dispose(bool disposing)
    {
    }
}
