using MongoPerf.Deployments;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Doctor;

/// <summary>What runs do beside reading, what it takes, and what is lost without it.</summary>
public static class RightsChecks
{
    /// <summary>All features, in the order in which they are told.</summary>
    public static IReadOnlyList<Feature> Features { get; } =
    [
        new("reading documents", new AccessNeed("read", "find"), null),
        new("loading documents", new AccessNeed("readWrite", "createCollection", "createIndex", "insert", "update"),
            "only existing data can be measured, with 'run' and operations that read"),
        new("cleaning up", new AccessNeed("readWrite", "dropCollection", "remove"),
            "what a run loaded stays: 'clean' and a second run into the same collection are refused"),
        new("sizes", AccessReader.Needs[AccessFeature.Sizes], "reports have no sizes of data and indexes"),
        new("counters after a crash", new AccessNeed("dbAdmin", "validate"), "wrong counts of a server that crashed are not corrected"),
        new("sizes of now", AccessReader.Needs[AccessFeature.FreshSizes],
            "sizes are those of the server's last checkpoint, up to a minute old"),
        new("the server's state", AccessReader.Needs[AccessFeature.ServerState],
            "reports have no cache, CPU, disk and connections of the server"),
        new("the server's settings", new AccessNeed("clusterMonitor", "getCmdLineOpts", "getLog") { IsOfCluster = true },
            "neither its journal setting nor its own warnings are known"),
        new("shards", AccessReader.Needs[AccessFeature.ShardList], "reports do not know the shards, their chunks and migrations"),
        new("sharding", new AccessNeed("clusterManager", "enableSharding", "moveChunk", "splitChunk") { IsForShards = true },
            "no collection can be sharded by a run: only existing ones can be measured"),
        new("balancer and chunk size", new AccessNeed("clusterManager", "find", "update") { IsForShards = true, Database = "config" },
            "--balancer and --chunk-size are refused"),
        new("durable checkpoints", AccessReader.Needs[AccessFeature.DurableNotes],
            "a growth reads each step's documents back to know that they are there"),
        new("use of indexes by shard", AccessReader.Needs[AccessFeature.IndexUse], "reports do not know which index each shard used"),
        new("orphaned bytes by shard", AccessReader.Needs[AccessFeature.DataDistribution],
            "reports do not know what migrations have left behind"),
    ];

    /// <param name="rights">The rights of the connection's user.</param>
    /// <param name="database">The database that runs would use.</param>
    /// <param name="isSharded">The deployment is a cluster.</param>
    /// <param name="direct">What came of asking its shards; null for anything but a cluster whose shards are known.</param>
    public static IReadOnlyList<Check> Run(UserRights rights, string database, bool isSharded, DirectAccess? direct = null)
    {
        Check[] shards = [.. new[] { DescribeShards(direct) }.OfType<Check>()];
        if (rights.User is null)
            return [Check.Ok("user", "nobody: the server asks for no login, and everything is allowed"), .. shards];
        string roles = string.Join(", ", rights.Roles.Select(role => $"{role.Name} on {role.Database}"));
        Check who = Check.Ok("user", $"{rights.User}: {(roles.Length == 0 ? "no roles" : roles)}");
        if (!rights.AreKnown)
            return [who, Check.Ok("rights", "the server does not list them"), .. shards];
        Check[] lost = [.. Features.Where(feature => isSharded || !feature.Need.IsForShards)
            .Select(feature => Describe(feature, [.. feature.Need.MissingIn(rights, database, "")], database)).OfType<Check>(), .. shards];
        return [who, .. lost.Length > 0 ? lost : [Check.Ok("rights", $"all that runs on the database {database} use")]];
    }

    /// <summary>The state of the shards, as a run asks each of them for it; null where it gets it.</summary>
    private static Check? DescribeShards(DirectAccess? direct)
    {
        const string Without = "without it reports have no cache, CPU and disk of the shards";
        return direct switch
        {
            DirectAccess.NotAllowed => Check.Warning("shards", $"server state by shard needs serverStatus on each shard; {Without}",
                "grant it there: {role: \"clusterMonitor\", db: \"admin\"}"),
            DirectAccess.NoUser => Check.Warning("shards", "server state by shard needs a user on each shard, since a cluster's users do "
                + $"not exist there; {Without}",
                "create one on each shard with role clusterMonitor, and name it to runs with --shard-user"),
            DirectAccess.Unreachable => Check.Warning("shards", $"server state by shard: no shard can be reached from here; {Without}",
                "let this machine connect to the addresses in config.shards"),
            _ => null,
        };
    }

    private static Check? Describe(Feature feature, string[] missing, string database)
    {
        if (missing.Length == 0)
            return null;
        AccessNeed need = feature.Need;
        string where = need.IsOfCluster ? "the server" : need.Database ?? database;
        string found = $"{feature.Name} needs {Words.And(missing)} on {where}";
        string advice = $"grant it: {{role: \"{need.Role}\", db: \"{need.RoleDatabase(database)}\"}}";
        return feature.Without is { } without
            ? Check.Warning("rights", $"{found}; without it {without}", advice)
            : Check.Problem("rights", $"{found}; without it nothing can be measured", $"{advice}, or choose another database with --db");
    }

    /// <summary>Something that runs do.</summary>
    /// <param name="Name">The name of a line.</param>
    /// <param name="Need">What it takes.</param>
    /// <param name="Without">What is lost without it; null for everything.</param>
    public sealed record Feature(string Name, AccessNeed Need, string? Without);
}
