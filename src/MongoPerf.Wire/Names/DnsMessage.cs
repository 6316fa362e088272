using System.Buffers.Binary;
using System.Text;

namespace MongoPerf.Wire.Names;

/// <summary>Reads the answers of a DNS message. Every length and pointer is checked before it is used. Sources: RFC 1035, RFC 2782.</summary>
internal static class DnsMessage
{
    public const ushort Text = 16;
    public const ushort Service = 33;

    private const int HeaderBytes = 12;
    private const int FixedRecordBytes = 10;
    private const int LongestName = 255;
    private const ushort Internet = 1;

    /// <exception cref="NameResolutionException">The message is damaged.</exception>
    public static List<ServiceRecord> ReadServices(ReadOnlySpan<byte> message)
    {
        var services = new List<ServiceRecord>();
        foreach (Range data in FindAnswers(message, Service))
        {
            (int at, int length) = data.GetOffsetAndLength(message.Length);
            // Priority and weight come first: drivers leave them out of account, since they look at all hosts.
            if (length < 7)
                throw Damaged("an SRV record is too short");
            int port = BinaryPrimitives.ReadUInt16BigEndian(message[(at + 4)..]);
            string host = ReadName(message, at + 6, out _);
            if (port == 0 || host.Length == 0)
                throw Damaged("an SRV record names no host or port");
            services.Add(new ServiceRecord(host, port));
        }

        return services;
    }

    /// <inheritdoc cref="ReadServices"/>
    public static List<string> ReadTexts(ReadOnlySpan<byte> message)
    {
        var texts = new List<string>();
        foreach (Range data in FindAnswers(message, Text))
        {
            ReadOnlySpan<byte> rest = message[data];
            var text = new StringBuilder();
            while (rest.Length > 0)
            {
                int length = rest[0];
                if (length >= rest.Length)
                    throw Damaged("a TXT record's string ends outside of it");
                text.Append(Encoding.UTF8.GetString(rest.Slice(1, length)));
                rest = rest[(length + 1)..];
            }

            texts.Add(text.ToString());
        }

        return texts;
    }

    private static List<Range> FindAnswers(ReadOnlySpan<byte> message, ushort type)
    {
        if (message.Length < HeaderBytes)
            throw Damaged($"it has {message.Length} bytes");
        int questions = BinaryPrimitives.ReadUInt16BigEndian(message[4..]);
        int answers = BinaryPrimitives.ReadUInt16BigEndian(message[6..]);
        int at = HeaderBytes;
        for (int i = 0; i < questions; i++)
        {
            _ = ReadName(message, at, out at);
            at += 4;
        }

        var found = new List<Range>();
        for (int i = 0; i < answers; i++)
        {
            _ = ReadName(message, at, out at);
            if (message.Length - at < FixedRecordBytes)
                throw Damaged("it ends within a record");
            ushort kind = BinaryPrimitives.ReadUInt16BigEndian(message[at..]);
            ushort family = BinaryPrimitives.ReadUInt16BigEndian(message[(at + 2)..]);
            int length = BinaryPrimitives.ReadUInt16BigEndian(message[(at + 8)..]);
            at += FixedRecordBytes;
            if (length > message.Length - at)
                throw Damaged("a record ends outside of it");
            // A CNAME may come before what was asked for.
            if (kind == type && family == Internet)
                found.Add(at..(at + length));
            at += length;
        }

        return found;
    }

    /// <summary>Labels up to an empty one; a pointer continues at an earlier place, which is how a chain of them ends.</summary>
    private static string ReadName(ReadOnlySpan<byte> message, int start, out int end)
    {
        var name = new StringBuilder();
        int at = start;
        int limit = start;
        end = -1;
        while (true)
        {
            if (at >= message.Length)
                throw Damaged("a name ends outside of it");
            int length = message[at];
            if (length == 0)
            {
                end = end < 0 ? at + 1 : end;
                return name.ToString();
            }

            if ((length & 0xC0) == 0xC0 && at + 1 < message.Length)
            {
                end = end < 0 ? at + 2 : end;
                at = BinaryPrimitives.ReadUInt16BigEndian(message[at..]) & 0x3FFF;
                if (at >= limit)
                    throw Damaged("a name points forwards");
                limit = at;
                continue;
            }

            if (length > 63 || at + 1 + length > message.Length)
                throw Damaged("a name's part ends outside of it");
            name.Append(name.Length > 0 ? "." : "").Append(ReadLabel(message.Slice(at + 1, length)));
            if (name.Length > LongestName)
                throw Damaged("a name is longer than 255 characters");
            at += 1 + length;
        }
    }

    /// <remarks>What is no host name is refused here, so that nothing odd reaches a message or a log.</remarks>
    private static string ReadLabel(ReadOnlySpan<byte> label)
    {
        foreach (byte letter in label)
        {
            if (!char.IsAsciiLetterOrDigit((char)letter) && letter is not ((byte)'-' or (byte)'_'))
                throw Damaged("a name holds something else than letters, digits, - and _");
        }

        return Encoding.ASCII.GetString(label);
    }

    private static NameResolutionException Damaged(string what) => new($"the DNS answer is damaged: {what}");
}
