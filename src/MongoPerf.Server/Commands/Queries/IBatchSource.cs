using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// What a cursor takes its documents from: a find, or a pipeline. One thread at a time, inside the collection's read lock.
/// </summary>
internal interface IBatchSource : IDisposable
{
    /// <summary>Writes documents into the open array, until there are enough or the reply is full.</summary>
    /// <param name="body">Stands inside the array.</param>
    /// <param name="batchSize">Documents at most.</param>
    /// <returns>True when there may be more.</returns>
    bool WriteBatch(BsonWriter body, long batchSize);

    /// <summary>Other collections that it reads; null for a find.</summary>
    ForeignCollections? Foreign { get; }

    /// <summary>So far: index entries and documents looked at, documents returned.</summary>
    (long Keys, long Documents, long Returned) Examined { get; }
}
