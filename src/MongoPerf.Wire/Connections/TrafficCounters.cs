namespace MongoPerf.Wire.Connections;

/// <summary>
/// What one connection has carried since it opened, bytes. Messages are counted as they are before compression and TLS, the
/// wire as they are after.
/// </summary>
/// <param name="MessageBytesSent">Whole messages, headers included.</param>
/// <param name="WireBytesSent">What went through the socket, handshakes included.</param>
/// <param name="MessageBytesReceived">Bytes of messages received, as <paramref name="MessageBytesSent"/>.</param>
/// <param name="WireBytesReceived">Bytes received through the socket, as <paramref name="WireBytesSent"/>.</param>
public readonly record struct TrafficCounters(long MessageBytesSent, long WireBytesSent, long MessageBytesReceived, long WireBytesReceived)
{
    public static TrafficCounters operator +(TrafficCounters a, TrafficCounters b) => new(
        a.MessageBytesSent + b.MessageBytesSent,
        a.WireBytesSent + b.WireBytesSent,
        a.MessageBytesReceived + b.MessageBytesReceived,
        a.WireBytesReceived + b.WireBytesReceived);
}
