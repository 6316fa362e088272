using System.Buffers;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Files;

namespace MongoPerf.Traffic.Proxying;

/// <summary>
/// Writes the recording of what a proxy passes on, on a thread of its own. It reads requests where they were received; replies, which are
/// most of the bytes, were read by those who pass them on.
/// </summary>
/// <remarks>
/// Whoever passes something on never waits for it, nor wakes it: it looks by itself what has come. When it falls behind, or its disk is
/// full, it stops recording, for good. For all threads.
/// </remarks>
public sealed class TrafficRecorder : IDisposable
{
    /// <summary>Bytes that wait to be written, and those of their blocks that nothing was received into.</summary>
    private const long MostPending = 256L << 20;

    /// <summary>What a piece takes beside its bytes, about: either side may send one byte at a time.</summary>
    private const int PieceBytes = 256;

    /// <summary>
    /// Between two looks, milliseconds. To be woken for each piece would cost whoever passes it on a system call, and the machine a
    /// change of threads.
    /// </summary>
    private const int PauseMilliseconds = 10;

    private const int CacheLineBytes = 64;

    /// <summary>ENOSPC of Linux, as the runtime hands it on.</summary>
    private const int NoSpaceLeft = 28;

    private readonly ConcurrentQueue<Piece> _pieces = [];
    private readonly ConcurrentQueue<MessageUnpacker> _unpackers = [];
    private readonly string _path;
    private readonly TrafficWriter _writer;
    private readonly Thread _thread;
    private readonly ManualResetEventSlim _isEnding = new(false, spinCount: 0);
    private readonly long _start = Stopwatch.GetTimestamp();
    private readonly long _mostPending;
    private long _pending;
    private long _mostBehind;
    private Piece _next;
    private bool _hasNext;
    private volatile bool _isStopped;
    private bool _isDisposed;
    private (long Requests, long Bytes)? _cut;

    /// <param name="path">The file, which must not be there.</param>
    /// <param name="redacts">Values are replaced by pseudonyms.</param>
    /// <param name="mostPending">Bytes that may wait to be written; another number in tests.</param>
    /// <exception cref="MongoPerfException">It can't be made (2).</exception>
    public TrafficRecorder(string path, bool redacts = false, long mostPending = MostPending)
    {
        (_path, _mostPending) = (path, mostPending);
        _writer = new TrafficWriter(CreateFile(path), redacts);
        _thread = new Thread(Write) { IsBackground = true, Name = "recorder" };
        _thread.Start();
    }

    /// <summary>Called once, when recording stopped before it was asked to; on any thread, with the reason.</summary>
    public Action<string> OnStopped { get; init; } = static _ => { };

    /// <summary>Requests in the file, or to be written to it.</summary>
    public long Requests => _cut?.Requests ?? _writer.Requests;

    /// <summary>Bytes in the file, or to be written to it.</summary>
    public long Bytes => _cut?.Bytes ?? _writer.Bytes;

    /// <summary>Connections whose bytes are not MongoDB's protocol, or are encrypted: nothing more of them is recorded.</summary>
    public long Unreadable => _writer.Unreadable;

    /// <summary>Requests with code in them, which are left out where values are replaced.</summary>
    public long Unredactable => _writer.Unredactable;

    /// <summary>Requests in a protocol before OP_MSG, which are left out. Handshakes and logins, which always are, do not count.</summary>
    public long Legacy => _writer.Legacy;

    /// <summary>The bytes that waited to be written when they were most, what keeping them takes included.</summary>
    public long MostBehind => Volatile.Read(ref _mostBehind);

    /// <summary>Where blocks come from; another pool in tests.</summary>
    internal ArrayPool<byte> Blocks { get; init; } = ArrayPool<byte>.Shared;

    /// <inheritdoc cref="TrafficWriter.Begun"/>
    internal BegunBytes Begun => _writer.Begun;

    /// <summary>A connection has ended: what was begun on it will not be whole.</summary>
    /// <param name="connection">Its number.</param>
    public void End(long connection) => Enqueue(new Piece(connection, 0, [], 0, 0));

