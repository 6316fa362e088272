using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>An operation that a deployment did, or several alike of which its source tells only how many there were.</summary>
/// <param name="Seconds">When it began, in seconds of a clock that begins anywhere.</param>
/// <param name="Database">Its database.</param>
/// <param name="Collection">Its collection, without the database; empty where there is none.</param>
/// <param name="Command">
/// The command as a client sends it (<c>{find: "orders", filter: …}</c>), with lists of documents (updates, deletes) inside it. Its values
/// never leave the process.
/// </param>
/// <param name="Microseconds">How long it took, with the rest of its cursor; null if the source doesn't tell.</param>
/// <param name="Count">How many there were, more than 0; a sampled one stands for several, and not always for a whole number.</param>
public sealed record ObservedOperation(
    double Seconds, string Database, string Collection, BsonDocument Command, double? Microseconds = null, double Count = 1)
{
    /// <summary>Values in the command only have the types of those that were there.</summary>
    public bool IsTypeOnly { get; init; }

    /// <summary>Documents that it inserted, where they are not in the command.</summary>
    public long? Inserted { get; init; }

    /// <summary>
    /// Hashes of the <c>_id</c>s of these documents, 0 for one without; empty if the source doesn't tell.
    /// </summary>
    public IReadOnlyList<ulong> InsertedIds { get; init; } = [];

    /// <summary>Some of these documents; their values never leave the process.</summary>
    public IReadOnlyList<BsonDocument> InsertedDocuments { get; init; } = [];

    /// <summary>What tells its connection from others; null if the source doesn't tell.</summary>
    public string? Connection { get; init; }

    /// <summary>What its reply said; null if the source doesn't tell.</summary>
    public ObservedReply? Reply { get; init; }

    /// <summary>The server's summary of its plan, such as <c>IXSCAN { customer: 1 }</c>; null if the source doesn't tell.</summary>
    public string? Plan { get; init; }
}

/// <summary>What a reply said, with the rest of its cursor.</summary>
/// <param name="Documents">Returned, counted, matched, inserted or removed, whatever the command does.</param>
/// <param name="Code">The first error's; 0 for none.</param>
/// <param name="Modified">Documents that an update changed; null if the source doesn't tell.</param>
/// <param name="Upserted">Documents that upserts inserted; null if the source doesn't tell.</param>
public readonly record struct ObservedReply(long Documents, int Code, long? Modified, long? Upserted)
{
    /// <summary>The application closed its cursor before the end.</summary>
    public bool IsAbandoned { get; init; }

    /// <summary>Index keys and documents that the server examined for it; null if the source doesn't tell.</summary>
    public (long Keys, long Documents)? Examined { get; init; }
}
