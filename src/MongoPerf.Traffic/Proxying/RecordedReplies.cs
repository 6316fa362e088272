using MongoPerf.Wire.Compression;

namespace MongoPerf.Traffic.Proxying;

/// <summary>
/// What a server sends, read where it was received by the thread that passes it on: on machines that are busy the recorder's thread gets
/// a small share of the processors, and would fall behind with replies, which are most of what is sent. One thread.
/// </summary>
/// <remarks>A piece gets its place in the recording before it is passed on, and is read afterwards, while the client is at work.</remarks>
/// <param name="recorder">Gets what is kept of each reply.</param>
/// <param name="connection">Its number.</param>
internal sealed class RecordedReplies(TrafficRecorder recorder, long connection) : IDisposable
{
    private readonly byte[] _block = recorder.Blocks.Rent(RecordedRequests.BlockBytes);
    private readonly ReplyAssembler _assembler = recorder.AssembleReplies();
    private ExpectedReplies? _expected;
    private int _count;

    /// <summary>Where to receive the next piece, once the last one was read.</summary>
    public Span<byte> Room => _block;

    /// <summary>Keeps a place for the replies that end in the first bytes of <see cref="Room"/>.</summary>
    /// <param name="count">How many were received, at least one.</param>
    /// <returns>These bytes, which stay as they are until the next use of <see cref="Room"/>.</returns>
    public ReadOnlySpan<byte> Add(int count)
    {
        _count = count;
        _expected = _assembler.IsUnreadable ? null : recorder.Expect(connection);
        // It records no longer: what has begun would stay for as long as the connection.
        if (_expected is null)
            _assembler.Forget();
        return _block.AsSpan(0, count);
    }

    /// <summary>
    /// Reads what was added last. Before anything that may take long: until then nothing is recorded that came later, on any connection.
    /// </summary>
    public void Read()
    {
        if (_expected is not { } expected)
            return;
        _expected = null;
        RecordedReply[] replies = [];
        try
        {
            replies = Read(expected);
        }
        catch (OutOfMemoryException e)
        {
            // Only the recording ends, not the connection.
            recorder.Stop(e.Message);
        }
        finally
        {
            recorder.Fill(expected, replies, _assembler.IsUnreadable);
        }
    }

    /// <summary>Once.</summary>
    public void Dispose()
    {
        Read();
        _assembler.Forget();
        recorder.Blocks.Return(_block);
    }

    private RecordedReply[] Read(ExpectedReplies expected)
    {
        MessageUnpacker unpacker = recorder.BorrowUnpacker();
        try
        {
            return _assembler.Read(unpacker, _block.AsSpan(0, _count), expected.Microseconds);
        }
        finally
        {
            recorder.GiveBack(unpacker);
        }
    }
}

/// <summary>The place of replies in a recording, before they have been read. One thread sets it, another one waits for it.</summary>
/// <param name="microseconds">When they came.</param>
internal sealed class ExpectedReplies(long microseconds)
{
    private volatile RecordedReply[]? _replies;

    public long Microseconds { get; } = microseconds;

    /// <summary>Null: they have not been read yet.</summary>
    public RecordedReply[]? Replies => _replies;

    /// <summary>Nothing more can be read of the connection; once they have been read.</summary>
    public bool IsUnreadable { get; private set; }

    public void Set(RecordedReply[] replies, bool isUnreadable)
    {
        IsUnreadable = isUnreadable;
        _replies = replies;
    }
}
