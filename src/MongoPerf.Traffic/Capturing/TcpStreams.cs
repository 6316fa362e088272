using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Capturing;

/// <summary>Takes what a connection's side has sent, in its order.</summary>
/// <param name="connection">The connection's number.</param>
/// <param name="isRequest">The client has sent it.</param>
/// <param name="microseconds">When.</param>
/// <param name="bytes">Valid during the call.</param>
internal delegate void StreamSink(long connection, bool isRequest, long microseconds, ReadOnlySpan<byte> bytes);

/// <summary>Puts the streams of TCP connections together again: what was sent twice once, what was overtaken in its place.</summary>
/// <remarks>
/// Where bytes are missing, what was recorded of a connection ends; what follows, from the next message on, is another connection. One
/// thread.
/// </remarks>
/// <param name="sink">Gets the streams.</param>
/// <param name="ended">Called when nothing more comes of a connection's number.</param>
internal sealed class TcpStreams(StreamSink sink, Action<long> ended)
{
    public const int MostConnections = 200_000;

    /// <summary>Bytes and time that a segment which others have overtaken may be late by.</summary>
    private const int MostHeld = 4 << 20;
    private const long LongestHeldMicroseconds = 2_000_000;

    /// <summary>What a segment takes beside its bytes, about.</summary>
    private const int PieceBytes = 128;

    /// <summary>Of all connections together.</summary>
    private const long MostHeldInAll = 256L << 20;

    private readonly Dictionary<(TcpEndpoint Low, TcpEndpoint High), Connection> _open = [];
    private long _held;
    private long _now;

    /// <summary>Connections that something came of.</summary>
    public long Connections { get; private set; }

    /// <summary>Places where bytes are missing.</summary>
    public long Gaps { get; private set; }

    /// <summary>The first of them, for people; null for none.</summary>
    public string? FirstGap { get; private set; }

    /// <returns>False when there are too many connections.</returns>
    public bool TryAdd(in TcpSegment segment, long microseconds)
    {
        _now = microseconds;
        bool isLow = segment.Source.CompareTo(segment.Destination) < 0;
        (TcpEndpoint, TcpEndpoint) key = isLow ? (segment.Source, segment.Destination) : (segment.Destination, segment.Source);
        _open.TryGetValue(key, out Connection? connection);
        if (segment.IsSyn && connection?.IsAnother(segment, isLow) is true)
        {
            Close(connection);
            connection = null;
        }

        if (connection is null)
        {
            if (!segment.IsSyn && segment.Payload.Length == 0)
                return true;
            if (_open.Count == MostConnections)
                return false;
            _open[key] = connection = new Connection(key.Item1, key.Item2);
        }

        Add(connection, segment, isLow, microseconds);
        if (segment.IsReset || connection.IsFinished)
        {
            Close(connection);
            _open.Remove(key);
        }

        return true;
    }

    /// <summary>Nothing more comes.</summary>
    public void End()
    {
        foreach (Connection connection in _open.Values)
            Close(connection);
        _open.Clear();
    }

    private void Add(Connection connection, in TcpSegment segment, bool isLow, long microseconds)
    {
        Side side = connection.Of(isLow);
        uint sequence = segment.Sequence;
        if (segment.IsSyn)
        {
            connection.IsLowClient ??= isLow == segment.Opens;
            if (side.First is null)
                (side.First, side.Next) = (sequence, unchecked(sequence + 1));
            sequence = unchecked(sequence + 1);
        }

        if (segment.Payload.Length > 0)
            Add(connection, isLow, sequence, microseconds, segment.Payload);
        if (segment.IsCut)
            Skip(connection, isLow, "were not kept (capture whole packets: tcpdump -s 0)");
        if (segment.IsFin)
            side.IsFinished = true;
    }

    private void Add(Connection connection, bool isLow, uint sequence, long microseconds, ReadOnlySpan<byte> bytes)
    {
        Side side = connection.Of(isLow);
        if (side.Next is null && !TryBegin(connection, side, isLow, sequence, bytes))
            return;
        long at = side.Taken + unchecked((int)(sequence - side.Next!.Value));
        if (at > side.Taken)
        {
            Hold(side, new Piece(at, sequence, microseconds, bytes.ToArray()));
        }
        else
        {
            Take(connection, side, isLow, at, microseconds, bytes);
            while (side.Held.Min is { Bytes: not null } first && first.At <= side.Taken)
            {
                Forget(side, first);
                Take(connection, side, isLow, first.At, first.Microseconds, first.Bytes);
            }
        }

        if (side.Held.Count > 0 && (side.HeldBytes > MostHeld || _held > MostHeldInAll
            || _now - side.Held.Min.Microseconds > LongestHeldMicroseconds))
            Skip(connection, isLow, "are missing");
    }

    /// <summary>Without the connection's beginning, a stream can be read from a segment on that begins with a message.</summary>
    private static bool TryBegin(Connection connection, Side side, bool isLow, uint sequence, ReadOnlySpan<byte> bytes)
    {
        if (!LooksLikeMessage(bytes, out bool isReply))
            return false;
        connection.IsLowClient ??= isLow != isReply;
        side.Next = sequence;
        return true;
    }

