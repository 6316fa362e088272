using System.Buffers;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Traffic;

/// <summary>Blocks are used again by any connection, but none before the recorder has read it, and none by two.</summary>
public sealed class RecordedStreamTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_block_goes_back_to_the_pool_once_it_is_written_and_no_sooner()
    {
        using var pool = new Pool();
        var sent = new Dictionary<long, List<byte[]>>();
        string path = _folder.At("a.rec");
        using (var recorder = new TrafficRecorder(path) { Blocks = pool })
        {
            HoldRecorder(recorder, pool);
            using (RecordedStream first = new(recorder, 1, true), second = new(recorder, 2, true))
            {
                for (int i = 1; i <= 8; i++)
                {
                    Send(first, 1, i, sent);
                    Send(second, 2, i, sent);
                }
            }

            // Both have given their last blocks back, and this one takes what is free.
            using (var third = new RecordedStream(recorder, 3, true))
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
        using var pool = new Pool();
        using (var recorder = new TrafficRecorder(_folder.At("a.rec")) { Blocks = pool })
        {
            using var stream = new RecordedStream(recorder, 1, true);
            Send(stream, 1, 1, []);
            Send(stream, 1, 2, []);
            pool.IsEmpty = true;
            Assert.Throws<OutOfMemoryException>(() => stream.Room.Length);
        }

        Assert.Equal((0, 0), (pool.Rented, pool.Wrong));
    }

    /// <summary>A connection of a few bytes holds whole blocks until they are written.</summary>
    [Fact]
    public void A_recorder_falls_behind_by_the_blocks_of_short_connections_too()
    {
        using var pool = new Pool();
        string? why = null;
        using (var recorder = new TrafficRecorder(_folder.At("a.rec"), mostPending: 1 << 20) { Blocks = pool, OnStopped = on => why = on })
        {
            HoldRecorder(recorder, pool);
            for (int i = 0; i < 10; i++)
                recorder.Add(i, true, [1, 2, 3]);
            Assert.Null(why);
            for (int i = 0; i < 10; i++)
                recorder.Add(i, true, [1, 2, 3]);
            pool.Release();
        }

        Assert.Equal("it falls behind", why);
    }

    /// <summary>From here on it reads nothing until the pool is released.</summary>
    private static void HoldRecorder(TrafficRecorder recorder, Pool pool)
    {
        pool.Hold();
        new RecordedStream(recorder, 99, true).Dispose();
        pool.AwaitHeld();
    }

    /// <summary>Two messages fill a block so far that the next one begins another.</summary>
    private static void Send(RecordedStream stream, long connection, int number, Dictionary<long, List<byte[]>> sent)
    {
        byte[] message = TrafficFile.MessageOf(number, 0, BsonDocument.Of(
            ("find", "orders"), ("connection", connection), ("filler", new string((char)('a' + number), 20_000)), ("$db", "shop")));
        message.CopyTo(stream.Room);
        stream.Add(message.Length);
        if (!sent.TryGetValue(connection, out List<byte[]>? all))
            sent[connection] = all = [];
        all.Add(message);
    }

    /// <summary>
    /// Wipes what comes back, and gives it out again at once. Once held, it keeps whoever brings the first block until it is released.
    /// </summary>
    private sealed class Pool : ArrayPool<byte>, IDisposable
    {
        private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

        private readonly Stack<byte[]> _free = [];
        private readonly HashSet<byte[]> _rented = [];
        private readonly ManualResetEventSlim _isHeld = new();
        private readonly ManualResetEventSlim _isReleased = new(true);

        public bool IsEmpty { get; set; }

        public int Rented => _rented.Count;

        /// <summary>Blocks that came back although nobody had them.</summary>
        public int Wrong { get; private set; }

        public void Hold() => _isReleased.Reset();

        public void AwaitHeld() => Assert.True(_isHeld.Wait(Patience));

        public void Release() => _isReleased.Set();

        public override byte[] Rent(int minimumLength)
        {
            lock (_free)
            {
                if (IsEmpty)
                    throw new OutOfMemoryException();
                byte[] block = _free.TryPop(out byte[]? free) ? free : new byte[minimumLength];
                _rented.Add(block);
                return block;
            }
        }

        public override void Return(byte[] array, bool clearArray = false)
        {
            bool isFirst;
            lock (_free)
            {
                Array.Fill(array, byte.MaxValue);
                Wrong += _rented.Remove(array) ? 0 : 1;
                _free.Push(array);
                isFirst = !_isHeld.IsSet;
                _isHeld.Set();
            }

            if (isFirst)
                _isReleased.Wait(Patience);
        }

        public void Dispose()
        {
            _isHeld.Dispose();
            _isReleased.Dispose();
        }
    }
}
