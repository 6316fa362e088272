using MongoPerf.Traffic.Proxying;

namespace MongoPerf.Tests.Support;

/// <summary>Gives a recorder bytes as a proxy does.</summary>
internal static class RecorderBytes
{
    public static void Add(this TrafficRecorder recorder, long connection, bool isRequest, ReadOnlySpan<byte> bytes)
    {
        using var stream = new RecordedStream(recorder, connection, isRequest);
        while (bytes.Length > 0)
        {
            Span<byte> room = stream.Room;
            int count = Math.Min(room.Length, bytes.Length);
            bytes[..count].CopyTo(room);
            stream.Add(count);
            bytes = bytes[count..];
        }
    }
}
