namespace MongoPerf.Storage;

/// <summary>What happened to a chunk. Stored by name: never rename a value.</summary>
public enum ChunkEventKind
{
    Migration,
    Split,
    Merge,
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

    /// <summary>The shard that owned the chunk.</summary>
    public required string From { get; init; }

    /// <summary>The shard that received the chunk in a migration.</summary>
    public string? To { get; init; }

    /// <summary>The documents that a migration copied, without those that were written meanwhile; null when the log does not say.</summary>
    public long? Documents { get; init; }

    /// <summary>The bytes of <see cref="Documents"/> in a migration, uncompressed.</summary>
    public long? Bytes { get; init; }

    public required ChunkEventOutcome Outcome { get; init; }

    /// <summary>Why it failed, or what else the log says.</summary>
    public string? Note { get; init; }

    /// <summary>Null while it lasts.</summary>
    public double? Seconds => (EndMilliseconds - AtMilliseconds) / 1000.0;
}
