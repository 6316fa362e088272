using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>Finds out what a run's user may see and do, and which role gives the rest: the table of docs/connecting.md.</summary>
public static class AccessReader
{
    /// <summary>6.0.3, to be exact; older 6.0 say so by the missing right.</summary>
    private static readonly Version FirstWithDistribution = new(6, 0);

    /// <summary>What a run asks for beside its operations.</summary>
    public static IReadOnlyDictionary<AccessFeature, AccessNeed> Needs { get; } = new OrderedDictionary<AccessFeature, AccessNeed>
    {
        [AccessFeature.Sizes] = new("read", "collStats"),
        [AccessFeature.FreshSizes] = new("hostManager", "fsync") { IsOfCluster = true },
        [AccessFeature.ServerState] = new("clusterMonitor", "serverStatus") { IsOfCluster = true },
        [AccessFeature.ShardState] = new("clusterMonitor", "serverStatus") { IsOfCluster = true, IsForShards = true },
        [AccessFeature.ShardList] = new("clusterMonitor", "find") { IsForShards = true, Database = "config" },
        [AccessFeature.IndexUse] = new("clusterMonitor", "indexStats") { IsForShards = true },
        [AccessFeature.DataDistribution] = new("clusterMonitor", "shardedDataDistribution") { IsOfCluster = true, IsForShards = true },
        [AccessFeature.DurableNotes] = new("clusterManager", "appendOplogNote") { IsOfCluster = true, IsForShards = true },
    };

    /// <param name="rights">Of the run's user.</param>
    /// <param name="cluster">Null for anything but a sharded deployment.</param>
    /// <param name="status">What the server, or the router, answered to serverStatus.</param>
    /// <param name="release">The server's or the router's version; null where it is not known.</param>
    /// <param name="database">Of the run.</param>
    /// <param name="collection">Of the run.</param>
    public static DeploymentAccess Read(
        UserRights rights, ShardedCluster? cluster, BsonDocument status, Version? release, string database, string collection)
    {
        return new DeploymentAccess
        {
            User = rights.User,
            Roles = [.. rights.Roles.Select(role => role.Database is "" or "admin" ? role.Name : $"{role.Name} on {role.Database}")],
            Missing = [.. Needs.Where(one => cluster is not null || !one.Value.IsForShards)
                .Select(one => ProblemOf(one.Key, one.Value) is { } problem
                    ? problem == AccessProblem.NotAllowed
                        ? new MissingAccess(one.Key, problem, one.Value.Role) { Database = one.Value.RoleDatabase(database) }
                        : new MissingAccess(one.Key, problem)
                    : null)
                .OfType<MissingAccess>()],
        };

        AccessProblem? ProblemOf(AccessFeature feature, AccessNeed need) => feature switch
        {
            // What was asked needs no other proof.
            AccessFeature.ServerState => status.IsTrue("ok")
                ? cluster is null && status.FindDocument("wiredTiger") is null ? AccessProblem.Partial : null
                : ServerError.From(status).MeansForbidden ? AccessProblem.NotAllowed : AccessProblem.Unsupported,
            // A mongod that routes has no such stage, and a mongos before 6.0 no such right.
            AccessFeature.DataDistribution when cluster!.Router != RouterKind.Mongos => null,
            AccessFeature.DataDistribution when release is not null && release < FirstWithDistribution => AccessProblem.Unsupported,
            // A router that is none, as some services have it, lists no shards to anybody.
            AccessFeature.ShardList => cluster!.Shards.Count > 0 ? null
                : need.MissingIn(rights, database, collection).Any() ? AccessProblem.NotAllowed : AccessProblem.Unsupported,
            AccessFeature.ShardState => cluster!.Shards.Count == 0 ? ProblemOf(AccessFeature.ShardList, Needs[AccessFeature.ShardList])
                : cluster.Direct switch
            {
                DirectAccess.Allowed => null,
                DirectAccess.NotAllowed => AccessProblem.NotAllowed,
                DirectAccess.NoUser => AccessProblem.NoUser,
                _ => AccessProblem.Unreachable,
            },
            _ => need.MissingIn(rights, database, collection).Any() ? AccessProblem.NotAllowed : null,
        };
    }
}

/// <summary>What something takes: privileges, and the role that gives them.</summary>
/// <param name="Role">The least built-in role that has all of them.</param>
/// <param name="Actions">The privileges, as MongoDB's manual names them, such as insert.</param>
public sealed record AccessNeed(string Role, params IReadOnlyList<string> Actions)
{
    /// <summary>On the server or cluster as a whole; otherwise on the run's database.</summary>
    public bool IsOfCluster { get; init; }

    /// <summary>Of sharded deployments alone.</summary>
    public bool IsForShards { get; init; }

    /// <summary>In place of the run's; null for that one.</summary>
    public string? Database { get; init; }

    /// <summary>The database on which the role is granted.</summary>
    /// <param name="database">Of the run.</param>
    public string RoleDatabase(string database) => IsOfCluster || IsForShards ? "admin" : database;

    /// <param name="rights">Of the run's user.</param>
    /// <param name="database">Of the run.</param>
    /// <param name="collection">Of the run; empty for all of its database.</param>
    /// <returns>The privileges that the user lacks.</returns>
    public IEnumerable<string> MissingIn(UserRights rights, string database, string collection) => Actions.Where(action =>
        !(IsOfCluster ? rights.MayOnCluster(action) : rights.May(action, Database ?? database, collection)));
}
