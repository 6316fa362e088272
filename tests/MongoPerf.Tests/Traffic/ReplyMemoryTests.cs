using MongoPerf.Tests.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;

namespace MongoPerf.Tests.Traffic;

/// <summary>A proxy has many connections, and each may have large replies at some time.</summary>
[Collection(nameof(MeasuredAlone))]
public sealed class ReplyMemoryTests : IDisposable
{
    private const int Connections = 8, Large = 15_000_000;

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void No_connection_keeps_room_for_a_large_reply_that_it_has_had(bool isCompressed)
    {
        byte[] reply = MakeReply(isCompressed);
        using var recorder = new TrafficRecorder(_folder.At("a.rec"));
        using var haveRead = new CountdownEvent(Connections);
        using var mayEnd = new ManualResetEventSlim();
        var turn = new Lock();
        long before = GC.GetTotalMemory(forceFullCollection: true);
        Thread[] threads = [.. Enumerable.Range(1, Connections).Select(connection => new Thread(() =>
        {
            using var replies = new RecordedReplies(recorder, connection);
            lock (turn)
                Pass(replies, reply);
            haveRead.Signal();
            mayEnd.Wait();
        }) { IsBackground = true })];
        Array.ForEach(threads, thread => thread.Start());
        haveRead.Wait();
        long kept = GC.GetTotalMemory(forceFullCollection: true) - before;
        mayEnd.Set();
        Array.ForEach(threads, thread => thread.Join());
        Assert.InRange(kept, long.MinValue, 3 * Large);
    }

    [Fact]
    public void What_has_begun_is_forgotten_once_recording_has_stopped()
    {
        byte[] reply = MakeReply(isCompressed: false);
        using var recorder = new TrafficRecorder(_folder.At("a.rec"));
        using var replies = new RecordedReplies(recorder, 1);
        Pass(replies, reply.AsSpan(0, Large));
        long before = GC.GetTotalMemory(forceFullCollection: true);
        recorder.Stop("test");
        Pass(replies, reply.AsSpan(Large));
        Assert.InRange(before - GC.GetTotalMemory(forceFullCollection: true), Large / 2, long.MaxValue);
    }

    private static byte[] MakeReply(bool isCompressed)
    {
        byte[] message = TrafficFile.MessageOf(9, 1, BsonDocument.Of(("filler", new string('a', Large)), ("ok", 1.0)));
        if (!isCompressed)
            return message;
        using var compression = new MessageCompression(Compressors.Create("zlib", zlibLevel: -1));
        return compression.Pack(message).ToArray();
    }

    private static void Pass(RecordedReplies replies, ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            int count = Math.Min(replies.Room.Length, bytes.Length);
            bytes[..count].CopyTo(replies.Room);
            replies.Add(count);
            replies.Read();
            bytes = bytes[count..];
        }
    }
}
