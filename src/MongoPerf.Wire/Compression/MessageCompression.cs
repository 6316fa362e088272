using System.Buffers.Binary;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Compression;

/// <summary>
/// Wraps messages into OP_COMPRESSED and unwraps replies, in buffers that are used again. One thread. Source:
/// specifications/source/compression/OP_COMPRESSED.md.
/// </summary>
/// <param name="compressor">What was agreed on in hello; disposed of with this.</param>
internal sealed class MessageCompression(Compressor compressor) : IDisposable
{
    /// <summary>The bytes behind the header: int32 original opcode, int32 length uncompressed, byte compressor.</summary>
    private const int PrefixBytes = 9;

    private const int Start = MessageHeader.Size + PrefixBytes;
    private const int OpCodeOffset = 12;

    /// <summary>Where the name of an OP_MSG's command stands: header, flags, section kind, document length, type.</summary>
    private const int CommandNameOffset = MessageHeader.Size + 4 + 1 + 4 + 1;

    private byte[] _packed = [];
    private byte[] _unpacked = [];
    private int _unpackedLength;

    public string Name => compressor.Name;

    /// <summary>What the last <see cref="Unpack"/> gave.</summary>
    public ReadOnlySpan<byte> LastUnpacked => _unpacked.AsSpan(0, _unpackedLength);

    public static bool IsCompressed(ReadOnlySpan<byte> message) => ReadInt32(message, OpCodeOffset) == (int)OpCode.Compressed;

    /// <summary>Commands with secrets are never compressed: the length of what is sent would tell of them.</summary>
    public static bool MayCompress(ReadOnlySpan<byte> message)
    {
        if (message.Length <= CommandNameOffset)
            return false;
        ReadOnlySpan<byte> name = message[CommandNameOffset..];
        int end = name.IndexOf((byte)0);
        return end >= 0 && !IsSecret(name[..end]);
    }

    /// <returns>The message to send; valid until the next call.</returns>
    public ReadOnlySpan<byte> Pack(ReadOnlySpan<byte> message)
    {
        ReadOnlySpan<byte> body = message[MessageHeader.Size..];
        int room = Start + compressor.LongestCompressed(body.Length);
        if (_packed.Length < room)
            _packed = new byte[MessageHeader.RoomFor(room)];
        int length = Start + compressor.Compress(body, _packed.AsSpan(Start));
        MessageHeader header = MessageHeader.Read(message);
        (header with { Length = length, OpCode = OpCode.Compressed }).Write(_packed);
        BinaryPrimitives.WriteInt32LittleEndian(_packed.AsSpan(MessageHeader.Size), (int)header.OpCode);
        BinaryPrimitives.WriteInt32LittleEndian(_packed.AsSpan(MessageHeader.Size + 4), body.Length);
        _packed[MessageHeader.Size + 8] = compressor.Id;
        return _packed.AsSpan(0, length);
    }

    /// <returns>The message as it was before; valid until the next call.</returns>
    /// <exception cref="WireProtocolException">Damaged, of another compressor, or its length is out of bounds.</exception>
    public ReadOnlySpan<byte> Unpack(ReadOnlySpan<byte> message)
    {
        if (message.Length < Start)
            throw new WireProtocolException($"OP_COMPRESSED of {message.Length} bytes, at least {Start} are needed");
        int opCode = ReadInt32(message, MessageHeader.Size);
        int bodyLength = ReadInt32(message, MessageHeader.Size + 4);
        byte id = message[MessageHeader.Size + 8];
        if (bodyLength is < 0 or > MessageHeader.MaximumMessageLength - MessageHeader.Size)
            throw new WireProtocolException(
                $"OP_COMPRESSED declares {bodyLength} bytes; allowed: 0 to {MessageHeader.MaximumMessageLength - MessageHeader.Size}");
        if (id != compressor.Id)
            throw new WireProtocolException($"OP_COMPRESSED by compressor {id}, {compressor.Id} ({compressor.Name}) was agreed on");
        int length = MessageHeader.Size + bodyLength;
        if (_unpacked.Length < length)
            _unpacked = new byte[MessageHeader.RoomFor(length)];
        if (!compressor.TryDecompress(message[Start..], _unpacked.AsSpan(MessageHeader.Size, bodyLength)))
            throw new WireProtocolException(
                $"OP_COMPRESSED whose {compressor.Name} data are damaged, or not of the {bodyLength} bytes that it declares");
        (MessageHeader.Read(message) with { Length = length, OpCode = (OpCode)opCode }).Write(_unpacked);
        _unpackedLength = length;
        return LastUnpacked;
    }

    public void Dispose() => compressor.Dispose();

    private static bool IsSecret(ReadOnlySpan<byte> command) => command.Length > 0 && command[0] switch
    {
        (byte)'h' => command.SequenceEqual("hello"u8),
        (byte)'i' => command.SequenceEqual("isMaster"u8) || command.SequenceEqual("ismaster"u8),
        (byte)'s' => command.SequenceEqual("saslStart"u8) || command.SequenceEqual("saslContinue"u8),
        (byte)'a' => command.SequenceEqual("authenticate"u8),
        (byte)'g' => command.SequenceEqual("getnonce"u8),
        (byte)'c' => command.SequenceEqual("createUser"u8) || command.StartsWith("copydb"u8),
        (byte)'u' => command.SequenceEqual("updateUser"u8),
        _ => false,
    };

    private static int ReadInt32(ReadOnlySpan<byte> message, int at) => BinaryPrimitives.ReadInt32LittleEndian(message[at..]);
}
