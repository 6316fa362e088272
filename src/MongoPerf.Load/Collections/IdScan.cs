using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Collections;

/// <summary>Finds the numbers of a range that are not stored, from the _id index alone.</summary>
/// <remarks>
/// Where _ids increase with the numbers, the index is read in order (some 300,000 documents a second); otherwise the _ids are looked up in
/// it, a block at a time.
/// </remarks>
/// <param name="connection">Open.</param>
/// <param name="database">The collection's.</param>
/// <param name="collection">Its name.</param>
/// <param name="ids">The _ids of its documents.</param>
/// <param name="hasIdIndex">False for a time-series collection, which is read as it lies.</param>
internal sealed class IdScan(MongoConnection connection, string database, string collection, DocumentIds ids, bool hasIdIndex = true)
{
    /// <summary>About 1.5 MB a reply.</summary>
    private const int BatchSize = 50_000;

    /// <summary>_ids looked up at once.</summary>
    private const int BlockSize = 10_000;

    /// <summary>Numbers are handed out in order: beyond so many in a row that are missing there are none.</summary>
    private const int LongestGap = 100_000;

    private readonly OpMsgWriter _writer = new();

    /// <summary>Such as majority; null for the server's own.</summary>
    public string? ReadConcern { get; init; }

    public IReadOnlyList<NumberRange> FindMissing(NumberRange range)
    {
        var missing = new List<NumberRange>();
        if (!hasIdIndex && ids.AreInvertible)
            ReadAsItLies(range, missing);
        else if (ids.AreOrdered(range.End))
            ReadInOrder(range, missing);
        else
            for (long first = range.First; first < range.End; first += BlockSize)
                AddMissing(missing, FindPresent(new NumberRange(first, Math.Min(first + BlockSize, range.End))).Contains, first,
                    Math.Min(first + BlockSize, range.End));
        return missing;
    }

    /// <param name="from">All below are known to be there.</param>
    /// <param name="before">Only numbers below are looked for.</param>
    /// <returns>One beyond the greatest number that is stored.</returns>
    public long FindEnd(long from, long before)
    {
        if (ids.AreOrdered(DocumentNumbers.Limit - 1))
            return FindLast(before);
        long end = from;
        for (long first = from; first < Math.Min(before, end + LongestGap); first += BlockSize)
        {
            HashSet<long> present = FindPresent(new NumberRange(first, Math.Min(before, first + BlockSize)));
            if (present.Count > 0)
                end = present.Max() + 1;
        }

        return end;
    }

    private long FindLast(long before)
    {
        BsonDocument? last = connection.RunCursor(database, BsonDocument.Of(
            ("find", collection),
            ("filter", FilterOf(new NumberRange(0, before))),
            ("sort", BsonDocument.Of(("_id", -1))),
            ("projection", BsonDocument.Of(("_id", 1))),
            ("limit", 1),
            ("singleBatch", true))).FirstOrDefault();
        return last?.Find("_id") is { } id ? ids.NumberOf(id.Type, id.Bytes.Span) + 1 : 0;
    }

    private BsonDocument FilterOf(NumberRange range) =>
        BsonDocument.Of(("_id", BsonDocument.Of(("$gte", ids.Of(range.First)), ("$lt", ids.Of(range.End)))));

    private void ReadInOrder(NumberRange range, List<NumberRange> missing)
    {
        long expected = range.First;
        Read(FilterOf(range), BsonDocument.Of(("_id", 1)), range.Count, number =>
        {
            if (number < expected)
                return;
            if (number > expected)
                missing.Add(new NumberRange(expected, number));
            expected = number + 1;
        });
        if (expected < range.End)
            missing.Add(new NumberRange(expected, range.End));
    }

