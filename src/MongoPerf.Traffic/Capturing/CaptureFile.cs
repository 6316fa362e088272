using System.Buffers.Binary;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Files;

namespace MongoPerf.Traffic.Capturing;

/// <summary>The packets of a capture, in their order, of a file or a pipe. One thread.</summary>
/// <remarks>
/// Nothing in it is trusted: each length is held against a bound before anything is allocated for it. Source: the files' formats in
/// draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.
/// </remarks>
internal sealed class CaptureFile : IDisposable
{
    private const int LargestBlock = 16 << 20;
    private const int MostInterfaces = 4096;
    private const uint SectionHeader = 0x0A0D0D0A;
    private const uint InterfaceDescription = 1;
    private const uint OldPacket = 2;
    private const uint SimplePacket = 3;
    private const uint EnhancedPacket = 6;

    private readonly string _path;
    private readonly Stream _stream;
    private readonly List<Interface> _interfaces = [];
    private byte[] _block = new byte[1 << 16];
    private bool _isNg;
    private bool _isBigEndian;
    private long _position;
    private long _lastMicroseconds;

    private CaptureFile(string path, Stream stream) => (_path, _stream) = (path, stream);

    /// <summary>Why nothing more is read although there may be more; null at a proper end.</summary>
    public string? EndedBy { get; private set; }

    /// <summary>The file ends within a packet, as it does when whoever wrote it was killed.</summary>
    public bool IsTruncated { get; private set; }

