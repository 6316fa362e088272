namespace MongoPerf.Traffic.Proxying;

/// <summary>
/// What a client sends, received into blocks that the recorder reads in place: nothing is copied for it. One thread.
/// </summary>
/// <param name="recorder">Takes each piece, and each block once it is full.</param>
/// <param name="connection">Its number.</param>
internal sealed class RecordedRequests(TrafficRecorder recorder, long connection) : IDisposable
{
    /// <summary>Of what is received at once.</summary>
    public const int BlockBytes = 1 << 16;

    /// <summary>Most requests come with a single call into this.</summary>
    private const int LeastRoom = BlockBytes / 2;

    private byte[] _block = recorder.Blocks.Rent(BlockBytes);
    private int _filled;

    /// <summary>Where to receive the next piece.</summary>
    public Span<byte> Room
    {
        get
        {
            if (_block.Length - _filled < LeastRoom)
            {
                // Where there is no memory for it, the block stays this stream's, and is given back once.
                byte[] next = recorder.Blocks.Rent(BlockBytes);
                // Only now: what was added last has been sent on from the block.
                recorder.TakeBack(_block, _filled);
                (_block, _filled) = (next, 0);
            }

            return _block.AsSpan(_filled);
        }
    }

    /// <summary>Hands the first bytes of <see cref="Room"/> to the recorder.</summary>
    /// <param name="count">How many were received, at least one.</param>
    /// <returns>These bytes, which stay as they are until the next use of <see cref="Room"/>.</returns>
    public ReadOnlySpan<byte> Add(int count)
    {
        ReadOnlySpan<byte> bytes = _block.AsSpan(_filled, count);
        // Nobody reads what was not taken; the next piece may be received over it.
        if (recorder.TryAdd(connection, _block, _filled, count))
            _filled += count;
        return bytes;
    }

    /// <summary>Gives the last block back. Once, when nothing reads from it any more but the recorder.</summary>
    public void Dispose() => recorder.TakeBack(_block, _filled);
}
