using System.Text.Json;
using System.Text.Json.Serialization;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Files;

namespace MongoPerf.Deployments.Clusters;

/// <summary>What a process of a cluster is there for.</summary>
public enum ClusterRole
{
    Router,
    ConfigServer,
    Shard,

    /// <summary>It votes for a primary and holds no documents.</summary>
    Arbiter,

    /// <summary>The name of a replica set that is no part of a cluster.</summary>
    Member,
}

/// <summary>One process of a cluster, or of a replica set.</summary>
/// <param name="Role">What it is there for.</param>
/// <param name="Name">The name of its folder in the cluster's: "router", "config", "s0-0", "s0-arbiter".</param>
/// <param name="ReplicaSet">The replica set that it is a member of, which is a shard's name too; null for a mongos.</param>
/// <param name="Port">The port on 127.0.0.1.</param>
public sealed record ClusterMember(ClusterRole Role, string Name, string? ReplicaSet, int Port)
{
    /// <summary>It holds documents; limits are for those that do.</summary>
    public bool HoldsData => Role is ClusterRole.Shard or ClusterRole.Member;

    /// <summary>The description for texts: "router", "config server", "shard s0", "member rs0-1".</summary>
    public string Description => Role switch
    {
        ClusterRole.Router => "router",
        ClusterRole.ConfigServer => "config server",
        ClusterRole.Arbiter => $"arbiter of {ReplicaSet}",
        ClusterRole.Member => $"member {Name}",
        _ => $"shard {ReplicaSet}",
    };
}

/// <summary>
/// What a cluster, or a replica set that stands by itself, is made of, as the file in its folder says it: enough to look at it, to stop it
/// and to continue it. Immutable.
/// </summary>
public sealed record ClusterPlan
{
    public const string FileName = "cluster.json";

    /// <summary>Replica set of the config server.</summary>
    public const string ConfigSet = "cfg";

    /// <summary>Replica set of a mongod that routes.</summary>
    public const string RouterSet = "router";

    /// <summary>The name of a replica set that stands by itself.</summary>
    public const string OwnSet = "rs0";

    private const double OplogBytesPerDocument = 1100;

    // 2: replica sets, logins and TLS; 3: several config servers, arbiters.
    private const int NewestFormat = 3;

    private static readonly JsonSerializerOptions Json = new() { WriteIndented = true, Converters = { new JsonStringEnumConverter() } };

    /// <summary>The format of this file.</summary>
    public int Format { get; init; } = NewestFormat;

    /// <summary>The user of the system whose processes these are.</summary>
    public required string User { get; init; }

    public required RouterKind Router { get; init; }

    /// <summary>Full path.</summary>
    public required string Mongod { get; init; }

    public required Version MongodVersion { get; init; }

    /// <summary>Full path; null when a mongod routes.</summary>
    public string? Mongos { get; init; }

    /// <summary>0 for a replica set that stands by itself.</summary>
    public required int Shards { get; init; }

    /// <summary>How many members each shard's replica set has, or the one that stands by itself: 1 to 3.</summary>
    public required int Members { get; init; }

    /// <summary>Members of the config server's replica set, 1 to 3; of no meaning for a replica set that stands by itself.</summary>
    public int ConfigServers { get; init; } = 1;

    /// <summary>Each shard, or the one replica set, has an arbiter beside its members.</summary>
    public bool Arbiter { get; init; }

    /// <summary>The processes take this one and those behind it.</summary>
    public required int FirstPort { get; init; }

    /// <summary>The cache of each member that holds data, in bytes.</summary>
    public required long CacheBytes { get; init; }

    /// <summary>The memory of each member that holds data in bytes, page cache included; null for no limit.</summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>How many of this machine's CPUs each member that holds data may use; null for all.</summary>
    public int? Cpus { get; init; }

    /// <summary>Clients log in, and the processes know each other by a key file.</summary>
    public bool Auth { get; init; }

    /// <summary>Every process takes TLS connections only.</summary>
    public bool Tls { get; init; }

    [JsonIgnore]
    public bool IsReplicaSet => Shards == 0;

    /// <summary>Sets of members with the same documents each: the shards, or the one replica set.</summary>
    [JsonIgnore]
    public int DataSets => Math.Max(1, Shards);

    /// <summary>Processes that hold no documents: config servers, router and arbiters.</summary>
    [JsonIgnore]
    public int Helpers => CountHelpers(Shards, ConfigServers, Arbiter);

    /// <inheritdoc cref="Helpers"/>
    public static int CountHelpers(int shards, int configServers, bool arbiter) =>
        (shards == 0 ? 0 : 1 + configServers) + (arbiter ? Math.Max(1, shards) : 0);

    /// <summary>The router first, then the config servers, then the shards in their order; or the members of the one set.</summary>
    [JsonIgnore]
    public IReadOnlyList<ClusterMember> Processes
    {
        get
        {
            int port = FirstPort;
            if (IsReplicaSet)
                return [.. MembersOf(OwnSet, ClusterRole.Member)];
            List<ClusterMember> all =
            [
                new(ClusterRole.Router, "router", Router == RouterKind.Mongos ? null : RouterSet, port++),
            ];
            for (int i = 0; i < ConfigServers; i++)
                all.Add(new(ClusterRole.ConfigServer, i == 0 ? "config" : $"config-{i}", ConfigSet, port++));
            foreach (string shard in ShardNames)
                all.AddRange(MembersOf(shard, ClusterRole.Shard));
            return all;

            IEnumerable<ClusterMember> MembersOf(string set, ClusterRole role)
            {
                for (int i = 0; i < Members; i++)
                    yield return new ClusterMember(role, $"{set}-{i}", set, port++);
                if (Arbiter)
                    yield return new ClusterMember(ClusterRole.Arbiter, $"{set}-arbiter", set, port++);
            }
        }
    }

