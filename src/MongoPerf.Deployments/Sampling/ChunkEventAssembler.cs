using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Puts events together from the changelog's entries: donor and recipient write several of one migration.</summary>
/// <remarks>
/// A donor writes moveChunk.start, then moveChunk.commit (with counts) or moveChunk.error, and moveChunk.from at the end of either; the
/// recipient writes moveChunk.to. A shard gives one chunk away at a time, so the donor's name tells which migration an entry belongs to.
/// The coordinator of a resharding, which moveCollection and unshardCollection are too, writes each of its states: initializing, then
/// preparing-to-donate, cloning, applying, blocking-writes, and committing, which gives the collection its key, or aborting. From 7.1 on
/// quiesced or done follows when all shards have put their parts away; 6.0 logs nothing more. Source: resharding_coordinator_service.cpp.
/// </remarks>
internal sealed class ChunkEventAssembler
{
    private readonly Dictionary<string, ChunkEvent> _migrations = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Resharding> _reshardings = new(StringComparer.Ordinal);

    private sealed record Resharding(ChunkEvent Event, long? BlockedAt = null, bool IsOver = false);

    /// <param name="entry">An entry of config.changelog, in its order.</param>
    /// <returns>
    /// The events that it tells more of, as they are known now; none for entries of other things, and of migrations whose
    /// start was not seen.
    /// </returns>
    public IReadOnlyList<ChunkEvent> Add(BsonDocument entry) => entry.FindString("what") switch
    {
        "moveChunk.start" => Start(entry),
        "moveChunk.commit" => Change(entry, (migration, details) => migration with
        {
            Outcome = ChunkEventOutcome.Done,
            EndMilliseconds = TimeOf(entry),
            Documents = details.FindInt64("counts.cloned"),
            Bytes = details.FindInt64("counts.clonedBytes"),
        }),
        "moveChunk.error" => Change(entry, (migration, details) => migration with
        {
            Outcome = ChunkEventOutcome.Failed,
            EndMilliseconds = TimeOf(entry),
            Note = migration.Note ?? Reason(details),
        }),
        "moveChunk.to" => Change(entry, static (migration, details) => migration with { Note = migration.Note ?? Reason(details) }),
        "moveChunk.from" => Change(entry, (migration, details) => migration with
        {
            Outcome = details.FindString("note") == "success" ? ChunkEventOutcome.Done : ChunkEventOutcome.Failed,
            EndMilliseconds = TimeOf(entry),
            Note = migration.Note ?? Reason(details),
        }),
        "split" => [Instant(entry, ChunkEventKind.Split)],
        // One entry for each of the new chunks.
        "multi-split" => entry.FindInt64("details.number") == 1 ? [Instant(entry, ChunkEventKind.Split)] : [],
        "merge" or "autoMerge" => [Instant(entry, ChunkEventKind.Merge)],
        "resharding.coordinator.transition" => [Reshard(entry)],
        _ => [],
    };

    private List<ChunkEvent> Start(BsonDocument entry)
    {
        BsonDocument details = DetailsOf(entry);
        string from = details.FindString("from") ?? ShardOf(entry);
        var events = new List<ChunkEvent>();
        // A donor that was killed logs no end.
        if (_migrations.GetValueOrDefault(from) is { Outcome: ChunkEventOutcome.Running } lost)
            events.Add(lost with
            {
                Outcome = ChunkEventOutcome.Failed, EndMilliseconds = TimeOf(entry), Note = lost.Note ?? "its end was not logged",
            });
        _migrations[from] = new ChunkEvent
        {
            Id = IdOf(entry),
            Kind = ChunkEventKind.Migration,
            Collection = CollectionOf(entry),
            AtMilliseconds = TimeOf(entry),
            From = from,
            To = details.FindString("to"),
            Outcome = ChunkEventOutcome.Running,
        };
        events.Add(_migrations[from]);
        return events;
    }

    private ChunkEvent[] Change(BsonDocument entry, Func<ChunkEvent, BsonDocument, ChunkEvent> change)
    {
        BsonDocument details = DetailsOf(entry);
        string from = details.FindString("from") ?? ShardOf(entry);
        return _migrations.TryGetValue(from, out ChunkEvent? migration) ? [_migrations[from] = change(migration, details)] : [];
    }

    private ChunkEvent Reshard(BsonDocument entry)
    {
        BsonDocument details = DetailsOf(entry);
        long at = TimeOf(entry);
        string id = details.FindString("reshardingUUID") ?? "";
        Resharding known = _reshardings.GetValueOrDefault(id) ?? new Resharding(new ChunkEvent
        {
            Id = IdOf(entry), Kind = ChunkEventKind.Resharding, Collection = CollectionOf(entry), AtMilliseconds = at,
            From = ShardOf(entry), Outcome = ChunkEventOutcome.Running,
        });
        Resharding changed = details.FindString("newState") switch
        {
            "blocking-writes" => known with { BlockedAt = at },
            "committing" => Ended(known, ChunkEventOutcome.Done, at),
            "aborting" => Ended(known, ChunkEventOutcome.Failed, at) with { BlockedAt = null },
            "quiesced" or "done" when !known.IsOver => Ended(known, known.Event.Outcome, at) with { IsOver = true },
            _ => known,
        };
        _reshardings[id] = changed;
        return changed.Event;
    }

    private static Resharding Ended(Resharding known, ChunkEventOutcome outcome, long at) => known with
    {
        Event = known.Event with
        {
            EndMilliseconds = at,
            Outcome = outcome,
            Note = outcome == ChunkEventOutcome.Failed ? "aborted" : null,
            BlockedSeconds = known.BlockedAt is { } since ? Math.Max(0, at - since) / 1000.0 : known.Event.BlockedSeconds,
        },
    };

    private static ChunkEvent Instant(BsonDocument entry, ChunkEventKind kind) => new()
    {
        Id = IdOf(entry),
        Kind = kind,
        Collection = CollectionOf(entry),
        AtMilliseconds = TimeOf(entry),
        EndMilliseconds = TimeOf(entry),
        From = DetailsOf(entry).FindString("owningShard") ?? ShardOf(entry),
        Outcome = ChunkEventOutcome.Done,
    };

    private static string? Reason(BsonDocument details)
    {
        string? reason = details.FindString("errmsg") ?? details.FindString("error") ?? details.FindString("note");
        return reason == "success" ? null : reason;
    }

    private static BsonDocument DetailsOf(BsonDocument entry) => entry.FindDocument("details") ?? BsonDocument.Empty;

    /// <summary>Of "d.system.buckets.c", the buckets of a time series, its name.</summary>
    private static string? CollectionOf(BsonDocument entry) =>
        entry.FindString("ns") is { } ns && ns.IndexOf('.', StringComparison.Ordinal) is >= 0 and var dot
            ? ns[(dot + 1)..].StartsWith(ConfigCatalogue.Buckets, StringComparison.Ordinal)
                ? ns[(dot + 1 + ConfigCatalogue.Buckets.Length)..] : ns[(dot + 1)..]
            : null;

    private static string ShardOf(BsonDocument entry) => entry.FindString("shard") ?? "";

    internal static string IdOf(BsonDocument entry) => entry.Find("_id")?.ToString() ?? "";

    private static long TimeOf(BsonDocument entry) => entry.FindInt64("time") ?? 0;
}
