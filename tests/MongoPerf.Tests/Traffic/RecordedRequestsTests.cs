using System.Buffers;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Traffic;

/// <summary>Blocks are used again by any connection, but none before the recorder has read it, and none by two.</summary>
public sealed class RecordedRequestsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_block_goes_back_to_the_pool_once_it_is_written_and_no_sooner()
    {
        using var pool = new RecorderPool();
        var sent = new Dictionary<long, List<byte[]>>();
        string path = _folder.At("a.rec");
        using (var recorder = new TrafficRecorder(path) { Blocks = pool })
        {
            pool.Hold(recorder);
            using (RecordedRequests first = new(recorder, 1), second = new(recorder, 2))
            {
                for (int i = 1; i <= 8; i++)
                {
                    Send(first, 1, i, sent);
                    Send(second, 2, i, sent);
                }
            }

            // Both have given their last blocks back, and this one takes what is free.
            using (var third = new RecordedRequests(recorder, 3))
                Send(third, 3, 1, sent);
            pool.Release();
        }

        Assert.Equal((0, 0), (pool.Rented, pool.Wrong));
        using Recording recording = Recording.Open(path);
        var recorded = new Dictionary<long, List<byte[]>>();
        while (recording.TryRead(out RecordedMessage message))
        {
            if (!recorded.TryGetValue(message.Connection, out List<byte[]>? all))
                recorded[message.Connection] = all = [];
            all.Add(message.Message.ToArray());
        }

        Assert.Equal(sent.Keys, recorded.Keys.Order());
        Assert.All(sent, one => Assert.Equal(one.Value, recorded[one.Key]));
    }

    /// <summary>Two connections would receive into one block, and pass on what belongs to the other.</summary>
    [Fact]
    public void A_block_is_given_back_once_where_there_is_no_memory_for_the_next()
    {
        using var pool = new RecorderPool();
        using (var recorder = new TrafficRecorder(_folder.At("a.rec")) { Blocks = pool })
        {
            using var stream = new RecordedRequests(recorder, 1);
            Send(stream, 1, 1, []);
            Send(stream, 1, 2, []);
            pool.IsEmpty = true;
            Assert.Throws<OutOfMemoryException>(() => stream.Room.Length);
        }

        Assert.Equal((0, 0), (pool.Rented, pool.Wrong));
    }

    /// <summary>Its thread would end the process, and with it the connections of all clients.</summary>
    [Fact]
    public void A_recorder_that_gets_no_memory_stops()
    {
        string? why = null;
        using var recorder = new TrafficRecorder(_folder.At("a.rec")) { Blocks = new ExhaustedPool(), OnStopped = on => why = on };
        new RecordedRequests(recorder, 1).Dispose();
        Eventually.Is(() => Volatile.Read(ref why) is not null);
        Assert.Equal("none is left", why);
    }

    /// <summary>A connection of a few bytes holds whole blocks until they are written.</summary>
    [Fact]
    public void A_recorder_falls_behind_by_the_blocks_of_short_connections_too()
    {
        using var pool = new RecorderPool();
        string? why = null;
        using (var recorder = new TrafficRecorder(_folder.At("a.rec"), mostPending: 1 << 20) { Blocks = pool, OnStopped = on => why = on })
        {
            pool.Hold(recorder);
            for (int i = 0; i < 10; i++)
                recorder.Add(i, true, [1, 2, 3]);
            Assert.Null(why);
            for (int i = 0; i < 10; i++)
                recorder.Add(i, true, [1, 2, 3]);
            pool.Release();
        }

        Assert.Equal("it falls behind", why);
    }

    /// <summary>Two messages fill a block so far that the next one begins another.</summary>
    private static void Send(RecordedRequests stream, long connection, int number, Dictionary<long, List<byte[]>> sent)
    {
        byte[] message = TrafficFile.MessageOf(number, 0, BsonDocument.Of(
            ("find", "orders"), ("connection", connection), ("filler", new string((char)('a' + number), 20_000)), ("$db", "shop")));
        message.CopyTo(stream.Room);
        stream.Add(message.Length);
        if (!sent.TryGetValue(connection, out List<byte[]>? all))
            sent[connection] = all = [];
        all.Add(message);
    }

    /// <summary>Has none left when something comes back: on the recorder's thread.</summary>
    private sealed class ExhaustedPool : ArrayPool<byte>
    {
        public override byte[] Rent(int minimumLength) => new byte[minimumLength];

        public override void Return(byte[] array, bool clearArray = false) => throw new OutOfMemoryException("none is left");
    }
}
