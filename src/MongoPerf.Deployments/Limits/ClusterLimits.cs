namespace MongoPerf.Deployments.Limits;

/// <summary>How large a cluster that is started on one machine may be.</summary>
public static class ClusterLimits
{
    public const int MostShards = 64;

    /// <summary>Of a replica set that stands by itself.</summary>
    public const int UsualMembers = 3;

    /// <summary>Of such a set, and of each shard's.</summary>
    public const int MostMembers = 3;

    /// <summary>Of a sharded cluster.</summary>
    public const int MostConfigServers = 3;

    /// <summary>What an arbiter breaks the tie of.</summary>
    public const int MembersWithArbiter = 2;

    /// <summary>That a server may be confined to.</summary>
    public const int MostCpus = 4096;
}
