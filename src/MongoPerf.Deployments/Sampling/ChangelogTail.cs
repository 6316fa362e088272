using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Reads what config.changelog got since the last look. One thread.</summary>
/// <remarks>
/// The log is capped at 200 MB and has no index on its time, so it is read backwards from its end until what was seen last: the cost goes
/// with what is new, never with its size.
/// </remarks>
/// <param name="database">What happened to collections of others is left out.</param>
/// <param name="since">From when on: of what happened before, only what had not ended by then counts.</param>
internal sealed class ChangelogTail(string database, DateTimeOffset since)
{
    // The first look fetches few, as mostly nothing is new; then more. What lies before the last is given up.
    private static readonly int[] Lengths = [20, 400, 10_000];

    private readonly ChunkEventAssembler _assembler = new();
    private string? _lastId;

    /// <param name="config">A connection to a config server or a mongos.</param>
    /// <returns>Events in the log's order; one that went on comes again in a later look.</returns>
    public IReadOnlyList<ChunkEvent> ReadNew(MongoConnection config)
    {
        List<BsonDocument> entries = ReadBack(config);
        if (entries.Count > 0)
            _lastId = ChunkEventAssembler.IdOf(entries[^1]);
        // Of an event that several entries tell of, the last has it all.
        return
        [
            .. entries.Where(entry => entry.FindString("ns")?.StartsWith($"{database}.", StringComparison.Ordinal) is true)
                .SelectMany(_assembler.Add)
                .GroupBy(static happened => happened.Id).Select(static told => told.Last())
                .Where(happened =>
                    happened.Outcome == ChunkEventOutcome.Running || happened.EndMilliseconds >= since.ToUnixTimeMilliseconds()),
        ];
    }

    /// <summary>The newest entries that were not seen, the oldest first.</summary>
    private List<BsonDocument> ReadBack(MongoConnection config)
    {
        List<BsonDocument> entries = [];
        foreach (int length in Lengths)
        {
            entries = [.. config.RunCursor("config", Request(length))];
            int seen = entries.FindIndex(IsSeen);
            if (seen >= 0)
                entries.RemoveRange(seen, entries.Count - seen);
            if (seen >= 0 || entries.Count < length)
                break;
        }

        entries.Reverse();
        return entries;
    }

    /// <summary>At the first look, what was logged an hour before the run began counts as seen: it can't last into the run.</summary>
    private bool IsSeen(BsonDocument entry) => _lastId is null
        ? entry.FindInt64("time") is { } time && time < since.AddHours(-1).ToUnixTimeMilliseconds()
        : ChunkEventAssembler.IdOf(entry) == _lastId;

    private static BsonDocument Request(int length) => BsonDocument.Of(
        ("find", "changelog"),
        ("sort", BsonDocument.Of(("$natural", -1))),
        ("projection", BsonDocument.Of(("shard", 1), ("time", 1), ("what", 1), ("ns", 1), ("details", 1))),
        ("limit", length),
        ("batchSize", length),
        ("singleBatch", true));
}
