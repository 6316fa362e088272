using System.Runtime.CompilerServices;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Proxying;

/// <summary>What is recorded of the replies that a server sends, in any pieces. One thread.</summary>
/// <param name="begun">Counts what it keeps of replies that have not come whole.</param>
/// <param name="isRedacted">Only what tells nothing of the documents is kept.</param>
internal sealed class ReplyAssembler(BegunBytes begun, bool isRedacted)
{
    private readonly MessageAssembler _messages = new(begun);
    private readonly List<RecordedReply> _replies = [];

    /// <inheritdoc cref="MessageAssembler.IsUnreadable"/>
    public bool IsUnreadable => _messages.IsUnreadable;

    /// <summary>Adds what came.</summary>
    /// <param name="unpacker">Whosever it is.</param>
    /// <param name="bytes">From anywhere within a message to anywhere within another one.</param>
    /// <param name="microseconds">When it came.</param>
    /// <returns>The replies that end with it.</returns>
    /// <exception cref="InsufficientMemoryException">More messages have begun than there is room for.</exception>
    public RecordedReply[] Read(MessageUnpacker unpacker, ReadOnlySpan<byte> bytes, long microseconds)
    {
        _replies.Clear();
        while (_messages.TryTake(ref bytes, microseconds, out ReadOnlySpan<byte> message, out long began))
        {
            if (ReadOne(unpacker, message, began) is { } reply)
                _replies.Add(reply);
        }

        return [.. _replies];
    }

    /// <inheritdoc cref="MessageAssembler.Forget"/>
    public void Forget() => _messages.Forget();

    /// <returns>Null for what is not kept.</returns>
    private RecordedReply? ReadOne(MessageUnpacker unpacker, ReadOnlySpan<byte> message, long microseconds)
    {
        try
        {
            ReadOnlySpan<byte> unpacked = unpacker.Unpack(message);
            MessageHeader header = MessageHeader.Read(unpacked);
            if (header.OpCode != OpCode.Msg)
                return null;
            RecordedFacts facts = ReplyReader.Read(header.ResponseTo, unpacked);
            // Of documents that few know a hash tells whether they are guessed right; and a target has others than these. Requests have
            // other ids than replies.
            if (!isRedacted)
                facts = facts with { Hash = ReplyHash.Of(unpacked), GeneratedIds = GeneratedIds.Of(unpacked) };
            return new RecordedReply(
                microseconds, header.RequestId, (OpMsg.Parse(unpacked).Flags & OpMsgFlags.MoreToCome) != 0, facts);
        }
        catch (Exception e) when (e is BsonFormatException or WireProtocolException)
        {
            // Nothing that could be compared, and no reason to lose the next one: its length is known.
            return null;
        }
    }
}

/// <summary>A reply as it is recorded.</summary>
/// <param name="Microseconds">When its first bytes came.</param>
/// <param name="Number">The server's own number for it.</param>
/// <param name="HasMore">Where the request allows it, another reply follows unasked, which answers this one.</param>
/// <param name="Facts">What is compared, and which request it answers.</param>
internal readonly record struct RecordedReply(long Microseconds, int Number, bool HasMore, RecordedFacts Facts)
{
    /// <summary>What it takes to keep some, bytes.</summary>
    public static int BytesOf(ReadOnlySpan<RecordedReply> replies)
    {
        int bytes = replies.Length * Unsafe.SizeOf<RecordedReply>();
        foreach (ref readonly RecordedReply reply in replies)
            bytes += (reply.Facts.GeneratedIds?.Length ?? 0) * Unsafe.SizeOf<GeneratedId>();
        return bytes;
    }
}
