namespace MongoPerf.Deployments.Limits;

/// <summary>How large a cluster that is started on one machine may be.</summary>
public static class ClusterLimits
{
    public const int MostShards = 64;

    /// <summary>How many members a replica set that stands by itself has unless another number is named.</summary>
    public const int UsualMembers = 3;

    /// <summary>The most members of such a set, and of each shard's.</summary>
    public const int MostMembers = 3;

    /// <summary>The most config servers of a sharded cluster.</summary>
    public const int MostConfigServers = 3;

    /// <summary>What an arbiter breaks the tie of.</summary>
    public const int MembersWithArbiter = 2;

    /// <summary>The most CPUs that a server may be confined to.</summary>
    public const int MostCpus = 4096;
}
