using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>What a deployment was seen doing: its operations by shape, and when they came.</summary>
/// <param name="Operations">Most frequent first.</param>
/// <param name="Seconds">How long was observed.</param>
/// <param name="Arrivals">Operations per second over that time, in pieces of equal length; empty if the source has no times.</param>
/// <param name="NotLearned">What could not be learned, a sentence each, for comments in the file.</param>
public sealed record OperationMix(
    IReadOnlyList<LearnedOperation> Operations, double Seconds, IReadOnlyList<double> Arrivals, IReadOnlyList<string> NotLearned);

/// <summary>Operations of one shape.</summary>
/// <param name="Kind">The key by which a scenario knows it: find, insert, insertMany, update, replace, delete, findAndModify, count, …</param>
/// <param name="Count">How many were seen; weights and rates follow from it.</param>
public sealed record LearnedOperation(string Database, string Collection, string Kind, long Count)
{
    /// <summary>The filter, or the field and filter of a distinct; null where there is none.</summary>
    public Shape? Filter { get; init; }

    public BsonDocument? Sort { get; init; }

    public BsonDocument? Projection { get; init; }

    public int? Skip { get; init; }

    public int? Limit { get; init; }

    /// <summary>An update document or pipeline; null for other operations.</summary>
    public Shape? Update { get; init; }

    /// <summary>Stages of an aggregation.</summary>
    public DocumentShape? Pipeline { get; init; }

    /// <summary>The field of a distinct.</summary>
    public string? Field { get; init; }

    /// <summary>Documents in one insertMany, on average.</summary>
    public double DocumentsPerOperation { get; init; } = 1;

    /// <summary>Whether an update or delete is about all documents of its filter.</summary>
    public bool IsMany { get; init; }

    public bool IsUpsert { get; init; }

    /// <summary>p50, p90 and p99 in µs; null if the source has no times.</summary>
    public ObservedLatency? Latency { get; init; }
}

/// <summary>Percentiles of the times that operations took on the server, in µs.</summary>
public sealed record ObservedLatency(double P50, double P90, double P99);