    /// <summary>Takes what the client of a connection has sent. Its pieces come in their order.</summary>
    /// <returns>False when it records no longer.</returns>
    internal bool TryAdd(long connection, byte[] block, int start, int length)
    {
        if (!TryHold(PieceBytes + length))
            return false;
        Enqueue(new Piece(connection, Now(), block, start, length));
        return true;
    }

    /// <summary>Keeps a place for replies that have come, before they are passed on: what answers them comes behind it.</summary>
    /// <returns>To be set soon: what comes later waits for it. Null when it records no longer.</returns>
    internal ExpectedReplies? Expect(long connection)
    {
        if (!TryHold(PieceBytes))
            return null;
        var expected = new ExpectedReplies(Now());
        Enqueue(new Piece(connection, expected.Microseconds, [], 0, 0) { Replies = expected });
        return expected;
    }

    /// <summary>Fills the place of replies, once they have been read.</summary>
    /// <param name="expected">Their place.</param>
    /// <param name="replies">In their order.</param>
    /// <param name="isUnreadable">What came next can't be read.</param>
    internal void Fill(ExpectedReplies expected, RecordedReply[] replies, bool isUnreadable)
    {
        TryHold(RecordedReply.BytesOf(replies));
        expected.Set(replies, isUnreadable);
    }

    /// <summary>
    /// To unpack one piece with. An unpacker keeps room for the largest message that it ever had, so connections have none of their own.
    /// </summary>
    internal MessageUnpacker BorrowUnpacker() => _unpackers.TryDequeue(out MessageUnpacker? idle) ? idle : new MessageUnpacker();

    internal void GiveBack(MessageUnpacker unpacker)
    {
        if (_unpackers.Count < Environment.ProcessorCount && !_isStopped)
            _unpackers.Enqueue(unpacker);
        else
            unpacker.Dispose();
    }

    /// <inheritdoc cref="TrafficWriter.AssembleReplies"/>
    internal ReplyAssembler AssembleReplies() => _writer.AssembleReplies();

    /// <summary>Takes a block whose pieces have all been added: it goes back to the pool once they are written.</summary>
    /// <param name="block">Rented from <see cref="Blocks"/>.</param>
    /// <param name="filled">Its bytes that are in pieces. The others wait with them: of short connections they are most.</param>
    internal void TakeBack(byte[] block, int filled)
    {
        if (TryHold(PieceBytes + block.Length - filled))
            Enqueue(new Piece(0, 0, block, filled, 0));
    }

    /// <summary>Ends the recording for good, if it has not ended.</summary>
    internal void Stop(string why)
    {
        lock (_pieces)
        {
            if (_isStopped)
                return;
            _isStopped = true;
        }

        OnStopped(why);
    }