    /// <exception cref="MongoPerfException">It can't be opened, or is no capture (2).</exception>
    public static CaptureFile Open(string path)
    {
        try
        {
            if (Directory.Exists(path))
                throw new MongoPerfException(Fault.WrongUsage, $"{path} is a folder; a capture is a file");
            var file = new CaptureFile(path, new BufferedStream(NamedFile.Open(path), 1 << 20));
            try
            {
                file.ReadHead();
                return file;
            }
            catch
            {
                file.Dispose();
                throw;
            }
        }
        catch (TimeoutException e)
        {
            // Of a pipe, which it names.
            throw new MongoPerfException(Fault.WrongUsage, e.Message, null, e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new MongoPerfException(Fault.WrongUsage, e is FileNotFoundException or DirectoryNotFoundException
                ? $"{path} does not exist"
                : $"{path}: {e.Message}", null, e);
        }
    }

    /// <param name="packet">Valid until the next call.</param>
    /// <returns>False at the end, which <see cref="EndedBy"/> and <see cref="IsTruncated"/> tell of.</returns>
    public bool TryRead(out CapturedPacket packet)
    {
        packet = default;
        try
        {
            while (EndedBy is null && !IsTruncated)
            {
                if (!_isNg)
                    return TryReadRecord(out packet);
                if (!TryReadBlock(out uint type, out ReadOnlySpan<byte> body))
                    return false;
                if (TryTakeBlock(type, body, out packet))
                    return true;
            }
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            EndedBy = e.Message;
        }

        return false;
    }

    public void Dispose() => _stream.Dispose();

    private void ReadHead()
    {
        Span<byte> head = stackalloc byte[24];
        if (_stream.ReadAtLeast(head[..4], 4, throwOnEndOfStream: false) < 4)
            throw NoCapture();
        uint magic = BinaryPrimitives.ReadUInt32LittleEndian(head);
        _position = 4;
        _isNg = magic == SectionHeader;
        if (_isNg)
        {
            if (!TryReadSection())
                throw NoCapture();
            return;
        }

        bool isNano = magic is 0xA1B23C4D or 0x4D3CB2A1;
        if (!isNano && magic is not (0xA1B2C3D4 or 0xD4C3B2A1))
            throw NoCapture();
        _isBigEndian = magic is 0xD4C3B2A1 or 0x4D3CB2A1;
        if (_stream.ReadAtLeast(head[4..], 20, throwOnEndOfStream: false) < 20)
            throw NoCapture();
        _position = 24;
        // The upper bits tell of frame check sequences, which stand behind what is read.
        _interfaces.Add(new Interface((int)(UInt32(head[20..]) & 0xFFFF), isNano ? 1_000_000_000UL : 1_000_000UL, 0));
    }

    private MongoPerfException NoCapture() => new(Fault.WrongUsage, $"{_path} is not a capture of packets",
        "a capture is what tcpdump -w or Wireshark writes (pcap or pcapng); unpack a compressed one first");

    private bool TryReadRecord(out CapturedPacket packet)
    {
        packet = default;
        Span<byte> head = stackalloc byte[16];
        if (!TryFill(head, out bool isEnd))
            return !isEnd && Truncated();
        uint length = UInt32(head[8..]);
        if (length > LargestBlock)
            return Damaged(head.Length, $"declares {length:N0} bytes; allowed: up to {LargestBlock:N0}");
        Span<byte> bytes = Room((int)length);
        if (!TryFill(bytes, out _))
            return Truncated();
        Interface of = _interfaces[0];
        packet = Of(of, of.Microseconds(UInt32(head), UInt32(head[4..])), bytes);
        return true;
    }

    private bool TryReadBlock(out uint type, out ReadOnlySpan<byte> body)
    {
        type = 0;
        body = default;
        Span<byte> head = stackalloc byte[8];
        if (!TryFill(head[..4], out bool isEnd))
            return !isEnd && Truncated();
        type = UInt32(head);
        if (type == SectionHeader)
            return TryReadSection() || (EndedBy is null && Truncated());
        if (!TryFill(head[4..], out _))
            return Truncated();
        uint length = UInt32(head[4..]);
        if (length is < 12 or > LargestBlock || length % 4 != 0)
            return Damaged(head.Length, $"declares {length:N0} bytes; allowed: multiples of 4, 12 to {LargestBlock:N0}");
        // Without type and length; the length stands again at its end.
        Span<byte> rest = Room((int)length - 8);
        if (!TryFill(rest, out _))
            return Truncated();
        if (UInt32(rest[^4..]) != length)
            return Damaged((int)length, "tells two lengths");
        body = rest[..^4];
        return true;
    }

    /// <summary>Reads what follows the type of a section's header: all after it may be in another byte order.</summary>
    private bool TryReadSection()
    {
        Span<byte> head = stackalloc byte[8];
        if (!TryFill(head, out _))
            return false;
        uint order = BinaryPrimitives.ReadUInt32LittleEndian(head[4..]);
        if (order is not (0x1A2B3C4D or 0x4D3C2B1A))
            return Damaged(12, "is no section of pcapng");
        _isBigEndian = order == 0x4D3C2B1A;
        uint length = UInt32(head);
        if (length is < 28 or > LargestBlock || length % 4 != 0)
            return Damaged(12, $"declares {length:N0} bytes; allowed: multiples of 4, 28 to {LargestBlock:N0}");
        _interfaces.Clear();
        return TryFill(Room((int)length - 12), out _);
    }

    private bool TryTakeBlock(uint type, ReadOnlySpan<byte> body, out CapturedPacket packet)
    {
        packet = default;
        switch (type)
        {
            case InterfaceDescription when body.Length >= 8:
                if (_interfaces.Count == MostInterfaces)
                    return Damaged(body.Length + 12, $"describes more than {MostInterfaces:N0} interfaces");
                _interfaces.Add(ReadInterface(body));
                return false;
            case EnhancedPacket when body.Length >= 20:
                return TryTake(UInt32(body), body[4..], body[20..], UInt32(body[12..]), out packet);
            case OldPacket when body.Length >= 20:
                return TryTake((uint)UInt16(body), body[4..], body[20..], UInt32(body[12..]), out packet);
            case SimplePacket when body.Length >= 4 && _interfaces.Count > 0:
                packet = Of(_interfaces[0], _lastMicroseconds, body.Slice(4, (int)Math.Min(UInt32(body), (uint)body.Length - 4)));
                return true;
            default:
                return false;
        }
    }

    private bool TryTake(uint interfaceNumber, ReadOnlySpan<byte> time, ReadOnlySpan<byte> data, uint length, out CapturedPacket packet)
    {
        packet = default;
        if (interfaceNumber >= _interfaces.Count || length > data.Length)
            return Damaged(data.Length + 32, "names an interface that is not there, or more bytes than it has");
        Interface of = _interfaces[(int)interfaceNumber];
        ulong ticks = (ulong)UInt32(time) << 32 | UInt32(time[4..]);
        packet = Of(of, of.Microseconds(ticks), data[..(int)length]);
        return true;
    }

    private Interface ReadInterface(ReadOnlySpan<byte> body)
    {
        ulong perSecond = 1_000_000;
        long offset = 0;
        for (ReadOnlySpan<byte> options = body[8..]; options.Length >= 4;)
        {
            (int code, int length) = (UInt16(options), UInt16(options[2..]));
            if (code == 0 || length > options.Length - 4)
                break;
            ReadOnlySpan<byte> value = options.Slice(4, length);
            // Powers of ten, or of two; what no 64 bits hold is nobody's clock.
            if (code == 9 && length == 1)
                perSecond = (value[0] & 0x80) != 0 ? 1UL << Math.Min(value[0] & 0x7F, 63)
                    : (ulong)Math.Pow(10, Math.Min((int)value[0], 19));
            else if (code == 14 && length == 8)
                offset = (long)((ulong)UInt32(value[(_isBigEndian ? 0 : 4)..]) << 32 | UInt32(value[(_isBigEndian ? 4 : 0)..]));
            options = options[Math.Min(options.Length, 4 + (length + 3) / 4 * 4)..];
        }

        return new Interface(UInt16(body), perSecond, offset);
    }

    private CapturedPacket Of(Interface of, long microseconds, ReadOnlySpan<byte> bytes)
    {
        _lastMicroseconds = microseconds;
        return new CapturedPacket(of.Link, microseconds, bytes);
    }

    private Span<byte> Room(int length)
    {
        if (_block.Length < length)
            _block = new byte[length];
        return _block.AsSpan(0, length);
    }

    /// <param name="bytes">Where to.</param>
    /// <param name="isEnd">The file ends where they would begin.</param>
    private bool TryFill(Span<byte> bytes, out bool isEnd)
    {
        int count = _stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false);
        _position += count;
        isEnd = count == 0;
        return count == bytes.Length;
    }

