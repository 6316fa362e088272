using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>What a bulk did, as its replies count it.</summary>
/// <param name="Inserted">New documents.</param>
/// <param name="Matched">How many documents updates and replacements matched, inserted ones among them.</param>
/// <param name="Modified">How many of these were changed.</param>
/// <param name="Upserted">How many of <paramref name="Matched"/> were inserted.</param>
/// <param name="Deleted">Removed documents.</param>
public readonly record struct BulkCounts(long Inserted, long Matched, long Modified, long Upserted, long Deleted)
{
    public long Documents => Inserted + Matched + Deleted;

    public bool ChangedNothing => this is { Matched: > 0, Modified: 0, Upserted: 0, Inserted: 0, Deleted: 0 };

    public static BulkCounts operator +(BulkCounts a, BulkCounts b) => new(
        a.Inserted + b.Inserted, a.Matched + b.Matched, a.Modified + b.Modified, a.Upserted + b.Upserted, a.Deleted + b.Deleted);

    /// <summary>Reads the counts of the reply to one of the commands that older servers have in place of bulkWrite.</summary>
    /// <param name="write">A write of the command's kind.</param>
    /// <param name="reply">The reply to the command.</param>
    internal static BulkCounts Of(Operation write, in OperationReply reply) => write switch
    {
        InsertDocuments => new(reply.Documents, 0, 0, 0, 0),
        DeleteDocuments => new(0, 0, 0, 0, reply.Documents),
        _ => new(0, reply.Documents, reply.Modified, reply.Upserted, 0),
    };

    /// <summary>Reads the counts of the reply to the command bulkWrite of MongoDB 8.0.</summary>
    /// <param name="message">The reply.</param>
    /// <param name="isOk">No write failed, and neither did the write concern.</param>
    /// <exception cref="BsonFormatException">The reply is no BSON.</exception>
    /// <exception cref="WireProtocolException">The reply is no OP_MSG.</exception>
    internal static BulkCounts Parse(ReadOnlySpan<byte> message, out bool isOk)
    {
        bool ok = false;
        bool hasErrors = false;
        long inserted = 0;
        long matched = 0;
        long modified = 0;
        long upserted = 0;
        long deleted = 0;
        var reader = new BsonReader(OpMsg.Parse(message).Body);
        while (reader.Read())
        {
            if (reader.NameIs("ok"u8))
                ok = reader.ToBoolean();
            else if (reader.NameIs("nErrors"u8))
                hasErrors |= reader.ToInt64() > 0;
            else if (reader.NameIs("writeConcernError"u8))
                hasErrors = true;
            else if (reader.NameIs("nInserted"u8))
                inserted = reader.ToInt64();
            else if (reader.NameIs("nMatched"u8))
                matched = reader.ToInt64();
            else if (reader.NameIs("nModified"u8))
                modified = reader.ToInt64();
            else if (reader.NameIs("nUpserted"u8))
                upserted = reader.ToInt64();
            else if (reader.NameIs("nDeleted"u8))
                deleted = reader.ToInt64();
        }

        isOk = ok && !hasErrors;
        return new BulkCounts(inserted, matched + upserted, modified, upserted, deleted);
    }
}

/// <summary>What a bulk must have done at least: as <see cref="WriteEffect"/>, of all its writes together.</summary>
/// <remarks>The counts of several writes are sums: what one lacks another may hide, but no bulk that is right is found wrong.</remarks>
public sealed class BulkEffect
{
    private readonly long _inserted;
    private readonly long _matched;
    private readonly bool _mayUpsert;
    private readonly bool _mustModify;

    /// <param name="bulk">Acknowledged.</param>
    public BulkEffect(BulkWrite bulk)
    {
        _inserted = bulk.Writes.Where(write => write.Operation.Inserts).Sum(write => write.Times);
        (UpdateDocuments Update, int Times)[] updates =
            [.. bulk.Writes.Where(write => write.Operation is UpdateDocuments).Select(w => ((UpdateDocuments)w.Operation, w.Times))];
        _matched = updates.Where(write => write.Update.MustMatch || write.Update.Upsert).Sum(write => write.Times);
        _mayUpsert = updates.Any(write => write.Update is { Upsert: true, MustMatch: false });
        _mustModify = updates.All(write => write.Update.MustModify);
    }

    /// <returns>Null where it did what it must. Allocates otherwise.</returns>
    public ServerError? FindFault(in BulkCounts counts)
    {
        if (counts.Inserted < _inserted)
            return new ServerError(0, ErrorCount.NothingChanged, $"bulkWrite inserted {counts.Inserted} of {_inserted} documents", []);
        if (counts.Upserted > 0 && !_mayUpsert)
            return new ServerError(0, ErrorCount.UnexpectedUpsert,
                $"bulkWrite inserted {counts.Upserted} documents that were to be found", []);
        return counts.Matched < _matched || (_mustModify && counts.Modified < counts.Matched - counts.Upserted)
            ? new ServerError(0, ErrorCount.NothingChanged,
                $"bulkWrite changed too little: matched {counts.Matched} of {_matched}, modified {counts.Modified}", [])
            : null;
    }
}
