using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments;

/// <summary>Finds the parts of a cluster behind a mongos that was given.</summary>
internal static class MongosParts
{
    /// <summary>Shards need not be reachable from here, so they are not waited for long.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    /// <param name="mongos">Open.</param>
    /// <param name="settings">The settings for connections to the shards' members.</param>
    /// <param name="known">
    /// What an earlier look has found: a shard without a primary just now keeps the one that it had. Null at first.
    /// </param>
    /// <exception cref="DeploymentException">The cluster has no shard.</exception>
    public static ShardedCluster Read(MongoConnection mongos, ConnectionSettings settings, ShardedCluster? known = null)
    {
        if (ReadShards(mongos) is not { } shards)
            return known ?? new ShardedCluster(RouterKind.Mongos, mongos.Address, mongos.Address, []) { Direct = DirectAccess.NotAllowed };
        // Its members are servers themselves, whatever the way to the mongos was. Who takes writes they tell without a login.
        ConnectionSettings brief = settings.ConnectingWithin(Patience).ForHello();
        ShardAddress[] all = [.. shards.DistinctBy(shard => shard.FindString("_id"))
            .Select(shard => ReadShard(shard, brief, known)).OfType<ShardAddress>()];
        return all.Length > 0
            ? new ShardedCluster(RouterKind.Mongos, mongos.Address, mongos.Address, all)
            {
                ConfigMembers = ReadConfigMembers(mongos),
                Direct = known is { Shards.Count: > 0 } ? known.Direct : AskDirectly(all, settings),
            }
            : throw new DeploymentException(Fault.CannotConnect,
                $"the cluster of the mongos at {mongos.Address} has no shards, so it can store nothing\n"
                + "hint:  add one with sh.addShard(\"SET/HOST:PORT\")");
    }

    /// <summary>
    /// A shard without a member that the mongos reaches, or a config server without a primary, would keep commands waiting for 15 s
    /// and more: better said at once.
    /// </summary>
    /// <param name="mongos">Open.</param>
    /// <exception cref="DeploymentException">The message names what is down.</exception>
    public static void RequireShards(MongoConnection mongos)
    {
        // What the mongos itself knows of the members; a user who may not ask learns it from the first command that fails.
        BsonDocument sets =
            mongos.RunUnchecked("admin", BsonDocument.Of(("connPoolStats", 1))).FindDocument("replicaSets") ?? BsonDocument.Empty;
        string[] shards = [.. (ReadShards(mongos) ?? []).Select(shard => (shard.FindString("host") ?? "").Split('/')[0])];
        foreach ((string name, BsonValue set) in sets)
        {
            BsonDocument[] members = [.. (set.ToDocument().FindDocument("hosts") ?? BsonDocument.Empty)
                .Select(host => host.Value.ToDocument())];
            string addresses = string.Join(", ", members.Select(member => member.FindString("addr")));
            bool isConfig = shards.Length > 0 && !shards.Contains(name);
            if (members.Length == 0 || members.Any(member => member.IsTrue("ismaster")))
                continue;
            if (!members.Any(member => member.IsTrue("ok")))
                throw new DeploymentException(
                    Fault.CannotConnect,
                    $"{(isConfig ? "config server" : "shard")} {name} is down: the mongos at {mongos.Address} reaches none of its members "
                    + $"({addresses})\nhint:  start it; a run needs {(isConfig ? "it" : "all shards")}");
            if (isConfig)
                throw new DeploymentException(
                    Fault.CannotConnect,
                    $"config server {name} has no primary: the mongos at {mongos.Address} reaches only secondaries ({addresses})\n"
                    + "hint:  start its other members; without a primary nothing can be created, sharded or moved");
        }
    }

    /// <returns>
    /// Null when they are not told: to this user, or to anybody, by a service that calls itself a mongos. Only one that has none says so.
    /// </returns>
    private static BsonDocument[]? ReadShards(MongoConnection mongos)
    {
        try
        {
            BsonDocument[] shards =
                [.. mongos.RunCursor("config", BsonDocument.Of(("find", "shards"), ("sort", BsonDocument.Of(("_id", 1)))))];
            return shards.Length > 0 || mongos.RunUnchecked("admin", BsonDocument.Of(("listShards", 1))).IsTrue("ok") ? shards : null;
        }
        catch (ServerCommandException)
        {
            return null;
        }
    }

    /// <summary>Whether the run's user may ask shards for their state. The first that answers speaks for all.</summary>
    private static DirectAccess AskDirectly(IEnumerable<ShardAddress> shards, ConnectionSettings settings)
    {
        foreach (ShardAddress shard in shards)
        {
            try
            {
                using MongoConnection connection = MongoConnection.Open(shard.Primary, settings.ConnectingWithin(Patience).ForShard());
                return connection.RunUnchecked("admin", ServerStatusRequest.Counters).IsTrue("ok")
                    ? DirectAccess.Allowed : DirectAccess.NotAllowed;
            }
            catch (AuthenticationFailedException)
            {
                return DirectAccess.NoUser;
            }
            catch (Exception e) when (e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException)
            {
                // Another one may be reachable.
            }
        }

        return DirectAccess.Unreachable;
    }

    /// <param name="shard">
    /// The shard's document in config.shards: its host is "set/host:port,host:port", without the set for a shard that is no replica set.
    /// </param>
    /// <param name="settings">How its members are asked.</param>
    /// <param name="known">What <see cref="Read"/> has found.</param>
    private static ShardAddress? ReadShard(BsonDocument shard, ConnectionSettings settings, ShardedCluster? known)
    {
        string name = shard.FindString("_id") ?? "";
        ServerAddress[] members = MembersIn(shard.FindString("host") ?? "");
        ServerAddress? before = known?.Shards.FirstOrDefault(one => one.Name == name)?.Primary;
        return members.Length == 0 ? null
            : new ShardAddress(name, FindPrimary(members, settings) ?? before ?? members[0], members.Length);
    }

    /// <returns>Empty where the user may not ask, and where a service that calls itself a mongos has none.</returns>
    private static ServerAddress[] ReadConfigMembers(MongoConnection mongos) =>
        MembersIn(mongos.RunUnchecked("admin", BsonDocument.Of(("getShardMap", 1))).FindString("map.config") ?? "");

    /// <param name="hosts">"set/host:port,host:port".</param>
    private static ServerAddress[] MembersIn(string hosts) => [.. hosts[(hosts.IndexOf('/', StringComparison.Ordinal) + 1)..].Split(',')
        .Select(ServerAddress.TryParse).OfType<ServerAddress>()];

    private static ServerAddress? FindPrimary(IReadOnlyList<ServerAddress> members, ConnectionSettings settings)
    {
        foreach (ServerAddress member in members)
        {
            try
            {
                using MongoConnection connection = MongoConnection.Open(member, settings);
                if (connection.Server.IsWritablePrimary)
                    return member;
            }
            catch (Exception e)
                when (e is ConnectionFailedException or WireProtocolException or BsonFormatException or ServerCommandException)
            {
                // Another member may know, or nobody: the mongos finds it all the same.
            }
        }

        return null;
    }
}
