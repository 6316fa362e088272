using System.Buffers.Binary;
using System.Net;

namespace MongoPerf.Tests.Traffic;

/// <summary>Makes captures by hand: of one connection between two ends, as pcap or pcapng.</summary>
internal sealed class CaptureBuilder
{
    public const byte Fin = 1;
    public const byte Syn = 2;
    public const byte Reset = 4;
    public const byte Ack = 16;

    private readonly MemoryStream _file = new();
    private readonly Dictionary<(bool, int), uint> _next = [];

    public enum Format
    {
        Pcap,
        PcapNanoBigEndian,
        Pcapng,
        PcapngBigEndian,
    }

    public Format Kind { get; init; } = Format.Pcap;

    /// <summary>LINKTYPE_….</summary>
    public int Link { get; init; } = 1;

    public bool IsIpv6 { get; init; }

    /// <summary>Behind the addresses of an Ethernet packet.</summary>
    public bool HasVlan { get; init; }

    /// <summary>Of the next packet, since 1970.</summary>
    public long Microseconds { get; set; } = 1_700_000_000_000_000;

    /// <summary>Bytes of a packet that are kept.</summary>
    public int Snap { get; set; } = 262_144;

    public byte[] Bytes
    {
        get
        {
            Begin();
            return _file.ToArray();
        }
    }

    private bool IsBigEndian => Kind is Format.PcapNanoBigEndian or Format.PcapngBigEndian;

    public CaptureBuilder Open(int port = 5000)
    {
        Packet(true, port, Syn, []);
        return Packet(false, port, Syn | Ack, []).Packet(true, port, Ack, []);
    }

    /// <summary>Sends in order, in segments of so many bytes.</summary>
    public CaptureBuilder Send(bool isRequest, byte[] bytes, int segment = 1460, int port = 5000)
    {
        foreach (byte[] piece in bytes.Chunk(segment))
            Packet(isRequest, port, Ack, piece);
        return this;
    }

    public CaptureBuilder Close(int port = 5000) =>
        Packet(true, port, Fin | Ack, []).Packet(false, port, Fin | Ack, []).Packet(true, port, Ack, []);

    /// <summary>Sends what comes next on that side.</summary>
    public CaptureBuilder Packet(bool isRequest, int port, byte flags, byte[] payload)
    {
        uint sequence = Next(isRequest, port);
        _next[(isRequest, port)] = unchecked(sequence + (uint)payload.Length + ((flags & (Syn | Fin)) != 0 ? 1u : 0));
        return PacketAt(isRequest, port, flags, sequence, payload);
    }

    /// <summary>The number of the byte that comes next; both sides' wrap around soon.</summary>
    public uint Next(bool isRequest, int port = 5000) =>
        _next.TryGetValue((isRequest, port), out uint next) ? next : uint.MaxValue - (isRequest ? 20u : 50u);

    /// <summary>Leaves bytes out, as if nobody had captured them.</summary>
    public CaptureBuilder Lose(bool isRequest, int bytes, int port = 5000)
    {
        _next[(isRequest, port)] = unchecked(Next(isRequest, port) + (uint)bytes);
        return this;
    }

    public CaptureBuilder PacketAt(bool isRequest, int port, byte flags, uint sequence, byte[] payload)
    {
        var tcp = new byte[20 + payload.Length];
        BinaryPrimitives.WriteUInt16BigEndian(tcp, (ushort)(isRequest ? port : 27017));
        BinaryPrimitives.WriteUInt16BigEndian(tcp.AsSpan(2), (ushort)(isRequest ? 27017 : port));
        BinaryPrimitives.WriteUInt32BigEndian(tcp.AsSpan(4), sequence);
        tcp[12] = 5 << 4;
        tcp[13] = flags;
        payload.CopyTo(tcp, 20);
        Write([.. LinkHead(), .. IsIpv6 ? Ipv6(isRequest, tcp) : Ipv4(isRequest, tcp)]);
        return this;
    }

