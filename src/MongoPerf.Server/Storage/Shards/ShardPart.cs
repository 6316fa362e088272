namespace MongoPerf.Server.Storage.Shards;

/// <summary>The documents of one shard, for what has to look like that shard's own work.</summary>
internal sealed record ShardPart(ShardMap Map, int Shard)
{
    public bool Has(ReadOnlySpan<byte> document) => Map.OwnerOf(document) == Shard;
}
