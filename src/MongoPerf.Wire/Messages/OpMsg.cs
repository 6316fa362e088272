using System.Buffers.Binary;
using System.Text;

namespace MongoPerf.Wire.Messages;

/// <summary>Flag bits of OP_MSG. Bits 0 to 15 that are not listed must not be set; bits 16 to 31 may be ignored.</summary>
[Flags]
public enum OpMsgFlags
{
    None = 0,
    ChecksumPresent = 1,

    /// <summary>On a request: no reply will come, whatever happens. On a reply: another one follows unasked.</summary>
    MoreToCome = 2,
    ExhaustAllowed = 1 << 16,
}

/// <summary>A parsed OP_MSG: spans into the message's own bytes. Source: specifications/source/message/OP_MSG.md.</summary>
public readonly ref struct OpMsg
{
    private const byte BodyKind = 0;
    private const byte SequenceKind = 1;

    private readonly ReadOnlySpan<byte> _sections;

    private OpMsg(OpMsgFlags flags, ReadOnlySpan<byte> body, ReadOnlySpan<byte> sections)
    {
        Flags = flags;
        Body = body;
        _sections = sections;
    }

    public OpMsgFlags Flags { get; }

    /// <summary>The one section of kind 0: the command, or the reply.</summary>
    public ReadOnlySpan<byte> Body { get; }

    /// <summary>The sections of kind 1, in their order.</summary>
    public SequenceEnumerator Sequences => new(_sections);

    /// <param name="message">Header included, exactly as long as the header says.</param>
    /// <exception cref="WireProtocolException">
    /// Another opcode, sections that do not fit, none or several of kind 0, an unknown kind or required flag.
    /// </exception>
    public static OpMsg Parse(ReadOnlySpan<byte> message)
    {
        if (message.Length < MessageHeader.Size + 4)
            throw new WireProtocolException($"OP_MSG of {message.Length} bytes, at least {MessageHeader.Size + 4} are needed");
        int opCode = BinaryPrimitives.ReadInt32LittleEndian(message[12..]);
        if (opCode != (int)OpCode.Msg)
            throw new WireProtocolException($"message with opcode {opCode}, OP_MSG ({(int)OpCode.Msg}) is expected");
        OpMsgFlags flags = ReadFlags(message);
        int unknown = (int)flags & 0xFFFC;
        if (unknown != 0)
            throw new WireProtocolException($"OP_MSG with unknown required flag bits 0x{unknown:x}");
        ReadOnlySpan<byte> sections = message[(MessageHeader.Size + 4)..];
        if ((flags & OpMsgFlags.ChecksumPresent) != 0)
            sections = sections[..^Math.Min(4, sections.Length)];
        return new OpMsg(flags, FindBody(sections), sections);
    }

    internal static OpMsgFlags ReadFlags(ReadOnlySpan<byte> message) =>
        (OpMsgFlags)BinaryPrimitives.ReadInt32LittleEndian(message[MessageHeader.Size..]);

    private static ReadOnlySpan<byte> FindBody(ReadOnlySpan<byte> sections)
    {
        ReadOnlySpan<byte> body = default;
        bool found = false;
        for (int at = 0; at < sections.Length;)
        {
            int length = MeasureSection(sections, at);
            if (sections[at] == BodyKind)
            {
                if (found)
                    throw new WireProtocolException("OP_MSG with two sections of kind 0, exactly one is allowed", 40430);
                body = sections.Slice(at + 1, length - 1);
                found = true;
            }

            at += length;
        }

        return found ? body : throw new WireProtocolException("OP_MSG without a section of kind 0", 40587);
    }

    private static int MeasureSection(ReadOnlySpan<byte> sections, int at)
    {
        byte kind = sections[at];
        if (kind is not (BodyKind or SequenceKind))
            throw new WireProtocolException($"OP_MSG section of kind {kind}; allowed: 0 and 1", 40432);
        int room = sections.Length - at - 1;
        int size = room >= 5 ? BinaryPrimitives.ReadInt32LittleEndian(sections[(at + 1)..]) : 0;
        if (size < 5 || size > room)
            throw new WireProtocolException($"OP_MSG section declares {size} bytes; allowed: 5 to {room}", 22);
        if (kind == SequenceKind && sections.Slice(at + 5, size - 4).IndexOf((byte)0) < 0)
            throw new WireProtocolException("document sequence without the final zero of its name", 15);
        return size + 1;
    }

    /// <summary>Steps through the document sequences (kind 1).</summary>
    public ref struct SequenceEnumerator(ReadOnlySpan<byte> sections)
    {
        private readonly ReadOnlySpan<byte> _sections = sections;
        private int _at;

        public DocumentSequence Current { get; private set; }

        public readonly SequenceEnumerator GetEnumerator() => this;

        public bool MoveNext()
        {
            while (_at < _sections.Length)
            {
                int start = _at;
                int length = MeasureSection(_sections, start);
                _at = start + length;
                if (_sections[start] != SequenceKind)
                    continue;
                ReadOnlySpan<byte> payload = _sections.Slice(start + 5, length - 5);
                int end = payload.IndexOf((byte)0);
                Current = new DocumentSequence(payload[..end], payload[(end + 1)..]);
                return true;
            }

            return false;
        }
    }
}

/// <summary>A section of kind 1: a name and documents back to back.</summary>
public readonly ref struct DocumentSequence(ReadOnlySpan<byte> name, ReadOnlySpan<byte> documents)
{
    public ReadOnlySpan<byte> Name { get; } = name;

    /// <summary>Documents one after the other; each starts with its own length.</summary>
    public ReadOnlySpan<byte> Documents { get; } = documents;

    public string NameText => Encoding.UTF8.GetString(Name);
}
