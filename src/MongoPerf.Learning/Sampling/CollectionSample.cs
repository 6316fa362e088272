using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Sampling;

/// <summary>A collection as its server describes it, and some of its documents.</summary>
/// <param name="Name">Its name, without the database.</param>
/// <param name="Count">Its documents; of a time series its measurements.</param>
/// <param name="Documents">
/// Those that were read, or, of an empty one, that had been inserted before, in the order in which they were inserted if
/// <paramref name="AreInOrder"/>.
/// </param>
/// <param name="AreInOrder">Their order is that of insertion.</param>
public sealed record CollectionSample(string Name, long Count, IReadOnlyList<BsonDocument> Documents, bool AreInOrder)
{
    /// <summary>Some that were inserted one after the other, where the others are not all of them; empty where that isn't known.</summary>
    public IReadOnlyList<BsonDocument> Consecutive { get; init; } = [];

    /// <summary>The options it was created with.</summary>
    public BsonDocument Options { get; init; } = BsonDocument.Empty;

    /// <summary>Its indexes but the one on <c>_id</c>, as listIndexes gives them.</summary>
    public IReadOnlyList<BsonDocument> Indexes { get; init; } = [];

    /// <summary>What it occupies; null where the user may not see it, or it lies on several shards.</summary>
    public SizeResult? Sizes { get; init; }

    /// <summary>Null where it is not sharded, or config can't be read.</summary>
    public BsonDocument? ShardKey { get; init; }

    /// <summary>Ranges that belong to a zone.</summary>
    public IReadOnlyList<SampledZone> Zones { get; init; } = [];

    /// <summary>What could not be read, a sentence each.</summary>
    public IReadOnlyList<string> NotLearned { get; init; } = [];

    /// <summary>All documents were read.</summary>
    public bool IsWhole => Documents.Count >= Count;
}

/// <summary>A range of a shard key that belongs to a zone.</summary>
/// <param name="From">Its lower bound, with all fields of the key.</param>
/// <param name="To">Its upper bound, which does not belong to it.</param>
/// <param name="Shards">Places of the zone's shards, from 1, in the order of their names.</param>
public sealed record SampledZone(BsonDocument From, BsonDocument To, IReadOnlyList<int> Shards);

/// <summary>A database as it was sampled.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Collections">By name.</param>
/// <param name="Cost">What was read for it.</param>
/// <param name="Member">The server that was asked.</param>
/// <param name="Version">That server's version; empty if it does not say.</param>
/// <param name="NotLearned">What could not be read, a sentence each.</param>
public sealed record DatabaseSample(
    string Name, IReadOnlyList<CollectionSample> Collections, SamplingCost Cost, string Member, string Version,
    IReadOnlyList<string> NotLearned);