    /// <summary>The addresses of a replica set that stands by itself; empty for a cluster.</summary>
    [JsonIgnore]
    public IReadOnlyList<ServerAddress> MemberAddresses =>
        IsReplicaSet ? [.. Processes.Where(member => member.HoldsData).Select(ClusterProcesses.AddressOf)] : [];

    /// <summary>The addresses of the config server's members; empty for a replica set.</summary>
    [JsonIgnore]
    public IReadOnlyList<ServerAddress> ConfigMembers =>
        [.. Processes.Where(member => member.Role == ClusterRole.ConfigServer).Select(ClusterProcesses.AddressOf)];

    [JsonIgnore]
    public IEnumerable<string> ShardNames => Enumerable.Range(0, Shards).Select(shard => $"s{shard}");

    [JsonIgnore]
    public string RouterText =>
        Router == RouterKind.Mongos ? $"mongos {MongodVersion}" : $"mongod {MongodVersion} (built-in routing; no mongos found)";

    /// <summary>What it is called: "cluster" or "replica set".</summary>
    [JsonIgnore]
    public string Noun => IsReplicaSet ? "replica set" : "cluster";

    /// <summary>
    /// The shape text, such as "3 shards of 1 member each", "2 shards of 2 members and an arbiter each, 3 config servers", or "3 members".
    /// </summary>
    [JsonIgnore]
    public string ShapeText => IsReplicaSet
        ? MembersText
        : $"{Shards} {(Shards == 1 ? "shard" : "shards")} of {MembersText} "
            + $"each{(ConfigServers > 1 ? $", {ConfigServers} config servers" : "")}";

    private string MembersText => $"{Members} {(Members == 1 ? "member" : "members")}{(Arbiter ? " and an arbiter" : "")}";

    /// <summary>Estimate of what a document of 1 KB takes on the disk, all members together.</summary>
    /// <param name="documents">The documents to be inserted, more than none.</param>
    public double BytesPerDocument(long documents)
    {
        // A document is in the oplog too, as it is, until that is full.
        double oplogs = Math.Min(documents * OplogBytesPerDocument, DataSets * ClusterProcesses.OplogBytes);
        return Members * (DiskGuard.MongodBytesPerDocument + (oplogs / documents));
    }

    /// <summary>What its processes and clients know each other by; null when anybody may connect, in plain text.</summary>
    public SecurityFiles? Security(string folder) => Auth || Tls ? new SecurityFiles(folder, Auth, Tls) : null;

    public static bool IsIn(string folder) => File.Exists(Path.Combine(folder, FileName));

    /// <returns>Null when the folder holds none.</returns>
    /// <exception cref="DeploymentException">
    /// The file can't be read, is broken, is of a later version, or the cluster is another user's.
    /// </exception>
    public static ClusterPlan? Read(string folder)
    {
        string file = Path.Combine(folder, FileName);
        if (!File.Exists(file))
            return null;
        ClusterPlan plan;
        try
        {
            plan = JsonSerializer.Deserialize<ClusterPlan>(OwnFiles.Read(file), Json) ?? throw new JsonException("it is empty");
        }
        catch (UnauthorizedAccessException)
        {
            throw OtherUser(folder, "another user");
        }
        catch (JsonException e)
        {
            throw new DeploymentException(
                Fault.WrongUsage, $"{file} is not a valid cluster file: {e.Message}\nhint:  name another folder", e);
        }

        // The folder may be somebody else's: what is beyond these bounds would ask for all memory and every port.
        if (plan.Shards is < 0 or > ClusterLimits.MostShards || plan.Members is < 1 or > ClusterLimits.MostMembers
            || plan.ConfigServers is < 1 or > ClusterLimits.MostConfigServers
            || plan.FirstPort < 1 || plan.FirstPort + plan.Processes.Count - 1 > ushort.MaxValue || plan.CacheBytes < 1)
            throw new DeploymentException(Fault.WrongUsage,
                $"{file} is not a valid cluster file: its shards, members, port or cache are out of bounds\nhint:  name another folder");
        if (plan.Format > NewestFormat)
            throw new DeploymentException(Fault.WrongUsage, $"{file} has format {plan.Format}; this version reads up to {NewestFormat}\n"
                + "hint:  use the version that created the cluster, or a newer one");
        return plan.User == Environment.UserName ? plan : throw OtherUser(folder, $"user '{plan.User}'");
    }

    /// <summary>Writes it whole or not at all.</summary>
    public void Write(string folder) =>
        WholeFile.Replace(Path.Combine(folder, FileName), file => JsonSerializer.Serialize(file, this, Json), isDurable: true);

    /// <summary>Deletes it, and what was written of another one when the program was killed.</summary>
    public static void Delete(string folder)
    {
        WholeFile.RemoveLeftovers(folder, all: true);
        File.Delete(Path.Combine(folder, FileName));
    }

    private static DeploymentException OtherUser(string folder, string owner) => new(
        Fault.Refused, $"{folder} holds a cluster owned by {owner}, and you are '{Environment.UserName}'\nhint:  use a folder of your own");
}
