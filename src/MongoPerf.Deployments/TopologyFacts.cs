using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>How a deployment is made up, as its servers say.</summary>
/// <param name="Shards">In the cluster's list of shards; null when it is no cluster.</param>
/// <param name="Members">Of the replica set, or of the largest shard; null for anything else.</param>
/// <param name="Auth">The server knows a user on this connection; null when it does not say.</param>
internal sealed record TopologyFacts(int? Shards, int? Members, bool? Auth)
{
    /// <param name="connection">To the server or router.</param>
    /// <param name="isSharded">It routes.</param>
    public static TopologyFacts Read(MongoConnection connection, bool isSharded)
    {
        IReadOnlyList<BsonDocument> shards = isSharded ? [.. connection.RunCursor("config", BsonDocument.Of(("find", "shards")))] : [];
        return new(
            isSharded ? shards.Count : null,
            isSharded ? shards.Select(CountMembers).DefaultIfEmpty(1).Max() : CountMembers(connection.Server),
            ReadLogin(connection));
    }

    // "set/host:port,host:port"; a shard that is no replica set is one host.
    private static int CountMembers(BsonDocument shard) => (shard.FindString("host") ?? "").Split(',').Length;

    private static int? CountMembers(HelloReply server) => server.ReplicaSetName is null ? null
        : ((string[])["hosts", "passives", "arbiters"]).Sum(list => server.Document.FindDocument(list)?.Count() ?? 0);

    private static bool? ReadLogin(MongoConnection connection)
    {
        BsonDocument reply = connection.RunUnchecked("admin", BsonDocument.Of(("connectionStatus", 1)));
        return reply.FindDocument("authInfo.authenticatedUsers") is { } users ? users.Any() : null;
    }
}