    /// <summary>
    /// Once through the collection, whatever the order: to look numbers up without an index takes as long for each block.
    /// </summary>
    private void ReadAsItLies(NumberRange range, List<NumberRange> missing)
    {
        var present = new System.Collections.BitArray(checked((int)range.Count));
        Read(ids.AreOrdered(range.End) ? FilterOf(range) : BsonDocument.Empty, sort: null, long.MaxValue, number =>
        {
            if (number >= range.First && number < range.End)
                present[(int)(number - range.First)] = true;
        });
        AddMissing(missing, number => present[(int)(number - range.First)], range.First, range.End);
    }

    private HashSet<long> FindPresent(NumberRange block)
    {
        var asked = new Dictionary<string, long>();
        var values = new List<BsonValue>();
        for (long number = block.First; number < block.End; number++)
        {
            BsonValue id = ids.Of(number);
            values.Add(id);
            asked[Convert.ToHexString(id.Bytes.Span)] = number;
        }

        var present = new HashSet<long>();
        foreach (BsonDocument found in connection.RunCursor(database, BsonDocument.Of(
        [
            ("find", collection),
            ("filter", BsonDocument.Of(("_id", BsonDocument.Of(("$in", values))))),
            ("projection", BsonDocument.Of(("_id", 1))),
            .. Hint,
            .. Concern,
            ("batchSize", BlockSize),
        ])))
        {
            if (found.Find("_id") is { } id && asked.TryGetValue(Convert.ToHexString(id.Bytes.Span), out long number))
                present.Add(number);
        }

        return present;
    }

    private (string, object?)[] Hint => hasIdIndex ? [("hint", BsonDocument.Of(("_id", 1)))] : [];

    private (string, object?)[] Concern => ReadConcern is null ? [] : [("readConcern", BsonDocument.Of(("level", ReadConcern)))];

    private static void AddMissing(List<NumberRange> missing, Func<long, bool> isPresent, long first, long end)
    {
        for (long number = first; number < end; number++)
        {
            if (isPresent(number))
                continue;
            if (missing.Count > 0 && missing[^1].End == number)
                missing[^1] = missing[^1] with { End = number + 1 };
            else
                missing.Add(new NumberRange(number, number + 1));
        }
    }

    private void Read(BsonDocument filter, BsonDocument? sort, long most, Action<long> hear)
    {
        (string, object?)[] order = sort is null ? [] : [("sort", sort)];
        ReadOnlySpan<byte> request = _writer.WriteCommand(database, connection.Dialect.Translate(BsonDocument.Of(
        [
            ("find", collection),
            ("filter", filter),
            .. order,
            ("projection", BsonDocument.Of(("_id", 1))),
            .. Hint,
            .. Concern,
            ("batchSize", BatchSize),
        ])), requestId: 1);
        // What a shard has left over from a migration comes twice; ten times it does not.
        var guard = new CursorGuard(connection, most < long.MaxValue / 10 ? (10 * most) + BatchSize : long.MaxValue, hasTime: false);
        while (true)
        {
            ReadOnlySpan<byte> reply = connection.RoundTrip(request);
            CursorReply cursor = CursorReply.Parse(reply);
            if (!cursor.IsOk)
                throw new ServerCommandException("find", ServerError.From(new BsonDocument(OpMsg.Parse(reply).Body.ToArray())));
            ReadBatch(reply.Slice(cursor.Batch.Start, cursor.Batch.Length), hear);
            if (cursor.CursorId == 0)
                break;
            guard.AskForMore(cursor.Documents);
            request = _writer.WriteCommand(database, connection.Dialect.Translate(BsonDocument.Of(
                ("getMore", cursor.CursorId), ("collection", collection), ("batchSize", BatchSize))), requestId: 1);
        }
    }

    private void ReadBatch(ReadOnlySpan<byte> batch, Action<long> hear)
    {
        var items = new BsonReader(batch);
        while (items.Read())
        {
            var document = new BsonReader(items.DocumentBytes);
            if (document.Find("_id"u8) && ids.NumberOf(document.Type, document.Value) is >= 0 and var number)
                hear(number);
        }
    }
}
