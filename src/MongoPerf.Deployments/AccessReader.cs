using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>Finds out what a run's user may see and do, and which role gives the rest: the table of docs/connecting.md.</summary>
public static class AccessReader
{
    /// <summary>What a run asks for beside its operations, with the privilege and the built-in role for it.</summary>
    public static IReadOnlyList<AccessNeed> Needs { get; } =
    [
        new(AccessFeature.Sizes, "collStats", "collStats", "read"),
        new(AccessFeature.FreshSizes, "fsync", "fsync", "hostManager") { IsOfCluster = true },
        new(AccessFeature.ServerState, "serverStatus", "serverStatus", "clusterMonitor") { IsOfCluster = true },
        new(AccessFeature.ShardState, "serverStatus", "serverStatus", "clusterMonitor") { IsOfCluster = true, IsForShards = true },
        new(AccessFeature.ShardList, "find in config", "find", "clusterMonitor") { IsForShards = true, Database = "config" },
        new(AccessFeature.DurableNotes, "appendOplogNote", "appendOplogNote", "clusterManager")
        {
            IsOfCluster = true, IsForShards = true,
        },
    ];

    /// <param name="rights">Of the run's user.</param>
    /// <param name="cluster">Null for anything but a sharded deployment.</param>
    /// <param name="status">What the server, or the router, answered to serverStatus.</param>
    /// <param name="database">Of the run.</param>
    /// <param name="collection">Of the run.</param>
    public static DeploymentAccess Read(
        UserRights rights, ShardedCluster? cluster, BsonDocument status, string database, string collection)
    {
        return new DeploymentAccess
        {
            User = rights.User, Roles = rights.Roles,
            Missing = [.. Needs.Where(need => cluster is not null || !need.IsForShards)
                .Select(need => ProblemOf(need) is { } problem
                    ? new MissingAccess(need.Feature, problem, problem == AccessProblem.NotAllowed ? need.Role : null) : null)
                .OfType<MissingAccess>()],
        };

        AccessProblem? ProblemOf(AccessNeed need) => need.Feature switch
        {
            // What was asked needs no other proof.
            AccessFeature.ServerState => status.IsTrue("ok") ? null
                : ServerError.From(status).MeansForbidden ? AccessProblem.NotAllowed : AccessProblem.Unsupported,
            AccessFeature.ShardList => cluster!.Shards.Count > 0 ? null : AccessProblem.NotAllowed,
            AccessFeature.ShardState => cluster!.Direct switch
            {
                DirectAccess.Allowed => null,
                DirectAccess.NotAllowed => AccessProblem.NotAllowed,
                DirectAccess.NoUser => AccessProblem.NoUser,
                _ => AccessProblem.Unreachable,
            },
            _ => (need.IsOfCluster ? rights.MayOnCluster(need.Action) : rights.May(need.Action, database, collection))
                ? null : AccessProblem.NotAllowed,
        };
    }
}

/// <summary>Something that a run asks for and can do without.</summary>
/// <param name="Feature">What it is for.</param>
/// <param name="Command">That is sent.</param>
/// <param name="Action">The privilege that the command takes.</param>
/// <param name="Role">The least built-in role that has it.</param>
public sealed record AccessNeed(AccessFeature Feature, string Command, string Action, string Role)
{
    /// <summary>On the server or cluster as a whole; otherwise on the run's database.</summary>
    public bool IsOfCluster { get; init; }

    /// <summary>Of sharded deployments alone.</summary>
    public bool IsForShards { get; init; }

    /// <summary>In place of the run's; null for that one.</summary>
    public string? Database { get; init; }
}