    private static bool LooksLikeMessage(ReadOnlySpan<byte> bytes, out bool isReply)
    {
        isReply = false;
        if (bytes.Length < MessageHeader.Size)
            return false;
        MessageHeader header = MessageHeader.Read(bytes);
        isReply = header.ResponseTo != 0 || header.OpCode == OpCode.Reply;
        return header.Length is > MessageHeader.Size and <= MessageHeader.MaximumMessageLength && Enum.IsDefined(header.OpCode);
    }

    private void Take(Connection connection, Side side, bool isLow, long at, long microseconds, ReadOnlySpan<byte> bytes)
    {
        // What was sent twice, in whole or in part.
        long known = side.Taken - at;
        if (known >= bytes.Length)
            return;
        bytes = bytes[(int)known..];
        side.Next = unchecked(side.Next + (uint)bytes.Length);
        side.Taken += bytes.Length;
        if (connection.Number == 0)
            connection.Number = ++Connections;
        sink(connection.Number, isLow == connection.IsLowClient, microseconds, bytes);
    }

    private void Hold(Side side, in Piece piece)
    {
        // Of two that begin at one place the longer one.
        if (side.Held.TryGetValue(piece, out Piece other))
        {
            if (other.Bytes.Length >= piece.Bytes.Length)
                return;
            Forget(side, other);
        }

        side.Held.Add(piece);
        side.HeldBytes += piece.Bytes.Length + PieceBytes;
        _held += piece.Bytes.Length + PieceBytes;
    }

    private void Forget(Side side, in Piece piece)
    {
        side.Held.Remove(piece);
        side.HeldBytes -= piece.Bytes.Length + PieceBytes;
        _held -= piece.Bytes.Length + PieceBytes;
    }

    /// <summary>Ends what was recorded of a connection, and goes on behind the gap, if a message begins there.</summary>
    private void Skip(Connection connection, bool isLow, string what)
    {
        Note(connection, isLow, what);
        Piece[] held = [.. connection.Of(isLow).Held];
        Drop(connection);
        connection.Restart();
        foreach (Piece piece in held)
            Add(connection, isLow, piece.Sequence, piece.Microseconds, piece.Bytes);
    }

    private void Note(Connection connection, bool isLow, string what)
    {
        Gaps++;
        FirstGap ??= $"bytes {(isLow == connection.IsLowClient ? "from" : "for")} {connection.Client} {what}";
    }

    private void Close(Connection connection)
    {
        foreach (bool isLow in (ReadOnlySpan<bool>)[true, false])
        {
            if (connection.Of(isLow).Held.Count > 0)
                Note(connection, isLow, "are missing");
        }

        Drop(connection);
    }

    private void Drop(Connection connection)
    {
        foreach (bool isLow in (ReadOnlySpan<bool>)[true, false])
        {
            Side side = connection.Of(isLow);
            _held -= side.HeldBytes;
            side.HeldBytes = 0;
            side.Held.Clear();
        }

        if (connection.Number > 0)
            ended(connection.Number);
        connection.Number = 0;
    }

    /// <param name="At">Its first byte's place in the stream.</param>
    /// <param name="Sequence">The number of that byte.</param>
    /// <param name="Microseconds">When it came.</param>
    /// <param name="Bytes">Its bytes.</param>
    private readonly record struct Piece(long At, uint Sequence, long Microseconds, byte[] Bytes) : IComparable<Piece>
    {
        public int CompareTo(Piece other) => At.CompareTo(other.At);
    }

    private sealed class Connection(TcpEndpoint low, TcpEndpoint high)
    {
        private Side _low = new();
        private Side _high = new();

        /// <summary>0 before anything has come of it.</summary>
        public long Number { get; set; }

        /// <summary>Which side is the client; null as long as nobody knows.</summary>
        public bool? IsLowClient { get; set; }

        public TcpEndpoint Client => IsLowClient == false ? high : low;

        public bool IsFinished => _low.IsFinished && _high.IsFinished && _low.Held.Count + _high.Held.Count == 0;

        public Side Of(bool isLow) => isLow ? _low : _high;

        /// <summary>Whether a SYN is of another connection between the same two.</summary>
        public bool IsAnother(in TcpSegment syn, bool isLow) =>
            Of(isLow).First is { } first ? first != syn.Sequence : syn.Opens;

        public void Restart() => (_low, _high) = (new Side { First = _low.First }, new Side { First = _high.First });
    }

    private sealed class Side
    {
        /// <summary>The number of its SYN; null where that was not captured.</summary>
        public uint? First { get; set; }

        /// <summary>The number of the byte that comes next; null as long as it can't be read.</summary>
        public uint? Next { get; set; }

        /// <summary>Bytes that came so far.</summary>
        public long Taken { get; set; }

        /// <summary>What others have overtaken.</summary>
        public SortedSet<Piece> Held { get; } = [];

        public long HeldBytes { get; set; }

        public bool IsFinished { get; set; }
    }
}
