using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;

namespace MongoPerf.Tests.Traffic;

/// <summary>Replies are read by those who pass them on, whatever the recorder does, and stand where they came.</summary>
public sealed class RecordedRepliesTests : IDisposable
{
    private const int Clients = 4, Small = 1000;

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>As on a machine whose processors others keep busy: 30 MB of replies come before it gets to the first one.</summary>
    [Fact]
    public void A_recorder_that_is_late_has_every_request_and_every_reply()
    {
        const int Exchanges = 100;
        using var pool = new RecorderPool();
        string? why = null;
        byte[][] replies = [.. Enumerable.Range(0, Exchanges).Select(MakeReply)];
        string path = _folder.At("late.rec");
        using (var recorder = new TrafficRecorder(path, mostPending: 1 << 20) { Blocks = pool, OnStopped = on => why = on })
        {
            pool.Hold(recorder);
            Thread[] threads = [.. Enumerable.Range(1, Clients).Select(client => new Thread(() => Exchange(recorder, client, replies)))];
            Array.ForEach(threads, thread => thread.Start());
            Array.ForEach(threads, thread => thread.Join());
            pool.Release();
        }

        Assert.Null(why);
        Assert.Equal((0, 0), (pool.Rented, pool.Wrong));
        using var unpacker = new MessageUnpacker();
        (long Documents, ulong Hash)[] expected = [.. replies.Select(reply => (
            ReplyReader.Read(0, unpacker.Unpack(reply)).Reply.Documents, ReplyHash.Of(unpacker.Unpack(reply))))];
        var next = new int[Clients + 1];
        using Recording recording = Recording.Open(path);
        while (recording.TryRead(out RecordedMessage message))
        {
            // First the request, then its reply.
            int number = next[message.Connection]++;
            Assert.Equal(number % 2 == 1, message.Reply is not null);
            if (message.Reply is { } reply)
                Assert.Equal((number / 2, expected[number / 2]), (reply.Request, (reply.Reply.Documents, reply.Hash)));
        }

        Assert.Equal([0, .. Enumerable.Repeat(2 * Exchanges, Clients)], next);
    }

    /// <summary>Else a request could seem to have been sent before the reply that it follows from.</summary>
    [Fact]
    public void What_comes_later_is_written_later_however_long_replies_take_to_be_read()
    {
        string path = _folder.At("order.rec");
        using var recorder = new TrafficRecorder(path);
        using var replies = new RecordedReplies(recorder, 1);
        recorder.Add(1, true, CaptureTests.Find(1));
        byte[] reply = TrafficFile.MessageOf(9, 1, ServerRecordingTests.Ok());
        reply.CopyTo(replies.Room);
        Assert.Equal(reply, replies.Add(reply.Length).ToArray());
        recorder.Add(2, true, CaptureTests.Find(7));
        // It waits at its end, too.
        var ending = new Thread(recorder.Dispose);
        ending.Start();
        Assert.False(ending.Join(100));
        Assert.Equal(1, recorder.Requests);
        replies.Read();
        ending.Join();
        using Recording recording = Recording.Open(path);
        var connections = new List<(long Connection, bool IsReply)>();
        while (recording.TryRead(out RecordedMessage message))
            connections.Add((message.Connection, message.Reply is not null));
        Assert.Equal([(1, false), (1, true), (2, false)], connections);
    }

    /// <summary>A stream of replies brings many in one piece.</summary>
    [Fact]
    public void A_recorder_falls_behind_by_what_is_kept_of_small_replies_too()
    {
        using var pool = new RecorderPool();
        string? why = null;
        byte[] many = MakeSmallReplies();
        using (var recorder = new TrafficRecorder(_folder.At("a.rec"), mostPending: 1 << 20) { OnStopped = on => why = on })
        {
            for (int i = 1; i <= 30; i++)
            {
                recorder.Add(1, false, many);
                recorder.Add(1, true, CaptureTests.Find(i));
                Eventually.Is(() => recorder.Requests == i);
            }
        }

        Assert.Null(why);
        using (var recorder = new TrafficRecorder(_folder.At("b.rec"), mostPending: 1 << 20) { Blocks = pool, OnStopped = on => why = on })
        {
            pool.Hold(recorder);
            for (int i = 0; i < 20; i++)
                recorder.Add(2, false, many);
            pool.Release();
        }

        Assert.Equal("it falls behind", why);
    }

    /// <summary>It has memory of its own, which the system gives, not the runtime.</summary>
    [Fact]
    public void An_unpacker_is_given_back_where_there_is_no_memory_for_a_reply()
    {
        using var pool = new RecorderPool();
        string? why = null;
        using var recorder = new TrafficRecorder(_folder.At("a.rec")) { Blocks = pool, OnStopped = on => why = on };
        // Until then it lets go of none.
        pool.Hold(recorder);
        MessageUnpacker unpacker = recorder.BorrowUnpacker();
        recorder.GiveBack(unpacker);
        recorder.Begun.Add(512 << 20);
        recorder.Add(1, false, MakeReply(0).AsSpan(0, 40));
        Assert.NotNull(why);
        Assert.Same(unpacker, recorder.BorrowUnpacker());
        unpacker.Dispose();
        pool.Release();
    }

    [Fact]
    public void Reading_small_replies_takes_memory_in_proportion_to_their_number()
    {
        byte[] many = MakeSmallReplies();
        using var recorder = new TrafficRecorder(_folder.At("a.rec"));
        using var unpacker = new MessageUnpacker();
        ReplyAssembler assembler = recorder.AssembleReplies();
        Assert.Equal(Small, assembler.Read(unpacker, many, 1).Length);
        Assert.InRange(Allocation.LeastBytes(() => assembler.Read(unpacker, many, 1)), 1, Small * 500);
    }

    /// <summary>Of up to 150 kB, so that many are larger than a block; each third one is compressed.</summary>
    private static byte[] MakeReply(int number)
    {
        object[] documents = [.. Enumerable.Range(0, 1 + (number % 50)).Select(i => (object)BsonDocument.Of(
            ("_id", (number * 100) + i), ("filler", new string((char)('a' + (i % 26)), 3000))))];
        byte[] message = TrafficFile.MessageOf(1000 + number, number, BsonDocument.Of(
            ("cursor", BsonDocument.Of(("firstBatch", documents), ("id", 0L), ("ns", "shop.orders"))), ("ok", 1.0)));
        if (number % 3 > 0)
            return message;
        using var compression = new MessageCompression(Compressors.Create("zlib", zlibLevel: -1));
        return compression.Pack(message).ToArray();
    }

    /// <summary>One piece.</summary>
    private static byte[] MakeSmallReplies() =>
        [.. Enumerable.Range(0, Small).SelectMany(i => TrafficFile.MessageOf(9, i, ServerRecordingTests.Ok()))];

    private static void Exchange(TrafficRecorder recorder, int client, byte[][] answers)
    {
        var random = new Random(client);
        using var requests = new RecordedRequests(recorder, client);
        using var replies = new RecordedReplies(recorder, client);
        for (int i = 0; i < answers.Length; i++)
        {
            byte[] request = CaptureTests.Find(i);
            request.CopyTo(requests.Room);
            requests.Add(request.Length);
            for (int at = 0; at < answers[i].Length;)
            {
                int count = Math.Min(random.Next(1, replies.Room.Length + 1), answers[i].Length - at);
                answers[i].AsSpan(at, count).CopyTo(replies.Room);
                replies.Add(count);
                replies.Read();
                at += count;
            }
        }
    }
}
