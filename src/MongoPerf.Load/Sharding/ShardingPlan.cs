using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>How a run's collection is to lie on a cluster.</summary>
/// <param name="Cluster">Where its parts are now; asked before each use.</param>
/// <param name="Connections">The connections to config server and shards, which are spoken to in MongoDB's own words.</param>
/// <param name="Settings">The user's.</param>
/// <param name="TargetDocuments">How many documents the collection has at the end, by which ranges are cut.</param>
public sealed record ShardingPlan(
    Func<ShardedCluster> Cluster, ConnectionSettings Connections, ShardingSettings Settings, long TargetDocuments)
{
    /// <summary>Makes the collection's documents; null for those of GridFS, which are not cut beforehand.</summary>
    public DocumentTemplate? Documents { get; init; }

    /// <summary>The key that takes the place of the settings' key; null for the settings'.</summary>
    public ShardKey? Key { get; init; }

    /// <summary>The only shard that is to hold the collection: a place in the cluster's list, 0-based; null spreads it.</summary>
    public int? OnlyShard { get; init; }

    /// <summary>The chunks that it is cut into, in place of those of the settings; null for those.</summary>
    public int? Presplit { get; init; }

    /// <summary>Ranges of the key that have a shard of their own; with any, nothing else is cut.</summary>
    public IReadOnlyList<ZoneRange> Zones { get; init; } = [];

    /// <summary>How many chunks there are to be before documents come; null for the server's own number.</summary>
    internal int? Chunks => OnlyShard is not null || Zones.Count > 0 ? null : Presplit ?? Settings.Presplit;

    /// <summary>The id of the run that makes it, by which the cluster knows who changed its settings.</summary>
    public string Run { get; init; } = "";

    /// <summary>Hears what takes long, a line at a time.</summary>
    public Action<string> Notify { get; init; } = _ => { };
}
