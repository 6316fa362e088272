using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Asks a cluster how it holds collections.</summary>
public static class ShardingFacts
{
    private static readonly int Documents = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "documents");
    private static readonly int Chunks = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "chunks");

    /// <param name="cluster">Running.</param>
    /// <param name="settings">The settings as the run's connections have them.</param>
    /// <param name="database">The database of the collections.</param>
    /// <param name="collections">Which.</param>
    /// <returns>Empty when the config server can't be asked: the run can do without.</returns>
    public static IReadOnlyList<CollectionSharding> Read(
        ShardedCluster cluster, ConnectionSettings settings, string database, IEnumerable<PlanCollection> collections)
    {
        try
        {
            using MongoConnection config = MongoConnection.Open(cluster.ConfigAddress, settings with { Dialect = CommandDialect.Plain });
            return [.. collections.SelectMany(one => one.Stored)
                .Select(one => Read(config, cluster, settings, new SampledNamespace(database, one.Name), one.Shard is not null))];
        }
        catch (Exception e) when (SamplerConnection.IsFailure(e))
        {
            return [];
        }
    }

    private static CollectionSharding Read(
        MongoConnection config, ShardedCluster cluster, ConnectionSettings settings, SampledNamespace collection, bool isPlaced)
    {
        BsonDocument? sharded = ConfigCatalogue.FindCollection(config, collection.ToString());
        using var sampler = new ClusterSampler(() => cluster, settings, collection, DateTimeOffset.UtcNow);
        return new CollectionSharding(
            collection.Collection,
            isPlaced,
            [.. sampler.Look().Shards
                .Select(shard => new ShardPart(shard.Member, Whole(shard.Values[Documents]), Whole(shard.Values[Chunks])))],
            sharded?.FindDocument("key") is { } key ? ShardKey.Of(key).ToString() : null);
    }

    private static long? Whole(double value) => double.IsNaN(value) ? null : (long)value;
}
