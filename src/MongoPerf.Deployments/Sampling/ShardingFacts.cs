using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Asks a cluster how it holds collections.</summary>
/// <param name="cluster">Running.</param>
/// <param name="settings">The settings as the run's connections have them.</param>
/// <param name="database">The database of the collections.</param>
/// <param name="collections">Which.</param>
public sealed class ShardingFacts(
    ShardedCluster cluster, ConnectionSettings settings, string database, IEnumerable<PlanCollection> collections)
{
    private static readonly int Documents = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "documents");
    private static readonly int Chunks = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "chunks");
    private static readonly int StoredOrphans = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "orphans");
    private static readonly int Data = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "data");
    private static readonly int Storage = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "storage");
    private static readonly int IndexFiles = MetricCatalogue.IndexOf(MetricCatalogue.Shard, "indexes");

    private readonly StoredCollection[] _collections = [.. collections.SelectMany(one => one.Stored)];

    /// <returns>How often indexes have been used so far; nothing where the router can't be asked.</returns>
    public IndexCounters ReadIndexCounters() => Ask(IndexCounters.None, router =>
        IndexCounters.Read(router, database, _collections.Select(one => one.Name)));

    /// <returns>Whether any is sharded; false also where the config server can't be asked.</returns>
    public bool AreSharded()
    {
        try
        {
            using MongoConnection config = OpenConfig();
            return _collections.Any(one => ConfigCatalogue.FindCollection(config, $"{database}.{one.Name}") is not null);
        }
        catch (Exception e) when (SamplerConnection.IsFailure(e))
        {
            return false;
        }
    }

    /// <param name="before">What <see cref="ReadIndexCounters"/> returned when the run began.</param>
    /// <returns>Empty when the config server can't be asked: the run can do without.</returns>
    public IReadOnlyList<CollectionSharding> Read(IndexCounters before)
    {
        IndexCounters indexes = ReadIndexCounters();
        Dictionary<string, BsonDocument> distributions = ReadDistributions();
        try
        {
            using MongoConnection config = OpenConfig();
            return [.. _collections.Select(one => Read(config, one, distributions.GetValueOrDefault($"{database}.{one.Name}")) with
            {
                Indexes = indexes.Since(before, one.Name),
            })];
        }
        catch (Exception e) when (SamplerConnection.IsFailure(e))
        {
            return [];
        }
    }

    private MongoConnection OpenConfig() =>
        MongoConnection.Open(cluster.ConfigAddress, settings with { Dialect = CommandDialect.Plain });

    private CollectionSharding Read(MongoConnection config, StoredCollection collection, BsonDocument? distribution)
    {
        var ns = new SampledNamespace(database, collection.Name);
        BsonDocument? sharded = ConfigCatalogue.FindCollection(config, ns.ToString());
        using var sampler = new ClusterSampler(() => cluster, settings, ns, DateTimeOffset.UtcNow);
        return new CollectionSharding(
            collection.Name,
            collection.Shard is not null,
            [.. sampler.Look().Shards.Select(shard => PartOf(shard, distribution))],
            sharded?.FindDocument("key") is { } key ? ShardKey.Of(key).ToString() : null);
    }

    private static ShardPart PartOf(MetricSample shard, BsonDocument? distribution)
    {
        BsonDocument? part = distribution?.FindDocument("shards")?.Select(one => one.Value.ToDocument())
            .FirstOrDefault(one => one.FindString("shardName") == shard.Member);
        return new ShardPart(shard.Member, Whole(shard.Values[Documents]), Whole(shard.Values[Chunks]))
        {
            DataBytes = Whole(shard.Values[Data]), StorageBytes = Whole(shard.Values[Storage]),
            IndexBytes = Whole(shard.Values[IndexFiles]),
            Orphans = Whole(part?.FindDouble("numOrphanedDocs")) ?? Whole(shard.Values[StoredOrphans]),
            OwnedBytes = Whole(part?.FindDouble("ownedSizeBytes")),
            OrphanedBytes = Whole(part?.FindDouble("orphanedSizeBytes")),
        };
    }

    /// <summary>By namespace; a mongos of 6.0.3 or later tells users with role clusterMonitor.</summary>
    private Dictionary<string, BsonDocument> ReadDistributions() => cluster.Router != RouterKind.Mongos ? [] : Ask([], mongos =>
        mongos.RunCursor("admin", BsonDocument.Of(
            ("aggregate", 1),
            ("pipeline", new[]
            {
                BsonDocument.Of(("$shardedDataDistribution", BsonDocument.Empty)),
                BsonDocument.Of(("$match", BsonDocument.Of(
                    ("ns", BsonDocument.Of(("$in", _collections.Select(one => $"{database}.{one.Name}").ToArray())))))),
            }),
            ("cursor", BsonDocument.Empty)))
            .GroupBy(one => one.FindString("ns") ?? "").ToDictionary(same => same.Key, same => same.First()));

    private T Ask<T>(T otherwise, Func<MongoConnection, T> ask)
    {
        using var router = new SamplerConnection(
            () => cluster.RouterAddress, settings with { Dialect = cluster.Dialect }, longestPause: TimeSpan.FromSeconds(30));
        return router.Ask(otherwise, ask);
    }

    /// <returns>Null also for what no run stores.</returns>
    private static long? Whole(double? value) => value is >= 0 and <= RunJson.Largest ? (long)value : null;
}
