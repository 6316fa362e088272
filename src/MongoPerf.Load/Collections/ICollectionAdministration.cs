using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>
/// How a collection is made, measured and dropped: what one server does by itself, and a sharded deployment in several places.
/// </summary>
/// <remarks>
/// One thread. Each call gets the connection that is open now, to the server or router; what it throws of a server that is away is tried
/// again by the caller, so every step must bear being done twice.
/// </remarks>
public interface ICollectionAdministration
{
    bool Exists(MongoConnection connection);

    /// <summary>What must be there before the marker is written. What can't be done is refused before anything is changed.</summary>
    void Prepare(MongoConnection connection);

    /// <summary>Makes the collection in this shape, or completes one that was left half-made.</summary>
    /// <param name="connection">A connection to the server or router.</param>
    /// <param name="shape">Its indexes and options.</param>
    /// <param name="made">Called as soon as it is there.</param>
    void Create(MongoConnection connection, CollectionShape shape, Action made);

    /// <summary>A collection that is not there is none the worse.</summary>
    void Drop(MongoConnection connection);

    /// <summary>Documents as the server counts them.</summary>
    long Count(MongoConnection connection);

    /// <summary>Documents as the _id index, or a scan, has them.</summary>
    long CountIds(MongoConnection connection);

    /// <summary>
    /// The collection is there, sharded, and holds nothing: an administrator has made it for a run whose user may not shard.
    /// </summary>
    bool IsEmptySharded(MongoConnection connection);

    /// <summary>
    /// Called after a collection and its marker have been dropped: takes back what was prepared, if no marker of a run is left.
    /// </summary>
    /// <param name="connection">A connection to the server or router.</param>
    void TakeBack(MongoConnection connection);

    /// <summary>Forces everything to disk and reads the sizes.</summary>
    /// <param name="connection">A connection to the server or router.</param>
    /// <param name="documents">Known to be stored.</param>
    /// <returns>Null where the server does not tell them, or not this user.</returns>
    SizeResult? ReadSizes(MongoConnection connection, long documents);

    /// <summary>
    /// Documents and keys examined for queries, over all servers that reads with this preference may go to; null where that can't be known.
    /// </summary>
    ExaminedCounters? ReadExamined(MongoConnection connection, ReadPreference preference);

    /// <summary>
    /// Returns when everything acknowledged so far is in the journal of every server that the marker's own write does not reach.
    /// </summary>
    Durability MakeDurable(MongoConnection connection);

    /// <summary>The run has ended its servers cleanly and started them again: that they are other processes now means no crash.</summary>
    void ForgetProcess();
}

/// <summary>What is known of writes that were acknowledged.</summary>
public enum Durability
{
    /// <summary>They are in the journal.</summary>
    Journaled,

    /// <summary>A server was started again since the last time: it may have lost what it had acknowledged.</summary>
    Restarted,

    /// <summary>The user may not have them journaled: who reads them back with read concern majority knows that they are safe.</summary>
    Unproved,
}

/// <summary>What a collection is made with.</summary>
/// <param name="Indexes">The indexes besides <c>_id_</c>, as createIndexes takes them; maybe none.</param>
/// <param name="Options">The options of the command create; null for none. A sharded collection takes none.</param>
public sealed record CollectionShape(IReadOnlyList<BsonDocument> Indexes, BsonDocument? Options = null)
{
    /// <inheritdoc cref="Plans.PlanCollection.IsTimeSeries"/>
    public bool IsTimeSeries => Options?.Find("timeseries") is not null;
}
