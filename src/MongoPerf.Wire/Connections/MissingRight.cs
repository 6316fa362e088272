using System.Text.RegularExpressions;

namespace MongoPerf.Wire.Connections;

/// <summary>Which role a user lacks whom a server has refused something, from the words in which it did.</summary>
internal static partial class MissingRight
{
    private const string Admin = "admin";

    // The least built-in role that has a command's privilege. Source: MongoDB's manual, "Built-In Roles".
    private static readonly Dictionary<string, string[]> CommandsOfRoles = new(StringComparer.Ordinal)
    {
        ["read"] =
        [
            "find", "aggregate", "count", "distinct", "getMore", "collStats", "dbStats", "listCollections", "listIndexes", "explain",
        ],
        ["readWrite"] =
        [
            "insert", "update", "remove", "delete", "findAndModify", "findandmodify", "bulkWrite", "create", "createCollection",
            "createIndexes", "createIndex", "drop", "dropCollection", "dropIndexes", "dropIndex",
        ],
        ["dbAdmin"] = ["compact", "validate", "profile", "collMod", "dropDatabase", "enableProfiler"],
        ["clusterMonitor"] =
        [
            "serverStatus", "getCmdLineOpts", "hostInfo", "top", "listShards", "connPoolStats", "balancerStatus", "replSetGetStatus",
            "getLog", "getShardMap", "inprog",
        ],
        ["clusterManager"] =
        [
            "enableSharding", "shardCollection", "split", "splitChunk", "moveChunk", "moveRange", "balancerStart", "balancerStop",
            "balancerCollectionStatus", "appendOplogNote", "addShard", "refineCollectionShardKey",
        ],
        ["hostManager"] =
        [
            "fsync", "setParameter", "shutdown", "killop", "startRecordingTraffic", "stopRecordingTraffic",
        ],
    };

    /// <param name="message">Of a server's error 13, or Atlas' 8000.</param>
    /// <returns>What to do about it, in a sentence.</returns>
    public static string Hint(string message)
    {
        if (message.Contains("requires authentication", StringComparison.Ordinal)
            || message.Contains("not logged in", StringComparison.Ordinal))
            return "this server requires a login: --uri mongodb://USER@HOST/?authSource=admin asks for the password";
        if (message.Contains("directly to a shard", StringComparison.Ordinal))
            return "connect to the cluster's mongos; shards let only users with role directShardOperations do that";
        if (NotAuthorized().Match(message) is { Success: true } refused)
            return Hint(refused.Groups["db"].Value, refused.Groups["command"].Value);
        if (NotAllowed().Match(message) is { Success: true } other)
            return Hint(other.Groups["db"].Value, other.Groups["action"].Value);
        return "this user is not allowed to do that, or the server requires a login: --uri mongodb://USER@HOST/?authSource=admin";
    }

    private static string Hint(string database, string command)
    {
        string? role = CommandsOfRoles.FirstOrDefault(one => one.Value.Contains(command)).Key;
        // What a cluster, or a server, knows of itself is no database that a run could use.
        if (database is "config" or "local" or Admin && role is "read")
            role = "clusterMonitor";
        if (database is "config" or "local" or Admin && role is "readWrite")
            role = "clusterManager";
        return role switch
        {
            null => $"this user lacks a role that allows {command} on database {database}",
            "read" or "readWrite" =>
                $"grant this user role {role} on database {database}, or use a database where it has that role",
            "dbAdmin" => $"grant this user role {role} on database {database}",
            _ => $"grant this user role {role} on database {Admin}",
        };
    }

    [GeneratedRegex(@"not authorized on (?<db>\S+) to execute command \{ (?<command>\w+):")]
    private static partial Regex NotAuthorized();

    [GeneratedRegex(@"not allowed to do action \[(?<action>\w+)\] on \[(?<db>[^.\]]*)")]
    private static partial Regex NotAllowed();
}
