namespace MongoPerf.Running.Doctor;

/// <summary>What runs do beside reading, what it takes, and what is lost without it.</summary>
public static class RightsChecks
{
    /// <summary>All features, in the order in which they are told.</summary>
    public static IReadOnlyList<Feature> Features { get; } =
    [
        new("reading documents", ["find"], "read"),
        new("loading documents", ["createCollection", "createIndex", "insert", "update"], "readWrite")
        {
            Without = "only existing data can be measured, with 'run' and operations that read",
        },
        new("cleaning up", ["dropCollection", "remove"], "readWrite")
        {
            Without = "what a run loaded stays: 'clean' and a second run into the same collection are refused",
        },
        new("sizes", ["collStats"], "read") { Without = "reports have no sizes of data and indexes" },
        new("counters after a crash", ["validate"], "dbAdmin") { Without = "wrong counts of a server that crashed are not corrected" },
        new("sizes of now", ["fsync"], "hostManager")
        {
            IsOfCluster = true, Without = "sizes are those of the server's last checkpoint, up to a minute old",
        },
        new("the server's state", ["serverStatus"], "clusterMonitor")
        {
            IsOfCluster = true, Without = "reports have no cache, CPU, disk and connections of the server",
        },
        new("the server's settings", ["getCmdLineOpts", "getLog"], "clusterMonitor")
        {
            IsOfCluster = true, Without = "neither its journal setting nor its own warnings are known",
        },
        new("shards", ["find"], "clusterMonitor")
        {
            IsForShards = true, Database = "config", Without = "reports do not know the shards, their chunks and migrations",
        },
        new("sharding", ["enableSharding", "moveChunk", "splitChunk"], "clusterManager")
        {
            IsForShards = true, Without = "no collection can be sharded by a run: only existing ones can be measured",
        },
        new("balancer and chunk size", ["find", "update"], "clusterManager")
        {
            IsForShards = true, Database = "config", Without = "--balancer and --chunk-size are refused",
        },
    ];

    /// <param name="user">The user of the connection.</param>
    /// <param name="database">The database that runs would use.</param>
    /// <param name="isSharded">The deployment is a cluster.</param>
    public static IReadOnlyList<Check> Run(UserPrivileges user, string database, bool isSharded)
    {
        if (user.User is null)
            return [Check.Ok("user", "nobody: the server asks for no login, and everything is allowed")];
        Check who = Check.Ok("user", $"{user.User}: {(user.Roles.Count == 0 ? "no roles" : string.Join(", ", user.Roles))}");
        if (user.Privileges is null)
            return [who, Check.Ok("rights", "the server does not list them")];
        (Feature Feature, string[] Missing)[] lost = [.. Features.Where(feature => isSharded || !feature.IsForShards)
            .Select(feature => (feature, feature.Actions
                .Where(action => !user.May(action, feature.IsOfCluster ? null : feature.Database ?? database)).ToArray()))
            .Where(one => one.Item2.Length > 0)];
        if (lost.Length == 0)
            return [who, Check.Ok("rights", $"all that runs on the database {database} use")];
        return [who, .. lost.Select(one => Describe(one.Feature, one.Missing, database))];
    }

    private static Check Describe(Feature feature, string[] missing, string database)
    {
        string where = feature.IsOfCluster ? "the server" : feature.Database ?? database;
        string found = $"{feature.Name} needs {Words.And(missing)} on {where}";
        string role = feature.IsOfCluster || feature.IsForShards ? "admin" : database;
        string advice = $"grant it: {{role: \"{feature.Role}\", db: \"{role}\"}}";
        return feature.Without is { } without
            ? Check.Warning("rights", $"{found}; without it {without}", advice)
            : Check.Problem("rights", $"{found}; without it nothing can be measured", $"{advice}, or choose another database with --db");
    }

    /// <summary>Something that runs do.</summary>
    /// <param name="Name">The name of a line.</param>
    /// <param name="Actions">Privileges that it takes, all of them.</param>
    /// <param name="Role">The least built-in role that has them.</param>
    public sealed record Feature(string Name, IReadOnlyList<string> Actions, string Role)
    {
        /// <summary>The right is one on the server as a whole, not on a database.</summary>
        public bool IsOfCluster { get; init; }

        /// <summary>Only where there are shards.</summary>
        public bool IsForShards { get; init; }

        /// <summary>The database that takes the place of the run's; null for that one.</summary>
        public string? Database { get; init; }

        /// <summary>What is lost; null for everything.</summary>
        public string? Without { get; init; }
    }
}
