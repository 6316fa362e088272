using System.Buffers;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Proxying;

/// <summary>Puts the messages together that one side of a connection sends, in any pieces. One thread.</summary>
/// <param name="begun">Counts what it keeps of messages that have not come whole.</param>
internal sealed class MessageAssembler(BegunBytes begun)
{
    private const int FirstBytes = 512;

    private byte[] _bytes = [];
    private int _length;
    private int _filled;
    private long _microseconds;

    /// <summary>What came is not MongoDB's protocol, or is encrypted: nothing more is taken.</summary>
    public bool IsUnreadable { get; private set; }

    private bool IsWhole => _filled >= MessageHeader.Size && _filled == _length;

    /// <summary>Takes the next message. What there is of one that has not come whole is kept.</summary>
    /// <param name="bytes">What has come; what was taken is cut off.</param>
    /// <param name="microseconds">When it came.</param>
    /// <param name="message">When there is one; valid until the next call.</param>
    /// <param name="began">When its first bytes came.</param>
    /// <returns>False when no message is whole; nothing is left of the bytes then.</returns>
    /// <exception cref="InsufficientMemoryException">More messages have begun than there is room for.</exception>
    public bool TryTake(ref ReadOnlySpan<byte> bytes, long microseconds, out ReadOnlySpan<byte> message, out long began)
    {
        if (IsWhole)
            Forget();
        began = microseconds;
        // Mostly a piece is a message.
        if (_filled == 0 && TryTakeWhole(ref bytes, out message))
            return true;
        while (bytes.Length > 0 && !IsWhole && !IsUnreadable)
            Add(ref bytes, microseconds);
        if (IsUnreadable)
            bytes = default;
        message = _bytes.AsSpan(0, _filled);
        began = _microseconds;
        return IsWhole;
    }

    /// <summary>Lets go of what has begun.</summary>
    public void Forget()
    {
        begun.Add(-_filled);
        _filled = _length = 0;
        if (_bytes.Length > FirstBytes)
            Resize(0);
    }

    /// <summary>TLS, too, begins with what may be a length.</summary>
    private static bool IsMessage(in MessageHeader header) =>
        header.Length is > MessageHeader.Size and <= MessageHeader.MaximumMessageLength
        && (Enum.IsDefined(header.OpCode) || LeftOutCommands.IsLegacy(header.OpCode));

    /// <returns>False when the bytes do not begin with a whole message.</returns>
    private static bool TryTakeWhole(ref ReadOnlySpan<byte> bytes, out ReadOnlySpan<byte> message)
    {
        message = default;
        if (bytes.Length < MessageHeader.Size)
            return false;
        MessageHeader header = MessageHeader.Read(bytes);
        if (header.Length > bytes.Length || !IsMessage(header))
            return false;
        message = bytes[..header.Length];
        bytes = bytes[header.Length..];
        return true;
    }

    private void Add(ref ReadOnlySpan<byte> bytes, long microseconds)
    {
        if (_filled == 0)
            _microseconds = microseconds;
        int wanted = _filled < MessageHeader.Size ? MessageHeader.Size - _filled : _length - _filled;
        int taken = Math.Min(wanted, bytes.Length);
        begun.Add(taken);
        // It grows with what comes, not with what a header promises.
        if (_bytes.Length < _filled + taken)
            Resize(Math.Max(Math.Max(_bytes.Length * 2, FirstBytes), _filled + taken));
        bytes[..taken].CopyTo(_bytes.AsSpan(_filled));
        bytes = bytes[taken..];
        _filled += taken;
        if (_filled != MessageHeader.Size || _length != 0)
            return;
        MessageHeader header = MessageHeader.Read(_bytes);
        _length = header.Length;
        if (IsMessage(header))
            return;
        IsUnreadable = true;
        Forget();
    }

    private void Resize(int room)
    {
        byte[] next = room == 0 ? [] : begun.Pool.Rent(room);
        _bytes.AsSpan(0, _filled).CopyTo(next);
        if (_bytes.Length > 0)
            begun.Pool.Return(_bytes);
        _bytes = next;
    }
}

/// <summary>The bytes of all messages of a recording that have begun and are not whole yet. For all threads.</summary>
internal sealed class BegunBytes
{
    private const long Most = 512L << 20;

    private long _count;

    public long Count => Volatile.Read(ref _count);

    /// <summary>
    /// Where there is room for them: an array of its own for each message would be cleared first, and collected. The runtime's shared pool
    /// keeps the last array of every length for each thread, and each connection has a thread; this one keeps 32 MB at most.
    /// </summary>
    public ArrayPool<byte> Pool { get; } = ArrayPool<byte>.Create(maxArrayLength: 1 << 20, maxArraysPerBucket: 16);

    /// <param name="count">Negative for bytes that are kept no longer.</param>
    /// <exception cref="InsufficientMemoryException">They are more than there is room for.</exception>
    public void Add(int count)
    {
        if (Interlocked.Add(ref _count, count) > Most && count > 0)
            throw new InsufficientMemoryException("more has begun to arrive than there is memory for");
    }
}
