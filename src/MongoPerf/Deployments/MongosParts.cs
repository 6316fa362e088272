using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments;

/// <summary>Finds the parts of a cluster behind a mongos that was given.</summary>
internal static class MongosParts
{
    /// <summary>Shards need not be reachable from here, so they are not waited for long.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    /// <param name="mongos">Open.</param>
    /// <param name="settings">For connections to the shards' members.</param>
    public static ShardedCluster Read(MongoConnection mongos, ConnectionSettings settings)
    {
        // Its members are servers themselves, whatever the way to the mongos was.
        ConnectionSettings brief = settings.ConnectingWithin(Patience) with { IsLoadBalanced = false };
        IEnumerable<BsonDocument> shards = mongos.RunCursor("config", BsonDocument.Of(("find", "shards"), ("sort", BsonDocument.Of(("_id", 1)))));
        return new ShardedCluster(RouterKind.Mongos, mongos.Address, mongos.Address, [.. shards.Select(shard => ReadShard(shard, brief)).OfType<ShardAddress>()]);
    }

    /// <param name="shard">Of config.shards: its host is "set/host:port,host:port", of a shard that is no replica set without the set.</param>
    /// <param name="settings">How its members are asked.</param>
    private static ShardAddress? ReadShard(BsonDocument shard, ConnectionSettings settings)
    {
        string hosts = shard.FindString("host") ?? "";
        ServerAddress[] members = [.. hosts[(hosts.IndexOf('/', StringComparison.Ordinal) + 1)..].Split(',').Select(ServerAddress.TryParse).OfType<ServerAddress>()];
        return members.Length == 0 ? null : new ShardAddress(shard.FindString("_id") ?? "", FindPrimary(members, settings) ?? members[0]);
    }

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
            catch (Exception e) when (e is ConnectionFailedException or WireProtocolException or BsonFormatException or ServerCommandException)
            {
                // Another member may know, or nobody: the mongos finds it all the same.
            }
        }

        return null;
    }
}
