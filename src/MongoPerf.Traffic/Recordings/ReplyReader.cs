using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Recordings;

/// <summary>What is recorded of a reply, and what it answers.</summary>
/// <param name="Request">The number of its request, on the same connection.</param>
/// <param name="Reply">What is compared.</param>
/// <param name="Cursor">The cursor that it leaves open; 0 for none.</param>
public readonly record struct RecordedFacts(int Request, ReplyFacts Reply, long Cursor)
{
    /// <summary>Of its documents, as <see cref="ReplyHash"/> makes it; 0 for a reply without them, or where none was recorded.</summary>
    public ulong Hash { get; init; }

    /// <summary>Documents that an update changed; null where that was not recorded.</summary>
    public long? Modified { get; init; }

    /// <summary>Documents that an upsert inserted, which <see cref="Reply"/> counts, too; null where that was not recorded.</summary>
    public long? Upserted { get; init; }

    /// <summary>The ids that the server made for documents that upserts inserted; null for none, and where none were recorded.</summary>
    public GeneratedId[]? GeneratedIds { get; init; }
}

/// <summary>Reads what of a reply is compared or learned, whoever got it.</summary>
public static class ReplyReader
{
    /// <summary>An error that has no code.</summary>
    public const int NoCode = -1;

    /// <param name="request">The number of the request that it answers.</param>
    /// <param name="message">The reply.</param>
    /// <exception cref="BsonFormatException">It is no BSON.</exception>
    /// <exception cref="WireProtocolException">It is no OP_MSG.</exception>
    public static RecordedFacts Read(int request, ReadOnlySpan<byte> message)
    {
        OperationReply reply = OperationReply.Parse(message);
        int code = reply.IsOk ? 0 : CodeOf(message);
        return new RecordedFacts(request, new ReplyFacts(code, reply.Documents, reply.Bytes), reply.CursorId)
        {
            Modified = reply.Modified, Upserted = reply.Upserted,
        };
    }

    private static int CodeOf(ReadOnlySpan<byte> message) =>
        OperationReply.ReadError(message).Code is var code && code == 0 ? NoCode : code;
}
