using MongoPerf.Storage;

namespace MongoPerf.Reports.Access;

/// <summary>Says in a line what a run's user could see and do, what it could not, and what gives it.</summary>
public static class AccessText
{
    private const int MostRoles = 3;

    /// <summary>
    /// Such as "3 shards behind 2 mongos, 8.0.4; as 'loader' (readWrite on shop): sizes by shard yes, server state by shard no (needs a
    /// user on the shards: --shard-user)".
    /// </summary>
    /// <returns>Null where there is nothing to say: one server, or replica set, that asks for no login and answers everything.</returns>
    public static string? Of(DeploymentInfo deployment)
    {
        if (deployment.Access is not { } access || (access is { Routers: null, User: null, Missing.Count: 0 }))
            return null;
        string who = access.User is { } user
            ? Words.Of($"as '{user}' ({(access.Roles.Count > 0 ? RolesOf(access) : Words.Of("no role"))})")
            : Words.Of("without a login");
        string features = string.Join(", ", Features(access, deployment.Topology == Topology.Sharded));
        string shape = access.Routers is { } routers ? Words.Of($"{Shape(deployment, routers)}, {Words.Of(deployment.VersionText)}; ") : "";
        return Words.Of($"{shape}{who}: {features}");
    }

    private static string Shape(DeploymentInfo deployment, int routers) => deployment.ShardCount is { } shards
        ? Words.Of($"{Words.Counted(shards, "shard")} behind {routers} mongos")
        : Words.Of($"a cluster behind {routers} mongos");

    private static string RolesOf(DeploymentAccess access) => access.Roles.Count <= MostRoles
        ? string.Join(", ", access.Roles)
        : Words.Of($"{string.Join(", ", access.Roles.Take(MostRoles))} and {access.Roles.Count - MostRoles} more");

    private static IEnumerable<string> Features(DeploymentAccess access, bool isSharded)
    {
        MissingAccess? sizes = access.FindMissing(AccessFeature.Sizes);
        MissingAccess? list = access.FindMissing(AccessFeature.ShardList);
        yield return YesOrNo(isSharded && list is null ? Words.Of("sizes by shard") : Words.Of("collection sizes"), sizes);
        if (sizes is null && access.FindMissing(AccessFeature.FreshSizes) is { } fresh)
            yield return Words.Of($"sizes as of the server's last checkpoint (fsync {Why(fresh)})");
        MissingAccess? state = access.FindMissing(AccessFeature.ServerState);
        if (!isSharded)
            yield return YesOrNo(Words.Of("server state"), state);
        else if (state is not null)
            yield return YesOrNo(Words.Of("the router's state"), state);
        if (list is not null)
            yield return YesOrNo(Words.Of("shards, their state, chunks and migrations"), list);
        else if (isSharded)
            yield return YesOrNo(Words.Of("server state by shard"), access.FindMissing(AccessFeature.ShardState));
        (MissingAccess? indexes, MissingAccess? bytes) =
            (access.FindMissing(AccessFeature.IndexUse), access.FindMissing(AccessFeature.DataDistribution));
        foreach (string details in ShardDetails(indexes, bytes))
            yield return details;
        if (access.FindMissing(AccessFeature.DurableNotes) is { } notes)
            yield return Words.Of($"checkpoints read back (appendOplogNote {Why(notes)})");
    }

    private static IEnumerable<string> ShardDetails(MissingAccess? indexes, MissingAccess? bytes)
    {
        if (indexes is not null && bytes is not null && indexes.Why == bytes.Why)
            return [YesOrNo(Words.Of("use of indexes and orphaned bytes by shard"), indexes)];
        return
        [
            .. indexes is null ? [] : (string[])[YesOrNo(Words.Of("use of indexes by shard"), indexes)],
            .. bytes is null ? [] : (string[])[YesOrNo(Words.Of("orphaned bytes by shard"), bytes)],
        ];
    }

    private static string YesOrNo(string what, MissingAccess? missing) => missing switch
    {
        null => Words.Of($"{what} yes"),
        { Why: AccessProblem.Partial } => Words.Of($"{what} in part (no cache, checkpoints or tickets)"),
        _ => Words.Of($"{what} no ({Why(missing)})"),
    };

    private static string Why(MissingAccess missing) => missing switch
    {
        { Why: AccessProblem.NoUser } => Words.Of("needs a user on the shards: --shard-user"),
        { Why: AccessProblem.Unreachable } => Words.Of("the shards can't be reached from here"),
        { Role: { } role, Database: { } database and not "admin" } => Words.Of($"needs role {role} on {database}"),
        { Role: { } role } => Words.Of($"needs role {role}"),
        _ => Words.Of("the server does not tell"),
    };
}
