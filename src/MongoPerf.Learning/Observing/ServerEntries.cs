using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>What mongod's profiler and its log have in common: an entry for each operation that ended, with its command.</summary>
/// <remarks>
/// A statement of an update or a delete has an entry of its own, with its q and u; the profiler has none for the command around it.
/// Cursors have an entry for each batch, and are one operation here.
/// </remarks>
internal sealed class ServerEntries
{
    private const int MostCursors = 100_000;

    private readonly Dictionary<long, ObservedOperation> _cursors = [];

    /// <param name="entry">Its ns and command, and what stands beside them.</param>
    /// <param name="type">update, remove, or anything else.</param>
    /// <param name="end">When it ended, in seconds.</param>
    /// <param name="milliseconds">How long it took.</param>
    /// <param name="connection">Its connection; null if unknown.</param>
    /// <param name="count">How many it stands for.</param>
    /// <returns>An operation that has ended; null where there is none, or not yet.</returns>
    public ObservedOperation? Add(BsonDocument entry, string? type, double end, double milliseconds, string? connection, double count)
    {
        if (entry.FindString("appName") == ObservationSource.OwnApplication)
            return null;
        if (entry.FindString("ns")?.Split('.', 2) is not [var database, var collection] || entry.FindDocument("command") is not { } command)
            return null;
        double microseconds = milliseconds * 1000;
        if (command.FirstOrDefault().Key == "getMore")
            return command.FindInt64("getMore") is { } id ? More(id, entry, microseconds) : null;
        if (type is "update" or "remove" && command.Find("q") is not null)
            command = BsonDocument.Of(type == "update" ? ("update", collection) : ("delete", collection),
                (type == "update" ? "updates" : "deletes", new[] { command }));
        var operation = new ObservedOperation(end - (milliseconds / 1000), database, CollectionOf(command) ?? collection, command,
            microseconds, count)
        {
            Inserted = entry.FindInt64("ninserted"),
            Connection = connection,
            Plan = entry.FindString("planSummary"),
            Reply = ReplyOf(entry),
        };
        if (entry.FindInt64("cursorid") is not { } cursor || _cursors.Count == MostCursors)
            return operation;
        _cursors[cursor] = operation;
        return null;
    }

    /// <summary>Cursors whose end was not seen.</summary>
    public IEnumerable<ObservedOperation> Open => _cursors.Values;

    private ObservedOperation? More(long cursor, BsonDocument entry, double microseconds)
    {
        if (!_cursors.TryGetValue(cursor, out ObservedOperation? operation))
            return null;
        operation = operation with
        {
            Microseconds = operation.Microseconds + microseconds,
            Reply = operation.Reply is { } first ? first with
            {
                Documents = first.Documents + (entry.FindInt64("nreturned") ?? 0),
                Examined = first.Examined is var (keys, documents) && ExaminedIn(entry) is var (more, others)
                    ? (keys + more, documents + others) : null,
            } : null,
        };
        _cursors[cursor] = operation;
        if (entry.IsTrue("cursorExhausted"))
            _cursors.Remove(cursor);
        return entry.IsTrue("cursorExhausted") ? operation : null;
    }

    /// <summary>A count and a distinct don't say what they returned.</summary>
    private static ObservedReply? ReplyOf(BsonDocument entry) =>
        Counted(entry) is { } reply ? reply with { Examined = ExaminedIn(entry) } : null;

    private static (long Keys, long Documents)? ExaminedIn(BsonDocument entry) =>
        entry.FindInt64("keysExamined") is { } keys && entry.FindInt64("docsExamined") is { } documents ? (keys, documents) : null;

    private static ObservedReply? Counted(BsonDocument entry)
    {
        int code = (int)Math.Clamp(entry.FindInt64("errCode") ?? 0, int.MinValue, int.MaxValue);
        long upserted = entry.FindInt64("nUpserted") ?? (entry.IsTrue("upsert") ? 1 : 0);
        return entry.FindInt64("nMatched") is { } matched
                ? new ObservedReply(matched + upserted, code, entry.FindInt64("nModified") ?? 0, upserted)
            : (entry.FindInt64("nreturned") ?? entry.FindInt64("ndeleted") ?? entry.FindInt64("ninserted")) is { } documents
                ? new ObservedReply(documents, code, null, null)
            : code != 0 ? new ObservedReply(0, code, null, null) : null;
    }

    private static string? CollectionOf(BsonDocument command) =>
        command.FirstOrDefault().Value is { Type: BsonType.String } name ? name.ToString() : null;
}
