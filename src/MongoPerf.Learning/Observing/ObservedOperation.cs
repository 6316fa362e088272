using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>An operation that a deployment did, or several alike of which its source tells only how many there were.</summary>
/// <param name="Seconds">When it began, in seconds since the beginning of 1970 (UTC).</param>
/// <param name="Database">Its database.</param>
/// <param name="Collection">Its collection, without the database.</param>
/// <param name="Command">
/// The command as a client sends it (<c>{find: "orders", filter: …}</c>), with lists of documents (updates, deletes) inside it. Its values
/// never leave the process.
/// </param>
/// <param name="Microseconds">How long it took on the server; null if the source doesn't tell.</param>
/// <param name="Count">How many there were, at least 1.</param>
public sealed record ObservedOperation(
    double Seconds, string Database, string Collection, BsonDocument Command, double? Microseconds = null, long Count = 1);
