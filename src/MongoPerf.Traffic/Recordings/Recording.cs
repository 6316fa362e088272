using System.Security.Cryptography;
using Microsoft.Win32.SafeHandles;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Traffic.Recordings;

/// <summary>A file of recorded traffic, whoever wrote it: its messages in order, each of which can be read again by its place.</summary>
/// <remarks>
/// What stands in the file is not trusted: each length is checked against what is left of the file before anything is allocated for it.
/// One thread reads on; <see cref="ReadMessage"/> may be called by many.
/// </remarks>
public abstract class Recording : IDisposable
{
    private const int Chunk = 1 << 20;

    private readonly SafeFileHandle _file;
    private byte[] _buffer = [];
    private long _bufferStart;
    private int _filled;

    /// <param name="path">The path as the user named it.</param>
    /// <param name="file">Open; this disposes of it.</param>
    private protected Recording(string path, SafeFileHandle file)
    {
        Path = path;
        _file = file;
        Length = RandomAccess.GetLength(file);
    }

    public string Path { get; }

    /// <summary>Who wrote it, for people.</summary>
    public abstract string Format { get; }

    /// <summary>Its times are whole multiples of this many microseconds.</summary>
    public abstract long ResolutionMicroseconds { get; }

    /// <summary>Where a record that the file does not hold whole begins, once it was met; null for none.</summary>
    public long? TruncatedAt { get; private protected set; }

    /// <summary>The bytes of the file.</summary>
    public long Length { get; }

    /// <exception cref="MongoPerfException">It can't be opened, or is no recording (2).</exception>
    public static Recording Open(string path)
    {
        SafeFileHandle file;
        try
        {
            if (Directory.Exists(path))
                throw new MongoPerfException(Fault.WrongUsage, $"{path} is a folder; a recording is a file",
                    "of a folder that a server of 8.2 or later wrote, name one of its .bin files");
            file = File.OpenHandle(path, options: FileOptions.RandomAccess);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new MongoPerfException(Fault.WrongUsage, e is FileNotFoundException or DirectoryNotFoundException
                ? $"{path} does not exist"
                : $"{path} can't be read: {e.Message}", null, e);
        }

        try
        {
            return RecordingFile.TryOpen(path, file) ?? (Recording?)ServerRecording.TryOpen(path, file)
                ?? throw new MongoPerfException(Fault.WrongUsage,
                $"{path} is not a recording of traffic",
                "a recording is what 'mongoperf record' writes, or a server (4.2 or later) between startRecordingTraffic and "
                + "stopRecordingTraffic");
        }
        catch (NotSupportedException e)
        {
            file.Dispose();
            throw new MongoPerfException(Fault.WrongUsage,
                $"{path} can be read only once, as a pipe can; a recording is read in several places", "write it to a file first", e);
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Reads the next message.</summary>
    /// <param name="message">Valid until the next call.</param>
    /// <returns>False at the end, whole or not.</returns>
    /// <exception cref="MongoPerfException">The file is damaged there (2).</exception>
    public abstract bool TryRead(out RecordedMessage message);

    /// <summary>Reads a message again, as it stands in the file. For any thread.</summary>
    /// <param name="place">Where it begins.</param>
    /// <param name="message">As long as it is.</param>
    /// <exception cref="MongoPerfException">The file has become shorter.</exception>
    public void ReadMessage(long place, Span<byte> message)
    {
        if (!TryFill(place, message))
            throw new MongoPerfException(Fault.WrongUsage, $"{Path} has become shorter while it was read");
    }

    /// <summary>SHA-256 of the file, 64 hexadecimal digits; reads all of it.</summary>
    public string Hash()
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        byte[] buffer = new byte[Chunk];
        for (long place = 0; place < Length; place += buffer.Length)
        {
            Span<byte> chunk = buffer.AsSpan(0, (int)Math.Min(buffer.Length, Length - place));
            ReadMessage(place, chunk);
            hash.AppendData(chunk);
        }

        return Convert.ToHexStringLower(hash.GetHashAndReset());
    }

    public void Dispose()
    {
        _file.Dispose();
        Release();
    }

    private protected virtual void Release()
    {
    }

    /// <summary>So many bytes, which the file has; for the thread that reads on.</summary>
    /// <returns>Valid until the next call.</returns>
    private protected ReadOnlySpan<byte> Load(long place, int count)
    {
        if (place < _bufferStart || place + count > _bufferStart + _filled)
        {
            if (_buffer.Length < count || _buffer.Length == 0)
                _buffer = new byte[(count + Chunk - 1) / Chunk * Chunk];
            _bufferStart = place;
            _filled = (int)Math.Min(_buffer.Length, Length - place);
            ReadMessage(place, _buffer.AsSpan(0, _filled));
        }

        return _buffer.AsSpan((int)(place - _bufferStart), count);
    }

    /// <returns>False when the file ends before.</returns>
    private protected bool TryFill(long place, Span<byte> destination)
    {
        while (destination.Length > 0)
        {
            int count = RandomAccess.Read(_file, destination, place);
            if (count == 0)
                return false;
            destination = destination[count..];
            place += count;
        }

        return true;
    }
}

/// <summary>A message of a recording.</summary>
/// <param name="connection">The connection's number there.</param>
/// <param name="microseconds">When it came; of a time that begins anywhere, and the same for all.</param>
/// <param name="place">Where the message begins in the file.</param>
/// <param name="length">The message's bytes in the file.</param>
/// <param name="message">Unpacked, with its header.</param>
public readonly ref struct RecordedMessage(long connection, long microseconds, long place, int length, ReadOnlySpan<byte> message)
{
    /// <param name="connection">The connection's number there.</param>
    /// <param name="microseconds">When it came.</param>
    /// <param name="reply">A reply of which only this was recorded.</param>
    public RecordedMessage(long connection, long microseconds, RecordedFacts reply)
        : this(connection, microseconds, 0, 0, default) => Reply = reply;

    /// <summary>For a reply of which no more was recorded; null for a whole message.</summary>
    public RecordedFacts? Reply { get; }

    public long Connection { get; } = connection;

    public long Microseconds { get; } = microseconds;

    public long Place { get; } = place;

    public int Length { get; } = length;

    public ReadOnlySpan<byte> Message { get; } = message;
}