    private bool Truncated()
    {
        IsTruncated = true;
        return false;
    }

    private bool Damaged(int bytesBack, string what)
    {
        EndedBy = $"the packet at byte {Math.Max(_position - bytesBack, 0):N0} {what}";
        return false;
    }

    private uint UInt32(ReadOnlySpan<byte> bytes) =>
        _isBigEndian ? BinaryPrimitives.ReadUInt32BigEndian(bytes) : BinaryPrimitives.ReadUInt32LittleEndian(bytes);

    private int UInt16(ReadOnlySpan<byte> bytes) =>
        _isBigEndian ? BinaryPrimitives.ReadUInt16BigEndian(bytes) : BinaryPrimitives.ReadUInt16LittleEndian(bytes);

    /// <param name="Link">What its packets begin with.</param>
    /// <param name="PerSecond">Ticks of its clock.</param>
    /// <param name="Offset">Seconds to add.</param>
    private readonly record struct Interface(int Link, ulong PerSecond, long Offset)
    {
        /// <summary>Hostile figures wrap around, and are put right where times are held against one another.</summary>
        public long Microseconds(ulong ticks) =>
            unchecked((long)(ulong)((UInt128)ticks * 1_000_000 / PerSecond) + Offset * 1_000_000);

        public long Microseconds(uint seconds, uint parts) =>
            seconds * 1_000_000L + (long)(parts * 1_000_000UL / PerSecond);
    }
}

/// <summary>A packet as it was captured.</summary>
/// <param name="link">The number of what it begins with (LINKTYPE_…).</param>
/// <param name="microseconds">When; of any clock.</param>
/// <param name="bytes">As many of them as were kept.</param>
internal readonly ref struct CapturedPacket(int link, long microseconds, ReadOnlySpan<byte> bytes)
{
    public int Link { get; } = link;

    public long Microseconds { get; } = microseconds;

    public ReadOnlySpan<byte> Bytes { get; } = bytes;
}
