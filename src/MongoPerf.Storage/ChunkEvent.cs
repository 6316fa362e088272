namespace MongoPerf.Storage;

/// <summary>What happened to a chunk, or to all of a collection. Stored by name: never rename a value.</summary>
public enum ChunkEventKind
{
    Migration,
    Split,
    Merge,

    /// <summary>A collection got another shard key, or other shards: all its documents were copied.</summary>
    Resharding,
}

/// <summary>How it ended. Stored by name: never rename a value.</summary>
public enum ChunkEventOutcome
{
    /// <summary>It was under way when the run looked last.</summary>
    Running,
    Done,
    Failed,
}

/// <summary>Something that the cluster's changelog tells of the chunks of the run's database.</summary>
public sealed record ChunkEvent
{
    /// <summary>_id of the changelog's entry that began it.</summary>
    public required string Id { get; init; }

    public required ChunkEventKind Kind { get; init; }

    /// <summary>When it began: Unix time by the clock of the shard that logged it.</summary>
    public required long AtMilliseconds { get; init; }

    /// <summary>When it ended; null while it lasts.</summary>
    public long? EndMilliseconds { get; init; }

    /// <summary>The name of the collection; null in runs of earlier versions.</summary>
    public string? Collection { get; init; }

    /// <summary>The shard that owned the chunk; of a resharding, who logged it.</summary>
    public required string From { get; init; }

    /// <summary>The shard that received the chunk in a migration.</summary>
    public string? To { get; init; }

    /// <summary>The documents that a migration copied, without those that were written meanwhile; null when the log does not say.</summary>
    public long? Documents { get; init; }

    /// <summary>The bytes of <see cref="Documents"/> in a migration, uncompressed.</summary>
    public long? Bytes { get; init; }

    /// <summary>For how long at the end of a resharding its collection took no writes; null for none.</summary>
    public double? BlockedSeconds { get; init; }

    /// <summary>The shard key before a resharding; null where it is not known.</summary>
    public string? KeyBefore { get; init; }

    /// <summary>The shard key behind a resharding; null while it lasts, and where it is not known.</summary>
    public string? KeyAfter { get; init; }

    public required ChunkEventOutcome Outcome { get; init; }

    /// <summary>Why it failed, or what else the log says.</summary>
    public string? Note { get; init; }

    /// <summary>Null while it lasts.</summary>
    public double? Seconds => (EndMilliseconds - AtMilliseconds) / 1000.0;
}
