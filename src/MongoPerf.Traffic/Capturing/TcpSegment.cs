using System.Buffers.Binary;
using System.Net;

namespace MongoPerf.Traffic.Capturing;

/// <summary>One side of a connection.</summary>
internal readonly record struct TcpEndpoint(UInt128 Address, bool IsIpv6, ushort Port) : IComparable<TcpEndpoint>
{
    public int CompareTo(TcpEndpoint other) => (Address, IsIpv6, Port).CompareTo((other.Address, other.IsIpv6, other.Port));

    public override string ToString()
    {
        byte[] bytes = new byte[16];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, Address);
        return new IPEndPoint(new IPAddress(IsIpv6 ? bytes : bytes[12..]), Port).ToString();
    }
}

/// <summary>What a packet carries of a TCP connection. Sources: RFC 791, 8200, 9293; LINKTYPE_… of tcpdump.org.</summary>
internal readonly ref struct TcpSegment
{
    private const byte Fin = 1;
    private const byte Syn = 2;
    private const byte Reset = 4;
    private const byte Ack = 16;
    private const int Ipv4 = 0x0800;
    private const int Ipv6 = 0x86DD;
    private const int Tcp = 6;

    private readonly byte _flags;

    private TcpSegment(TcpEndpoint source, TcpEndpoint destination, ReadOnlySpan<byte> tcp, ReadOnlySpan<byte> payload, bool isCut)
    {
        (Source, Destination, IsCut) = (source, destination, isCut);
        Payload = payload;
        Sequence = BinaryPrimitives.ReadUInt32BigEndian(tcp[4..]);
        _flags = tcp[13];
    }

    public TcpEndpoint Source { get; }

    public TcpEndpoint Destination { get; }

    /// <summary>The number of the payload's first byte, or of SYN.</summary>
    public uint Sequence { get; }

    public ReadOnlySpan<byte> Payload { get; }

    /// <summary>More bytes were sent than captured.</summary>
    public bool IsCut { get; }

    public bool IsSyn => (_flags & Syn) != 0;

    public bool IsFin => (_flags & Fin) != 0;

    public bool IsReset => (_flags & Reset) != 0;

    /// <summary>A SYN that begins a connection: whoever sends it is the client.</summary>
    public bool Opens => (_flags & (Syn | Ack)) == Syn;

    /// <summary>Whether packets that begin so can be read.</summary>
    public static bool IsKnownLink(int link) => link is 0 or 1 or 12 or 14 or 101 or 108 or 113 or 228 or 229 or 276;

    /// <returns>False for what is no TCP, or no whole packet.</returns>
    public static bool TryParse(int link, ReadOnlySpan<byte> packet, out TcpSegment segment)
    {
        segment = default;
        if (!TryStripLink(link, ref packet, out int protocol))
            return false;
        while (protocol is 0x8100 or 0x88A8 or 0x9100)
        {
            if (packet.Length < 4)
                return false;
            protocol = BinaryPrimitives.ReadUInt16BigEndian(packet[2..]);
            packet = packet[4..];
        }

        return protocol switch
        {
            Ipv4 => TryParseIpv4(packet, out segment),
            Ipv6 => TryParseIpv6(packet, out segment),
            _ => false,
        };
    }

    private static bool TryStripLink(int link, ref ReadOnlySpan<byte> packet, out int protocol)
    {
        protocol = 0;
        (int head, int protocolAt) = link switch
        {
            // Ethernet; Linux cooked, of both versions.
            1 => (14, 12),
            113 => (16, 14),
            276 => (20, 0),
            // Loopback, with the number of the address family; IP alone.
            0 or 108 => (4, -1),
            _ => (0, -1),
        };
        if (packet.Length <= head)
            return false;
        protocol = protocolAt >= 0 ? BinaryPrimitives.ReadUInt16BigEndian(packet[protocolAt..])
            : packet[head] >> 4 == 4 ? Ipv4 : packet[head] >> 4 == 6 ? Ipv6 : 0;
        packet = packet[head..];
        return true;
    }

    private static bool TryParseIpv4(ReadOnlySpan<byte> packet, out TcpSegment segment)
    {
        segment = default;
        if (packet.Length < 20 || packet[0] >> 4 != 4 || packet[9] != Tcp)
            return false;
        int head = (packet[0] & 15) * 4;
        // Fragments but the only one: they are missing then, as any other packet may.
        if (head < 20 || (BinaryPrimitives.ReadUInt16BigEndian(packet[6..]) & 0x3FFF) != 0)
            return false;
        int total = BinaryPrimitives.ReadUInt16BigEndian(packet[2..]);
        return TryParseTcp(packet, head, total, new TcpEndpoint(BinaryPrimitives.ReadUInt32BigEndian(packet[12..]), false, 0),
            new TcpEndpoint(BinaryPrimitives.ReadUInt32BigEndian(packet[16..]), false, 0), out segment);
    }

    private static bool TryParseIpv6(ReadOnlySpan<byte> packet, out TcpSegment segment)
    {
        segment = default;
        if (packet.Length < 40 || packet[0] >> 4 != 6)
            return false;
        int payload = BinaryPrimitives.ReadUInt16BigEndian(packet[4..]);
        int next = packet[6];
        int head = 40;
        // Hop by hop, routing, destination: each tells its own length.
        while (next is 0 or 43 or 60)
        {
            if (packet.Length < head + 8)
                return false;
            next = packet[head];
            head += (packet[head + 1] + 1) * 8;
        }

        return next == Tcp && TryParseTcp(packet, head, payload == 0 ? 0 : 40 + payload,
            new TcpEndpoint(BinaryPrimitives.ReadUInt128BigEndian(packet[8..]), true, 0),
            new TcpEndpoint(BinaryPrimitives.ReadUInt128BigEndian(packet[24..]), true, 0), out segment);
    }

    /// <remarks>
    /// The packet begins with the head of IP, and says how many bytes it has in all; 0 where the network card was to cut it, and so nobody
    /// knew.
    /// </remarks>
    private static bool TryParseTcp(
        ReadOnlySpan<byte> packet, int head, int total, TcpEndpoint source, TcpEndpoint destination, out TcpSegment segment)
    {
        segment = default;
        if (packet.Length < head + 20)
            return false;
        ReadOnlySpan<byte> tcp = packet[head..];
        int payload = head + (tcp[12] >> 4) * 4;
        int end = total == 0 ? packet.Length : total;
        if (payload < head + 20 || payload > Math.Min(end, packet.Length))
            return false;
        segment = new TcpSegment(source with { Port = BinaryPrimitives.ReadUInt16BigEndian(tcp) },
            destination with { Port = BinaryPrimitives.ReadUInt16BigEndian(tcp[2..]) }, tcp,
            packet[payload..Math.Min(end, packet.Length)], isCut: end > packet.Length);
        return true;
    }
}
