using System.Runtime.CompilerServices;
using MongoPerf.Traffic.Proxying;

namespace MongoPerf.Tests.Support;

/// <summary>Gives a recorder bytes as a proxy does. Replies of one connection by one thread.</summary>
internal static class RecorderBytes
{
    private static readonly ConditionalWeakTable<TrafficRecorder, Dictionary<long, RecordedReplies>> Replies = [];

    public static void Add(this TrafficRecorder recorder, long connection, bool isRequest, ReadOnlySpan<byte> bytes)
    {
        if (isRequest)
            AddRequests(recorder, connection, bytes);
        else
            AddReplies(Of(recorder, connection), bytes);
    }

    private static void AddRequests(TrafficRecorder recorder, long connection, ReadOnlySpan<byte> bytes)
    {
        using var stream = new RecordedRequests(recorder, connection);
        while (bytes.Length > 0)
        {
            int count = Fill(stream.Room, ref bytes);
            stream.Add(count);
        }
    }

    private static void AddReplies(RecordedReplies stream, ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            int count = Fill(stream.Room, ref bytes);
            stream.Add(count);
            stream.Read();
        }
    }

    private static int Fill(Span<byte> room, ref ReadOnlySpan<byte> bytes)
    {
        int count = Math.Min(room.Length, bytes.Length);
        bytes[..count].CopyTo(room);
        bytes = bytes[count..];
        return count;
    }

    /// <summary>What has begun of a reply is kept until the next bytes.</summary>
    private static RecordedReplies Of(TrafficRecorder recorder, long connection)
    {
        Dictionary<long, RecordedReplies> all = Replies.GetOrCreateValue(recorder);
        if (!all.TryGetValue(connection, out RecordedReplies? stream))
            all[connection] = stream = new RecordedReplies(recorder, connection);
        return stream;
    }
}