    /// <summary>A packet as it is.</summary>
    public void Write(byte[] packet)
    {
        Begin();
        byte[] kept = packet[..Math.Min(packet.Length, Snap)];
        if (Kind is Format.Pcap or Format.PcapNanoBigEndian)
        {
            UInt32((uint)(Microseconds / 1_000_000));
            UInt32((uint)(Microseconds % 1_000_000) * (Kind == Format.Pcap ? 1u : 1000u));
            UInt32((uint)kept.Length);
            UInt32((uint)packet.Length);
            _file.Write(kept);
        }
        else
        {
            byte[] padded = [.. kept, .. new byte[(4 - kept.Length % 4) % 4]];
            Block(6, [0, (uint)(Microseconds >> 32), (uint)Microseconds, (uint)kept.Length, (uint)packet.Length], padded);
        }

        Microseconds += 10;
    }

    private static byte[] Ipv4(bool isRequest, byte[] tcp)
    {
        var packet = new byte[20 + tcp.Length];
        packet[0] = 0x45;
        BinaryPrimitives.WriteUInt16BigEndian(packet.AsSpan(2), (ushort)packet.Length);
        packet[8] = 64;
        packet[9] = 6;
        packet[15] = (byte)(isRequest ? 1 : 2);
        packet[19] = (byte)(isRequest ? 2 : 1);
        tcp.CopyTo(packet, 20);
        return packet;
    }

    /// <summary>With a header of hop-by-hop options.</summary>
    private static byte[] Ipv6(bool isRequest, byte[] tcp)
    {
        var packet = new byte[48 + tcp.Length];
        packet[0] = 0x60;
        BinaryPrimitives.WriteUInt16BigEndian(packet.AsSpan(4), (ushort)(8 + tcp.Length));
        IPAddress.Parse(isRequest ? "fd00::1" : "fd00::2").GetAddressBytes().CopyTo(packet, 8);
        IPAddress.Parse(isRequest ? "fd00::2" : "fd00::1").GetAddressBytes().CopyTo(packet, 24);
        packet[40] = 6;
        tcp.CopyTo(packet, 48);
        return packet;
    }

    private byte[] LinkHead()
    {
        byte[] type = IsIpv6 ? [0x86, 0xDD] : [8, 0];
        return Link switch
        {
            1 => [.. new byte[12], .. HasVlan ? [0x81, 0, 0, 5] : Array.Empty<byte>(), .. type],
            113 => [.. new byte[14], .. type],
            276 => [.. type, .. new byte[18]],
            0 => [(byte)(IsIpv6 ? 30 : 2), 0, 0, 0],
            _ => [],
        };
    }

    private void Begin()
    {
        if (_file.Length > 0)
            return;
        switch (Kind)
        {
            case Format.Pcap or Format.PcapNanoBigEndian:
                UInt32(Kind == Format.Pcap ? 0xA1B2C3D4 : 0xA1B23C4D);
                UInt16(2);
                UInt16(4);
                UInt32(0);
                UInt32(0);
                UInt32((uint)Snap);
                UInt32((uint)Link);
                break;
            default:
                Block(0x0A0D0D0A, [0x1A2B3C4D, IsBigEndian ? 0x00010000u : 0x00000001u, uint.MaxValue, uint.MaxValue], []);
                // A block that nobody knows, and an interface with a clock of microseconds.
                Block(0x0BAD, [1, 2, 3], []);
                uint[] description = IsBigEndian ? [(uint)Link << 16, (uint)Snap, 9u << 16 | 1] : [(uint)Link, (uint)Snap, 1u << 16 | 9];
                Block(1, description, [6, 0, 0, 0]);
                break;
        }
    }

    private void Block(uint type, uint[] fields, byte[] rest)
    {
        uint length = (uint)(12 + fields.Length * 4 + rest.Length);
        UInt32(type);
        UInt32(length);
        foreach (uint field in fields)
            UInt32(field);
        _file.Write(rest);
        UInt32(length);
    }

    private void UInt32(uint value)
    {
        byte[] bytes = new byte[4];
        if (IsBigEndian)
            BinaryPrimitives.WriteUInt32BigEndian(bytes, value);
        else
            BinaryPrimitives.WriteUInt32LittleEndian(bytes, value);
        _file.Write(bytes);
    }

    private void UInt16(ushort value) => _file.Write(IsBigEndian ? [(byte)(value >> 8), (byte)value] : [(byte)value, (byte)(value >> 8)]);
}
