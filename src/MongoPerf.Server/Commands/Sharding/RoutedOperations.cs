using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>How many shards operations asked, as a mongos counts it in numHostsTargeted. Any thread.</summary>
internal sealed class RoutedOperations
{
    private static readonly string[] Commands = ["find", "insert", "update", "delete", "aggregate"];
    private static readonly string[] Kinds = ["allShards", "manyShards", "oneShard", "unsharded"];
    private readonly long[] _counts = new long[Commands.Length * Kinds.Length];

    /// <param name="command">One of those that are counted; others only count as work of their shards.</param>
    /// <param name="map">Null for a collection that is not sharded.</param>
    /// <param name="asked">The shards.</param>
    public void Count(string command, ShardMap? map, bool[] asked)
    {
        int count = asked.AsSpan().Count(true);
        int kind = map == null ? 3 : count <= 1 ? 2 : count >= map.Owners.AsSpan().Count(true) ? 0 : 1;
        int number = Array.IndexOf(Commands, command);
        if (number >= 0)
            Interlocked.Increment(ref _counts[(number * Kinds.Length) + kind]);
        for (int shard = 0; shard < asked.Length && map != null; shard++)
        {
            if (asked[shard])
                map.CountWork(shard, isWrite: command is not ("find" or "aggregate" or "count" or "distinct"));
        }
    }

    public void Write(BsonWriter body)
    {
        body.StartDocument("numHostsTargeted"u8);
        for (int number = 0; number < Commands.Length; number++)
        {
            body.StartDocument(System.Text.Encoding.UTF8.GetBytes(Commands[number]));
            for (int kind = 0; kind < Kinds.Length; kind++)
            {
                long count = Volatile.Read(ref _counts[(number * Kinds.Length) + kind]);
                body.WriteInt64(System.Text.Encoding.UTF8.GetBytes(Kinds[kind]), count);
            }

            body.End();
        }

        body.End();
    }
}
