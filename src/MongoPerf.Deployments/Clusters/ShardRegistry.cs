using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Clusters;

/// <summary>
/// Makes shards known to a cluster: through mongos by its own commands, else on the config server by those that mongos would send it.
/// </summary>
/// <param name="router">Which of the two.</param>
/// <param name="address">The address of the mongos, or of the config server's primary.</param>
/// <param name="requireRunning">Throws when a process of the cluster has ended: nobody waits for that one. Null where nobody knows.</param>
/// <param name="security">The security of the cluster's servers; null when anybody may connect, in plain text.</param>
internal sealed class ShardRegistry(RouterKind router, ServerAddress address, Action? requireRunning = null, SecurityFiles? security = null)
{
    private const int CommandNotFound = 59;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private readonly ConnectionSettings _settings = ReplicaSet.Quick(security, isMongos: router == RouterKind.Mongos);

    private static BsonDocument Majority => BsonDocument.Of(("w", "majority"));

    /// <summary>
    /// Sets the cluster's default write concern to w: 1, unless it has one. A set with an arbiter has that default by itself, and from 5.0
    /// on such a shard is refused by a cluster that was not told the same (MongoDB's manual, addShard and setDefaultRWConcern). Before 4.4
    /// there is nothing to set.
    /// </summary>
    /// <exception cref="DeploymentException">Still refused after a minute, or a process has ended.</exception>
    public void EnsureDefaultWriteConcern() => Repeat("can't set the cluster's default write concern", connection =>
    {
        BsonDocument known = connection.RunUnchecked("admin", BsonDocument.Of(("getDefaultRWConcern", 1)));
        // From 5.0 on the reply has a default that nobody set, and says so.
        bool hasOne = known.FindDocument("defaultWriteConcern") is not null
            && known.FindString("defaultWriteConcernSource") is null or "global";
        if (!hasOne && ServerError.From(known) is not { Code: CommandNotFound })
        {
            BsonDocument one = BsonDocument.Of(("w", 1));
            connection.RunCommand(
                "admin", BsonDocument.Of(("setDefaultRWConcern", 1), ("defaultWriteConcern", one), ("writeConcern", Majority)));
        }

        return true;
    });

    /// <summary>Adds a replica set as a shard of that name, unless it is one already.</summary>
    /// <exception cref="DeploymentException">Still refused after a minute, or a process has ended.</exception>
    public void Add(string name, IReadOnlyList<ServerAddress> members) => Repeat($"can't add shard {name}", connection =>
    {
        if (ReadNames(connection).Contains(name))
            return true;
        string set = $"{name}/{string.Join(',', members)}";
        connection.RunLongCommand("admin", router == RouterKind.Mongos
            ? BsonDocument.Of(("addShard", set), ("name", name))
            : BsonDocument.Of(("_configsvrAddShard", set), ("name", name), ("writeConcern", Majority)));
        return true;
    });

    /// <summary>
    /// Teaches a mongod where the cluster's config server is, by which it can route: it is made a shard and at once no shard again, so that
    /// it never owns data.
    /// </summary>
    /// <param name="name">Its replica set.</param>
    /// <param name="member">Its one member, which takes writes.</param>
    /// <exception cref="DeploymentException">Still refused after a minute, or a process has ended.</exception>
    public void Introduce(string name, ServerAddress member)
    {
        if (!KnowsItsCluster(member))
            Add(name, [member]);
        // The first call begins to drain it, the next finds nothing to drain.
        Repeat($"can't remove router {member} from the shards", connection =>
        {
            if (!ReadNames(connection).Contains(name))
                return true;
            BsonDocument reply = connection.RunLongCommand(
                "admin", BsonDocument.Of(("_configsvrRemoveShard", name), ("writeConcern", Majority)));
            return reply.FindString("state") == "completed";
        });
    }

    /// <summary>Names of all shards, as the cluster has them.</summary>
    private IReadOnlyList<string> ReadNames(MongoConnection connection)
    {
        if (router == RouterKind.Mongos)
        {
            BsonDocument shards =
                connection.RunCommand("admin", BsonDocument.Of(("listShards", 1))).FindDocument("shards") ?? BsonDocument.Empty;
            return [.. shards.Select(shard => shard.Value.ToDocument().FindString("_id") ?? "")];
        }

        BsonDocument find = BsonDocument.Of(("find", "shards"), ("readConcern", BsonDocument.Of(("level", "majority"))));
        return [.. connection.RunCursor("config", find).Select(shard => shard.FindString("_id") ?? "")];
    }

    // What a config server writes into a member of a new shard; it stays when that is no shard any more.
    private bool KnowsItsCluster(ServerAddress member)
    {
        using MongoConnection connection = MongoConnection.Open(member, _settings);
        BsonDocument find = BsonDocument.Of(("find", "system.version"), ("filter", BsonDocument.Of(("_id", "shardIdentity"))),
            ("limit", 1), ("singleBatch", true));
        return connection.RunCursor("admin", find).Any();
    }

    private void Repeat(string problem, Func<MongoConnection, bool> action) => Startup.Await(Limit, requireRunning, () =>
    {
        using MongoConnection connection = MongoConnection.Open(address, _settings);
        return action(connection);
    }, last => $"{problem} after {Limit.TotalSeconds:0} s: {last ?? "still in progress"}");
}