    /// <summary>Writes what has come, and closes the file. By one thread, when no other one adds to it.</summary>
    public void Dispose()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        _isEnding.Set();
        _thread.Join();
        _isEnding.Dispose();
        ForgetUnpackers();
    }

    /// <exception cref="MongoPerfException">It is there already, or can't be made (2).</exception>
    internal static FileStream CreateFile(string path)
    {
        try
        {
            return OwnerOnly.CreateFile(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            (string message, string? hint) = Path.Exists(path)
                ? ($"{path} is there already", "name another file: a recording is never written over")
                : e is DirectoryNotFoundException
                ? ($"{path}: the folder {Path.GetDirectoryName(path)} does not exist", "create it first, or name another one")
                : ($"{path}: {e.Message}", (string?)null);
            throw new MongoPerfException(Fault.WrongUsage, message, hint, e);
        }
    }

    /// <summary>Why a recording can't be written any longer.</summary>
    internal static string Explain(Exception e) => e is IOException { HResult: NoSpaceLeft } ? "the disk is full" : e.Message;

    /// <summary>What of a recording is there, when its disk did not take the rest.</summary>
    private static (long Requests, long Bytes) CountIn(string path)
    {
        long requests = 0;
        try
        {
            using Recording recording = Recording.Open(path);
            while (recording.TryRead(out RecordedMessage message))
                requests += message.Reply is null ? 1 : 0;
        }
        catch (MongoPerfException)
        {
            // Not even its head is there, or no more can be read.
        }

        return (requests, new FileInfo(path).Length);
    }

    /// <summary>
    /// Brings a piece here from the processor that received it, with reads that do not wait for one another; the way from one document's
    /// length to the next one's would wait at each.
    /// </summary>
    /// <returns>Nothing of use: what is returned must be read.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Fetch(ReadOnlySpan<byte> bytes)
    {
        int sum = 0;
        for (int at = 0; at < bytes.Length; at += CacheLineBytes)
            sum += bytes[at];
        return sum;
    }

    /// <returns>False when it records no longer.</returns>
    private bool TryHold(int bytes)
    {
        if (_isStopped)
            return false;
        if (Interlocked.Add(ref _pending, bytes) <= _mostPending)
            return true;
        Stop("it falls behind");
        return false;
    }

    private void LetGo(int bytes)
    {
        long waited = Interlocked.Add(ref _pending, -bytes) + bytes;
        if (waited > _mostBehind)
            Volatile.Write(ref _mostBehind, waited);
    }

    private void Enqueue(in Piece piece)
    {
        if (!_isStopped)
            _pieces.Enqueue(piece);
    }

    private long Now() => Stopwatch.GetElapsedTime(_start).Ticks / TimeSpan.TicksPerMicrosecond;

    private void Write()
    {
        try
        {
            bool isLast;
            do
            {
                isLast = _isEnding.Wait(PauseMilliseconds);
                // While there is more, a full buffer is written by itself.
                if (!WriteAll())
                    _writer.Flush();
                // Whoever passed these on is about to have read them.
                if (isLast && _hasNext)
                    Thread.Sleep(1);
            }
            while ((!isLast || _hasNext) && !_isStopped);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or OutOfMemoryException)
        {
            // Only the recording ends, not the process, and with it the connections of all clients.
            Stop(Explain(e));
        }

        try
        {
            _writer.Dispose();
        }
        catch (IOException e)
        {
            Stop(Explain(e));
            _cut = CountIn(_path);
        }

        // What waits to be written belongs to nobody now, and those who pass on may do so for long yet.
        _pieces.Clear();
        ForgetUnpackers();
    }

    private void ForgetUnpackers()
    {
        while (_unpackers.TryDequeue(out MessageUnpacker? idle))
            idle.Dispose();
    }

    /// <summary>Up to the first replies that have not been read.</summary>
    /// <returns>Whether anything had come.</returns>
    private bool WriteAll()
    {
        bool wrote = false;
        while (!_isStopped && (_hasNext || _pieces.TryDequeue(out _next)))
        {
            _hasNext = _next.Replies is { Replies: null };
            if (_hasNext)
                break;
            wrote |= Write(_next);
        }

        return wrote;
    }

    /// <returns>Whether anything had come with it.</returns>
    private bool Write(in Piece piece)
    {
        if (piece.Replies is { } expected)
        {
            _writer.AddReplies(piece.Connection, expected.Replies, expected.IsUnreadable);
            LetGo(PieceBytes + RecordedReply.BytesOf(expected.Replies));
            return true;
        }

        if (piece.Length > 0)
        {
            ReadOnlySpan<byte> bytes = piece.Block.AsSpan(piece.Start, piece.Length);
            _ = Fetch(bytes);
            _writer.Add(piece.Connection, isRequest: true, piece.Microseconds, bytes);
            LetGo(PieceBytes + piece.Length);
            return true;
        }

        if (piece.Block.Length > 0)
        {
            Blocks.Return(piece.Block);
            LetGo(PieceBytes + piece.Block.Length - piece.Start);
        }
        else
        {
            _writer.End(piece.Connection);
        }

        return false;
    }

    /// <summary>
    /// What a client has sent, or replies; without either, a block that is given back, filled up to its start, or, without one, a
    /// connection's end.
    /// </summary>
    private readonly record struct Piece(long Connection, long Microseconds, byte[] Block, int Start, int Length)
    {
        public ExpectedReplies? Replies { get; init; }
    }
}
